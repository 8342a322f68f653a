// A list whose end leads back into it. The loop also counts, which decides nothing.
// says: in a loop that never ends
#include "../../lib/one_bug.h"
__global__ void k(const int *next, int *out) {
  int n = 0;
  for (int i = threadIdx.x; i >= 0; i = next[i]) n++;  // finds: hang
  out[threadIdx.x] = n;
}
int main() {
  int h[256], *next = device_ints(256), *out = device_ints(32);
#ifdef TWIN
  int end = -1;
#else
  int end = 0;                             // 8 elements: a GPU looks at the loop every 2¹⁶ turns
#endif
  for (int i = 0; i < 256; i++) h[i] = i + 32 < 256 ? i + 32 : end < 0 ? -1 : i % 32;
  MUST(cudaMemcpy(next, h, sizeof h, cudaMemcpyHostToDevice));
  k<<<1, 32>>>(next, out);
  cudaError_t e = cudaDeviceSynchronize();
  (void)e;
  puts("done");
}
