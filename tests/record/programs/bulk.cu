// Copies that are done later than where they stand: bulk copies both ways, reductions, stores to
// other blocks of a cluster. `beyond`: a copy from far behind the end of in; `early`: it is not
// waited for. Run by bulk.sh.
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
namespace cg = cooperative_groups;

#define AT(p) ((uint32_t)__cvta_generic_to_shared(p))
#define INIT(bar, n) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(AT(bar)), "r"(n) : "memory")
#define EXPECT(bar, n) \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(AT(bar)), "r"(n) \
               : "memory")
#define ARRIVE(bar) \
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(AT(bar)) : "memory")
#define LOAD(to, from, n, bar) \
  asm volatile( \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: \
          "r"(AT(to)), \
      "l"(from), "r"(n), "r"(AT(bar)) \
      : "memory")
#define LOAD_TO(to, from, n, bar, mask) \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::" \
               "cluster [%0], [%1], %2, [%3], %4;" ::"r"(AT(to)), \
               "l"(from), "r"(n), "r"(AT(bar)), "h"(mask) \
               : "memory")
#define STORE(to, from, n) \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), \
               "r"(AT(from)), "r"(n) \
               : "memory")
#define ADD(to, from, n) \
  asm volatile( \
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(to), \
      "r"(AT(from)), "r"(n) \
      : "memory")
#define SEND(to, v, bar) \
  asm volatile( \
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), \
      "r"(v), "r"(bar) \
      : "memory")
#define SEND_ADD(to, v, bar) \
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 " \
               "[%0], %1, [%2];" ::"r"(to), \
               "r"(v), "r"(bar) \
               : "memory")
#define DONE() asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory")
#define PROXY_FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
__device__ static void wait(uint64_t *bar, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 "
                 "%0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(AT(bar)), "r"(parity)
                 : "memory");
}
__device__ static uint32_t of_rank(void *p, uint32_t rank) {
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(AT(p)), "r"(rank));
  return there;
}

// One variable, so that all of it lies in the same order on every device.
struct Tile { alignas(16) uint32_t tile[64]; uint64_t bar; };

__global__ void loaded(const uint32_t *in, uint32_t *out, bool waits) {
  __shared__ Tile shared;
  auto &[tile, bar] = shared;
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    EXPECT(&bar, 256);
    LOAD(tile, in, 256, &bar);
  }
  if (waits) wait(&bar, 0);
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void stored(const uint32_t *in, uint32_t *out, bool add) {
  __shared__ alignas(16) uint32_t tile[64];
  tile[threadIdx.x] = in[threadIdx.x] + 1;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (add) ADD(out, tile, 256);
    else STORE(out, tile, 256);
    DONE();
  }
}

// Two stages and a warp that only copies: stage i % 2 has elements of the i-th 64; the values of
// turns 2 and 4 are the same.
__global__ void stages(const uint32_t *in, uint32_t *out) {
  __shared__ struct { alignas(16) uint32_t tile[2][64]; uint64_t full[2], empty[2]; } shared;
  auto &[tile, full, empty] = shared;
  int t = threadIdx.x;
  if (t < 2) {
    INIT(&full[t], 1);
    INIT(&empty[t], 64);
  }
  __syncthreads();
  if (t == 64)
    for (int i = 0; i < 6; i++) {
      if (i >= 2) wait(&empty[i % 2], (i / 2 - 1) % 2);
      EXPECT(&full[i % 2], 256);
      LOAD(tile[i % 2], in + (i == 4 ? 2 : i) * 64, 256, &full[i % 2]);
    }
  if (t < 64)
    for (int i = 0; i < 6; i++) {
      wait(&full[i % 2], i / 2 % 2);
      out[i * 64 + t] = tile[i % 2][63 - t];
      ARRIVE(&empty[i % 2]);
    }
}

__global__ void __cluster_dims__(2, 1, 1) sent(uint32_t *out) {
  __shared__ struct { uint32_t s[64], sum; uint64_t bar; } shared;
  auto &[s, sum, bar] = shared;
  cg::cluster_group c = cg::this_cluster();
  uint32_t other = c.block_rank() ^ 1, t = threadIdx.x;
  s[t] = 0;
  if (t == 0) sum = 0;
  if (t == 0) INIT(&bar, 1);
  c.sync();
  if (t == 0) EXPECT(&bar, 64 * 8);
  __syncthreads();
  SEND(of_rank(&s[t], other), t + 7, of_rank(&bar, other));
  SEND_ADD(of_rank(&sum, other), t, of_rank(&bar, other));
  wait(&bar, 0);
  out[blockIdx.x * 64 + t] = s[63 - t];
  if (t == 0) out[128 + blockIdx.x] = sum;
  c.sync();
}

__global__ void __cluster_dims__(2, 1, 1) to_both(const uint32_t *in, uint32_t *out) {
  __shared__ Tile shared;
  auto &[tile, bar] = shared;
  cg::cluster_group c = cg::this_cluster();
  if (threadIdx.x == 0) {
    INIT(&bar, 1);
    EXPECT(&bar, 256);
  }
  c.sync();
  if (blockIdx.x == 1 && threadIdx.x == 0) LOAD_TO(tile, in, 256, &bar, (uint16_t)3);
  wait(&bar, 0);
  out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
  c.sync();
}

// What it reads has no record, but all that it writes.
__global__ void through_texture(cudaTextureObject_t in, uint32_t *out) {
  out[threadIdx.x] = tex1Dfetch<uint32_t>(in, 63 - threadIdx.x);
}

int main(int argc, char **argv) {
  enum { N = 384 };
  uint32_t *in, *out, host[N];
  cudaMalloc(&in, sizeof host), cudaMalloc(&out, sizeof host);
  for (int i = 0; i < N; i++) host[i] = 1000 + i;
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  unsigned mixed = 0;
  auto mix = [&] {
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (unsigned x : host) mixed = mixed * 31 + x;
  };
  cudaMemset(out, 0, sizeof host);
  char mode = argc > 1 ? argv[1][0] : 0;
  loaded<<<1, 64>>>(mode == 'b' ? in + (1 << 28) : in, out, mode != 'e'), mix();
  stored<<<1, 64>>>(in, out + 64, false), mix();
  stored<<<1, 64>>>(in, out + 64, true), mix();
  stages<<<1, 96>>>(in, out), mix();
  sent<<<2, 64>>>(out), mix();
  to_both<<<2, 64>>>(in, out), mix();
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = in;
  resource.res.linear.desc = cudaCreateChannelDesc<uint32_t>();
  resource.res.linear.sizeInBytes = sizeof host;
  cudaTextureDesc how = {};
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  through_texture<<<1, 64>>>(texture, out), mix();
  printf("%08x %s\n", mixed, cudaGetErrorString(cudaGetLastError()));
}
