// Functions that stay calls: one that calls itself, and one that is called through a pointer. What
// they access is not checked, which is said; a kernel whose functions do not access anything is all
// checked.
#include <cstdio>

__device__ __noinline__ int down(int *a, int n) {
  int below = n > 1 ? down(a, n / 2) + down(a, n - n / 2) : 1;
  a[n] += below;
  return below + a[n];
}

__device__ __noinline__ int depth(int n) { return n > 1 ? depth(n / 2) + depth(n - n / 2) : 1; }

typedef void Writes(int *a, int i);
__device__ __noinline__ void first(int *a, int i) { a[0] = i; }
__device__ __noinline__ void own(int *a, int i) { a[i] = i; }
__device__ Writes *const table[] = {first, own};

__global__ void recursive(int *a) { a[512 + threadIdx.x] = down(a, threadIdx.x); }
__global__ void indirect(int *a, int which) { table[which](a, threadIdx.x); }
__global__ void computes(int *a) { a[threadIdx.x] = depth(threadIdx.x); }

int main() {
  int *a;
  cudaMalloc(&a, 4096);
  cudaMemset(a, 0, 4096);
  recursive<<<1, 8>>>(a);
  indirect<<<1, 8>>>(a, 1);
  computes<<<1, 8>>>(a);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
