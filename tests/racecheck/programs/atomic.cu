// Atomics and weak accesses of other threads: of the same warp, of another warp, of another block.
// The thread with the weak access is atomic, too, before or behind it.
#include <cstdio>

__device__ int first() { return blockIdx.x * blockDim.x + threadIdx.x == 0; }
__device__ int last() {
  return blockIdx.x * blockDim.x + threadIdx.x == gridDim.x * blockDim.x - 1;
}

__global__ void write_before(int *p) {
  if (first()) *p = 0;                                        // finds: race group=before
  atomicAdd(p, 1);                                            // finds: race group=before
}

__global__ void read_by_first(int *p, int *out) {
  atomicAdd(p, 1);                                            // finds: race group=first
  if (first()) *out = *p;                                     // finds: race group=first
}

__global__ void read_by_last(int *p, int *out) {
  atomicAdd(p, 1);                                            // finds: race group=last
  if (last()) *out = *p;                                      // finds: race group=last
}

__global__ void read_wide(unsigned long long *p, unsigned long long *out) {
  atomicAdd(p, 1ull);                                         // finds: race group=wide
  if (first()) *out = *p;                                     // finds: race group=wide
}

__global__ void in_shared(int *out) {
  __shared__ int s, t;
  if (threadIdx.x == 0) s = 0;
  if (threadIdx.x == 1) t = 5;                                // finds: race group=shared
  __syncthreads();
  atomicAdd(&s, 1);                                           // finds: race group=sum
  if (threadIdx.x == 0) *out = s;                             // finds: race group=sum
  __syncthreads();
  if (threadIdx.x == 1) t = 6;                                // finds: race group=shared
  atomicAdd(&t, 1);                                           // finds: race group=shared
  __syncthreads();
  if (threadIdx.x == 0) out[1] = t;
}

int main() {
  const int shapes[][2] = {{1, 4}, {2, 2}, {1, 64}, {3, 96}};
  int *p;
  unsigned long long *wide;
  cudaMalloc(&p, 64 * sizeof *p);
  cudaMalloc(&wide, 16 * sizeof *wide);
  for (int i = 0; i < 4; i++) {
    int blocks = shapes[i][0], threads = shapes[i][1];
    cudaMemset(p, 0, 64 * sizeof *p);
    cudaMemset(wide, 0, 16 * sizeof *wide);
    write_before<<<blocks, threads>>>(p);
    read_by_first<<<blocks, threads>>>(p, p + 32);
    read_by_last<<<blocks, threads>>>(p, p + 33);
    read_wide<<<blocks, threads>>>(wide, wide + 8);
    in_shared<<<1, threads>>>(p + 40);
  }
  printf("%d\n", cudaDeviceSynchronize());
}
