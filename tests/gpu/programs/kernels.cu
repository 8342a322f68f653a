// Kernels as objects: cudaGetKernel, libraries and their kernels, functions in a context, what can
// be asked of them.
// coverage: all
// nvcc: -lcuda
#include <cuda.h>
#include "gpu_test.h"

struct Wide { double d[5]; char c; };
__global__ void store(char c, Wide w, int *out) {
  out[threadIdx.x] = c + (int)w.d[4] + w.c + threadIdx.x;
}
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 seed = 3;\n"
    ".visible .entry twice(.param .u64 p, .param .u32 v) {\n .reg .b64 %rd<3>; .reg .b32 %r<5>;\n "
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];\n"
    " cvta.to.global.u64 %rd2, %rd1; ld.global.u32 %r2, [seed]; mad.lo.s32 %r3, %r1, 2, %r2; "
    "st.global.u32 [%rd2], %r3; ret;\n}\n";

int main() {
  int *out, h[64];
  OK(cudaMalloc(&out, sizeof h));
  cudaKernel_t k;
  cudaFunction_t f;
  OK(cudaGetKernel(&k, (const void *)store));
  OK(cudaGetFuncBySymbol(&f, (const void *)store));
  Wide w = {{0, 0, 0, 0, 1000}, 7};
  char c = 1;
  void *args[] = {&c, &w, &out};
  OK(cudaLaunchKernel((const void *)k, 1, 64, args, 0, 0));
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDefault));
  EXPECT(h[0] == 1008 && h[63] == 1071);
  c = 2;
  CU(cuLaunchKernel((CUfunction)f, 1, 1, 1, 64, 1, 1, 0, 0, args, 0));
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDefault));
  EXPECT(h[0] == 1009);
  c = 3;
  CU(cuLaunchKernel((CUfunction)k, 1, 1, 1, 64, 1, 1, 0, 0, args, 0));
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDefault));
  EXPECT(h[0] == 1010);
  show("store", h, sizeof h);

  // the program sees its own parameters and no others
  size_t offset, size;
  CU(cuFuncGetParamInfo((CUfunction)f, 2, &offset, &size));
  EXPECT(offset == 56 && size == 8);
  EXPECT(cuFuncGetParamInfo((CUfunction)f, 3, &offset, &size) == CUDA_ERROR_INVALID_VALUE);
  CU(cuKernelGetParamInfo((CUkernel)k, 1, &offset, &size));
  EXPECT(offset == 8 && size == 48);
  EXPECT(cuKernelGetParamInfo((CUkernel)k, 3, &offset, &size) == CUDA_ERROR_INVALID_VALUE);
  const char *name;
  CU(cuFuncGetName(&name, (CUfunction)f));
  printf("%s\n", name);
  CU(cuKernelGetName(&name, (CUkernel)k));
  printf("%s\n", name);

  // a library of our own
  CUlibrary lib, owner;
  CUkernel twice, list[4];
  CUfunction tf;
  CUmodule module;
  CUdeviceptr seed;
  unsigned count;
  CU(cuLibraryLoadData(&lib, ptx, 0, 0, 0, 0, 0, 0));
  CU(cuLibraryGetKernel(&twice, lib, "twice"));
  EXPECT(cuLibraryGetKernel(list, lib, "thrice") == CUDA_ERROR_NOT_FOUND);
  CU(cuLibraryGetKernelCount(&count, lib));
  CU(cuLibraryEnumerateKernels(list, 4, lib));
  EXPECT(count == 1 && list[0] == twice);
  CU(cuKernelGetLibrary(&owner, twice));
  EXPECT(owner == lib);
  CU(cuLibraryGetGlobal(&seed, &size, lib, "seed"));
  EXPECT(size == 4);
  int v = 21, five = 5;
  void *targs[] = {&out, &v};
  CU(cuLaunchKernel((CUfunction)twice, 1, 1, 1, 1, 1, 1, 0, 0, targs, 0));
  OK(cudaMemcpy(h, out, 4, cudaMemcpyDefault));
  EXPECT(h[0] == 45);
  CU(cuMemcpyHtoD(seed, &five, 4));
  CU(cuKernelGetFunction(&tf, twice));
  CU(cuLaunchKernel(tf, 1, 1, 1, 1, 1, 1, 0, 0, targs, 0));
  OK(cudaMemcpy(h, out, 4, cudaMemcpyDefault));
  EXPECT(h[0] == 47);
  CU(cuLibraryGetModule(&module, lib));
  CU(cuModuleGetFunction(&tf, module, "twice"));
  CUdeviceptr again;
  CU(cuModuleGetGlobal(&again, &size, module, "seed"));
  EXPECT(again == seed);
  CU(cuLaunchKernel(tf, 1, 1, 1, 1, 1, 1, 0, 0, targs, 0));
  OK(cudaMemcpy(h, out, 4, cudaMemcpyDefault));
  EXPECT(h[0] == 47);
  int regs = 0, threads = 0;
  CU(cuKernelGetAttribute(&regs, CU_FUNC_ATTRIBUTE_NUM_REGS, twice, 0));
  CU(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, tf));
  EXPECT(regs > 0 && threads == 1024);
  CU(cuLibraryUnload(lib));
  return finish();
}
