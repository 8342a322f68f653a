// Tensor copies: tiles of a matrix of floats, swizzled or not and at its edges, and of a tensor of
// three dimensions; there, back and added. Run by tensor.sh.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

#include "../../lib/tensor_map.h"

#define AT(p) ((uint32_t)__cvta_generic_to_shared(p))
__device__ static void wait(uint64_t *bar) {
  uint32_t done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 "
                 "%0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(AT(bar))
                 : "memory");
}
__device__ static void begin(uint64_t *bar, uint32_t bytes) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(AT(bar)) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(AT(bar)), "r"(bytes)
               : "memory");
}

// 8 floats by 4 lines from (x, y): each thread moves one, then the tile goes to (x, y) of out and
// is added to sum there, or where that is negative to 0
__global__ void tiles(const __grid_constant__ CUtensorMap in,
                      const __grid_constant__ CUtensorMap out,
                      const __grid_constant__ CUtensorMap sum, int x, int y, float *copy) {
  __shared__ struct {
    alignas(1024) float all[64];
    uint64_t bar;
  } shared;  // one variable, so that all of it lies in the same order on every device
  auto &[all, bar] = shared;
  float *s = all + 32;                     // where a swizzle changes something
  if (threadIdx.x == 0) {
    begin(&bar, 128);
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(AT(s)),
                 "l"(&in), "r"(x), "r"(y), "r"(AT(&bar))  // label: tile
                 : "memory");
  }
  __syncthreads();
  wait(&bar);
  copy[threadIdx.x] = s[threadIdx.x];
  s[threadIdx.x] += 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  x = max(x, 0), y = max(y, 0);
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
            &out),
        "r"(x), "r"(y), "r"(AT(s))
        : "memory");
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, "
                 "%2}], [%3];" ::"l"(&sum),
                 "r"(x), "r"(y), "r"(AT(s))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// 4 by 4 by 2
__global__ void cube(const __grid_constant__ CUtensorMap in, int x, int y, int z, float *copy) {
  __shared__ struct { alignas(128) float s[32]; uint64_t bar; } shared;
  auto &[s, bar] = shared;
  if (threadIdx.x == 0) {
    begin(&bar, sizeof s);
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(AT(s)),
                 "l"(&in), "r"(x), "r"(y), "r"(z), "r"(AT(&bar))  // label: cube
                 : "memory");
  }
  __syncthreads();
  wait(&bar);
  copy[threadIdx.x] = s[threadIdx.x];
}

// The map is in global memory, where nobody knows it.
__global__ void of_pointer(const CUtensorMap *in, float *copy) {
  __shared__ struct { alignas(1024) float s[32]; uint64_t bar; } shared;
  auto &[s, bar] = shared;
  if (threadIdx.x == 0) {
    begin(&bar, sizeof s);
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(AT(s)),
                 "l"(in), "r"(0), "r"(0), "r"(AT(&bar))
                 : "memory");
  }
  __syncthreads();
  wait(&bar);
  copy[threadIdx.x] = s[threadIdx.x];
}

int main(int argc, char **) {
  enum { W = 36, H = 8, N = W * H };        // the last two of each line are not the tensor's
  static float host[N], back[N];
  float *in, *out, *sum, *copy;
  cudaMalloc(&in, sizeof host), cudaMalloc(&out, sizeof host), cudaMalloc(&sum, sizeof host),
      cudaMalloc(&copy, 128);
  for (int i = 0; i < N; i++) host[i] = (float)(i + 1);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  TensorMapEncode *encode = tensor_map_encode();
  auto map = [&](float *data, CUtensorMapSwizzle swizzle, cuuint32_t rank) {
    CUtensorMap m;
    cuuint64_t dims[] = {W - 2, (cuuint64_t)(rank == 2 ? H : H / 2), 2},
               strides[] = {W * 4, W * 4 * H / 2};
    cuuint32_t box[] = {rank == 2 ? 8u : 4u, 4, 2}, ones[] = {1, 1, 1};
    if (encode(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, data, dims, strides, box, ones,
               CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
      puts("no map");
    return m;
  };
  double mixed = 0;
  auto mix = [&](float *p, int n) {
    cudaMemcpy(back, p, n * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) mixed = mixed * 0.875 + back[i] * (i % 5);
  };
  const int places[][2] = {{4, 1}, {8, 1}, {-4, 6}, {28, -2}, {32, 5}};
  for (int i = 0; i < 5; i++) {
    CUtensorMapSwizzle s = i == 1 ? CU_TENSOR_MAP_SWIZZLE_32B : CU_TENSOR_MAP_SWIZZLE_NONE;
    cudaMemset(out, 0, sizeof host), cudaMemset(sum, 0, sizeof host);
    tiles<<<1, 32>>>(map(in, s, 2), map(out, s, 2), map(sum, s, 2), places[i][0], places[i][1],
                     copy);
    mix(copy, 32), mix(sum, N), mix(out, N);
    uint32_t hash = 1;
    for (size_t k = 0; k < sizeof back; k++) hash = hash * 31 + ((uint8_t *)back)[k];
    printf("%08x\n", hash);
  }
  cube<<<1, 32>>>(map(in, CU_TENSOR_MAP_SWIZZLE_NONE, 3), 8, 2, 1, copy), mix(copy, 32);
  if (argc > 1) {
    CUtensorMap m = map(in, CU_TENSOR_MAP_SWIZZLE_NONE, 2), *there;
    cudaMalloc(&there, sizeof m), cudaMemcpy(there, &m, sizeof m, cudaMemcpyHostToDevice);
    of_pointer<<<1, 32>>>(there, copy), mix(copy, 32);
  }
  printf("%g %s\n", mixed, cudaGetErrorString(cudaGetLastError()));
}
