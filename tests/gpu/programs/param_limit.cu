// Parameters as large as they can be: there is no room for one more, which coverage must say when a
// tool needs it.
// coverage: all
// coverage-with-tool: uncovered
#include "gpu_test.h"

struct Huge {
  int v[8188];
};  // with the pointer 32,760 bytes; the limit is 32,764
__global__ void full(const __grid_constant__ Huge h, int *out) {
  out[threadIdx.x] = h.v[threadIdx.x * 8] + h.v[8187];
}
static Huge h;
int main() {
  static_assert(sizeof(Huge) == 32752, "size");
  int *d, r[64];
  for (int i = 0; i < 8188; i++) h.v[i] = i;
  OK(cudaMallocManaged(&d, sizeof r));
  void *args[] = {&h, &d};
  cudaError_t e = cudaLaunchKernel((const void *)full, 1, 64, args, 0, 0);
  printf("%s\n", cudaGetErrorName(e));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; i++) {
    r[i] = e == cudaSuccess ? d[i] : 0;
    EXPECT(r[i] == i * 8 + 8187);
  }
  show("out", r, sizeof r);
  return finish();
}
