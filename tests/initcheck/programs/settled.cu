// Shared memory that is all written by a barrier is not looked at behind it. What is not, and what
// a thread carries over from before, still is.
#include <cstdio>
#include <cstdlib>

enum { THREADS = 128, N = 4 * THREADS };

// Written in one go, and again in a loop.
__global__ void tiles(const int *in, int *out) {
  __shared__ int tile[THREADS];
  int sum = 0;
  for (int t = 0; t < N; t += THREADS) {
    tile[threadIdx.x] = in[t + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < THREADS; i++)
      if (tile[(i + threadIdx.x) % THREADS] > 3) sum += tile[i];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

// The second half is written after the first barrier: the block asks again.
__global__ void halves(const int *in, int *out) {
  __shared__ int both[2 * THREADS];
  both[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  both[THREADS + threadIdx.x] = both[THREADS - 1 - threadIdx.x] + 1;
  __syncthreads();
  out[threadIdx.x] = both[2 * THREADS - 1 - threadIdx.x] > 5 ? 1 : 2;
}

// One word is written by nobody.
__global__ void hole(const int *in, int *out) {
  __shared__ int tile[THREADS];
  if (threadIdx.x != 77) tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 6; i++) {
    // finds-next: uninit-use (by thread 76)
    if (tile[threadIdx.x ^ 1] == in[i] + 123456789) out[i] = 7;
    __syncthreads();
  }
}

// What was read before it was written is still in a register when all of it is.
__global__ void carried(const int *in, int *out) {
  __shared__ int tile[THREADS];
  int early = tile[threadIdx.x];
  __syncthreads();
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  // finds-next: uninit-use (early)
  if (early == tile[threadIdx.x ^ 1] + 123456789) out[threadIdx.x] = 7;
}

// … and goes to other threads later: nothing is forgotten about it.
__global__ void passed_on(const int *in, int *out) {
  __shared__ int tile[THREADS], other[THREADS];
  int early = other[threadIdx.x] + in[1];
  __syncthreads();
  tile[threadIdx.x] = in[threadIdx.x];
  other[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 5) tile[5] = early;
  __syncthreads();
  // finds-next: uninit-use (by thread 4)
  if (tile[threadIdx.x ^ 1] == in[0] + 123456789) out[threadIdx.x] = 7;
}

// Threads that have ended looked at nothing: their part of it counts as it is.
__global__ void ended(const int *in, int *out) {
  __shared__ int tile[THREADS];
  if (threadIdx.x >= 96) return;
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  // finds-next: uninit-use (beyond 96)
  if (tile[threadIdx.x + 16] == in[0] + 123456789) out[threadIdx.x] = 7;
}

// Dynamic shared memory, beside some of the kernel's own.
__global__ void dynamic(const int *in, int *out, int n) {
  extern __shared__ int more[];
  __shared__ int tile[THREADS];
  tile[threadIdx.x] = in[threadIdx.x];
  for (int i = threadIdx.x; i < n; i += THREADS) more[i] = in[i];
  __syncthreads();
  // finds-next: uninit-use (of the last, where n says so)
  if (more[N - 1 - threadIdx.x] == in[0] + 123456789) out[threadIdx.x] = tile[threadIdx.x ^ 3];
}

int main() {
  int *in, *out, host[N];
  for (int i = 0; i < N; i++) host[i] = i % 7;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, sizeof host);
  tiles<<<3, THREADS>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("tiles %d %d\n", host[0], host[100]);
  halves<<<3, THREADS>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("halves %d %d\n", host[0], host[100]);
  dynamic<<<2, THREADS, N * sizeof(int)>>>(in, out, N);
  hole<<<2, THREADS>>>(in, out);
  carried<<<2, THREADS>>>(in, out);
  passed_on<<<2, THREADS>>>(in, out);
  ended<<<2, THREADS>>>(in, out);
  dynamic<<<2, THREADS, N * sizeof(int)>>>(in, out, N - 1);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
