// A function that calls itself without end.
// device: cpu
#include <cstdio>
#include <cstdlib>

__device__ __noinline__ int deep(volatile int *a, int n) {
  int here[32];
  here[n % 32] = a[0];
  return n < 0 ? 0 : deep(a, n + 1) + here[a[0]];  // finds: stack-overflow count=1
}

__global__ void each(int *a) { a[1] = deep(a, 0); }

int main() {
  int *a;
  cudaMalloc(&a, 64); cudaMemset(a, 0, 64);
  each<<<1, 1>>>(a);
  printf("%d\n", cudaDeviceSynchronize() != cudaSuccess);
}
// says: the call of deep(int volatile*, int) needs more than the
