// A hundred thousand allocations, one after the other and all at once, with launches in between
// that look addresses up: silent, and in time.
#include <cstdio>
#include <cstdlib>
#include <vector>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
__global__ void each(int **list, int n) { int i = threadIdx.x; if (i < n) list[i][0] = i; }

int main() {
  enum { N = 100000 };
  std::vector<int *> all; int **list, *p, *first[32];
  OK(cudaMalloc(&list, sizeof first));
  for (int i = 0; i < 32; i++) OK(cudaMalloc(&first[i], 64));
  OK(cudaMemcpy(list, first, sizeof first, cudaMemcpyDefault));
  for (int i = 0; i < N; i++) {
    OK(cudaMalloc(&p, 256 + i % 7 * 100));
    if (i % 10 == 0) each<<<1, 32>>>(list, 32);
    OK(cudaFree(p));
  }
  for (int i = 0; i < N; i++) {
    OK(cudaMalloc(&p, 256 + i % 7 * 100));
    all.push_back(p);
    if (i % 20 == 0) each<<<1, 32>>>(list, 32);
  }
  for (int i = 0; i < N; i++) OK(cudaFree(all[(i * 7919ll) % N]));
  each<<<1, 32>>>(list, 32);
  OK(cudaDeviceSynchronize());
  puts("good");
}
