// The device's heap: behind a block, before it, a freed block, a block freed twice, what malloc did
// not return, no memory.
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

__global__ void each(int **list, int *out, int n) {
  int i = threadIdx.x, *p = (int *)malloc(n * sizeof(int));
  for (int k = 0; k <= n; k++) p[k] = k;  // finds: oob-write count=32
  list[i] = p;
  if (i == 3) out[i] = list[i][-1];  // finds: oob-read count=1
  char *c = new char[5];
  c[i == 4 ? 5 : 4] = 1;  // finds: oob-write count=1
  delete[] c;
  free(p);
  if (i == 5) {
    out[i] = list[i][2];  // finds: use-after-free count=1
    int *q = list[i];
    free(q);  // finds: invalid-free count=1
    int *host = out;
    free(host + i);  // finds: invalid-free count=1
    int *inside = (int *)malloc(100);
    free(inside + 4);  // finds: invalid-free count=1
    int *far = (int *)malloc((size_t)1 << 30);  // finds: heap-exhausted count=1
    *far = 1;  // finds: oob-write count=1
    free(inside);
  }
}

int main() {
  int **list, *out;
  OK(cudaMalloc(&list, 32 * sizeof *list)); OK(cudaMalloc(&out, 32 * 4));
  each<<<1, 32>>>(list, out, 7);
  OK(cudaDeviceSynchronize());
  puts("done");
}
