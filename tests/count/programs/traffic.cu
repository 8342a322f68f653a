// Programs whose memory traffic a formula gives, whatever code the compiler makes. count.py knows
// the lines by their marks.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void saxpy(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = a * x[i] + y[i];                                                    // label: saxpy
}

__global__ void tiled(float *c, const float *a, const float *b, int n) {
  __shared__ float sa[16][16], sb[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    sa[y][x] = a[row * n + t + x];                                           // label: load_a
    sb[y][x] = b[(t + y) * n + column];                                      // label: load_b
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += sa[y][k] * sb[k][x];
    __syncthreads();                                                         // label: barrier
  }
  c[row * n + column] = sum;                                                 // label: store_c
}

// label-next: vectors
__global__ void vectors(float4 *out, const float4 *in) { out[threadIdx.x] = in[threadIdx.x]; }
// label-next: atomics
__global__ void atomics(int *p) { if (threadIdx.x % 4 == 0) atomicAdd(&p[threadIdx.x % 8], 1); }

typedef int Step(int);
__device__ __noinline__ int add_one(int v) { return v + 1; }
__device__ __noinline__ int twice(int v) { return v * 2; }
__device__ Step *const steps[] = {add_one, twice};
// label-next: pointers
__global__ void pointers(int *p) { p[threadIdx.x] = steps[threadIdx.x & 1](p[threadIdx.x]); }

__device__ __noinline__ int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }
// label-next: recursion
__global__ void recursion(int *p) { p[threadIdx.x] = depth(threadIdx.x % 5); }

int main() {
  float *a, *b, *c;
  int *p;
  cudaMalloc(&a, 48 * 48 * 4);
  cudaMalloc(&b, 48 * 48 * 4);
  cudaMalloc(&c, 48 * 48 * 4);
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  for (int i = 0; i < 3; i++) saxpy<<<10, 96>>>(a, b, 2, 901);
  tiled<<<dim3(3, 3), dim3(16, 16)>>>(c, a, b, 48);
  vectors<<<1, 100>>>((float4 *)a, (const float4 *)b);
  atomics<<<5, 50>>>(p);
  pointers<<<1, 40>>>(p);
  recursion<<<2, 33>>>(p);
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorName(e));
  return e != cudaSuccess;
}
