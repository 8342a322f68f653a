// nvcc: -Iinclude -arch=sm_90
// Barriers of a cluster and shared memory of its other blocks, with interrupts in between
// (src/interrupt/clusters.c). Each kernel is compared with itself without interrupts.
#include <cooperative_groups.h>

#include "compare.h"

namespace cg = cooperative_groups;

// Each block reads what others have written, and some threads call between two barriers.
template <bool I> __global__ __cluster_dims__(4) void ring(int *out, const int *in, int n) {
  __shared__ int s[BLOCK];
  cg::cluster_group c = cg::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t, v = 0;
  s[t] = in[i];
  c.sync();
#pragma unroll 1
  for (int k = 0; k < n / 300; k++) {
    const int *other = c.map_shared_rank(s, (c.block_rank() + k + 1) % 4);
    v += other[(t + k) % BLOCK];
    if ((i + k) % 13 == 0) v = twice<I>(v) % 1000;
    c.sync();
    s[t] = v;
    c.sync();
  }
  out[i] = v + s[t ^ 1];
}

// One block calls and comes to a barrier of its own; the others wait for it in the cluster.
template <bool I> __global__ __cluster_dims__(4) void one_block(int *out, const int *in, int) {
  __shared__ int s[BLOCK], sum;
  cg::cluster_group c = cg::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  s[t] = in[i];
  if (!t) sum = 0;
  if (c.block_rank() == 2 && t % 3 == 0) s[t] = twice<I>(s[t]);
  __syncthreads();
  if (t < 32) {
    int v = s[t] + s[t + 32] + s[t + 64] + s[t + 96];
    for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
    if (!t) sum = v;
  }
  c.sync();
  int all = 0;
  for (int k = 0; k < 4; k++) all += *c.map_shared_rank(&sum, k);
  if (t == 5) all += twice<I>(all);
  c.sync();  // nobody leaves while others read its sum
  out[i] = all + s[t];
}

// Some threads end before the barrier, others are suspended more than once.
template <bool I> __global__ __cluster_dims__(4) void some_end(int *out, const int *in, int n) {
  __shared__ int s[BLOCK];
  cg::cluster_group c = cg::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  s[t] = in[i];
  c.sync();
  int v = s[t];
  for (int k = 0; k < t % 3; k++) v = twice<I>(v) + k;
  if (i >= n) {
    out[i] = v;
    return;
  }
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" : : : "memory");
  out[i] = v + s[0];
}

// Behind the last barrier nobody needs the others.
template <bool I> __global__ __cluster_dims__(4) void behind(int *out, const int *in, int) {
  __shared__ int s[BLOCK];
  cg::cluster_group c = cg::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  s[t] = in[i];
  c.sync();
  int v = c.map_shared_rank(s, c.block_rank() ^ 1)[t];
  c.sync();
  if (t % 7 == 2) v = twice<I>(v);
  out[i] = v + s[t ^ 1];
}
int main() {
  compare("ring", ring<false>, ring<true>);
  compare("one block", one_block<false>, one_block<true>);
  compare("some end", some_end<false>, some_end<true>);
  compare("behind", behind<false>, behind<true>);
}
