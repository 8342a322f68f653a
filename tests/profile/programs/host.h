// What the programs of this folder share: memory that is filled, and a check at the end.
#pragma once
#include <cstdio>
template <class T> T *buffer(size_t n) {
  T *p;
  cudaMalloc(&p, n * sizeof(T));
  cudaMemset(p, 0, n * sizeof(T));
  return p;
}
inline int finish() {
  cudaError_t e = cudaDeviceSynchronize();
  puts(cudaGetErrorString(e));
  return e != cudaSuccess;
}
