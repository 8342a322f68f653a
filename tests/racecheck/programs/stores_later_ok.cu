// arch: 90
// st.async and red.async: stores to another block of the cluster that are done later, when an
// mbarrier there is told.
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
namespace cg = cooperative_groups;

#define AT(p) ((uint32_t)__cvta_generic_to_shared(p))
__device__ static uint32_t of_rank(void *p, uint32_t rank) {
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(AT(p)), "r"(rank));
  return there;
}
#define INIT(bar, n) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(AT(bar)), "r"(n) : "memory")
#define EXPECT(bar, n) \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(AT(bar)), "r"(n) \
               : "memory")
#define STORE(to, v, bar) \
  asm volatile( \
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), \
      "r"(v), "r"(bar) \
      : "memory")
#define ADD(to, v, bar) \
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 " \
               "[%0], %1, [%2];" ::"r"(to), \
               "r"(v), "r"(bar) \
               : "memory")
__device__ static void wait(uint64_t *bar, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, "
                 "[%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(AT(bar)), "r"(parity)
                 : "memory");
}

// It is waited for.
__global__ void __cluster_dims__(2, 1, 1) sent(uint32_t *out) {
  __shared__ uint32_t s[64], sum;
  __shared__ uint64_t bar;
  cg::cluster_group c = cg::this_cluster();
  uint32_t other = c.block_rank() ^ 1, t = threadIdx.x;
  s[t] = 0;
  if (t == 0) sum = 0;
  if (t == 0) INIT(&bar, 1);
  c.sync();
  if (t == 0) EXPECT(&bar, 64 * 8);
  __syncthreads();
  STORE(of_rank(&s[t], other), t, of_rank(&bar, other));
  ADD(of_rank(&sum, other), t, of_rank(&bar, other));
  wait(&bar, 0);
  out[blockIdx.x * 64 + t] = s[63 - t];
  if (t == 0) out[128 + blockIdx.x] = sum;
  c.sync();
}

int main() {
  uint32_t *out;
  cudaMalloc(&out, 4096);
  sent<<<2, 64>>>(out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
