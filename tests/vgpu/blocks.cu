// Blocks: waiting for each other, cooperative grids, clusters, named barriers, barrier reductions,
// deadlocks.
// nvcc: -std=c++17
// arch: compute_90
// prints: chain of 300 blocks: 300
// prints: last block to a first one: 42
// prints: grid sync: 4096
// prints: cluster neighbours: 1 2 3 0
// prints: cluster sum: 6
// prints: named barriers: 64
// prints: votes of a block: 32 1 0
// prints: deadlock is an error: yes
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

__device__ volatile int baton;
__global__ void chain(
    int *out) {  // block i waits for block i-1: blocks must start in order and take turns
  if (threadIdx.x == 0) {
    while (baton != (int)blockIdx.x) {}
    __threadfence();
    *out = blockIdx.x + 1;
    __threadfence();
    baton = blockIdx.x + 1;
  }
}

__device__ volatile int signal_word;
__global__ void first_waits(
    int *out) {  // block 0 waits for the last one: it must not keep the others from starting
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    while (signal_word == 0) {}
    *out = signal_word;
  }
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) signal_word = 42;
}

__global__ void grid_sync(int *data, int *out) {
  cg::grid_group g = cg::this_grid();
  data[g.thread_rank()] = 1;
  g.sync();
  int n = g.size(), me = g.thread_rank();
  int other = data[(me + n / 2) % n];
  g.sync();
  atomicAdd(out, other);
}

__global__ void __cluster_dims__(4, 1, 1) neighbours(int *out) {
  __shared__ int mine, sum;
  cg::cluster_group c = cg::this_cluster();
  int rank = c.block_rank();
  if (threadIdx.x == 0) mine = rank, sum = 0;
  c.sync();
  if (threadIdx.x == 0) {
    out[rank] = *c.map_shared_rank(&mine, (rank + 1) % 4);
    atomicAdd(c.map_shared_rank(&sum, 0), rank);
  }
  c.sync();
  if (rank == 0 && threadIdx.x == 0) out[4] = sum;
}

__global__ void named(int *out) {  // 64 producers, 64 consumers, barrier 1 between them
  __shared__ int data[64];
  if (threadIdx.x < 64) {
    data[threadIdx.x] = 1;
    asm volatile("bar.arrive 1, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 128;" ::: "memory");
    atomicAdd(out, data[threadIdx.x - 64]);
  }
}

__global__ void votes(int *out) {
  int n = __syncthreads_count(threadIdx.x % 2), any = __syncthreads_or(threadIdx.x == 5),
      all = __syncthreads_and(threadIdx.x != 5);
  if (threadIdx.x == 0) out[0] = n, out[1] = any, out[2] = all;
}

__global__ void deadlock() {
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
  else asm volatile("bar.sync 2, 64;");
}

int main() {
  int *out, *data, h[8];
  cudaMalloc(&out, 4096);
  cudaMalloc(&data, 4096 * 4);
  auto fetch = [&] { cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost); };
  chain<<<300, 32>>>(out), fetch();
  printf("chain of 300 blocks: %d\n", h[0]);
  first_waits<<<200, 64>>>(out), fetch();
  printf("last block to a first one: %d\n", h[0]);
  cudaMemset(out, 0, 32);
  void *args[] = {&data, &out};
  cudaLaunchCooperativeKernel((void *)grid_sync, 32, 128, args, 0, 0), fetch();
  printf("grid sync: %d\n", h[0]);
  neighbours<<<4, 32>>>(out), fetch();
  printf("cluster neighbours: %d %d %d %d\ncluster sum: %d\n", h[0], h[1], h[2], h[3], h[4]);
  cudaMemset(out, 0, 32);
  named<<<1, 128>>>(out), fetch();
  printf("named barriers: %d\n", h[0]);
  votes<<<1, 64>>>(out), fetch();
  printf("votes of a block: %d %d %d\n", h[0], h[1], h[2]);
  deadlock<<<1, 64>>>();
  printf("deadlock is an error: %s\n", cudaDeviceSynchronize() != cudaSuccess ? "yes" : "no");
  return 0;
}
