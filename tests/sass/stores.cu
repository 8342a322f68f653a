// Kernels whose machine code says what they store. Behind `stores:` on the line before a kernel:
// each pointer parameter's place in bytes and what is stored through it; `?` is a store whose
// parameter is not known; `anywhere`: its pointer may be none of the parameters.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define K extern "C" __global__ void

// stores: 8 f32
K scale(const float *in, float *out, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * in[i];
}
// stores: 8 f32
K vectors(const float4 *in, float4 *out) {
  float4 v = in[threadIdx.x];
  out[threadIdx.x] = make_float4(v.x + 1, v.y * 2, fmaxf(v.z, 0), v.w - v.x);
}
// stores: 8 f64
K doubles(const double *in, double *out) { out[threadIdx.x] = in[threadIdx.x] * 3 + 1; }
// stores: 8 f64
K doubles_max(const double *in, double *out) {
  double v = in[threadIdx.x] * 3;
  out[threadIdx.x] = v > 1 ? v : 1;
}
// stores: 8 f16
K halves(const __half2 *in, __half2 *out) {
  out[threadIdx.x] = __hfma2(in[threadIdx.x], in[threadIdx.x], in[0]);
}
// stores: 8 f16
K half_from_float(const float *in, __half *out) {
  out[threadIdx.x] = __float2half(in[threadIdx.x] * 2);
}
#if __CUDA_ARCH__ >= 800
// stores: 8 bf16
K bfloat_from_float(const float *in, __nv_bfloat16 *out) {
  out[threadIdx.x] = __float2bfloat16(in[threadIdx.x] * 2);
}
// stores: 8 bf16
K bfloats(const __nv_bfloat162 *in, __nv_bfloat162 *out) {
  float2 v = __bfloat1622float2(in[threadIdx.x]);
  out[threadIdx.x] = __floats2bfloat162_rn(v.x / v.y, v.y + 1);
}
// stores: 8 f32
K widened(const __nv_bfloat16 *in, float *out) {
  out[threadIdx.x] = __bfloat162float(in[threadIdx.x]) + 1;
}
#endif
// stores: 8 other
K integers(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] * 3 - 1; }
// stores: 8 other
K longs(const long long *in, long long *out) { out[threadIdx.x] = in[threadIdx.x] + in[0]; }
// stores: 8 other
K copies(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x]; }
// stores: 0 other
K fills(float *out, float value) { out[threadIdx.x] = value; }
// A greatest value and where it is.
// stores: 8 f32, 16 other
K argmax(const float *in, float *value, int *where, int n) {
  float best = in[0] * 2;
  int at = 0;
  for (int i = 1; i < n; i++)
    if (in[i] * 2 > best) best = in[i] * 2, at = i;
  value[threadIdx.x] = best;
  where[threadIdx.x] = at;
}
// stores: 8 f32
K sums(const float *in, float *out, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
  for (int i = 16; i; i /= 2) sum += __shfl_xor_sync(~0u, sum, i);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
// stores: 8 f32
K through_shared(const float *in, float *out) {
  __shared__ float tile[32][33];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x] * 2;
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
// stores: 8 f32
K adds_up(const float *in, float *out) { atomicAdd(&out[threadIdx.x & 3], in[threadIdx.x]); }
// stores: 8 f64
K adds_up_double(const double *in, double *out) {
  atomicAdd(&out[threadIdx.x & 3], in[threadIdx.x]);
}
// stores: 8 other
K counts(const int *in, int *out) { atomicAdd(&out[in[threadIdx.x] & 3], 1); }
// stores: 16 f32
K gathers(const int *index, const float *in, float *out) {
  out[index[threadIdx.x]] = in[threadIdx.x] * 2;
}
struct Tensors {
  int n;
  float *data[3];
};
// stores: 8 f32
K by_value(const Tensors t) {
  if (threadIdx.x < t.n) t.data[0][threadIdx.x] = t.data[1][threadIdx.x] + t.data[2][threadIdx.x];
}
// stores: ? f32 anywhere
K pointers(float **out, const float *in) { out[blockIdx.x][threadIdx.x] = in[threadIdx.x] * 2; }
// stores: 8 f32
K in_rows(const float *in, float *out, long long stride, int n) {
  out += blockIdx.x * stride;
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = expf(in[i]) / (1 + in[i]);
}
// stores: 8 f32
K converted(const int *in, float *out) { out[threadIdx.x] = in[threadIdx.x]; }
// stores: 8 other
K compared(const float *in, bool *out) { out[threadIdx.x] = in[threadIdx.x] > 0; }
// stores: 8 f32
K chosen(const float *in, float *out, int n) {
  float v = in[threadIdx.x] * 2;
  out[threadIdx.x] = threadIdx.x < n ? v : 0;
}
// The slow way of a division is a function that is called.
// stores: 8 f32
K divided(const float *in, float *out, float by) { out[threadIdx.x] = in[threadIdx.x] / by; }
// A list of pointers among the parameters, with an index that is not known.
struct List {
  float *data[8];
  int sizes[8];
};
// stores: ? f32
K of_a_list(const __grid_constant__ List l, float by) {
  float *p = l.data[blockIdx.x];
  for (int i = threadIdx.x; i < l.sizes[blockIdx.x]; i += blockDim.x) p[i] = p[i] / by;
}
// A format that is chosen when it runs.
// stores: 8 f16 f32 f64
K one_of_three(const float *in, void *out, int format) {
  float v = in[threadIdx.x] * 2;
  if (format == 0) ((float *)out)[threadIdx.x] = v;
  else if (format == 1) ((double *)out)[threadIdx.x] = v;
  else ((__half *)out)[threadIdx.x] = v;
}
// stores: 8 f32
K branches(const float *in, float *out, int n) {
  float v = in[threadIdx.x];
  if (n > 3) {
    v = n > 7 ? v * 2 : v - 1;
    __syncthreads();
  }
  out[threadIdx.x] = v;
}
// stores: 8 f64
K roots_double(const double *in, double *out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = sqrt(in[threadIdx.x]) / in[0];
}
#if __CUDA_ARCH__ >= 800
// Sums of a warp, halves of registers, a store that only some threads make.
// stores: 8 bf16
K sums_bfloat(const __nv_bfloat16 *in, __nv_bfloat16 *out, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += __bfloat162float(in[i]);
  for (int i = 16; i; i /= 2) sum += __shfl_xor_sync(~0u, sum, i);
  if (threadIdx.x == 0) out[blockIdx.x] = __float2bfloat16(sum);
}
// stores: 8 bf16
K gelu_bfloat(const __nv_bfloat16 *in, __nv_bfloat16 *out, int n) {
  struct alignas(16) Eight {
    __nv_bfloat16 v[8];
  } x = ((const Eight *)in)[threadIdx.x];
  for (int i = 0; i < 8; i++) {
    float f = __bfloat162float(x.v[i]);
    x.v[i] = __float2bfloat16(f * 0.5f * (1 + erff(f * 0.70710678f)));
  }
  if ((int)threadIdx.x * 8 + 8 <= n) ((Eight *)out)[threadIdx.x] = x;
  else
    for (int i = 0; i < 8; i++)
      if ((int)threadIdx.x * 8 + i < n) out[threadIdx.x * 8 + i] = x.v[i];
}
#endif
__device__ float variable[32];
// stores: ? f32
K to_a_variable(const float *in) { variable[threadIdx.x] = in[threadIdx.x] * 2; }
