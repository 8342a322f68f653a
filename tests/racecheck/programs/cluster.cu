// arch: 90
// Shared memory of other blocks of a cluster.
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) no_cluster_barrier(int *out) {
  __shared__ int s[64];
  cg::cluster_group c = cg::this_cluster();
  // finds-next: race group=no_cluster_barrier
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();                                                      // of this block only
  const int *its = c.map_shared_rank(s, c.block_rank() ^ 1);
  // finds-next: race group=no_cluster_barrier
  out[blockIdx.x * 64 + threadIdx.x] = its[63 - threadIdx.x];
  c.sync();
}

__global__ void __cluster_dims__(4, 1, 1) all_write_one(int *out) {
  __shared__ int s[64];
  cg::cluster_group c = cg::this_cluster();
  s[threadIdx.x] = 0;
  c.sync();
  int *first = c.map_shared_rank(s, 0);
  // finds-next: race group=all_write_one
  first[threadIdx.x] = c.block_rank() + threadIdx.x;
  c.sync();
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}

__global__ void __cluster_dims__(2, 1, 1)
    named(int *out) {  // ld.shared::cluster, st.shared::cluster
  __shared__ int s[64];
  uint32_t at, its, rank, v;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  at = (uint32_t)__cvta_generic_to_shared(&s[threadIdx.x]);
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(its) : "r"(at), "r"(rank ^ 1));
  s[threadIdx.x] = 1;
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  // finds-next: race group=named
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(its), "r"(threadIdx.x) : "memory");
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];             // finds: race group=named
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

__global__ void __cluster_dims__(2, 1, 1)
    gone_too_early(int *out) {  // written again before the other has read it
  __shared__ int s[64];
  cg::cluster_group c = cg::this_cluster();
  const int *its = c.map_shared_rank(s, c.block_rank() ^ 1);
  int sum = 0;
  for (int i = 0; i < 3; i++) {
    // finds-next: race group=gone_too_early
    s[threadIdx.x] = i;
    c.sync();
    // finds-next: race group=gone_too_early
    sum += its[63 - threadIdx.x];
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
  c.sync();
}

int main() {
  int *out;
  cudaMalloc(&out, 1 << 16);
  no_cluster_barrier<<<8, 64>>>(out);
  all_write_one<<<8, 64>>>(out);
  named<<<8, 64>>>(out);
  gone_too_early<<<8, 64>>>(out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
