// arch: 90
// Asynchronous copies that are waited for, and the asynchronous proxy with its fences.
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

__device__ static void arrive(uint64_t *bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(AT(bar)) : "memory");
}

__global__ void waited(const int *in, int *out) {
  __shared__ int tile[64];
  COPY(&tile[threadIdx.x], &in[threadIdx.x]);
  COMMIT();
  WAIT_GROUP(0);
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void ring(const int *in, int *out) {  // three stages, two of them on their way
  __shared__ int tile[3][64];
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 2; i++) {
    COPY(&tile[i][t], &in[i * 64 + t]);
    COMMIT();
  }
  for (int i = 0; i < 9; i++) {
    WAIT_GROUP(1);
    __syncthreads();
    sum += tile[i % 3][63 - t];
    COPY(&tile[(i + 2) % 3][t], &in[(i + 2) % 9 * 64 + t]);
    COMMIT();
  }
  WAIT_GROUP(0);
  out[t] = sum;
}

__global__ void told_by_copies(const int *in,
                               int *out) {  // the copies arrive at the barrier themselves
  __shared__ int tile[64];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) INIT(&bar, 64);
  __syncthreads();
  COPY(&tile[threadIdx.x], &in[threadIdx.x]);
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(AT(&bar)) : "memory");
  wait(&bar, 0);
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void stages(const int *in,
                       int *out) {  // full and empty for each of two stages; one thread copies
  __shared__ alignas(16) int tile[2][64];
  __shared__ uint64_t full[2], empty[2];
  int t = threadIdx.x, sum = 0;
  if (t < 2) {
    INIT(&full[t], 1);
    INIT(&empty[t], 64);
  }
  __syncthreads();
  if (t == 64)
    for (int i = 0; i < 8; i++) {
      if (i >= 2) wait(&empty[i % 2], (i / 2 - 1) % 2);
      EXPECT(&full[i % 2], 256);
      LOAD(tile[i % 2], in + i * 64, 256, &full[i % 2]);
    }
  if (t < 64) {
    for (int i = 0; i < 8; i++) {
      wait(&full[i % 2], i / 2 % 2);
      sum += tile[i % 2][63 - t];
      arrive(&empty[i % 2]);
    }
    out[t] = sum;
  }
}

__global__ void one_waits(const int *in, int *out) {  // and a barrier tells the others
  __shared__ alignas(16) int tile[64];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    INIT(&bar, 1);
    EXPECT(&bar, 256);
    LOAD(tile, in, 256, &bar);
    wait(&bar, 0);
  }
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void fenced_by_all(int *out) {
  __shared__ alignas(16) int tile[64];
  for (int i = 0; i < 3; i++) {
    tile[threadIdx.x] = threadIdx.x;
    PROXY_FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
      STORE(out + i * 64, tile, 256);
      COMMIT_BULK();
      WAIT_BULK();
    }
    __syncthreads();
  }
}

__global__ void fenced_by_one(int *out) {  // who asks for the copy, after the barrier
  __shared__ alignas(16) int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    PROXY_FENCE();
    STORE(out, tile, 256);
    COMMIT_BULK();
    WAIT_BULK();
  }
}

__global__ void there_and_back(const int *in, int *out) {  // nothing is written in the usual way
  __shared__ alignas(16) int tile[64];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    INIT(&bar, 1);
    EXPECT(&bar, 256);
    LOAD(tile, in, 256, &bar);
    wait(&bar, 0);
    STORE(out, tile, 256);
    COMMIT_BULK();
    WAIT_BULK();
  }
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 4096);
  cudaMalloc(&out, 4096);
  cudaMemset(in, 0, 4096);
  waited<<<1, 64>>>(in, out);
  ring<<<1, 64>>>(in, out);
  told_by_copies<<<1, 64>>>(in, out);
  stages<<<1, 96>>>(in, out);
  one_waits<<<1, 64>>>(in, out);
  fenced_by_all<<<1, 64>>>(out);
  fenced_by_one<<<1, 64>>>(out);
  there_and_back<<<1, 64>>>(in, out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
