// Launches for the launch log: lists of parameters, a buffer, a graph. With an argument: the
// program dies in the kernel.
#include <signal.h>

#include "driver_test.h"

static const char code[] = PTX_HEADER
    ".visible .entry add(.param .u64 p, .param .u32 n, .param .align 4 .b8 s[12]) { ret; }\n"
    ".visible .entry last(.param .u64 runs) { .reg .b64 %p; ld.param.u64 %p, [runs]; "
    "st.volatile.global.u32 [%p], 1; $again: bra $again; }\n";

static void *kill_later(void *runs) {
  while (!*(volatile unsigned *)runs) sleep_ms(1);
  raise(SIGKILL);
  return NULL;
}

int main(int argc, char **argv) {
  CUcontext ctx;
  CUdevice dev;
  CUmodule m;
  CUfunction add, last;
  CUstream s;
  CUgraph g;
  CUgraphExec x;
  CUdeviceptr p, q;
  unsigned n = 7;
  struct { unsigned a, b, c; } three = {1, 2, 3};
  OK(cuInit(0));
  OK(cuDeviceGet(&dev, 0));
  OK(cuCtxCreate_v2(&ctx, 0, dev));
  OK(cuModuleLoadData(&m, code));
  OK(cuModuleGetFunction(&add, m, "add"));
  OK(cuModuleGetFunction(&last, m, "last"));
  if (argc > 1) {
    pthread_t t;
    void *runs;
    OK(cuMemAllocHost_v2(&runs, 4));
    *(unsigned *)runs = 0;
    pthread_create(&t, NULL, kill_later, runs);
    OK(cuLaunchKernel(last, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&runs}, NULL));
    cuCtxSynchronize();
    return 1;
  }
  OK(cuStreamCreate(&s, 0));
  OK(cuMemAlloc_v2(&p, 4096));
  OK(cuLaunchKernel(add, 4, 2, 1, 64, 1, 1, 128, NULL, (void *[]){&p, &n, &three}, NULL));
  q = p + 100;
  struct { CUdeviceptr p; unsigned n, a, b, c; } buffer = {q, 8, 4, 5, 6};
  size_t size = sizeof buffer;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  OK(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, s, NULL, extra));
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuLaunchKernel(add, 3, 1, 1, 32, 1, 1, 0, s, (void *[]){&q, &n, &three}, NULL));
  OK(cuStreamEndCapture(s, &g));
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  OK(cuGraphLaunch(x, s));
  OK(cuGraphLaunch(x, s));
  OK(cuCtxSynchronize());
  return finish();
}
