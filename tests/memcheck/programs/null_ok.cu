// null.cu with memory behind the pointers.
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

__global__ void follow(const int *a, int *b, int **list, int *out) {
  int i = threadIdx.x, x, y = 0;
  asm volatile("ld.u32 %0, [%1];" : "=r"(x) : "l"(a + i) : "memory");
  if (i == 0) *b = 7;
  if (i == 1) y = *list[0];
  out[i] = x + y + 1;
}

int main() {
  int *in = NULL, *one = NULL, **list, *out, h[32];
  OK(cudaMalloc(&list, sizeof *list)); OK(cudaMalloc(&out, sizeof h));
  OK(cudaMalloc(&in, sizeof h)); OK(cudaMemset(in, 0, sizeof h)); OK(cudaMalloc(&one, 4));
  OK(cudaMemcpy(list, &in, sizeof in, cudaMemcpyHostToDevice));
  follow<<<1, 32>>>(in, one, list, out);
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; i++) if (h[i] != 1) printf("%d: %d\n", i, h[i]);
  puts("done");
}
