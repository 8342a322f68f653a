// What a program says itself: values, and where recording begins and ends.
#include <cstdio>
#include "warpgrind.h"
#ifdef NO_MARKS
#undef __dflog_begin
#define wg_record(x) (void)0
#define wg_record_begin() (void)0
#define wg_record_end() (void)0
#define __dflog_begin() (void)0
#endif

__global__ void values(int *out) {
  int i = threadIdx.x;
  wg_record(i * 2);
  if (i & 1) wg_record(i * 0.5f);
  wg_record((double)i);
  wg_record((unsigned long long)i << 40);
  wg_record((signed char)-i);
  out[i] = i;
}

__global__ void part(int *out) {
  out[threadIdx.x] = 1;
  wg_record_begin();
  out[threadIdx.x + 32] = 2;
  wg_record_end();
  out[threadIdx.x + 64] = 3;
  if (threadIdx.x == 4) __dflog_begin();
  out[threadIdx.x + 96] = 4;
}

__global__ void plain(int *out, int v) { out[threadIdx.x] = v; }

int main() {
  int *out, *other, h[128];
  cudaMalloc(&out, sizeof h);
  values<<<1, 32>>>(out);                  // 1
  wg_record_end();
  plain<<<1, 32>>>(out, 1);                // 2: not
  part<<<1, 32>>>(out);                    // 3: in part
  wg_record_begin();
  plain<<<1, 32>>>(out, 2);                // 4
  __dflog_end();
  plain<<<1, 32>>>(out, 3);                // 5: not
  cudaMalloc(&other, sizeof h);
  part<<<1, 32>>>(other);                  // 6: in part, and nobody else knows this memory
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d %d %d %d\n", h[0], h[40], h[70], h[100]);
}
