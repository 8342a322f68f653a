// cudaLibrary*: code loaded by the program itself. Options of both interfaces have the same
// numbers.
#include "runtime/internal.h"

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, int *jit,
                                void **jit_values, unsigned njit, int *options, void **values,
                                unsigned n) {
  RT_ENTER();
  return rt_done(cuLibraryLoadData(library, code, (CUjit_option *)jit, jit_values, njit,
                                   (CUlibraryOption *)options, values, n));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path, int *jit,
                                    void **jit_values, unsigned njit, int *options, void **values,
                                    unsigned n) {
  RT_ENTER();
  return rt_done(cuLibraryLoadFromFile(library, path, (CUjit_option *)jit, jit_values, njit,
                                       (CUlibraryOption *)options, values, n));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  RT_ENTER();
  return rt_done(cuLibraryUnload(library));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name) {
  RT_ENTER();
  return rt_done(cuLibraryGetKernel(kernel, library, name));
}

cudaError_t cudaLibraryGetGlobal(void **address, size_t *bytes, cudaLibrary_t library,
                                 const char *name) {
  RT_ENTER();
  CUdeviceptr p = 0;
  cudaError_t e = rt_result(cuLibraryGetGlobal(&p, bytes, library, name));
  if (!e && address) *address = (void *)(uintptr_t)p;
  return rt_return(e);
}

cudaError_t cudaLibraryGetManaged(void **address, size_t *bytes, cudaLibrary_t library,
                                  const char *name) {
  RT_ENTER();
  CUdeviceptr p = 0;
  cudaError_t e = rt_result(cuLibraryGetManaged(&p, bytes, library, name));
  if (!e && address) *address = (void *)(uintptr_t)p;
  return rt_return(e);
}

cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library) {
  RT_ENTER();
  return rt_done(cuLibraryGetKernelCount(count, library));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned n, cudaLibrary_t library) {
  RT_ENTER();
  return rt_done(cuLibraryEnumerateKernels(kernels, n, library));
}
