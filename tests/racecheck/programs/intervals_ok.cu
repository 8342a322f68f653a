// Shared memory between barriers: what is read in an interval is written in others.
#include <cstdio>

__global__ void two_barriers(int *out, int n) {
  __shared__ int tile[64];
  int sum = 0;
  for (int i = 0; i < n; i++) {
    tile[threadIdx.x] = i + threadIdx.x;
    __syncthreads();
    sum += tile[63 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

__global__ void other_barrier(int *out) {  // warps meet at different barriers
  __shared__ int a[64];
  if (threadIdx.x < 32) {
    a[threadIdx.x] = threadIdx.x;
    __syncthreads();
    __syncthreads();
  } else {
    __syncthreads();
    out[threadIdx.x] = a[threadIdx.x - 32];
    __syncthreads();
  }
}

__global__ void until(int *out, int n) {  // one thread says when all of them stop
  __shared__ int go, a[64];
  int turn = 0, sum = 0;
  do {
    a[threadIdx.x] = turn;
    __syncthreads();
    sum += a[63 - threadIdx.x];
    if (threadIdx.x == 0) go = ++turn < n;
    __syncthreads();
  } while (go);
  out[threadIdx.x] = sum;
}

__global__ void several_words(int *out) {
  __shared__ int4 a[64];
  a[threadIdx.x] = make_int4(threadIdx.x, 0, 0, 0);
  __syncthreads();
  out[threadIdx.x] = a[63 - threadIdx.x].x;
}

__global__ void votes(int *out, int n) {
  __shared__ int a[64];
  int i = threadIdx.x, sum = 0;
  while (__syncthreads_or(i < n)) {
    a[threadIdx.x] = i;
    __syncthreads();
    sum += a[63 - threadIdx.x];
    i += 64;
  }
  out[threadIdx.x] = sum;
}

__global__ void rows(int *out, int width) {
  __shared__ int tile[256];
  tile[threadIdx.y * width + threadIdx.x] = threadIdx.y;
  __syncthreads();
  out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x];
}

__global__ void neighbour(int *out) {
  __shared__ int a[65];
  a[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = a[threadIdx.x + 1];
}

__global__ void fill(int *out, int n) {
  __shared__ int a[256];
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[threadIdx.y * n + i] = threadIdx.y;
  __syncthreads();
  out[threadIdx.y * 16 + threadIdx.x] = a[threadIdx.x];
}

__global__ void turns(int *out, int n) {
  __shared__ int a[256];
  int sum = 0;
  for (int m = 0; m < n; m++) {
    a[m + threadIdx.x] = m;
    __syncthreads();
    sum += a[m + threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

__global__ void wave(int *out, int n) {                                 // along the diagonal
  __shared__ int t[17 * 17];
  for (int i = threadIdx.x; i < 17 * 17; i += blockDim.x) t[i] = i;
  __syncthreads();
  for (int m = 0; m < n; m++) {
    if (threadIdx.x <= m)
      t[(m - threadIdx.x + 1) * 17 + threadIdx.x + 1] +=
          t[(m - threadIdx.x) * 17 + threadIdx.x] + t[(m - threadIdx.x + 1) * 17 + threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = t[threadIdx.x];
}

__global__ void either(int *out, int n) {  // all threads go the same way
  __shared__ int a[64];
  a[threadIdx.x] = 0;
  __syncthreads();
  if (n > 3) a[63 - threadIdx.x] = threadIdx.x;
  else out[threadIdx.x] = a[63 - threadIdx.x];
}

__global__ void frame(int *out, int width) {
  __shared__ int t[17 * 17];
  t[threadIdx.x + 1] = threadIdx.x;
  t[(threadIdx.x + 1) * width] = threadIdx.x + 20;
  __syncthreads();
  out[threadIdx.x] = t[threadIdx.x];
}

__global__ void both(int *out, int n) {
  __shared__ int a[64];
  a[threadIdx.x] = 0;
  __syncthreads();
  if (n > 3) a[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (n > 2) out[threadIdx.x] = a[63 - threadIdx.x];
}

int main() {
  int *out;
  cudaMalloc(&out, 4096);
  two_barriers<<<1, 64>>>(out, 3);
  other_barrier<<<1, 64>>>(out);
  until<<<1, 64>>>(out, 3);
  several_words<<<1, 64>>>(out);
  votes<<<1, 64>>>(out, 200);
  rows<<<1, dim3(16, 4)>>>(out, 16);
  neighbour<<<1, 64>>>(out);
  fill<<<1, dim3(16, 4)>>>(out, 48);
  turns<<<1, 64>>>(out, 5);
  wave<<<1, 16>>>(out, 16);
  either<<<1, 64>>>(out, 5);
  either<<<1, 64>>>(out, 2);
  frame<<<1, 16>>>(out, 17);
  both<<<1, 64>>>(out, 5);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
