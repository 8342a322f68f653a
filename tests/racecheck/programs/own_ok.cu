// Threads that have elements of their own.
#include <cstdio>

__global__ void row(float *a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = a[i] * 2 + 1;
}

__global__ void plane(float *a) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  a[i * 128 + j] += 1;
}

__global__ void plane_by_width(float *a, int width) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  a[i * width + j] += 1;
}

__global__ void column(float *a, int rows) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < rows; i++) a[i * 64 + j] += 1;
}

__global__ void stride(float *a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = i;
}

__global__ void guarded(float *a) {  // rows of 100 for 128 threads, of which 100 do something
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < 100) a[i * 100 + j] += 1;
}

__global__ void four(float4 *a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i].x = 1;
  a[i].w = a[i].y + a[i].z;
}

__global__ void slab(float *a, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[blockIdx.x * n + i] = blockIdx.x;
}

__global__ void slab_at_once(float *a, int n) {
  int i = threadIdx.x;
  do {
    a[blockIdx.x * n + i] = blockIdx.x;
    i += blockDim.x;
  } while (i < n);
}

__global__ void first(float *a) {
  if (threadIdx.x == 0) a[blockIdx.x] = blockIdx.x;
}

__global__ void all_add(const float *x, float *a, int n) {
  for (int i = 0; i < n; i++) a[blockIdx.x * blockDim.x + threadIdx.x] += x[i];
}

__global__ void one_adds(const float *x, float *a, int n) {
  if (threadIdx.x == 0)
    for (int i = 0; i < n; i++) a[blockIdx.x] += x[i];
  __syncthreads();
  if (threadIdx.x == 1) a[blockIdx.x + 64] = a[blockIdx.x];
}

struct Body { float at[3], goes[3], mass; };
__global__ void columns(Body *b, int n) {  // all are read where nobody writes
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += b[k].mass * b[k].at[0];
  b[i].goes[0] += sum;
}

__global__ void letters(char *a) {                                      // bytes of one word
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = a[i] + 1;
}

__global__ void pairs(double *a, int n) {
  a[blockIdx.x * blockDim.x + (threadIdx.x * 5 + n) % blockDim.x] +=
      1;  // the remainder is not followed
}

__global__ void rows(float *a) {  // a thread has every 8th row, a block 8 of them
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    a[(y + i) * 64 + x] += y;
}

int main() {
  float *a;
  cudaMalloc(&a, 1 << 16);
  cudaMemset(a, 0, 1 << 16);
  row<<<4, 32>>>(a);
  plane<<<dim3(2, 4), dim3(64, 1)>>>(a);
  plane_by_width<<<dim3(2, 4), dim3(64, 1)>>>(a, 130);
  column<<<2, 32>>>(a, 5);
  stride<<<4, 32>>>(a, 1000);
  guarded<<<dim3(2, 4), dim3(64, 1)>>>(a);
  four<<<4, 32>>>((float4 *)a);
  slab<<<4, 64>>>(a, 192);
  slab<<<4, 64>>>(a, 40);
  slab_at_once<<<4, 64>>>(a, 100);
  first<<<4, 64>>>(a);
  all_add<<<4, 64>>>(a + 256, a, 9);
  one_adds<<<4, 64>>>(a + 256, a, 9);
  columns<<<4, 64>>>((Body *)a, 256);
  letters<<<4, 64>>>((char *)a);
  pairs<<<4, 64>>>((double *)a, 3);
  rows<<<dim3(2, 2), dim3(32, 8)>>>(a);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
