// Takes the place of tests/profile/programs/host.h in bench/profile_gain: the time from the last
// buffer to the end, of several runs in one process.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline std::vector<void *> &buffers() {
  static std::vector<void *> list;
  return list;
}
inline double &started() {
  static double ms;
  return ms;
}
inline double now() {
  auto t = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(t).count();
}

template <class T> T *buffer(size_t n) {
  T *p;
  if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) exit(2);
  cudaMemset(p, 0, n * sizeof(T));
  buffers().push_back(p);
  cudaDeviceSynchronize();
  started() = now();
  return p;
}
// Host memory, not only its addresses.
inline void begin(void *host, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 4096) ((char *)host)[i] = 1;
  cudaDeviceSynchronize();
  started() = now();
}
inline int finish() {
  cudaError_t e = cudaDeviceSynchronize();
  printf("%.6f\n", now() - started());
  for (void *p : buffers()) cudaFree(p);
  buffers().clear();
  return e != cudaSuccess;
}

// Takes microseconds, and leaves room on the device.
static __global__ void slow(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? a[i] : 0;
  for (int k = 0; k < 4000; k++) v = v * 1.0001f + 1;
  if (i < n) a[i] = v;
}

int program();
int main(int argc, char **argv) {
  int bad = 0;
  for (int i = argc > 1 ? atoi(argv[1]) : 1; i; i--) bad |= program();
  return bad;
}
#define main program
