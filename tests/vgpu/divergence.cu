// Divergence inside a warp: reconvergence, forward progress between lanes, early exit, masks of
// collectives.
// prints: spin lock inside a warp: 96
// prints: lane 1 waits for lane 0: 7
// prints: lanes meet again after a branch: ffffffff
// prints: loop trip counts differ: 496
// prints: barrier after early exit: 48
// prints: shuffles in halves: 0 16
// prints: ballot in a branch: 55555555
// prints: switch: 10 21 32 43
#include <cstdio>

__device__ int lock_word, counter;
__global__ void spin_lock() {
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock_word, 0, 1) == 0) {
      counter = *(volatile int *)&counter + 1;
      __threadfence();
      atomicExch(&lock_word, 0);
      done = true;
    }
  }
}

__device__ volatile int flag;
__global__ void lane_waits(int *out) {
  if (threadIdx.x == 1) {
    while (flag == 0) {}
    *out = flag;
  }
  if (threadIdx.x == 0) flag = 7;
}

__global__ void meet_again(unsigned *out) {
  int v = threadIdx.x;
  if (v & 1) v *= 3;
  else if (v & 2) v += 5;
  else v = -v;
  unsigned m = __activemask();
  if (threadIdx.x == 0) out[0] = m;
  out[1 + threadIdx.x] = v;
}

__global__ void trip_counts(int *out) {
  int n = 0;
  for (int i = 0; i < (int)threadIdx.x; i++) n++;
  atomicAdd(out, n);
}

__global__ void early_exit(int *out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (threadIdx.x % 4 == 3) return;
  atomicAdd(&sum, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}

__global__ void halves(int *out) {
  unsigned mask = threadIdx.x < 16 ? 0xffffu : 0xffff0000u;
  int v = __shfl_sync(mask, threadIdx.x, 0, 16);
  out[threadIdx.x] = v;
}

__global__ void ballot_in_branch(unsigned *out) {
  if (threadIdx.x % 2 == 0) {
    unsigned b = __ballot_sync(0x55555555u, 1);
    if (threadIdx.x == 0) *out = b;
  }
}

__global__ void switches(int *out) {
  int i = threadIdx.x;
  switch (i & 3) {
  case 0: out[i] = 10 + i; break;
  case 1: out[i] = 20 + i; break;
  case 2: out[i] = 30 + i; break;
  default: out[i] = 40 + i; break;
  }
}

int main() {
  int *out, h[64];
  cudaMalloc(&out, 4096);
  auto fetch = [&] { cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost); };
  spin_lock<<<1, 96>>>();
  cudaMemcpyFromSymbol(h, counter, 4);
  printf("spin lock inside a warp: %d\n", h[0]);
  lane_waits<<<1, 32>>>(out), fetch();
  printf("lane 1 waits for lane 0: %d\n", h[0]);
  meet_again<<<1, 32>>>((unsigned *)out), fetch();
  printf("lanes meet again after a branch: %x\n", h[0]);
  cudaMemset(out, 0, 4);
  trip_counts<<<1, 32>>>(out), fetch();
  printf("loop trip counts differ: %d\n", h[0]);
  early_exit<<<1, 64>>>(out), fetch();
  printf("barrier after early exit: %d\n", h[0]);
  halves<<<1, 32>>>(out), fetch();
  printf("shuffles in halves: %d %d\n", h[5], h[20]);
  ballot_in_branch<<<1, 32>>>((unsigned *)out), fetch();
  printf("ballot in a branch: %x\n", h[0]);
  switches<<<1, 32>>>(out), fetch();
  printf("switch: %d %d %d %d\n", h[0], h[1], h[2], h[3]);
  return cudaGetLastError() != cudaSuccess;
}
