// The same in one line.
// finds: leak count=1
// says: Memory still allocated at exit: 3720 bytes in 6 allocations, from 4 places in the program;
//    --leak-check=full lists them (leak)
// options: --leak-check=summary
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
static int *make(size_t n) {
  int *p; OK(cudaMalloc((void **)&p, n)); return p;
}

int main() {
  int *h, *q; cudaArray_t array; cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  touch<<<1, 32>>>();
  for (int i = 0; i < 5; i++) { int *p = make(1000); if (i > 2) OK(cudaFree(p)); }
  OK(cudaMallocHost((void **)&h, 400));
  OK(cudaMallocArray(&array, &format, 16));
  OK(cudaMallocAsync((void **)&q, 256, 0));
  OK(cudaDeviceSynchronize());
  puts("done");
  return 3;
}
