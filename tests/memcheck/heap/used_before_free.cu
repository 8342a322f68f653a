// The same with everything freed last: silent, also where a kernel is still running when the host
// asks for the free.
#include <cstdio>
#include <cstdlib>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
__global__ void slow(int *a, int n, int turns) {
  int i = threadIdx.x;
  for (int k = 0; k < turns; k++)
    if (i < n) atomicAdd(&a[i], k);
}
__global__ void by_memory(int **list, int n) { int i = threadIdx.x; if (i < n) list[0][i] = i; }

int main() {
  int *a, *b, **list; cudaStream_t s, t; cudaEvent_t ready;
  OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  OK(cudaEventCreate(&ready));
  OK(cudaMalloc(&list, 8));
  for (int round = 0; round < 20; round++) {
    OK(cudaMallocAsync(&a, 400, s)); OK(cudaMemcpyAsync(list, &a, 8, cudaMemcpyDefault, s));
    slow<<<1, 64, 0, s>>>(a, 100, 300); by_memory<<<1, 64, 0, s>>>(list, 64);
    OK(cudaEventRecord(ready, s)); OK(cudaStreamWaitEvent(t, ready, 0));
    OK(cudaFreeAsync(a, t));                    // another stream, behind the event
    OK(cudaMalloc(&b, 400)); slow<<<1, 64, 0, s>>>(b, 100, 300);
    OK(cudaFree(b));                            // waits for it
  }
  OK(cudaFree(list)); OK(cudaDeviceSynchronize());
  puts("good");
}
