// arch: 90
// What bulk copies do in global memory, with all that orders them.
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

#define ADD(to, from, n) \
  asm volatile( \
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(to), \
      "r"(AT(from)), "r"(n) \
      : "memory")

__device__ static void fill(int *tile) {
  tile[threadIdx.x] = threadIdx.x;
  PROXY_FENCE();
  __syncthreads();
}

__global__ void waited(int *out, int *sum) {
  __shared__ alignas(16) int tile[64];
  fill(tile);
  if (threadIdx.x == 0) {
    STORE(out, tile, 256);
    COMMIT_BULK();
    WAIT_BULK();
  }
  __syncthreads();
  sum[threadIdx.x] = out[63 - threadIdx.x];
}

__global__ void adds(int *out) {  // of several blocks, to the same words
  __shared__ alignas(16) int tile[64];
  fill(tile);
  if (threadIdx.x == 0) {
    ADD(out, tile, 256);
    COMMIT_BULK();
    WAIT_BULK();
  }
}

__global__ void handed_on(
    int *data, int *flag,
    int *out) {  // to another block, by another thread than the one that has waited
  __shared__ alignas(16) int tile[64];
  __shared__ uint64_t bar;
  if (blockIdx.x == 0) {
    fill(tile);
    if (threadIdx.x == 0) {
      STORE(data, tile, 256);
      COMMIT_BULK();
      WAIT_BULK();
    }
    __syncthreads();
    if (threadIdx.x == 40) {
      __threadfence();
      atomicExch(flag, 1);
    }
    return;
  }
  if (threadIdx.x == 0) {
    INIT(&bar, 1);
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    EXPECT(&bar, 256);
    LOAD(tile, data, 256, &bar);
  }
  out[64 + threadIdx.x] = data[63 - threadIdx.x];
  wait(&bar, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void in_place(int *data) {  // there and back, and then in the usual way
  __shared__ alignas(16) int tile[64];
  __shared__ uint64_t bar;
  int *own = data + blockIdx.x * 64;
  if (threadIdx.x == 0) INIT(&bar, 1);
  __syncthreads();
  for (int i = 0; i < 3; i++) {
    if (threadIdx.x == 0) {
      EXPECT(&bar, 256);
      LOAD(tile, own, 256, &bar);
    }
    wait(&bar, i & 1);
    tile[threadIdx.x] += i;
    PROXY_FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
      STORE(own, tile, 256);
      COMMIT_BULK();
      WAIT_BULK();
    }
    __syncthreads();
    own[63 - threadIdx.x] += 1;
    asm volatile("fence.proxy.async.global;" ::: "memory");
    __syncthreads();
  }
}

int main() {
  int *data, *out, *flag;
  cudaMalloc(&data, 4096);
  cudaMalloc(&out, 4096);
  cudaMalloc(&flag, 4);
  cudaMemset(data, 0, 4096);
  cudaMemset(flag, 0, 4);
  waited<<<1, 64>>>(data, out);
  adds<<<4, 64>>>(data);
  handed_on<<<2, 64>>>(data, flag, out);
  in_place<<<4, 64>>>(data);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
