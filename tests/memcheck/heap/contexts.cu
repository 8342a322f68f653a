// Memory of a context that is gone is freed memory; its findings name the kernel of a module that
// was unloaded since.
// finds: use-after-free count=8
// finds: oob-write count=4
// finds: invalid-free count=1
// says: kernel fill
// says: contexts.cu:{filled}
// says: cuMemFree (cudaFree): this was freed before (invalid-free)
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
__global__ void fill(int *a, int n) {
  int i = threadIdx.x;
  if (i < n)
    a[i] = i;  // label: filled
}

int main() {
  int *a, *b;
  OK(cudaMalloc(&a, 128));
  fill<<<1, 64>>>(a, 36);
  OK(cudaDeviceSynchronize());
  OK(cudaDeviceReset());                        // the module that `fill` is in goes, too
  OK(cudaMalloc(&b, 1 << 20));
  if (b == a) {  // a GPU may give out the address again: a belongs to freed memory once more
    OK(cudaFree(b));
    OK(cudaMalloc(&b, 1 << 20));
  }
  fill<<<1, 64>>>(a, 8);
  fill<<<1, 64>>>(b, 64);
  OK(cudaDeviceSynchronize());
  printf("%s\n", cudaGetErrorName(cudaFree(a))); cudaGetLastError();
  OK(cudaFree(b));
}
