// nvcc: -Iinclude -arch=sm_90
// Bulk copies: one that an mbarrier counts is over before the first call, and those of bulk groups
// are waited for when a thread is suspended. Each kernel is compared with itself without them.
#include "compare.h"

static __device__ unsigned shared_address(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

// One thread asks for the tile, and all wait for its bytes.
static __device__ void load_tile(int *tile, const int *from, unsigned bytes) {
  __shared__ __align__(8) unsigned long long barrier;
  unsigned at = shared_address(&barrier), done = 0;
  if (!threadIdx.x) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(at) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" : : "r"(at), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2,"
                 " [%3];" : : "r"(shared_address(tile)), "l"(from), "r"(bytes), "r"(at) : "memory");
  }
  __syncthreads();
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; "
                 "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
}

template <bool I> __global__ void loaded(int *out, const int *in, int) {
  __shared__ __align__(128) int tile[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  load_tile(tile, in + blockIdx.x * BLOCK, sizeof tile);
  int v = tile[(t + 1) % BLOCK];
  if (t % 5 == 1) v = twice<I>(v);
  __syncthreads();
  out[i] = v + tile[t ^ 3];
}

// The copy to global memory is under way when threads are suspended.
template <bool I> __global__ void stored(int *out, const int *in, int) {
  __shared__ __align__(128) int tile[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  tile[t] = t % 4 ? in[i] : twice<I>(in[i]);
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
  __syncthreads();
  if (!t) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" : :
                 "l"(out + blockIdx.x * BLOCK), "r"(shared_address(tile)),
                 "r"((unsigned)sizeof tile) : "memory");
    asm volatile("cp.async.bulk.commit_group;" : : : "memory");
    int v = twice<I>(t + 1);
    asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
    out[i] += v;
  }
}

int main() {
  compare("loaded", loaded<false>, loaded<true>);
  compare("stored", stored<false>, stored<true>);
}
