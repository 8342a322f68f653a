// Queues between blocks: who takes has its fences, who puts has none. The takers' own fences and
// atomics at the same counter must not stand for the one that is missing.
// arch: 90
#include <cstdio>

__global__ void queue(int *items, int *tail, int *out, int n) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0)
    for (int i = 0; i < n; i++) {
      items[i] = i * 3;                                                 // finds: race group=queue
#ifdef CORRECT
      __threadfence();
#endif
      atomicAdd(tail, 1);
    }
  else
    for (int i = 0; i < n; i++) {
      while (atomicAdd(tail, 0) <= i) {}
      __threadfence();
      if (i % 2 == blockIdx.x % 2) atomicAdd(out, items[i]);            // finds: race group=queue
    }
}

// All blocks add under the lock; block 1 forgets the fence before it lets go. It must not be the
// last to hold the lock, or nobody would see that: the others add once more when it has left.
__global__ void lock_of_one(int *lock, int *left, int *total) {
  if (threadIdx.x) return;
  for (int turn = 0; turn < 5; turn++) {
    if (turn == 4 && blockIdx.x == 1) break;
    if (turn == 4) while (atomicAdd(left, 0) == 0) {}
    while (atomicCAS(lock, 0, 1)) {}
    __threadfence();
    // finds-next: race group=lock_of_one
    total[0] += 1;
#ifndef CORRECT
    if (blockIdx.x != 1)
#endif
      __threadfence();
    atomicExch(lock, 0);
  }
  if (blockIdx.x == 1) atomicAdd(left, 1);
}

// A thread of the block fences and tells for all, after a barrier.
__global__ void told_by_one(int *data, int *flag, int *out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(flag, 1);
    }
  } else {
    if (threadIdx.x == 0) {
      while (atomicAdd(flag, 0) == 0) {}
      __threadfence();
    }
    __syncthreads();
    atomicAdd(out, data[blockDim.x - 1 - threadIdx.x]);
  }
}

// The last block adds up what all have written: each thread has its fence, but no barrier is before
// the counter.
__global__ void last_block(int *part, int *count, int *out) {
  __shared__ bool last;
  // finds-next: race group=last_block
  part[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
  __threadfence();
#ifdef CORRECT
  __syncthreads();
#endif
  if (threadIdx.x == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int i = threadIdx.x; i < gridDim.x * 64; i += 64)
    atomicAdd(out, part[gridDim.x * 64 - 1 - i]);  // finds: race group=last_block
}

// A warp tells another one of its block, by a named barrier, an mbarrier, or a flag in shared
// memory, and that one tells the other block.
__global__ void passed_on(int *data, int *flag, int *out, int how) {
  __shared__ unsigned long long barrier;
  __shared__ int mine;
  unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) mine = 0;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" : : "r"(at) : "memory");
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x >= 32) {
    data[threadIdx.x] = threadIdx.x;
    if (how == 0) asm volatile("bar.arrive 1, 64;" : : : "memory");
    if (how == 1)
      asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" : : "r"(at) : "memory");
    if (how == 2) {
      __threadfence_block();
      atomicAdd_block(&mine, 1);
    }
  } else if (blockIdx.x == 0) {
    if (how == 0) asm volatile("bar.sync 1, 64;" : : : "memory");
    if (how == 1)
      asm volatile(
          "{ .reg .pred p; again: mbarrier.test_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }"
          :
          : "r"(at)
          : "memory");
    if (how == 2) {
      while (atomicAdd_block(&mine, 0) < 32) {}
      __threadfence_block();
    }
    __threadfence();
    if (threadIdx.x == 0) atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    atomicAdd(out, data[threadIdx.x]);
  }
}

int main() {
  int *p;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  queue<<<3, 32>>>(p, p + 100, p + 101, 16);
  lock_of_one<<<4, 32>>>(p + 200, p + 201, p + 202);
  told_by_one<<<3, 128>>>(p + 300, p + 500, p + 501);
  last_block<<<4, 64>>>(p + 600, p + 900, p + 901);
  for (int how = 0; how < 3; how++) passed_on<<<2, 64>>>(p + 700, p + 910 + how, p + 920, how);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
