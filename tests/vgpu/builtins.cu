// What CUDA gives device code without a body: printf, malloc, free, assert, clocks.
// prints: block 1 thread 2: 1.50 text % 7 ff 123456789012
// prints: no arguments
// prints: malloc: 4950
// prints: too much: null
// prints: clock runs: yes
// prints: 64 lines
// prints: assert: device-side assert triggered
#include <cassert>
#include <cstdio>
#include <cstring>

__global__ void print() {
  if (blockIdx.x == 1 && threadIdx.x == 2)
    printf("block %d thread %u: %.2f %s %% %c %x %lld\n", blockIdx.x, threadIdx.x, 1.5f, "text",
           '7', 255, 123456789012ll);
  if (blockIdx.x == 0 && threadIdx.x == 0) printf("no arguments\n");
}
__global__ void allocate(int *out) {
  int *p = (int *)malloc(100 * sizeof(int));
  for (int i = 0; i < 100; i++) p[i] = i;
  int t = 0;
  for (int i = 0; i < 100; i++) t += p[i];
  free(p);
  out[0] = t;
  out[1] = malloc(1ull << 40) == nullptr;
}
__global__ void clocks(int *out) {
  long long a = clock64();
  for (volatile int i = 0; i < 1000; i++) {}
  *out = clock64() > a;
}
__global__ void lines(int *out) { atomicAdd(out, printf("%s", "") >= 0); }
__global__ void fails(int n) { assert(n != 3); }

int main() {
  int *out, h[2];
  cudaMalloc(&out, 64);
  print<<<2, 4>>>();
  cudaDeviceSynchronize();
  allocate<<<1, 1>>>(out);
  cudaMemcpy(h, out, 8, cudaMemcpyDeviceToHost);
  printf("malloc: %d\ntoo much: %s\n", h[0], h[1] ? "null" : "not null");
  clocks<<<1, 1>>>(out);
  cudaMemcpy(h, out, 4, cudaMemcpyDeviceToHost);
  printf("clock runs: %s\n", h[0] ? "yes" : "no");
  cudaMemset(out, 0, 4);
  lines<<<2, 32>>>(out);
  cudaMemcpy(h, out, 4, cudaMemcpyDeviceToHost);
  printf("%d lines\n", h[0]);
  fails<<<1, 4>>>(3);
  printf("assert: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
