// arch: 90
// Shared memory of other blocks of a cluster, with barriers of the cluster, atomics and flags.
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cuda/atomic>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int *out) {
  __shared__ int s[64];
  cg::cluster_group c = cg::this_cluster();
  const int *its = c.map_shared_rank(s, c.block_rank() ^ 1);
  int sum = 0;
  for (int i = 0; i < 3; i++) {
    s[threadIdx.x] = i;
    c.sync();
    sum += its[63 - threadIdx.x];
    c.sync();
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

__global__ void __cluster_dims__(4, 1, 1)
    histogram(const int *in, int *out) {  // bins of the cluster, spread over its blocks
  __shared__ int bins[16];
  cg::cluster_group c = cg::this_cluster();
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  c.sync();
  int v = in[blockIdx.x * 64 + threadIdx.x] & 63;
  atomicAdd(c.map_shared_rank(bins, v / 16) + v % 16, 1);
  c.sync();
  if (threadIdx.x < 16) out[blockIdx.x * 16 + threadIdx.x] = bins[threadIdx.x];
}

__global__ void __cluster_dims__(4, 1, 1)
    own_parts(int *out) {  // each block writes its part of the first one's memory
  __shared__ int s[256];
  cg::cluster_group c = cg::this_cluster();
  c.sync();
  c.map_shared_rank(s, 0)[c.block_rank() * 64 + threadIdx.x] = threadIdx.x;
  c.sync();
  if (c.block_rank() == 0)
    for (int i = 0; i < 4; i++)
      out[blockIdx.x * 256 + i * 64 + threadIdx.x] = s[i * 64 + 63 - threadIdx.x];
}

__global__ void __cluster_dims__(2, 1, 1) flag(int *out) {              // one tells the other
  __shared__ int data, ready;
  cg::cluster_group c = cg::this_cluster();
  if (threadIdx.x == 0) ready = 0;
  c.sync();
  if (threadIdx.x == 0 && c.block_rank() == 0) {
    *c.map_shared_rank(&data, 1) = 42;
    cuda::atomic_ref<int, cuda::thread_scope_device>(*c.map_shared_rank(&ready, 1))
        .store(1, cuda::std::memory_order_release);
  }
  if (threadIdx.x == 0 && c.block_rank() == 1) {
    while (cuda::atomic_ref<int, cuda::thread_scope_device>(ready).load(
               cuda::std::memory_order_acquire) == 0) {}
    out[blockIdx.x] = data;
  }
  c.sync();
}

__global__ void __cluster_dims__(1, 2, 1) in_y(int *out) {              // clusters of another shape
  __shared__ int s[64];
  cg::cluster_group c = cg::this_cluster();
  s[threadIdx.x] = c.block_rank();
  c.sync();
  out[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + threadIdx.x] = c.map_shared_rank(
      s, c.block_rank() ^ 1)[63 - threadIdx.x];
  c.sync();
}

__global__ void alone(
    int *out) {  // no cluster: many blocks use the same entries one after the other
  __shared__ int s[64];
  cg::cluster_group c = cg::this_cluster();
  s[threadIdx.x] = threadIdx.x;
  c.sync();
  out[threadIdx.x + blockIdx.x * 64] = c.map_shared_rank(s, 0)[63 - threadIdx.x];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 1 << 16);
  cudaMalloc(&out, 1 << 20);
  cudaMemset(in, 0, 1 << 16);
  for (int i = 0; i < 3; i++) {
    exchange<<<64, 64>>>(out);
    histogram<<<64, 64>>>(in, out);
    own_parts<<<8, 64>>>(out);
    flag<<<8, 32>>>(out);
    in_y<<<dim3(4, 4), 64>>>(out);
    alone<<<2000, 64>>>(out);
  }
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
