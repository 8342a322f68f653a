// Launches of every kind, kernels as objects, occupancy.
// nvcc: -std=c++17
// prints: all checks passed
#include <cooperative_groups.h>
#include "check.h"

namespace cg = cooperative_groups;
struct Big { double d[40]; char tail[3]; };

__global__ void plain(int *out, char c, short s, double d, Big b) {
  out[0] = c + s + (int)d + (int)b.d[39] + b.tail[2];
}
template <typename T> __global__ void typed(T *out, T v) {
  out[threadIdx.x + blockIdx.x * blockDim.x] = v;
}
__global__ void dynamic(int *out) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void grid_sum(int *data, int *total) {
  atomicAdd(&data[0], 1);
  cg::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) *total = data[0];
}
__global__ void __launch_bounds__(128) bounded(int *) {}
__device__ int twice(int x) { return 2 * x; }
__global__ void indirect(int *out, int x) { *out = twice(x); }

static void occupancy() {
  int blocks = 0, grid = 0, block = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic, 256, 0));
  EXPECT(blocks >= 1 && blocks <= 32);
  int fewer = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fewer, dynamic, 256, 100 << 10));
  EXPECT(fewer >= 1 && fewer <= blocks);
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
  EXPECT(block >= 32 && block <= 128 && grid > 0);
}

int main() {
  int *out, h[1024];
  OK(cudaMalloc(&out, sizeof h));
  Big big = {};
  big.d[39] = 1000, big.tail[2] = 7;
  plain<<<1, 1>>>(out, 'a', -3, 2.5, big);
  OK(cudaGetLastError());
  OK(cudaMemcpy(h, out, 4, cudaMemcpyDeviceToHost));
  EXPECT(h[0] == 'a' - 3 + 2 + 1000 + 7);
  typed<int><<<4, 64>>>(out, 11);
  typed<float><<<1, 32>>>((float *)out, 1.0f);
  OK(cudaMemcpy(h, out, 1024, cudaMemcpyDeviceToHost));
  EXPECT(h[0] == 0x3f800000 && h[32] == 11 && h[255] == 11);
  dynamic<<<1, 256, 1024>>>(out);
  OK(cudaMemcpy(h, out, 1024, cudaMemcpyDeviceToHost));
  EXPECT(h[0] == 255 && h[255] == 0);

  int five = 5;
  void *args[] = {&out, &five};
  OK(cudaLaunchKernel((const void *)indirect, dim3(1), dim3(1), args, 0, 0));
  OK(cudaMemcpy(h, out, 4, cudaMemcpyDeviceToHost));
  EXPECT(h[0] == 10);
  RETURNS(cudaLaunchKernel((const void *)finish, dim3(1), dim3(1), args, 0, 0),
          cudaErrorInvalidDeviceFunction);
  RETURNS(cudaLaunchKernel(NULL, dim3(1), dim3(1), args, 0, 0), cudaErrorInvalidDeviceFunction);

  OK(cudaMemset(out, 0, sizeof h));
  int *total = out + 8;
  void *coop[] = {&out, &total};
  OK(cudaLaunchCooperativeKernel((void *)grid_sum, dim3(8), dim3(64), coop, 0, 0));
  OK(cudaMemcpy(h, out, 64, cudaMemcpyDeviceToHost));
  EXPECT(h[8] == 512);
  RETURNS(cudaLaunchCooperativeKernel((void *)grid_sum, dim3(1 << 20), dim3(1024), coop, 0, 0),
          cudaErrorCooperativeLaunchTooLarge);

  EXPECT(cudaGetLastError() != cudaSuccess);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(32);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributePriority;
  config.attrs = &attribute;
  config.numAttrs = 1;
  OK(cudaLaunchKernelEx(&config, typed<int>, out, 77));
  OK(cudaMemcpy(h, out, 256, cudaMemcpyDeviceToHost));
  EXPECT(h[63] == 77);

  cudaFuncAttributes at;
  OK(cudaFuncGetAttributes(&at, bounded));
  EXPECT(at.maxThreadsPerBlock == 128 && at.numRegs > 0 && at.ptxVersion > 0);
  OK(cudaFuncGetAttributes(&at, dynamic));
  EXPECT(at.sharedSizeBytes == 0 && at.maxThreadsPerBlock == 1024);
  OK(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  dynamic<<<1, 32, 100 << 10>>>(out);
  OK(cudaGetLastError());
  OK(cudaDeviceSynchronize());
  OK(cudaFuncSetCacheConfig(dynamic, cudaFuncCachePreferShared));
  const char *name;
  OK(cudaFuncGetName(&name, (const void *)bounded));
  EXPECT(strstr(name, "bounded") != NULL);
  size_t offset, size;
  OK(cudaFuncGetParamInfo((const void *)plain, 3, &offset, &size));
  EXPECT(offset == 16 && size == 8);
  cudaKernel_t kernel;
  OK(cudaGetKernel(&kernel, (const void *)indirect));
  five = 21;
  OK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(1), args, 0, 0));
  OK(cudaMemcpy(h, out, 4, cudaMemcpyDeviceToHost));
  EXPECT(h[0] == 42);
  occupancy();
  cudaGetLastError();
  return finish();
}
