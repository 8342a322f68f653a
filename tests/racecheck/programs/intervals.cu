// Shared memory between barriers, where threads do not all reach the same barriers, or where two
// intervals are one.
#include <cstdio>

__global__ void one_barrier(int *out, int n) {  // the next turn writes while others still read
  __shared__ int tile[64];
  int sum = 0;
  for (int i = 0; i < n; i++) {
    // finds-next: race group=one_barrier
    tile[threadIdx.x] = i + threadIdx.x;
    __syncthreads();
    // finds-next: race group=one_barrier
    sum += tile[63 - threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

__global__ void other_barrier(int *out) {  // warps meet at different barriers
  __shared__ int a[64];
  if (threadIdx.x < 32) {
    __syncthreads();
    // finds-next: race group=other_barrier
    a[threadIdx.x] = threadIdx.x;
    __syncthreads();
  } else {
    __syncthreads();
    // finds-next: race group=other_barrier
    out[threadIdx.x] = a[threadIdx.x - 32];
    __syncthreads();
  }
}

__global__ void several_words(int *out) {
  __shared__ int4 a[64];
  // finds-next: race group=several_words
  a[threadIdx.x / 2] = make_int4(threadIdx.x, 0, 0, 0);
  __syncthreads();
  out[threadIdx.x] = a[threadIdx.x].x;
}

__global__ void two_arrays(int *out) {  // both begin at the same place
  extern __shared__ int a[];
  extern __shared__ long long b[];
  // finds-next: race group=two_arrays
  a[threadIdx.x] = threadIdx.x;
  // finds-next: race group=two_arrays
  out[threadIdx.x] = (int)b[threadIdx.x / 4];
}

__global__ void rows(int *out, int width) {  // rows are shorter than the block
  __shared__ int tile[256];
  tile[threadIdx.y * width + threadIdx.x] = threadIdx.y;                // finds: race group=rows
  __syncthreads();
  out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x];
}

__global__ void neighbour(int *out) {
  __shared__ int a[65];
  // finds-next: race group=neighbour
  a[threadIdx.x] = threadIdx.x;
  // finds-next: race group=neighbour
  out[threadIdx.x] = a[threadIdx.x + 1];
}

__global__ void fill(int *out,
                     int n) {  // the last turn reaches what the first of the next row has
  __shared__ int a[256];
  // finds-next: race group=fill
  for (int i = threadIdx.x; i <= n; i += blockDim.x) a[threadIdx.y * n + i] = threadIdx.y;
  __syncthreads();
  out[threadIdx.y * 16 + threadIdx.x] = a[threadIdx.x];
}

__global__ void turns(int *out,
                      int n) {  // what is read in one turn is written by the neighbour in the next
  __shared__ int a[256];
  int sum = 0;
  for (int m = 0; m < n; m++) {
    a[m + threadIdx.x] = m;                                             // finds: race group=turns
    __syncthreads();
    sum += a[m + threadIdx.x];                                          // finds: race group=turns
  }
  out[threadIdx.x] = sum;
}

__global__ void wave(int *out, int n) {  // the row of the neighbour, not the diagonal
  __shared__ int t[18 * 17];
  for (int i = threadIdx.x; i < 18 * 17; i += blockDim.x) t[i] = i;
  __syncthreads();
  for (int m = 0; m < n; m++) {
    unsigned at = (m - threadIdx.x + 1) * 17 + threadIdx.x;
    // finds-next: race group=wave
    if (threadIdx.x <= m) t[at + 1] += t[at + 17];
    __syncthreads();
  }
  out[threadIdx.x] = t[threadIdx.x];
}

__global__ void some_turns(int *out, int n) {  // the counter moves in some threads only
  __shared__ int a[512];
  int i = threadIdx.x;
  for (int m = 0; m < n; m++) {
    // finds-next: race group=some_turns
    a[i] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x % 2) i += 1;
    __syncthreads();
  }
  out[threadIdx.x] = a[threadIdx.x];
}

__global__ void either(int *out) {  // threads do not all go the same way
  __shared__ int a[64];
  a[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x < 32) a[threadIdx.x] = threadIdx.x;                   // finds: race group=either
  else out[threadIdx.x] = a[threadIdx.x - 32];                          // finds: race group=either
}

__global__ void frame(int *out, int width) {  // the corner belongs to both
  __shared__ int t[17 * 17];
  t[threadIdx.x + 1] = threadIdx.x;                                     // finds: race group=frame
  t[(threadIdx.x + 1) * width] = threadIdx.x + 20;                      // finds: race group=frame
  __syncthreads();
  out[threadIdx.x] = t[threadIdx.x];
}

__global__ void both(int *out, int n) {  // the same way for all, but one after the other
  __shared__ int a[64];
  a[threadIdx.x] = 0;
  __syncthreads();
  if (n > 3) a[threadIdx.x] = threadIdx.x;                              // finds: race group=both
  if (n > 2) out[threadIdx.x] = a[63 - threadIdx.x];                    // finds: race group=both
}

int main() {
  int *out;
  cudaMalloc(&out, 4096);
  one_barrier<<<1, 64>>>(out, 3);
  other_barrier<<<1, 64>>>(out);
  several_words<<<1, 64>>>(out);
  two_arrays<<<1, 64, 1024>>>(out);
  rows<<<1, dim3(16, 4)>>>(out, 8);
  neighbour<<<1, 64>>>(out);
  fill<<<1, dim3(16, 4)>>>(out, 48);
  turns<<<1, 64>>>(out, 5);
  wave<<<1, 16>>>(out, 16);
  some_turns<<<1, 64>>>(out, 5);
  either<<<1, 64>>>(out);
  frame<<<1, 16>>>(out, 16);
  both<<<1, 64>>>(out, 5);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
