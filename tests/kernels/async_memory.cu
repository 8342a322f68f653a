// Bulk copies and reductions, asynchronous stores between blocks of a cluster, mbarriers, memory
// from alloca.
// arch: compute_90
// prints: all checks passed
#include <cooperative_groups.h>

#include "../runtime/check.h"

namespace cg = cooperative_groups;

static __device__ unsigned shared_address(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void wait(unsigned barrier, unsigned phase) {
  asm volatile("{ .reg .pred p;\n"
               "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
               "@!p bra again; }" :: "r"(barrier), "r"(phase) : "memory");
}

// global -> shared with an mbarrier, then added back to global
__global__ void bulk(const int *in, int *out) {
  __shared__ __align__(128) int s[256];
  __shared__ __align__(8) unsigned long long barrier;
  unsigned b = shared_address(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(1024)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared_address(s)),
        "l"(in), "r"(1024), "r"(b)
        : "memory");
  }
  __syncthreads();
  wait(b, 0);
  s[threadIdx.x] *= 2;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(out),
        "r"(shared_address(s)), "r"(1024)
        : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%0], [%1], %2;" ::"l"(
                     out + 256),
                 "r"(shared_address(s)), "r"(1024)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// each block of the cluster sends values to the next one
__global__ void __cluster_dims__(4, 1, 1) ring(int *out) {
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ __align__(16) int got[64];
  __shared__ int count;
  __shared__ __align__(8) unsigned long long barrier;
  unsigned b = shared_address(&barrier), rank = cluster.block_rank(), next = (rank + 1) % 4, remote,
           remote_barrier, remote_count;
  if (threadIdx.x == 0) {
    count = 0;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b),
                 "r"(32 * 8 + 32 * 4)
                 : "memory");
  }
  cluster.sync();
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(remote)
      : "r"(shared_address(got + threadIdx.x * 2)), "r"(next));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote_barrier) : "r"(b), "r"(next));
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(remote_count)
      : "r"(shared_address(&count)), "r"(next));
  int x = (int)(rank * 1000 + threadIdx.x), y = -x;
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.s32 [%0], {%1,%2}, [%3];" ::
          "r"(remote),
      "r"(x), "r"(y), "r"(remote_barrier)
      : "memory");
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 "
               "[%0], %1, [%2];" ::"r"(remote_count),
               "r"((int)threadIdx.x), "r"(remote_barrier)
               : "memory");
  wait(b, 0);
  out[blockIdx.x * 65 + threadIdx.x * 2] = got[threadIdx.x * 2];
  out[blockIdx.x * 65 + threadIdx.x * 2 + 1] = got[threadIdx.x * 2 + 1];
  if (threadIdx.x == 0) out[blockIdx.x * 65 + 64] = count;
  cluster.sync();
}

__device__ __noinline__ int below(const int *p, int n) {
  int *mine = (int *)alloca(16);
  mine[0] = 7;
  int sum = 0;
  for (int i = 0; i < n; i++) sum += p[i];
  return sum + mine[0] - 7;
}

__global__ void stack(int *out) {
  int n = (int)threadIdx.x % 5 + 1, *p = (int *)alloca(n * sizeof(int));
  for (int i = 0; i < n; i++) p[i] = (int)threadIdx.x + i;
  int sum = below(p, n);
  if (threadIdx.x & 1) {
    int *q = (int *)alloca(64);
    for (int i = 0; i < 16; i++) q[i] = i;
    sum += q[15] + below(p, n);
  }
  out[threadIdx.x] = sum;
}

int main() {
  int *in, *out;
  OK(cudaMallocManaged(&in, 1024));
  OK(cudaMallocManaged(&out, 2048));
  for (int i = 0; i < 256; i++) in[i] = i * 3 - 100, out[i] = 5, out[256 + i] = 50;
  bulk<<<1, 256>>>(in, out);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; i++) {
    EXPECT(out[i] == 5 + 2 * in[i]);
    EXPECT(out[256 + i] == (2 * in[i] > 50 ? 2 * in[i] : 50));
  }
  ring<<<4, 32>>>(out);
  OK(cudaDeviceSynchronize());
  for (int b = 0; b < 4; b++) {
    int from = (b + 3) % 4;
    for (int t = 0; t < 32; t++)
      EXPECT(out[b * 65 + t * 2] == from * 1000 + t &&
             out[b * 65 + t * 2 + 1] == -(from * 1000 + t));
    EXPECT(out[b * 65 + 64] == 31 * 32 / 2);
  }
  stack<<<1, 32>>>(out);
  OK(cudaDeviceSynchronize());
  for (int t = 0; t < 32; t++) {
    int n = t % 5 + 1, sum = n * t + n * (n - 1) / 2;
    EXPECT(out[t] == (t & 1 ? 2 * sum + 15 : sum));
  }
  return finish();
}
