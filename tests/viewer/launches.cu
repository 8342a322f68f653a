// Shared memory with and without bank conflicts, and blocks that touch stripes of a buffer.
#include <cstdio>
__global__ void transpose(int *to, const int *from, int pad) {
  __shared__ int tile[32 * 33];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y * (32 + pad) + x] = from[y * 32 + x];
  __syncthreads();
  to[y * 32 + x] = tile[x * (32 + pad) + y];
}
__global__ void stripes(int *to) { to[blockIdx.x + gridDim.x * threadIdx.x] += 1; }
__global__ void slopes(float *to, float base) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = i == 96 ? base - base : 2 * blockIdx.x;  // NaN in block 3
}
int main() {
  int *a, *b, *c;
  float *f;
  cudaMalloc(&f, 1024);
  cudaMalloc(&a, 4096); cudaMalloc(&b, 4096); cudaMalloc(&c, 4096);
  cudaMemset(a, 0, 4096); cudaMemset(c, 0, 4096);
  transpose<<<1, dim3(32, 32)>>>(b, a, 0);
  transpose<<<1, dim3(32, 32)>>>(b, a, 1);
  stripes<<<16, 64>>>(c);
  slopes<<<8, 32>>>(f, 1.f / 0.f);
  cudaDeviceSynchronize();
  puts(cudaGetErrorString(cudaGetLastError()));
}
