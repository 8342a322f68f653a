// Two streams that do not wait for each other have the same memory, which is then freed in the
// order of one of them.
#include <cstdio>

__global__ void slowly(volatile int *go, int *a, int n) {
  while (!*go) {}
  // finds-next: race group=freed
  for (int i = 0; i < n; i++) a[(threadIdx.x * 7 + i * 64 + 3) % 64 + i * 64] = i;
}

__global__ void quickly(int *b, int n) {
  // finds-next: race group=freed
  for (int i = 0; i < n; i++) b[(threadIdx.x * 5 + i * 64 + 1) % 64 + i * 64] = -i - 1;
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
  cudaStreamSynchronize(one);
  slowly<<<1, 64, 0, one>>>(go, a, N);
  b = a;
  quickly<<<1, 64, 0, two>>>(b, N);
  cudaFreeAsync(a, one);
  cudaStreamSynchronize(two);
  *(volatile int *)go = 1;
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
