// Nothing is lost: gone with its context, or belonging to others.
// options: --leak-check=full
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
__device__ int variable[100];
__global__ void touch() { variable[threadIdx.x] = 1; }

int main() {
  int *p, *h, *q; void *m = malloc(4096);
  OK(cudaMalloc(&p, 1000)); OK(cudaMallocHost(&h, 400)); OK(cudaMallocAsync(&q, 256, 0));
  touch<<<1, 32>>>();
  OK(cudaDeviceSynchronize());
  OK(cudaDeviceReset());                        // takes all of it along
  OK(cudaMalloc(&p, 1000)); OK(cudaFree(p));
  OK(cudaHostRegister(m, 4096, 0));
  puts("good");
}
