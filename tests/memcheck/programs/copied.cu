// Copies that device code makes by memcpy and assignment: the compiler's loops have no line of
// their own, the report names that of the copy.
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
  memcpy(to, from, n);  // finds: oob-read count=1
  memset(more, 7, m);  // finds: oob-write count=2
}

int main() {
  char *a, *b, *c;
  OK(cudaMalloc(&a, 200)); OK(cudaMalloc(&b, 100)); OK(cudaMalloc(&c, 100));
  OK(cudaMemset(b, 1, 100));
  copies<<<1, 1>>>(a, b, c, 101, 102);
  OK(cudaDeviceSynchronize());
  puts("done");
}
