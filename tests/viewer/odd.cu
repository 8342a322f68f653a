// What a viewer may stumble over: structs, bytes, NaN and infinity, one address for two buffers,
// copies on the device and of rectangles, writes that a barrier orders and writes that nothing
// does, an accumulator that very many threads touch.
#include <cstdio>
#include <cmath>
#include <warpgrind.h>
struct Particle { float x, y; int id; unsigned char flags[4]; };
namespace {
template <class T> __global__ void fill(T *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = (T)i;
}
}  // namespace
__global__ void advance(Particle *p, int n) {
  int i = threadIdx.x;
  if (i < n) p[i].x = i * .5f, p[i].id = i, p[i].flags[2] = 7;
}
__global__ void specials(float *f) {
  const float values[] = {nanf(""), INFINITY, -INFINITY, -0.0f, 1e-40f, 3.25f};
  if (threadIdx.x < 6) f[threadIdx.x] = values[threadIdx.x];
}
// Thread 0 and thread 40 are in different warps.
__global__ void ordered(int *cell) {
  if (threadIdx.x == 0) cell[1] = 10;
  __syncthreads();
  if (threadIdx.x == 40) cell[1] = 20;
}
__global__ void unordered(int *cell) {
  if (threadIdx.x == 0) cell[2] = 10;
  if (threadIdx.x == 40) cell[2] = 20;
}
// Block 1 waits for block 0 to have written.
__global__ void handed(int *cell, int *flag) {
  if (blockIdx.x == 0) {
    cell[3] = 10;
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    cell[3] = 20;
  }
}
__global__ void apart(int *cell) { cell[4] = blockIdx.x; }
__global__ void accumulate(int *cell) { atomicAdd(cell, 1); }
__global__ void outlier(float *wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) wide[i] = i == 377777 ? 1e9f : i % 7;
}
__global__ void speak(int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) wg_watch(i * 10000000007ll);
}
int main() {
  int *cell, *twin;
  cudaMalloc(&cell, 64);
  cudaMalloc(&twin, 64);
  cudaMemset(cell, 0, 64);
  ordered<<<1, 64>>>(cell);
  unordered<<<1, 64>>>(cell);
  handed<<<2, 1>>>(cell, cell + 15);
  apart<<<2, 1>>>(cell);
  cudaMemcpy(twin + 4, cell, 16, cudaMemcpyDeviceToDevice);
  accumulate<<<8, 256>>>(twin);
  unsigned char *small; cudaMalloc(&small, 1000);
  fill<<<4, 256>>>(small, 999);
  Particle *particles; cudaMalloc(&particles, 32 * sizeof(Particle));
  advance<<<1, 32>>>(particles, 32);
  float *numbers; cudaMalloc(&numbers, 24);
  specials<<<1, 32>>>(numbers);
  int *grid, *part;
  cudaMalloc(&grid, 16 * 8 * 4);
  cudaMalloc(&part, 4 * 4 * 4);
  fill<<<1, 128>>>(grid, 128);
  cudaMemcpy2D(part, 16, grid + 2 * 16 + 3, 64, 16, 4,
               cudaMemcpyDeviceToDevice);  // part[4 * y + x] = grid[16 * (y + 2) + x + 3]
  cudaFree(particles);
  float *wide; cudaMalloc(&wide, 2 << 20);
  outlier<<<2048, 256>>>(wide, 1 << 19);
  speak<<<2, 256>>>(500);
  int result[16];
  cudaMemcpy(result, twin, 64, cudaMemcpyDeviceToHost);
  printf("%d %d %d\n", result[0] > 0, result[5], cudaGetLastError() == cudaSuccess);
  return 0;
}
// <img src=x onerror="window.harmed=1"><script>window.harmed=1</script>: a source may say so.
