// Two 16-bit values in one register, of which one is bad: conversions of two floats and comparisons
// keep the other.
// arch: compute_80
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ unsigned bits(__half2 x) { return *(unsigned *)&x; }
__device__ unsigned bits(__nv_bfloat162 x) { return *(unsigned *)&x; }

#define LOOK(name, statement) \
  __global__ void name(const float *p, const float *good, int *out) { \
    float x = p[threadIdx.x], y = good[threadIdx.x]; \
    statement \
  }
LOOK(lower_is_good, if (bits(__floats2half2_rn(y, x)) & 0xffff) out[threadIdx.x] = 1;)
LOOK(upper_is_good, if (bits(__floats2bfloat162_rn(x, y)) >> 16) out[threadIdx.x] = 1;)
// finds-next: uninit-use (it was made of the bad one)
LOOK(lower_is_bad, if (bits(__floats2half2_rn(x, y)) & 0xffff) out[threadIdx.x] = 1;)
// finds-next: uninit-use (it was made of the bad one)
LOOK(upper_is_bad, if (bits(__floats2bfloat162_rn(y, x)) >> 16) out[threadIdx.x] = 1;)
// finds-next: uninit-use (one is enough)
LOOK(both_are_bad, if (bits(__floats2half2_rn(x, x)) >> 16) out[threadIdx.x] = 1;)
LOOK(squared_is_good, __nv_bfloat162 h = __floats2bfloat162_rn(y, x);
     if (bits(__hmul2(h, h)) & 0xffff) out[threadIdx.x] = 1;)

#define COMPARE(name, statement) \
  __global__ void name(const __half2 *p, const __half2 *good, int *out) { \
    __half2 x = p[threadIdx.x], y = good[threadIdx.x]; \
    statement \
  }
COMPARE(mask_is_good, if (__hgt2_mask(x, y) & 0xffff) out[threadIdx.x] = 1;)
// finds-next: uninit-use (its upper half was never written)
COMPARE(mask_is_bad, if (__hgt2_mask(x, y) >> 16) out[threadIdx.x] = 1;)
COMPARE(one_is_good, if (bits(__hlt2(x, y)) & 0xffff) out[threadIdx.x] = 1;)
// finds-next: uninit-use (its upper half was never written)
COMPARE(one_is_bad, if (bits(__hlt2(x, y)) >> 16) out[threadIdx.x] = 1;)

__global__ void write_lower(__half *h) { h[2 * threadIdx.x] = 1; }

int main() {
  float *p, *good;
  __half2 *h;
  int *out;
  cudaMalloc(&p, 4096);
  cudaMalloc(&h, 4096);
  cudaMalloc(&good, 4096);
  cudaMalloc(&out, 4096);
  cudaMemset(good, 0x3c, 4096);
  cudaMemset(out, 0, 4096);
  write_lower<<<1, 32>>>((__half *)h);
  lower_is_good<<<1, 32>>>(p, good, out);
  upper_is_good<<<1, 32>>>(p, good, out);
  lower_is_bad<<<1, 32>>>(p, good, out);
  upper_is_bad<<<1, 32>>>(p, good, out);
  both_are_bad<<<1, 32>>>(p, good, out);
  squared_is_good<<<1, 32>>>(p, good, out);
  mask_is_good<<<1, 32>>>(h, (__half2 *)good, out);
  mask_is_bad<<<1, 32>>>(h, (__half2 *)good, out);
  one_is_good<<<1, 32>>>(h, (__half2 *)good, out);
  one_is_bad<<<1, 32>>>(h, (__half2 *)good, out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
