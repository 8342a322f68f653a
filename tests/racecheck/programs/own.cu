// Threads that seem to have elements of their own, and have not: by the shape of the grid, or by
// one access of several.
#include <cstdio>

__global__ void row(float *a) {  // launched with blocks of 32 by 4: four threads for each element
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = a[i] * 2 + 1;                                                  // finds: race group=row
}

__global__ void too_close(float *a) {                                   // blocks of 64, 32 apart
  int i = blockIdx.x * 32 + threadIdx.x;
  // finds-next: race-same-value group=too_close
  a[i] = i;
}

__global__ void plane(float *a) {  // rows of 100 for 128 threads
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  a[i * 100 + j] += 1;                                                  // finds: race group=plane
}

__global__ void column(float *a, int rows) {  // thread j has column j; 40 columns for 64 threads
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < rows; i++) a[i * 40 + j] += 1;                    // finds: race group=column
}

__global__ void next_too(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // finds-next: race group=next_too
  if (i + 1 < n) a[i] = a[i + 1];
}

__global__ void wide_store(float *a) {                                  // 8 bytes each 4
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // finds-next: race group=wide_store
  a[i] = i;
  // finds-next: race group=wide_store
  if (i % 2 == 0) *(float2 *)(a + i) = make_float2(1, 2);
}

__global__ void two_names(float *a, const float *b) {                   // b is a
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // finds-next: race group=two_names
  a[i] = b[63 - i % 64];
}

__global__ void by_remainder(float *a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // finds-next: race group=by_remainder
  a[i % 100] = i;
}

__global__ void each_block(float *a) {                                  // the same for all blocks
  // finds-next: race group=each_block
  a[threadIdx.x] += blockIdx.x;
}

__global__ void slab_too_long(float *a, int n) {  // one element more than the block has
  // finds-next: race group=slab_too_long
  for (int i = threadIdx.x; i <= n; i += blockDim.x) a[blockIdx.x * n + i] = blockIdx.x;
}

__global__ void slab_too_short(
    float *a, int n) {  // 40 elements for 64 threads, and the first turn is not limited
  int i = threadIdx.x;
  do {
    // finds-next: race group=slab_too_short
    a[blockIdx.x * n + i] = blockIdx.x;
    i += blockDim.x;
  } while (i < n);
}

__global__ void first_two(float *a) {
  // finds-next: race group=first_two
  if (threadIdx.x < 2) a[blockIdx.x] = threadIdx.x;
}

__global__ void all_add(const float *x, float *a, int n) {  // the same address in every turn
  for (int i = 0; i < n; i++) a[blockIdx.x] += x[i];                    // finds: race group=all_add
}

__global__ void one_adds(const float *x, float *a, int n) {
  if (threadIdx.x == 0)
    // finds-next: race group=one_adds
    for (int i = 0; i < n; i++) a[blockIdx.x] += x[i];
  // finds-next: race group=one_adds
  if (threadIdx.x == 1) a[blockIdx.x + 64] = a[blockIdx.x];
}

struct Body { float at[3], goes[3], mass; };
__global__ void columns(Body *b, int n) {                               // … where somebody does
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += b[k].mass * b[k].at[0];            // finds: race group=columns
  b[i].at[0] += sum;                                                    // finds: race group=columns
}

__global__ void letters(char *a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i / 2 * 4] = i;                                                     // finds: race group=letters
}

__global__ void pairs(double *a, int n) {
  // finds-next: race group=pairs
  a[blockIdx.x * blockDim.x + (threadIdx.x * 6 + n) % blockDim.x] = threadIdx.x;
}

__global__ void rows_too_close(float *a) {  // a thread has every 8th row, a block 16 of them
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    // finds-next: race group=rows_too_close
    a[(y + i) * 64 + x] = y;
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
  slab_too_long<<<4, 64>>>(a, 192);
  slab_too_short<<<4, 64>>>(a, 40);
  first_two<<<4, 64>>>(a);
  all_add<<<4, 64>>>(a + 256, a, 9);
  one_adds<<<4, 64>>>(a + 256, a, 9);
  columns<<<4, 64>>>((Body *)a, 256);
  letters<<<4, 64>>>((char *)a);
  pairs<<<4, 64>>>((double *)a, 3);
  rows_too_close<<<dim3(2, 2), dim3(32, 16)>>>(a);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
