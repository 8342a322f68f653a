// nvcc: -Iinclude
// Barriers of a part of the block, by their numbers: halves that wait for their own threads only,
// producers that arrive and consumers that wait, warps of which some lanes have ended, numbers in
// registers; and a barrier of the whole block that has another number than __syncthreads().
#include <cstdio>

#include "warpgrind.h"

enum { THREADS = 128, BLOCKS = 3, N = THREADS * BLOCKS };
WG_INTERRUPT_OR(ten_times, int(int x), 0);
WG_HANDLER(ten_times, wg_callers &callers, wg_list<int> x, wg_results<int> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = x[i] * 10;
}

__global__ void halves(int *out) {
  __shared__ int tile[THREADS];
  int t = threadIdx.x, half = t / 64, sum = 0;
  for (int r = 0; r < 3; r++) {
    tile[t] = t % 5 == r ? ten_times(t + r) : t + r;
    if (half) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    sum += tile[half * 64 + (t + 1) % 64];
    if (half && t % 7 == 0) sum = ten_times(sum);
    asm volatile("barrier.sync %0, 64;" ::"r"(half + 5) : "memory");
  }
  asm volatile("bar.sync 3;" ::: "memory");
  if (t == 100) tile[0] = ten_times(7);
  asm volatile("bar.sync 4;" ::: "memory");
  out[blockIdx.x * THREADS + t] = sum + tile[0];
}

// Warp 0 fills a slot, warps 1 to 3 read it; barrier 1: it is full, barrier 2: it is empty.
__global__ void slots(int *out) {
  __shared__ int slot[32];
  int t = threadIdx.x, sum = 0;
  if (t < 32) {
    for (int r = 0; r < 4; r++) {
      if (r) asm volatile("bar.sync 2, 128;" ::: "memory");
      slot[t] = (t + r) % 4 ? t + r : ten_times(t + r);
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    }
  } else {
    for (int r = 0; r < 4; r++) {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      sum += slot[(t + r) % 32] * (t / 32);
      if (r == 2 && t % 3 == 0) sum = ten_times(sum);
      if (r < 3) asm volatile("bar.arrive 2, 128;" ::: "memory");
    }
  }
  out[blockIdx.x * THREADS + t] = sum;
}

// 90 threads, of which 80 go on: warps 0 to 2, the last with 16 lanes. Some end late.
__global__ void ended(int *out) {
  __shared__ int tile[96];
  int t = threadIdx.x;
  if (t >= 80) {
    if (t == 85) out[BLOCKS * THREADS + blockIdx.x] = ten_times(t);
    return;
  }
  tile[t] = t == 70 ? ten_times(t) : t;
  asm volatile("barrier.sync 1, 96;" ::: "memory");
  out[blockIdx.x * THREADS + t] = tile[79 - t];
}

int main() {
  int *out, host[N + BLOCKS], wrong = 0;
  cudaMalloc(&out, sizeof host);
  cudaMemset(out, 0, sizeof host);
  halves<<<BLOCKS, THREADS>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; i++) {
    int t = i % THREADS, half = t / 64, n = half * 64 + (t + 1) % 64, sum = 0;
    for (int r = 0; r < 3; r++) {
      sum += (n + r) * (n % 5 == r ? 10 : 1);
      if (half && t % 7 == 0) sum *= 10;
    }
    wrong += host[i] != sum + 70;
  }
  printf("halves: %d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
  slots<<<BLOCKS, THREADS>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  wrong = 0;
  for (int i = 0; i < N; i++) {
    int t = i % THREADS, sum = 0;
    for (int r = 0; r < 4; r++) {
      int k = (t + r) % 32;
      sum += (k + r) * ((k + r) % 4 ? 1 : 10) * (t / 32);
      if (t >= 32 && r == 2 && t % 3 == 0) sum *= 10;
    }
    wrong += host[i] != sum;
  }
  printf("slots: %d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
  ended<<<BLOCKS, 90>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  wrong = 0;
  for (int i = 0; i < N; i++) {
    int t = i % THREADS, from = 79 - t;
    wrong += t < 80 && host[i] != (from == 70 ? 700 : from);
  }
  for (int b = 0; b < BLOCKS; b++) wrong += host[N + b] != 850;
  printf("ended: %d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
  cudaFree(out);
}
