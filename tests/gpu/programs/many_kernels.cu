// Two hundred kernels of which three are launched: only those may be compiled.
// coverage: all
// nvcc: -std=c++17
#include <utility>
#include "gpu_test.h"

template <int K> __global__ void kernel(int *p) {
  int v = p[threadIdx.x];
#pragma unroll
  for (int i = 0; i < 20; i++) v = (int)((unsigned)v * (K + i) + (v >> 3));
  p[threadIdx.x] = v;
}
template <int... K> static void launch(int which, int *p, std::integer_sequence<int, K...>) {
  static void (*const all[])(int *) = {kernel<K>...};
  all[which]<<<1, 64>>>(p);
}
int main() {
  int *d, h[64], w[64];
  for (int i = 0; i < 64; i++) h[i] = w[i] = i;
  OK(cudaMalloc(&d, sizeof h));
  OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyDefault));
  for (int k : {5, 100, 199}) {
    launch(k, d, std::make_integer_sequence<int, 200>());
    for (int &v : w) for (int i = 0; i < 20; i++) v = (int)((unsigned)v * (k + i) + (v >> 3));
  }
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  EXPECT(memcmp(h, w, sizeof h) == 0);
  show("result", h, sizeof h);
  return finish();
}
