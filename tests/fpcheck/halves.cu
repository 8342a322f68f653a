// halves [twin]: pairs of numbers in one register, made in braces of inline PTX as cuda_bf16.h and
// cuda_fp16.h have them, taken apart and put together again. A launch too large to be tested
// everywhere: exceptions are seen where they are stored, and threads that see one run again. Run by
// launches.sh.
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void sums(float *out, const __nv_bfloat162 *a, const __nv_bfloat162 *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __nv_bfloat162 p = __hmul2(a[i], b[i]);                      // overflows
  out[i] = __low2float(p) + __high2float(p);                   // label: sink
}

__global__ void swapped(__half2 *out, const __half2 *a, const __half2 *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half2 p = __hsub2(a[i], b[i]);                             // inf - inf
  out[i] = __halves2half2(__high2half(p), __low2half(p));      // label: sink
}

template <class T> static T *copied(const T *from, int n) {
  T *to;
  if (cudaMalloc(&to, n * sizeof *to) != cudaSuccess ||
      cudaMemcpy(to, from, n * sizeof *to, cudaMemcpyHostToDevice) != cudaSuccess)
    return nullptr;
  return to;
}

enum { N = 80000 };
static __nv_bfloat162 big[N];
static __half2 one[N], other[N];
static float sum[N];
static __half2 swap[N];

int main(int argc, char **) {
  float huge = argc > 1 ? 3.0f : 3e30f, infinite = argc > 1 ? 2.0f : 1.0f / 0.0f;
  for (int i = 0; i < N; i++) {
    big[i] = __floats2bfloat162_rn(1.5f, i % 1000 == 7 ? huge : 2.0f);
    one[i] = other[i] = __floats2half2_rn(i % 4000 == 9 ? infinite : 1.0f, 2.0f);
  }
  float *out;
  __half2 *pairs;
  if (cudaMalloc(&out, sizeof sum) != cudaSuccess || cudaMalloc(&pairs, sizeof swap) != cudaSuccess)
    return 1;
  sums<<<(N + 255) / 256, 256>>>(out, copied(big, N), copied(big, N), N);
  swapped<<<(N + 255) / 256, 256>>>(pairs, copied(one, N), copied(other, N), N);
  if (cudaMemcpy(sum, out, sizeof sum, cudaMemcpyDeviceToHost) != cudaSuccess ||
      cudaMemcpy(swap, pairs, sizeof swap, cudaMemcpyDeviceToHost) != cudaSuccess)
    return 1;
  double total = 0;
  for (int i = 0; i < N; i++) total += i % 1000 == 7 ? 0 : sum[i];
  printf("%g %g %g\n", total, sum[7], __high2float(swap[9]));
}
