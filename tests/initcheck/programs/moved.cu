// Values that were computed from unwritten memory, then only moved, are still computed: through
// shared memory, arrays of a thread, a copy kernel, a choice. moved_ok.cu is the same with nothing
// missing.
#include <cstdio>
#ifndef MISSING
#define MISSING 28
#endif
enum { N = 128 };

__global__ void reduce(const float *x, float *out, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  if (t < n) s[t] = x[t];
  __syncthreads();
  for (int k = blockDim.x / 2; k; k /= 2) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[0] = s[0];                                          // moved from shared memory
}
__global__ void twice(const int *a, int *b) { b[threadIdx.x] = a[threadIdx.x] * 2; }
__global__ void move(const int *a, int *b) { b[threadIdx.x] = a[threadIdx.x]; }
__global__ void choose(const int *a, int *b, int which) {
  int x = a[threadIdx.x], y = a[N - 1 - threadIdx.x];
  b[threadIdx.x] = which ? x : y;
}
__global__ void move_parts(const short2 *a, short2 *b) {
  short2 v = a[threadIdx.x];
  b[threadIdx.x] = v;
}

int main() {
  float *x, *sum, total;
  int *a, *b, *c, *d, *e, h[N];
  cudaMalloc(&x, N * 4);
  cudaMalloc(&sum, 4);
  cudaMalloc(&a, N * 4);
  cudaMalloc(&b, N * 4);
  cudaMalloc(&c, N * 4);
  cudaMalloc(&d, N * 4);
  cudaMalloc(&e, N * 4);
  cudaMemset(x, 0, N * 4);
  cudaMemset(a, 0, (N - MISSING) * 4);
  reduce<<<1, N, N * 4>>>(x, sum, N - MISSING);
  twice<<<1, N>>>(a, b);
  move<<<1, N>>>(b, c);
  choose<<<1, N>>>(c, d, 1);
  move_parts<<<1, N>>>((short2 *)d, (short2 *)e);
  // finds-next: uninit-use (a sum of too few)
  cudaMemcpy(&total, sum, 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(h, c, N * 4, cudaMemcpyDeviceToHost);                    // finds: uninit-use (moved)
  cudaMemcpy(h, d, N * 4, cudaMemcpyDeviceToHost);                    // finds: uninit-use (chosen)
  // finds-next: uninit-use (moved in parts)
  cudaMemcpy(h, e, N * 4, cudaMemcpyDeviceToHost);
  puts("done");
  return 0;
}
