// nvcc: -Iinclude
// Triangle tessellation with a precision bug that an assertion finds on the device where it happens
// (section 5.3 of Hou, Zhou and Guo). The strip of an output vertex comes from a quadratic equation;
// 1e-6 is added before rounding down, which is too little for large factors.
#include <cstdio>

#include "warpgrind_functions.h"

// Vertices are numbered strip by strip; strip s begins at s * (2 * rows - s).
__device__ int strip_of(int vertex, int rows) {
  float x = (float)(rows * rows - vertex);
  float root = x * rsqrtf(x);  // as fast code computes a square root
  return (int)floorf((float)rows - root + 1e-6f);
}

__global__ void tessellate(float2 *out, int factor) {
  int v = threadIdx.x + blockIdx.x * blockDim.x, rows = factor + 1;
  if (v >= rows * rows - 1) return;
  int strip = strip_of(v, rows), first = strip * (2 * rows - strip);
  wg_assert(v >= first && v < first + 2 * (rows - strip) - 1, v, strip);
  out[v] = make_float2((float)strip / rows, (float)(v - first) / rows);
}

static size_t failures;

// Replaces the messages of wg_assert: only counts them.
static void count(wg_interrupt *call, void *) { failures += call->count; }

int main(int argc, char **) {
  if (argc == 1) wg_interrupt_handler("wg_assert_failed", count, nullptr);
  const int factors[] = {7, 63, 119, 143, 500};
  float2 *out;
  cudaMalloc(&out, 501 * 501 * sizeof *out);
  size_t small = 0, large = 0;
  for (int f : factors) {
    failures = 0;
    tessellate<<<((f + 1) * (f + 1) + 127) / 128, 128>>>(out, f);
    cudaDeviceSynchronize();
    (f < 16 ? small : large) += failures;
  }
  printf("factor 7: %s; larger factors: %s; %s\n", small ? "malformed triangles" : "right",
         large ? "malformed triangles" : "right", cudaGetErrorString(cudaGetLastError()));
  cudaFree(out);
}
