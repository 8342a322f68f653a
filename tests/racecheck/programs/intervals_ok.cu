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

__global__ void other_barrier(int *out) {                               // warps meet at different barriers
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

__global__ void until(int *out, int n) {                                // one thread says when all of them stop
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

int main() {
  int *out;
  cudaMalloc(&out, 4096);
  two_barriers<<<1, 64>>>(out, 3);
  other_barrier<<<1, 64>>>(out);
  until<<<1, 64>>>(out, 3);
  several_words<<<1, 64>>>(out);
  votes<<<1, 64>>>(out, 200);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
