// copied.cu with the right sizes.
#include <cstdio>
#include <cstdlib>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)

__global__ void copies(char *to, const char *from, char *more, int n, int m) {
  memcpy(to, from, n);
  memset(more, 7, m);
}

int main() {
  char *a, *b, *c;
  OK(cudaMalloc(&a, 200)); OK(cudaMalloc(&b, 100)); OK(cudaMalloc(&c, 100));
  OK(cudaMemset(b, 1, 100));
  copies<<<1, 1>>>(a, b, c, 100, 100);
  OK(cudaDeviceSynchronize());
  puts("done");
}
