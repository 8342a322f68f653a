// Functions that are not inlined: barriers in them order what their callers access, and the
// reverse.
#include <cstdio>

__device__ __noinline__ void put(int *a, int i, int v) { a[i] = v; }
__device__ __noinline__ int get(const int *a, int i) { return a[i]; }
__device__ __noinline__ void meet() { __syncthreads(); }
__device__ __noinline__ void meet_twice(bool yes) {
  if (!yes) return;
  meet();
  meet();
}

__global__ void rotate(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int i = 0; i < 3; i++) {
    put(s, t, in[t] + i);
    meet();
    put(out, blockIdx.x * 64 + t, get(s, 63 - t));
    meet_twice(true);
  }
}

__device__ __noinline__ double mean(float x, double y, short n, unsigned char c) {
  return (x + y + n) / c;
}
__device__ __noinline__ int factorial(int n) {
  return n < 2 ? 1 : n * factorial(n - 1);
}  // it calls itself
__device__ int twice(int v) { return 2 * v; }
__device__ int thrice(int v) { return 3 * v; }

struct Big { int v[10]; };
__device__ __noinline__ Big turned(Big b, int by) {
  Big r;
  for (int i = 0; i < 10; i++) r.v[i] = b.v[(i + by) % 10];
  return r;
}

__global__ void values(int *out, int which) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int (*f)(int) = which + (t & 1) ? twice : thrice;
  Big b;
  for (int i = 0; i < 10; i++) b.v[i] = i + t;
  b = turned(b, t % 7);
  out[t] = (int)mean(t, 2.5, (short)t, 4) + factorial(t % 5) + f(t) + b.v[t % 10];
}

int main() {
  int *a, *b, sum = 0, h[512];
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  cudaMemset(a, 0, 4096);
  rotate<<<8, 64>>>(a, b);
  values<<<8, 64>>>(b, 0);
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 512; i++) sum += h[i] * (i % 13);
  printf("%s %d\n", cudaGetErrorString(cudaDeviceSynchronize()), sum);
}
