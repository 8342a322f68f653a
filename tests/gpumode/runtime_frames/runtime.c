// Stands for the CUDA runtime that is linked into a program: no debug information, names of no
// meaning below those of the API.
#include <stddef.h>

typedef int CUresult;
CUresult cuMemAlloc_v2(unsigned long long *p, size_t bytes);

__attribute__((noinline)) int libcudart_static_5382377d5c772c9d(void **p, size_t bytes) {
  unsigned long long address = 0;
  int result = cuMemAlloc_v2(&address, bytes);
  *p = (void *)(size_t)address;
  return result;
}

__attribute__((noinline)) int cudaMalloc(void **p, size_t bytes) {
  return libcudart_static_5382377d5c772c9d(p, bytes) ? 2 : 0;
}
