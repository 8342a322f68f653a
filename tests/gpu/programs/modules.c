// Modules come and go: the same text loaded again, other texts at the same place in memory, handles
// that are used again.
// coverage: all
#include <cuda.h>
#include "gpu_test.h"

static void text(char *to, size_t size, int factor) {
  snprintf(
      to, size,
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 seed = %d;\n.visible "
      ".const .u32 factor = %d;\n"
      ".visible .entry run(.param .u64 p) {\n .reg .b64 %%rd<3>; .reg .b32 %%r<5>;\n ld.param.u64 "
      "%%rd1, [p]; cvta.to.global.u64 %%rd2, %%rd1;\n"
      " ld.global.u32 %%r1, [seed]; ld.const.u32 %%r2, [factor]; mul.lo.s32 %%r3, %%r1, %%r2; "
      "st.global.u32 [%%rd2], %%r3; add.s32 %%r1, %%r1, 1; st.global.u32 [seed], %%r1; ret;\n}\n"
      ".visible .entry unused%d(.param .u64 p) { ret; }\n",
      10 + factor, factor, factor);
}
int main(void) {
  CUdevice d;
  CUcontext c;
  CUdeviceptr out;
  CU(cuInit(0));
  CU(cuDeviceGet(&d, 0));
  CU(cuDevicePrimaryCtxRetain(&c, d));
  CU(cuCtxSetCurrent(c));
  CU(cuMemAlloc(&out, 4));
  char buffer[2048];
  for (int i = 0; i < 12; i++) {
    int factor = i % 4 + 1, r = 0;
    CUmodule m;
    CUfunction f, g;
    CUdeviceptr seed;
    size_t size;
    text(buffer, sizeof buffer, factor);
    CU(cuModuleLoadData(&m, buffer));
    memset(buffer, 'x', sizeof buffer);                // the image may be gone after the load
    CU(cuModuleGetFunction(&f, m, "run"));
    EXPECT(cuModuleGetFunction(&g, m, "missing") == CUDA_ERROR_NOT_FOUND);
    void *args[] = {&out};
    for (int k = 0; k < 3; k++) {
      CU(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
      CU(cuMemcpyDtoH(&r, out, 4));
      EXPECT(r == (10 + factor + k) * factor);
    }
    CU(cuModuleGetGlobal(&seed, &size, m, "seed"));
    EXPECT(size == 4);
    CU(cuMemcpyDtoH(&r, seed, 4));
    printf("%d ", r);
    EXPECT(r == 13 + factor);
    int set = 1000;
    CU(cuMemcpyHtoD(seed, &set, 4));
    CU(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    CU(cuMemcpyDtoH(&r, out, 4));
    EXPECT(r == 1000 * factor);
    CU(cuModuleUnload(m));
  }
  printf("\n");
  CUmodule m;
  EXPECT(
      cuModuleLoadData(
          &m,
          ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { nonsense; }\n") ==
      CUDA_ERROR_INVALID_PTX);
  return finish();
}
