// Frees that are right: of every kind of memory, in every order, by the runtime's two ways for
// pools, after the address was used again.
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
__global__ void fill(int *a, int n) { int i = threadIdx.x; if (i < n) a[i] = i; }

int main() {
  int *p[100], *h, *r, *q;
  void *m = malloc(4096);
  cudaStream_t s;
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  OK(cudaStreamCreate(&s));
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < 100; i++) {
      OK(cudaMalloc(&p[i], 64 + 4 * i));
      fill<<<1, 64>>>(p[i], 16 + i);
    }
    for (int i = 0; i < 100; i += 2) OK(cudaFree(p[i]));
    for (int i = 0; i < 100; i += 2) { OK(cudaMalloc(&p[i], 640)); fill<<<1, 64>>>(p[i], 160); }
    for (int i = 99; i >= 0; i--) OK(cudaFree(p[i]));
  }
  OK(cudaMallocHost(&h, 400)); OK(cudaMallocManaged(&r, 400)); OK(cudaHostRegister(m, 4096, 0));
  fill<<<1, 64>>>(h, 100); fill<<<1, 64>>>(r, 100);
  OK(cudaHostUnregister(m)); OK(cudaFree(r)); OK(cudaFreeHost(h)); free(m);
  OK(cudaHostAlloc(&h, 400, cudaHostAllocMapped)); OK(cudaFreeHost(h));
  for (int i = 0; i < 50; i++) {
    OK(cudaMallocAsync(&q, 400, s)); fill<<<1, 64, 0, s>>>(q, 100);
    if (i % 2) OK(cudaFreeAsync(q, s));
    else {
      OK(cudaStreamSynchronize(s));
      OK(cudaFree(q));
    }  // which does not wait for a kernel that uses memory of a pool
  }
  OK(cudaMallocArray(&array, &format, 16)); OK(cudaFreeArray(array));
  OK(cudaFree(nullptr)); OK(cudaFreeHost(nullptr));
  OK(cudaDeviceSynchronize());
  puts("good");
}
