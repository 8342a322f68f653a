// Code linked by the program itself: two PTX texts become one cubin, with options and a log.
// coverage: all
#include <cuda.h>
#include "gpu_test.h"

static const char one[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.extern .func (.param .b32 r) triple(.param "
    ".b32 v);\n"
    ".visible .entry run(.param .u64 p, .param .u32 v) {\n .reg .b64 %rd<3>; .reg .b32 %r<5>;\n "
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v]; cvta.to.global.u64 %rd2, %rd1;\n"
    " { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), triple, (a); "
    "ld.param.b32 %r2, [b]; }\n st.global.u32 [%rd2], %r2; ret;\n}\n";
static const char two[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .func (.param .b32 r) triple(.param "
    ".b32 v) {\n .reg .b32 %r<3>;\n"
    " ld.param.b32 %r1, [v]; mul.lo.s32 %r2, %r1, 3; st.param.b32 [r], %r2; ret;\n}\n";

int main(void) {
  CUdevice d;
  CUcontext c;
  CUdeviceptr out;
  CUlinkState l;
  CU(cuInit(0));
  CU(cuDeviceGet(&d, 0));
  CU(cuDevicePrimaryCtxRetain(&c, d));
  CU(cuCtxSetCurrent(c));
  CU(cuMemAlloc(&out, 4));
  char log[1024] = "";
  CUjit_option o[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                      CU_JIT_MAX_REGISTERS};
  void *values[] = {log, (void *)(uintptr_t)sizeof log, (void *)(uintptr_t)32}, *cubin;
  size_t size;
  CU(cuLinkCreate(3, o, values, &l));
  CU(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)one, sizeof one, "one.ptx", 0, NULL, NULL));
  CU(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)two, sizeof two, "two.ptx", 0, NULL, NULL));
  CU(cuLinkComplete(l, &cubin, &size));
  EXPECT(size > 0);
  CUmodule m;
  CUfunction f;
  CU(cuModuleLoadData(&m, cubin));
  CU(cuLinkDestroy(l));
  CU(cuModuleGetFunction(&f, m, "run"));
  int v = 14, r = 0;
  void *args[] = {&out, &v};
  CU(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
  CU(cuMemcpyDtoH(&r, out, 4));
  printf("%d\n", r);
  EXPECT(r == 42);
  CU(cuModuleUnload(m));
  return finish();
}
