// Threads that seem to have elements of their own, and have not: by the shape of the grid, or by one access of several.
#include <cstdio>

__global__ void row(float *a) {                                         // launched with blocks of 32 by 4: four threads for each element
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = a[i] * 2 + 1;                                                  // race row
}

__global__ void too_close(float *a) {                                   // blocks of 64, 32 apart
  int i = blockIdx.x * 32 + threadIdx.x;
  a[i] = i;                                                             // same too_close
}

__global__ void plane(float *a) {                                       // rows of 100 for 128 threads
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  a[i * 100 + j] += 1;                                                  // race plane
}

__global__ void column(float *a, int rows) {                            // thread j has column j; 40 columns for 64 threads
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < rows; i++) a[i * 40 + j] += 1;                    // race column
}

__global__ void next_too(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) a[i] = a[i + 1];                                       // race next_too
}

__global__ void wide_store(float *a) {                                  // 8 bytes each 4
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;                                                             // race wide_store
  if (i % 2 == 0) *(float2 *)(a + i) = make_float2(1, 2);               // race wide_store
}

__global__ void two_names(float *a, const float *b) {                   // b is a
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = b[63 - i % 64];                                                // race two_names
}

__global__ void by_remainder(float *a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i % 100] = i;                                                       // race by_remainder
}

__global__ void each_block(float *a) {                                  // the same for all blocks
  a[threadIdx.x] += blockIdx.x;                                         // race each_block
}

int main() {
  float *a;
  cudaMalloc(&a, 1 << 16);
  cudaMemset(a, 0, 1 << 16);
  row<<<4, dim3(32, 4)>>>(a);
  too_close<<<4, 64>>>(a);
  plane<<<dim3(2, 4), dim3(64, 1)>>>(a);
  column<<<2, 32>>>(a, 5);
  next_too<<<4, 64>>>(a, 256);
  wide_store<<<4, 64>>>(a);
  two_names<<<4, 64>>>(a, a);
  by_remainder<<<4, 64>>>(a);
  each_block<<<4, 64>>>(a);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
