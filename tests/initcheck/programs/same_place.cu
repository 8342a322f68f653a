// Lanes of a warp store to one place: one value stays, and what is known of that place is what is
// known of that value. Which lane it is the lane's number beside it tells.
// device: cpu
#include <cstdio>
#include "../../../include/warpgrind.h"
enum { N = 64 };

struct Pair { int lane, value; };
__global__ void together(const int *a, const int *first, Pair *p) {
  int i = threadIdx.x, to = first[i];
  *(int2 *)&p[to] = make_int2(i, a[i]);
}
__global__ void sums(const int *a, const int *first, Pair *p) {
  int i = threadIdx.x, to = first[i];
  *(int2 *)&p[to] = make_int2(i, a[i] * 3 + 1);
}

static bool is_written(int i) { return i % 3 != 1; }

int main() {
  int *a, *first, *fresh, to[N], lane[N], wrong = 0;
  Pair *p;
  cudaMalloc(&a, sizeof lane);
  cudaMalloc(&first, sizeof to);
  cudaMalloc(&p, N * sizeof *p);
  cudaMalloc(&fresh, 4);
  for (int i = 0; i < N; i++) if (is_written(i)) cudaMemset(a + i, 1, 4);
  for (int by = 2; by <= 16; by *= 2) {
    for (int i = 0; i < N; i++) to[i] = i / by;
    cudaMemcpy(first, to, sizeof to, cudaMemcpyHostToDevice);
    for (int which = 0; which < 2; which++) {
      if (which) sums<<<1, N>>>(a, first, p);
      else together<<<1, N>>>(a, first, p);
      cudaMemcpy2D(lane, 4, p, sizeof *p, 4, N / by, cudaMemcpyDeviceToHost);
      for (int i = 0; i < N / by; i++)
        wrong += wg_is_initialized(&p[i].value, 4) != is_written(lane[i]);
    }
  }
  puts(wrong && !wg_is_initialized(fresh, 4) ? "the mark of another value"
                                             : "the marks of the values that stayed");
}
