// arch: 90
// Asynchronous copies that nobody waits for, and the asynchronous proxy without its fence.
#include <cstdint>
#include <cstdio>

#define AT(p) ((uint32_t)__cvta_generic_to_shared(p))
#define COPY(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(AT(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT_GROUP(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#define INIT(bar, n) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(AT(bar)), "r"(n) : "memory")
#define EXPECT(bar, n) \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(AT(bar)), "r"(n) \
               : "memory")
#define LOAD(to, from, n, bar) \
  asm volatile( \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: \
          "r"(AT(to)), \
      "l"(from), "r"(n), "r"(AT(bar)) \
      : "memory")
#define STORE(to, from, n) \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), \
               "r"(AT(from)), "r"(n) \
               : "memory")
#define COMMIT_BULK() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define WAIT_BULK() asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")
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

__global__ void no_wait(const int *in, int *out) {
  __shared__ int tile[64];
  COPY(&tile[threadIdx.x], &in[threadIdx.x]);                           // finds: race group=no_wait
  COMMIT();
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];                            // finds: race group=no_wait
}

__global__ void own_no_wait(const int *in,
                            int *out) {  // the thread that asked for it has to wait, too
  __shared__ int tile[64];
  // finds-next: race group=own_no_wait
  COPY(&tile[threadIdx.x], &in[threadIdx.x]);
  COMMIT();
  // finds-next: race group=own_no_wait
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void one_group_short(const int *in, int *out) {
  __shared__ int first[64], last[64];
  int t = threadIdx.x;
  COPY(&first[t], &in[t]);
  COMMIT();
  // finds-next: race group=one_group_short
  COPY(&last[t], &in[64 + t]);
  COMMIT();
  WAIT_GROUP(1);
  __syncthreads();
  out[t] = first[63 - t];
  // finds-next: race group=one_group_short
  out[64 + t] = last[63 - t];
}

__global__ void bulk_no_wait(const int *in, int *out) {
  __shared__ alignas(16) int tile[64];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    EXPECT(&bar, 256);
    // finds-next: race group=bulk_no_wait
    LOAD(tile, in, 256, &bar);
  }
  __syncthreads();
  // finds-next: race group=bulk_no_wait
  out[threadIdx.x] = tile[threadIdx.x];
  wait(&bar, 0);
}

__global__ void no_proxy_fence(int *out) {
  __shared__ alignas(16) int tile[64];
  // finds-next: race group=no_proxy_fence
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    // finds-next: race group=no_proxy_fence
    STORE(out, tile, 256);
    COMMIT_BULK();
    WAIT_BULK();
  }
}

__global__ void fence_too_early(int *out) {  // it orders what was written before it
  __shared__ alignas(16) int tile[64];
  tile[threadIdx.x] = 1;
  PROXY_FENCE();
  __syncthreads();
  // finds-next: race group=fence_too_early
  tile[63 - threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    // finds-next: race group=fence_too_early
    STORE(out, tile, 256);
    COMMIT_BULK();
    WAIT_BULK();
  }
}

__global__ void written_while_read(int *out) {
  __shared__ alignas(16) int tile[64];
  for (int i = 0; i < 2; i++) {
    // finds-next: race group=written_while_read
    tile[threadIdx.x] = i;
    PROXY_FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
      // finds-next: race group=written_while_read
      STORE(out + i * 64, tile, 256);
      COMMIT_BULK();
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) WAIT_BULK();
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 4096);
  cudaMalloc(&out, 4096);
  cudaMemset(in, 0, 4096);
  no_wait<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  own_no_wait<<<1, 64>>>(in, out);
  one_group_short<<<1, 64>>>(in, out);
  bulk_no_wait<<<1, 64>>>(in, out);
  no_proxy_fence<<<1, 64>>>(out);
  fence_too_early<<<1, 64>>>(out);
  written_while_read<<<1, 64>>>(out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
