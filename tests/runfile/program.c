// Allocates, launches, frees through the driver API: what a run file must hold of it.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuda/abi.h"

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry set(.param .u64 p) {\n"
    "  .reg .b64 %rd<4>;\n  .reg .b32 %r<3>;\n"
    "  ld.param.u64 %rd1, [p];\n  cvta.to.global.u64 %rd2, %rd1;\n  mov.u32 %r1, %tid.x;\n"
    "  mul.wide.u32 %rd3, %r1, 4;\n  add.s64 %rd3, %rd2, %rd3;\n  st.global.u32 [%rd3], %r1;\n  "
    "ret;\n}\n";

static void must(CUresult r, const char *what) {
  if (!r) return;
  fprintf(stderr, "%s: %d\n", what, (int)r);
  exit(1);
}

__attribute__((noinline)) static CUdeviceptr make_buffer(size_t size) {
  CUdeviceptr p;
  must(cuMemAlloc_v2(&p, size), "alloc");
  return p;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction set;
  must(cuInit(0), "init");
  must(cuDeviceGet(&device, 0), "device");
  must(cuDevicePrimaryCtxRetain(&context, device), "context");
  must(cuCtxSetCurrent(context), "current");
  must(cuModuleLoadData(&module, ptx), "module");
  must(cuModuleGetFunction(&set, module, "set"), "function");
  CUdeviceptr p = make_buffer(128);
  void *params[] = {&p};
  for (int i = 0; i < n; i++)
    must(cuLaunchKernel(set, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL), "launch");
  must(cuCtxSynchronize(), "synchronize");
  if (argc > 2) {                          // wait until somebody ends us
    printf("ready\n");
    fflush(stdout);
    pause();
  }
  must(cuMemFree_v2(p), "free");
  must(cuModuleUnload(module), "unload");
  return 0;
}
