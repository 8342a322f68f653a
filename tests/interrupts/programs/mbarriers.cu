// nvcc: -Iinclude -arch=sm_80 -Xcudafe --diag_suppress=20054
// Barriers that lie in shared memory (cuda::barrier is an mbarrier from sm_80 on): threads that
// wait for a suspended one are suspended, too; phases, tokens, threads that drop out, and copies
// that arrive are kept.
#include <cuda/barrier>
#include <cstdio>
#include <utility>

#include "warpgrind.h"

enum { THREADS = 128, BLOCKS = 3, N = THREADS * BLOCKS, ROUNDS = 3 };
WG_INTERRUPT_OR(ten_times, int(int x), 0);
WG_HANDLER(ten_times, wg_callers &callers, wg_list<int> x, wg_results<int> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = x[i] * 10;
}
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// Some call before a barrier, some between arriving and waiting.
__global__ void phases(int *out) {
  __shared__ Barrier barrier;
  __shared__ int tile[THREADS];
  int t = threadIdx.x, i = t + blockIdx.x * THREADS;
  if (t == 0) init(&barrier, THREADS);
  __syncthreads();
  int sum = 0;
  for (int r = 0; r < ROUNDS; r++) {
    int x = i + r;
    if (t % 3 == r) x = ten_times(x);
    tile[t] = x;
    barrier.arrive_and_wait();
    int y = tile[(t + 1) % THREADS];
    auto token = barrier.arrive();
    if (t % 2) y = ten_times(y);
    barrier.wait(std::move(token));
    sum += y;
  }
  out[i] = sum;
}

// Half of the threads drop out in the first phase; the others go on with one another.
__global__ void drops(int *out) {
  __shared__ Barrier barrier;
  __shared__ int tile[THREADS];
  int t = threadIdx.x, i = t + blockIdx.x * THREADS;
  if (t == 0) init(&barrier, THREADS);
  __syncthreads();
  tile[t] = t < 8 ? ten_times(t) : t;
  if (t >= THREADS / 2) {
    barrier.arrive_and_drop();
    out[i] = 0;
    return;
  }
  barrier.arrive_and_wait();
  int x = tile[t + THREADS / 2];
  if (t == 5) x = ten_times(x);
  tile[t] += x;
  barrier.arrive_and_wait();
  out[i] = tile[(t + 1) % (THREADS / 2)];
}

__device__ unsigned address_of(const void *shared) {
  return (unsigned)__cvta_generic_to_shared(shared);
}
__device__ void arrive_at(unsigned at) {
  asm volatile("{\n\t.reg .b64 s;\n\tmbarrier.arrive.shared.b64 s, [%0];\n\t}" ::"r"(at)
               : "memory");
}

// As code for warp specialisation has it: by parity, without a token, polled by hand.
__device__ bool is_past(unsigned at, unsigned parity) {
  unsigned past;
  asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\t"
               "selp.u32 %0, 1, 0, p;\n\t}"
               : "=r"(past) : "r"(at), "r"(parity) : "memory");
  return past;
}
__global__ void parities(int *out) {
  __shared__ alignas(8) unsigned long long full, empty;
  __shared__ int slot;
  unsigned f = address_of(&full), e = address_of(&empty);
  int t = threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(f) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(e) : "memory");
  }
  __syncthreads();
  if (t == 0) {
    for (int r = 0; r < 6; r++) {
      while (r && !is_past(e, (r - 1) & 1)) {}
      slot = r % 2 ? ten_times(r) : r;
      arrive_at(f);
    }
  } else if (t == 32) {
    int sum = 0;
    for (int r = 0; r < 6; r++) {
      while (!is_past(f, r & 1)) {}
      sum = sum * 3 + (r % 3 ? slot : ten_times(slot));
      arrive_at(e);
    }
    out[blockIdx.x] = sum;
  }
}

// Copies arrive at the barrier when they are done.
__global__ void copies(int *out, const int *in) {
  __shared__ Barrier barrier;
  __shared__ alignas(16) int tile[THREADS];
  int t = threadIdx.x, i = t + blockIdx.x * THREADS;
  if (t == 0) init(&barrier, THREADS);
  __syncthreads();
  unsigned to = address_of(&tile[t]);
  unsigned at = address_of(&barrier);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + i) : "memory");
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(at) : "memory");
  int x = t % 9 ? 1 : ten_times(1);
  barrier.arrive_and_wait();
  out[i] = tile[THREADS - 1 - t] * x;
}

int main() {
  int *out, *in, host[N], input[N], wrong = 0;
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&in, sizeof host);
  phases<<<BLOCKS, THREADS>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; i++) {
    int t = i % THREADS, n = (t + 1) % THREADS, expected = 0;
    for (int r = 0; r < ROUNDS; r++) {
      int y = (i - t + n + r) * (n % 3 == r ? 10 : 1);
      expected += t % 2 ? y * 10 : y;
    }
    wrong += host[i] != expected;
  }
  printf("phases: %d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
  drops<<<BLOCKS, THREADS>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  wrong = 0;
  for (int i = 0; i < N; i++) {
    int t = i % THREADS, n = (t + 1) % (THREADS / 2), x = n + THREADS / 2;
    int expected = (n < 8 ? n * 10 : n) + (n == 5 ? x * 10 : x);
    wrong += host[i] != (t < THREADS / 2 ? expected : 0);
  }
  printf("drops: %d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
  parities<<<BLOCKS, 64>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("parities: %d %d %d, %s\n", host[0], host[1], host[2],
         cudaGetErrorString(cudaGetLastError()));
  for (int i = 0; i < N; i++) input[i] = i * 7;
  cudaMemcpy(in, input, sizeof input, cudaMemcpyHostToDevice);
  copies<<<BLOCKS, THREADS>>>(out, in);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  wrong = 0;
  for (int i = 0; i < N; i++) {
    int t = i % THREADS;
    wrong += host[i] != input[i - t + THREADS - 1 - t] * (t % 9 ? 1 : 10);
  }
  printf("copies: %d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
  cudaFree(out);
  cudaFree(in);
}
