// What orders blocks: fences with atomics and flags, locks, releases and acquires, barriers of the
// grid, launches.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/atomic>

namespace cg = cooperative_groups;

__global__ void next(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 64 < n) out[i] = in[i + 64] + 1;
}

__global__ void last_block(const int *in, int *partial, unsigned *done, int *out) {
  __shared__ bool last;
  __shared__ int s[64];
  s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < 64; i++) sum += s[i];
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(done, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += 64) sum += partial[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0;
    for (int i = 0; i < 64; i++) sum += s[i];
    *out = sum;
    *done = 0;
  }
}

__global__ void last_block_of_all(int *partial, unsigned *done,
                                  int *out) {  // every thread has its own fence; one tells for all
  __shared__ bool last;
  partial[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last)
    for (unsigned i = 0; i < gridDim.x; i++) out[threadIdx.x] += partial[i * 64 + 63 - threadIdx.x];
}

__global__ void flag(int *data, volatile int *ready, int *out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *ready = 1;
  } else {
    if (threadIdx.x == 0) while (*ready == 0) {}
    __syncthreads();
    __threadfence();
    out[blockIdx.x * 64 + threadIdx.x] = data[63 - threadIdx.x];
  }
}

__global__ void spin_lock(int *lock, int *total) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1)) {}
    __threadfence();
    total[0] += 1;
    total[1] = total[0];
    __threadfence();
    atomicExch(lock, 0);
  }
}

__global__ void release_acquire(int *data, int *ready, int *out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> r(*ready);
  if (blockIdx.x == 0) {
    data[0] = 7;
    r.store(1, cuda::std::memory_order_release);
  } else {
    while (r.load(cuda::std::memory_order_acquire) == 0) {}
    out[blockIdx.x] = data[0];
  }
}

__global__ void chain(int *data, int *ready) {                          // from block to block
  cuda::atomic_ref<int, cuda::thread_scope_device> r(*ready);
  while (r.load(cuda::std::memory_order_acquire) != (int)blockIdx.x) {}
  data[0] += blockIdx.x;
  r.fetch_add(1, cuda::std::memory_order_acq_rel);
}

__global__ void cooperative(int *a, int *b) {
  cg::grid_group g = cg::this_grid();
  int i = g.thread_rank(), n = g.size();
  for (int step = 0; step < 5; step++) {
    b[i] = a[(i + 77) % n] + 1;
    g.sync();
    a[i] = b[(i + 99) % n];
    g.sync();
  }
}

__global__ void in_block_flag(int *out) {  // one warp tells another, in shared memory
  __shared__ int data;
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = 5;
    __threadfence_block();
    ready = 1;
  }
  if (threadIdx.x == 32) {
    while (ready == 0) {}
    __threadfence_block();
    out[blockIdx.x] = data;
  }
}

int main() {
  int *a, *b, *c;
  cudaMalloc(&a, 1 << 16);
  cudaMalloc(&b, 1 << 16);
  cudaMalloc(&c, 1 << 16);
  cudaMemset(a, 0, 1 << 16);
  cudaMemset(b, 0, 1 << 16);
  cudaMemset(c, 0, 1 << 16);
  for (int i = 0; i < 600; i++)
    next<<<8, 64>>>(i % 2 ? a : b, i % 2 ? b : a, 512);  // more launches than numbers of launches
  last_block<<<8, 64>>>(a, b, (unsigned *)c, c + 1);
  last_block<<<8, 64>>>(a, b, (unsigned *)c, c + 1);
  last_block_of_all<<<8, 64>>>(b, (unsigned *)c, a);
  cudaMemset(c, 0, 1 << 16);
  flag<<<4, 64>>>(a, c, b);
  spin_lock<<<8, 64>>>(c + 1, a);
  release_acquire<<<4, 1>>>(a, c + 2, b);
  chain<<<8, 1>>>(a, c + 3);
  void *args[] = {&a, &b};
  cudaLaunchCooperativeKernel((void *)cooperative, dim3(4), dim3(64), args, 0, 0);
  in_block_flag<<<4, 64>>>(b);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
