// Functions that are not inlined: what they access, and the barriers in them.
#include <cstdio>

// finds-next: race group=in_function
__device__ __noinline__ void put(int *a, int i, int v) { a[i] = v; }
// finds-next: race group=in_function
__device__ __noinline__ int get(const int *a, int i) { return a[i]; }

__global__ void in_function(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  put(a, i, get(a, (i + 1) % n) + 1);
}

__device__ __noinline__ int rotate(int *s, int t, int v) {
  // finds-next: race group=no_barrier
  s[t] = v;
  // finds-next: race group=no_barrier
  return s[63 - t];
}

__global__ void no_barrier(const int *in, int *out) {
  __shared__ int s[64];
  out[blockIdx.x * 64 + threadIdx.x] = rotate(s, threadIdx.x, in[threadIdx.x]);
}

__device__ __noinline__ void meet() { __syncthreads(); }

struct Pair { int *a; int n; float x; };
__device__ __noinline__ Pair shift(Pair p, int by) {
  if (by > p.n) return p;
  p.a += by;
  p.n -= by;
  return p;
}

__global__ void through_struct(int *a,
                               int n) {  // all threads write the first word of their block's part
  Pair p = shift({a, n, 1.5f}, blockIdx.x);
  meet();
  // finds-next: race group=through_struct
  p.a[threadIdx.x] = threadIdx.x;
}

int main() {
  int *a, *b;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  cudaMemset(a, 0, 4096);
  in_function<<<8, 64>>>(a, 512);
  no_barrier<<<2, 64>>>(a, b);
  through_struct<<<4, 64>>>(a, 64);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
