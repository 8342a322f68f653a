// Text and tables of the program itself, read through pointers of which nothing is known.
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
__device__ __noinline__ int length(const char *s) { int n = 0; while (s[n]) n++; return n; }
static __device__ const char *const words[3] = {"one", "two and more", ""};
__device__ int before[3] = {1, 2, 3};
struct Shape { __device__ virtual int area() const { return 1; } int w = 2; };
struct Square : Shape { __device__ int area() const override { return w * w; } };

__global__ void each(int *out, const char **given) {
  int i = threadIdx.x;
  Square square; Shape shape;
  const Shape *s = i % 2 ? &shape : (const Shape *)&square;
  static const short table[4] = {1, 2, 3, 4};
  given[i] = i % 2 ? "odd" : words[i % 3];
  out[i] = length(given[i]) + s->area() + before[i % 3] + table[i % 4] + length("never mind");
}

int main() {
  int *out, h[32]; const char **given;
  OK(cudaMalloc(&out, sizeof h)); OK(cudaMalloc(&given, 32 * sizeof *given));
  each<<<1, 32>>>(out, given);
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDefault));
  for (int i = 0; i < 32; i++) printf("%d\n", h[i]);
}
