// Code the program loads itself: cudaLibrary*, and driver functions by cudaGetDriverEntryPoint.
// prints: all checks passed
#include "check.h"

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .global .align 4 .u32 number = 5;\n"
                          ".visible .entry store(.param .u64 out) {\n"
                          "  .reg .u64 %rd<3>; .reg .u32 %r<2>;\n"
                          "  ld.param.u64 %rd1, [out];\n  ld.global.u32 %r1, [number];\n  "
                          "st.global.u32 [%rd1], %r1;\n  ret;\n}\n";

int main() {
  cudaLibrary_t lib;
  OK(cudaLibraryLoadData(&lib, ptx, NULL, NULL, 0, NULL, NULL, 0));
  unsigned count = 0;
  OK(cudaLibraryGetKernelCount(&count, lib));
  EXPECT(count == 1);
  cudaKernel_t kernel, listed;
  OK(cudaLibraryGetKernel(&kernel, lib, "store"));
  OK(cudaLibraryEnumerateKernels(&listed, 1, lib));
  EXPECT(listed == kernel);
  RETURNS(cudaLibraryGetKernel(&listed, lib, "nothing"), cudaErrorSymbolNotFound);
  void *number;
  size_t size = 0;
  OK(cudaLibraryGetGlobal(&number, &size, lib, "number"));
  EXPECT(size == 4);
  int *out, h = 0, nine = 9;
  OK(cudaMalloc(&out, 4));
  OK(cudaMemcpy(number, &nine, 4, cudaMemcpyHostToDevice));
  void *args[] = {&out};
  OK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(1), args, 0, 0));
  OK(cudaMemcpy(&h, out, 4, cudaMemcpyDeviceToHost));
  EXPECT(h == 9);
  OK(cudaLibraryUnload(lib));

  int (*get_count)(int *) = NULL;
  cudaDriverEntryPointQueryResult found;
  OK(cudaGetDriverEntryPointByVersion("cuDeviceGetCount", (void **)&get_count, 12000,
                                      cudaEnableDefault, &found));
  EXPECT(found == cudaDriverEntryPointSuccess && get_count && get_count(&h) == 0 && h == 1);
  void *none;
  OK(cudaGetDriverEntryPointByVersion("cuNothingOfTheKind", &none, 12000, cudaEnableDefault,
                                      &found));
  EXPECT(found == cudaDriverEntryPointSymbolNotFound);
  cudaGetLastError();
  return finish();
}
