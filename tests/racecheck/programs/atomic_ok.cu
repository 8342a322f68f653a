// Atomics and weak accesses that something orders, or that are of one thread.
#include <cstdio>

__device__ int number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void by_barriers(int *p, int *out) {
  int *mine = p + blockIdx.x;
  if (threadIdx.x == 0) *mine = 0;
  __syncthreads();
  atomicAdd(mine, 1);
  atomicAdd(mine, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = *mine;
  if (threadIdx.x == 0) *mine = 7;
}

__global__ void by_warp(int *p, int *out) {
  int *mine = p + number() / 32;
  if (number() % 32 == 0) *mine = 0;
  __syncwarp();
  atomicAdd(mine, 1);
  __syncwarp();
  if (number() % 32 == 1) out[number() / 32] = *mine;
}

__global__ void own(int *p, unsigned long long *wide) {
  int i = (number() * 37) % (gridDim.x * blockDim.x);
  p[i] = 1;
  atomicAdd(p + i, 2);
  p[i] += 1;
  wide[i] = 1;
  atomicAdd(wide + i, 2ull);
  atomicAdd(wide + i, 2ull);
  wide[i] = wide[i] + 1;
}

// The block that comes last resets the counter.
__global__ void last_block(int *count, int *data, int *out) {
  __shared__ int is_last;
  data[number()] = number();
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(count, 1) == (int)gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    *out = data[0] + data[gridDim.x * blockDim.x - 1];
    *count = 0;
  }
}

// One thread sets the counter up and says so by a flag.
__global__ void by_flag(int *count, int *ready) {
  if (number() == 0) {
    *count = 0;
    atomicAdd(count, 1);
    __threadfence();
    atomicExch(ready, 1);
  }
  if (threadIdx.x == 0) {
    while (!atomicAdd(ready, 0)) { }
    __threadfence();
    atomicAdd(count, 1);
  }
}

__global__ void all_atomic(int *p, int *out) {
  atomicAdd(p, 1);
  *(volatile int *)(p + 1) = number();
  out[number()] = atomicAdd(p, 0) + *(volatile int *)(p + 1) > 0;
}

int main() {
  const int shapes[][2] = {{1, 4}, {2, 2}, {1, 64}, {3, 96}};
  int *p, *out;
  unsigned long long *wide;
  cudaMalloc(&p, 4096);
  cudaMalloc(&out, 4096);
  cudaMalloc(&wide, 8192);
  for (int i = 0; i < 4; i++) {
    int blocks = shapes[i][0], threads = shapes[i][1];
    cudaMemset(p, 0, 4096);
    by_barriers<<<blocks, threads>>>(p, out);
    by_warp<<<blocks, threads % 32 ? 32 : threads>>>(p, out);
    own<<<blocks, threads>>>(p, wide);
    cudaMemset(p, 0, 4096);
    last_block<<<blocks, threads>>>(p, p + 8, out);
    by_flag<<<blocks, threads>>>(p, p + 1);
    all_atomic<<<blocks, threads>>>(p, out);
  }
  printf("%d\n", cudaDeviceSynchronize());
}
