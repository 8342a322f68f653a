// arch: 90
// What bulk copies do in global memory.
#include <cstdint>
#include <cstdio>

#define AT(p) ((uint32_t)__cvta_generic_to_shared(p))
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
#define WAIT_BULK() asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")
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

__device__ static void fill(int *tile) {
  tile[threadIdx.x] = threadIdx.x;
  PROXY_FENCE();
  __syncthreads();
}

__global__ void not_waited(int *out, int *sum) {  // a barrier does not wait for the copy
  __shared__ alignas(16) int tile[64];
  fill(tile);
  if (threadIdx.x == 0) {
    // finds-next: race group=not_waited
    STORE(out, tile, 256);
    COMMIT_BULK();
  }
  __syncthreads();
  // finds-next: race group=not_waited
  sum[threadIdx.x] = out[63 - threadIdx.x];
  if (threadIdx.x == 0) WAIT_BULK();
}

__global__ void of_two_blocks(int *out) {
  __shared__ alignas(16) int tile[64];
  fill(tile);
  if (threadIdx.x == 0) {
    // finds-next: race group=of_two_blocks
    STORE(out, tile, 256);
    COMMIT_BULK();
    WAIT_BULK();
  }
}

__global__ void read_by_another(int *data,
                                int *out) {  // one block copies what the other one writes
  __shared__ alignas(16) int tile[64];
  __shared__ uint64_t bar;
  if (blockIdx.x) {
    // finds-next: race group=read_by_another
    data[threadIdx.x] = threadIdx.x;
    return;
  }
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    EXPECT(&bar, 256);
    // finds-next: race group=read_by_another
    LOAD(tile, data, 256, &bar);
  }
  wait(&bar, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

int main() {
  int *data, *out;
  cudaMalloc(&data, 4096);
  cudaMalloc(&out, 4096);
  cudaMemset(data, 0, 4096);
  not_waited<<<1, 64>>>(data, out);
  of_two_blocks<<<2, 64>>>(data);
  read_by_another<<<2, 64>>>(data, out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
