// Variables of a module exist once: set by the host, changed by one kernel, read by another, by
// pointer and by name.
// coverage: all
#include "gpu_test.h"

__constant__ float weights[8];
__constant__ int *where;                               // a pointer kept in constant memory
static __constant__ int hidden_constant = 11;
static __device__ int hidden = 7;
__device__ int visible[4] = {1, 2, 3, 4};
__device__ int *pointer_to_visible = &visible[2];      // an initial value that is an address
__managed__ int both = 40;
__device__ float4 aligned_value;
namespace inner { __device__ unsigned long long big = 1ull << 40; }

__global__ void first(float *out) {
  int t = threadIdx.x;
  if (t < 8) out[t] = weights[t] * visible[t & 3] + hidden;
  if (t == 0) {
    atomicAdd(&hidden, 100);
    *pointer_to_visible += 10;
    both += 2;
    inner::big += 5;
    aligned_value = make_float4(1, 2, 3, 4);
  }
}
__global__ void second(float *out) {
  out[0] = hidden, out[1] = visible[2], out[2] = both, out[3] = aligned_value.z,
  out[4] = (float)(inner::big >> 38), out[5] = hidden_constant;
  static __device__ int calls;
  out[6] = ++calls;
  where[0] = 77;
}
__global__ void never_launched(int *p) { p[0] = hidden + visible[0]; }

int main() {
  float *d, h[8], w[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int v[4], *target, five = 5;
  OK(cudaMalloc(&d, sizeof h));
  OK(cudaMalloc(&target, 4));
  OK(cudaMemcpyToSymbol(weights, w, sizeof w));
  OK(cudaMemcpyToSymbol(where, &target, sizeof target));
  both = 50;
  first<<<1, 32>>>(d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  for (int i = 0; i < 8; i++) EXPECT(h[i] == w[i] * ((i & 3) + 1) + 7);
  show("first", h, sizeof h);
  EXPECT(both == 52);
  both = 60;
  OK(cudaMemcpyFromSymbol(v, visible, sizeof v));
  EXPECT(v[2] == 13);
  OK(cudaMemcpyToSymbol(hidden, &five, 4));
  second<<<1, 1>>>(d);
  second<<<1, 1>>>(d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  EXPECT(h[0] == 5 && h[1] == 13 && h[2] == 60 && h[3] == 3 && h[4] == 4 && h[5] == 11 &&
         h[6] == 2);
  show("second", h, 7 * sizeof *h);
  OK(cudaMemcpy(v, target, 4, cudaMemcpyDefault));
  EXPECT(v[0] == 77);
  void *address;
  size_t size;
  OK(cudaGetSymbolAddress(&address, visible));
  OK(cudaGetSymbolSize(&size, visible));
  EXPECT(size == 16);
  OK(cudaMemset(address, 0, 16));
  first<<<1, 32>>>(d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  EXPECT(h[3] == 5);
  show("third", h, sizeof h);
  return finish();
}
