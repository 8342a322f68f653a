// Launches whose outcome is known: after the k-th launch on a buffer, element i is rung(k, i).
// Buffers belong to streams of their own.
//   ladder LAUNCHES ELEMENTS [STREAMS [how it ends: exit, abort, wait, kill, hang [MICROSECONDS
//   between eight launches]]]
// It says "ready" when all launches have been asked for, and launches take turns over the streams.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/abi.h"

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    // a[i] = a[i] * 3 + k + i
    ".visible .entry climb(.param .u64 a, .param .u32 k) {\n"
    "  .reg .b64 %rd<4>;\n  .reg .b32 %r<9>;\n"
    "  ld.param.u64 %rd1, [a];\n  ld.param.u32 %r1, [k];\n  cvta.to.global.u64 %rd2, %rd1;\n"
    "  mov.u32 %r2, %tid.x;\n  mov.u32 %r3, %ctaid.x;\n  mov.u32 %r4, %ntid.x;\n  mad.lo.u32 %r5, "
    "%r3, %r4, %r2;\n"
    "  mul.wide.u32 %rd3, %r5, 4;\n  add.s64 %rd3, %rd2, %rd3;\n"
    "  ld.global.u32 %r6, [%rd3];\n  mad.lo.u32 %r7, %r6, 3, %r1;\n  add.u32 %r8, %r7, %r5;\n"
    "  st.global.u32 [%rd3], %r8;\n  ret;\n}\n"
    ".visible .entry hang(.param .u64 a) {\n"
    "  .reg .b64 %rd<3>;\n  .reg .b32 %r<2>;\n  .reg .pred %p<2>;\n"
    "  ld.param.u64 %rd1, [a];\n  cvta.to.global.u64 %rd2, %rd1;\n"
    "again:\n  ld.volatile.global.u32 %r1, [%rd2];\n  setp.ne.u32 %p1, %r1, 0xfffffff1;\n  @%p1 "
    "bra again;\n  ret;\n}\n";

enum { BLOCK = 64, MOST_STREAMS = 8 };

static void must(CUresult r, const char *what) {
  if (!r) return;
  fprintf(stderr, "%s: %d\n", what, (int)r);
  exit(1);
}

static void end(const char *how, CUfunction hang, CUdeviceptr a, CUstream s) {
  void *params[] = {&a};
  printf("ready\n");
  fflush(stdout);
  if (!strcmp(how, "hang"))
    must(cuLaunchKernel(hang, 1, 1, 1, 1, 1, 1, 0, s, params, NULL), "hang");
  if (!strcmp(how, "hang") || !strcmp(how, "wait")) pause();
  if (!strcmp(how, "abort")) _exit(3);
  if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
}

int main(int argc, char **argv) {
  unsigned launches = argc > 1 ? (unsigned)atoi(argv[1]) : 10,
           elements = argc > 2 ? (unsigned)atoi(argv[2]) : 64;
  unsigned nstreams = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
  unsigned pace = argc > 5 ? (unsigned)atoi(argv[5]) : 0;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction climb, hang;
  CUstream streams[MOST_STREAMS];
  CUdeviceptr buffers[MOST_STREAMS];
  if (!nstreams || nstreams > MOST_STREAMS || elements % BLOCK) return 2;
  must(cuInit(0), "init");
  must(cuDeviceGet(&device, 0), "device");
  must(cuDevicePrimaryCtxRetain(&context, device), "context");
  must(cuCtxSetCurrent(context), "current");
  must(cuModuleLoadData(&module, ptx), "module");
  must(cuModuleGetFunction(&climb, module, "climb"), "climb");
  must(cuModuleGetFunction(&hang, module, "hang"), "hang");
  unsigned *zeros = calloc(elements, sizeof *zeros);
  for (unsigned i = 0; i < nstreams; i++) {
    must(cuStreamCreate(&streams[i], 1), "stream");
    must(cuMemAlloc_v2(&buffers[i], elements * 4ull), "alloc");
    must(cuMemcpyHtoD_v2(buffers[i], zeros, elements * 4ull), "copy");
  }
  for (unsigned i = 0; i < launches; i++) {
    unsigned s = i % nstreams, k = i / nstreams + 1;
    void *params[] = {&buffers[s], &k};
    must(cuLaunchKernel(climb, elements / BLOCK, 1, 1, BLOCK, 1, 1, 0, streams[s], params, NULL),
         "launch");
    if (i % 8 == 7 && pace) usleep(pace);
    if (i % 256 == 255) must(cuCtxSynchronize(), "synchronize");  // so that the queue stays short
  }
  must(cuCtxSynchronize(), "synchronize");
  end(argc > 4 ? argv[4] : "exit", hang, buffers[0], streams[0]);
  must(cuMemcpyDtoH_v2(zeros, buffers[0], elements * 4ull), "copy");
  printf("%u\n", zeros[1]);
  return 0;
}
