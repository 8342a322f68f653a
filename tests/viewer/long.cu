// What takes long, or happens often: a store outside of a buffer by threads of several blocks, a
// thread of three million operations, very many atomic operations.
#include <cstdio>
__global__ void over(int *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = 2 * i;
}
__global__ void over_shared(int *to, int n) {
  __shared__ int s[16];
  s[threadIdx.x + n] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < 16) to[threadIdx.x] = s[threadIdx.x];
}
__global__ void much(int *sum, int turns) {
  volatile int *p = sum;
  for (int i = 0; i < turns; i++) p[i & 3] = p[(i + 1) & 3] + 1;
}
__global__ void bins(int *histogram, int turns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < turns; k++) atomicAdd(&histogram[(i * 7 + k) & 255], 1);
}
int main() {
  int *small, *sum, *histogram;
  cudaMalloc(&small, 64 * 4); cudaMalloc(&sum, 16); cudaMalloc(&histogram, 1024);
  cudaMemset(small, 0, 64 * 4); cudaMemset(sum, 0, 16); cudaMemset(histogram, 0, 1024);
  over<<<3, 32>>>(small, 64);
  over_shared<<<1, 20>>>(small, 4);
  much<<<1, 1>>>(sum, 1500000);
  bins<<<256, 256>>>(histogram, 32);
  cudaDeviceSynchronize();
  puts(cudaGetErrorString(cudaGetLastError()));
}
