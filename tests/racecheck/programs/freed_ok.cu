// Memory that is freed in the order of a stream, while a kernel before that still runs: what is
// kept of it must not become another allocation's.
#include <cstdio>

__global__ void slowly(volatile int *go, int *a, int n) {
  while (!*go) {}
  for (int i = 0; i < n; i++) a[(threadIdx.x * 7 + i * 64 + 3) % 64 + i * 64] = i;
}

__global__ void quickly(int *b, int n) {
  for (int i = 0; i < n; i++) b[(threadIdx.x * 5 + i * 64 + 1) % 64 + i * 64] = i;
}

int main() {
  enum { N = 16 };
  cudaStream_t one, two;
  int *go, *a, *b, *other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaHostAlloc(&go, 4, cudaHostAllocMapped);
  *go = 1;
  cudaMalloc(&other, 64 * 4 * N);
  slowly<<<1, 64, 0, one>>>(
      go, other, N);  // both run once: the driver may load code only when nothing else runs
  cudaDeviceSynchronize();
  quickly<<<1, 64, 0, two>>>(other, N);
  cudaDeviceSynchronize();
  *(volatile int *)go = 0;
  cudaMallocAsync(&a, 64 * 4 * N, one);
  slowly<<<1, 64, 0, one>>>(go, a, N);
  cudaFreeAsync(a, one);
  cudaMallocAsync(&b, 64 * 4 * N, two);
  quickly<<<1, 64, 0, two>>>(b, N);
  cudaStreamSynchronize(two);
  *(volatile int *)go = 1;
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
