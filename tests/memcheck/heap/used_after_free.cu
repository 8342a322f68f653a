// Freed memory that is used, although the same sizes were allocated since: through a parameter,
// through memory, in stream order.
// finds: use-after-free count=32
// finds: use-after-free count=16
// finds: use-after-free count=8
// finds: use-after-free count=4
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
__global__ void by_parameter(int *a, int n) { int i = threadIdx.x; if (i < n) a[i] = i; }
__global__ void by_memory(int **list, int n) { int i = threadIdx.x; if (i < n) list[0][i] = i; }
__global__ void in_order(int *a, int n) { int i = threadIdx.x; if (i < n) a[i] = i; }
__global__ void pinned(int *a, int n) { int i = threadIdx.x; if (i < n) a[i] = i; }

int main() {
  int *a, *b[40], **list, *q, *r[40]; cudaStream_t s;
  OK(cudaStreamCreate(&s));
  OK(cudaMalloc(&list, 8)); OK(cudaMalloc(&a, 400)); OK(cudaMemcpy(list, &a, 8, cudaMemcpyDefault));
  by_parameter<<<1, 32>>>(a, 32);
  by_memory<<<1, 32>>>(list, 32);  // launched before it is freed: good
  OK(cudaFree(a));
  for (int i = 0; i < 40; i++) OK(cudaMalloc(&b[i], 400));
  by_parameter<<<1, 32>>>(a, 32);
  by_memory<<<1, 32>>>(list, 16);
  for (int i = 0; i < 40; i++) by_parameter<<<1, 32>>>(b[i], 32);
  OK(cudaMallocAsync(&q, 400, s));
  in_order<<<1, 32, 0, s>>>(q, 32);
  OK(cudaFreeAsync(q, s));
  for (int i = 0; i < 40; i++) OK(cudaMallocAsync(&r[i], 400, s));
  in_order<<<1, 32, 0, s>>>(q, 8);
  for (int i = 0; i < 40; i++) { in_order<<<1, 32, 0, s>>>(r[i], 32); OK(cudaFreeAsync(r[i], s)); }
  OK(cudaDeviceSynchronize());
  int *h; OK(cudaMallocManaged(&h, 400)); OK(cudaFree(h));
  pinned<<<1, 32>>>(h, 4);
  OK(cudaDeviceSynchronize());
  puts("done");
}
