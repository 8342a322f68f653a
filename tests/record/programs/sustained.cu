// One kernel that reads and writes, launched again and again: how fast records leave the device
// when there is no end of them. Arguments: elements, launches, and `mixed` for numbers that are all
// different: else they are all the same. Prints the milliseconds of all launches to standard error.
#include <cstdio>
#include <cstdlib>

__global__ void update(float *c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    c[i] = 0.5f * c[i] + 1.0f;
}

__global__ void mix(unsigned *c, int n, unsigned seed) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    c[i] = (c[i] + i) * 2654435761u ^ seed;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 12, launches = argc > 2 ? atoi(argv[2]) : 2;
  bool mixed = argc > 3;
  float *c, sum = 0, some[4] = {0}, ms;
  cudaMalloc(&c, 4 * (size_t)n);
  cudaMemset(c, 0, 4 * (size_t)n);
  cudaEvent_t from, to;
  cudaEventCreate(&from);
  cudaEventCreate(&to);
  update<<<1, 32>>>(c, 32);                // compiled and loaded
  if (mixed) mix<<<1, 32>>>((unsigned *)c, 32, 1);
  cudaDeviceSynchronize();
  cudaEventRecord(from);
  for (int i = 0; i < launches; i++)
    if (mixed) mix<<<1056, 256>>>((unsigned *)c, n, i);
    else update<<<1056, 256>>>(c, n);
  cudaEventRecord(to);
  cudaEventSynchronize(to);
  cudaEventElapsedTime(&ms, from, to);
  cudaMemcpy(some, c + n - 4, sizeof some, cudaMemcpyDeviceToHost);
  for (float f : some) sum += f;
  fprintf(stderr, "update %.4f ms\n", ms);
  printf("%g %s\n", sum, cudaGetErrorString(cudaGetLastError()));
}
