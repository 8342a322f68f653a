// A small program with copies, a set, shared memory and one bug: what it leaves in a recorded run
// file is read again in tests. ./recorded [FIRST VALUE]
#include <stdio.h>
#include <stdlib.h>

#include "cuda/abi.h"

// fill: out[i] = in[i] + 1. turn: through shared memory, out[i] = out[31 - i]; the second launch of
// fill writes one element beyond the buffer.
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry fill(.param .u64 out, .param .u64 in, .param .u32 more) {\n"
    "  .reg .b64 %rd<8>;\n  .reg .b32 %r<6>;\n"
    "  ld.param.u64 %rd1, [out];\n  ld.param.u64 %rd2, [in];\n  ld.param.u32 %r4, [more];\n"
    "  cvta.to.global.u64 %rd1, %rd1;\n  cvta.to.global.u64 %rd2, %rd2;\n  mov.u32 %r1, %tid.x;\n"
    "  mul.wide.u32 %rd3, %r1, 4;\n  add.s64 %rd4, %rd2, %rd3;\n  ld.global.u32 %r2, [%rd4];\n  "
    "add.u32 %r2, %r2, 1;\n"
    "  add.u32 %r3, %r1, %r4;\n  mul.wide.u32 %rd5, %r3, 4;\n  add.s64 %rd6, %rd1, %rd5;\n  "
    "st.global.u32 [%rd6], %r2;\n  ret;\n}\n"
    ".visible .entry turn(.param .u64 out) {\n"
    "  .reg .b64 %rd<8>;\n  .reg .b32 %r<8>;\n  .shared .align 4 .b8 tile[128];\n"
    "  ld.param.u64 %rd1, [out];\n  cvta.to.global.u64 %rd1, %rd1;\n  mov.u32 %r1, %tid.x;\n"
    "  mul.wide.u32 %rd2, %r1, 4;\n  add.s64 %rd3, %rd1, %rd2;\n  ld.global.u32 %r2, [%rd3];\n"
    "  mov.u32 %r3, tile;\n  shl.b32 %r4, %r1, 2;\n  add.u32 %r5, %r3, %r4;\n  st.shared.u32 "
    "[%r5], %r2;\n  bar.sync 0;\n"
    "  add.u32 %r6, %r3, 124;\n  sub.u32 %r6, %r6, %r4;\n  ld.shared.u32 %r7, [%r6];\n  "
    "st.global.u32 [%rd3], %r7;\n  ret;\n}\n";

static void must(CUresult r, const char *what) {
  if (!r) return;
  fprintf(stderr, "%s: %d\n", what, (int)r);
  exit(1);
}

int main(int argc, char **argv) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction fill, turn;
  must(cuInit(0), "init");
  must(cuDeviceGet(&device, 0), "device");
  must(cuDevicePrimaryCtxRetain(&context, device), "context");
  must(cuCtxSetCurrent(context), "current");
  must(cuModuleLoadData(&module, ptx), "module");
  must(cuModuleGetFunction(&fill, module, "fill"), "function");
  must(cuModuleGetFunction(&turn, module, "turn"), "function");
  CUdeviceptr in, out;
  int host[64] = {0}, more = 0;
  for (int i = 0; i < 64; i++) host[i] = (argc > 1 ? atoi(argv[1]) : 100) + i * i;
  must(cuMemAlloc_v2(&in, sizeof host), "alloc");
  must(cuMemAlloc_v2(&out, 128), "alloc");
  must(cuMemsetD8_v2(out, 7, 128), "set");
  must(cuMemcpyHtoD_v2(in, host, sizeof host), "copy");
  void *fill_params[] = {&out, &in, &more}, *turn_params[] = {&out};
  for (more = 0; more < 2; more++) {
    must(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, fill_params, NULL), "fill");
    must(cuLaunchKernel(turn, 1, 1, 1, 32, 1, 1, 0, NULL, turn_params, NULL), "turn");
  }
  must(cuCtxSynchronize(), "synchronize");
  must(cuMemcpyDtoH_v2(host, out, 128), "copy");
  int sum = 0;
  for (int i = 0; i < 32; i++) sum += host[i] * (i + 1);
  printf("%d\n", sum);
  must(cuMemFree_v2(out), "free");
  must(cuMemFree_v2(in), "free");
  must(cuModuleUnload(module), "unload");
  return 0;
}
