// Correct programs in which infinity and NaN are at home: no errors, and only the notes that // and
// = ask for. Run by births.sh.
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <math_constants.h>

#define CHECK(call) \
  do { \
    cudaError_t e_ = (call); \
    if (e_ != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e_)); \
      return 1; \
    } \
  } while (0)

__global__ void masked_softmax(float *out, const float *in,
                               int n) {  // one block of 64: later positions are masked
  __shared__ float row[64];
  int i = threadIdx.x;
  float score = i < n ? in[i] * 0.125f : -INFINITY;
  row[i] = score;
  __syncthreads();
  float top = -INFINITY;
  for (int k = 0; k < 64; k++) top = fmaxf(top, row[k]);
  float e = expf(score - top);
  __syncthreads();
  row[i] = e;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 64; k++) sum += row[k];
  out[i] = e / sum;
}
__global__ void masked_by_largest(
    float *out, double *wide,
    const float *in) {  // exp(-FLT_MAX) is 0 on the way through x * log2(e), which is -inf
  int i = threadIdx.x;
  float x = i & 1 ? in[i] : -FLT_MAX;
  out[i] = expf(x - 3) + __expf(x) + exp10f(x) + expm1f(x) + erff(x);
  wide[i] = exp(i & 1 ? (double)in[i] : i & 2 ? -1e300 : -DBL_MAX) + exp(709.0 + 1e-3 * in[0]);
}
__global__ void taken_or_not(float *out, const float *in,
                             int n) {  // compilers multiply first and ask then
  int i = threadIdx.x;
  float x = fabsf(in[i]) + 1;
  for (int k = 0; k < n; k++) x *= 1e10f;
  float y = in[i + 8];
  if (x < y) y = x * x;
  out[i] = y;
}
__global__ void least(float *out, const float *in, int n) {  // a minimum seeded with infinity
  float m = INFINITY;
  for (int i = threadIdx.x; i < n; i += 32) m = fminf(m, in[i]);
  for (int k = 16; k; k /= 2) m = fminf(m, __shfl_xor_sync(~0u, m, k));
  out[threadIdx.x] = m;
}
__global__ void skips_nan(float *out, const float *in, int n) {  // a sum of what is a number
  float s = 0;
  for (int i = 0; i < n; i++)
    // finds-next: fp-input format=f32 count=1
    if (!isnan(in[i])) s += in[i];
  out[0] = s;
  for (int i = 0; i < n; i++) s = isfinite(in[i]) ? s + 1 : s;
  out[1] = s;
  for (int i = 0; i < n; i++) out[2 + i] = isinf(in[i]) ? 1 : 0;
}
__global__ void other_spellings(int *out, const float *in) {
  float x = in[threadIdx.x];
  double d = x;
  unsigned bits = __float_as_uint(x);
  out[threadIdx.x] = (x != x) + 2 * !(x == x) + 4 * ((bits & 0x7fffffff) > 0x7f800000) +
                     8 * (fabsf(x) < INFINITY) + 16 * (fabsf(x) <= FLT_MAX) + 32 * (x - x == 0) +
                     64 * (d >= -DBL_MAX) + 128 * (d == INFINITY);
}
__global__ void guarded_functions(float *out, double *wide, const float *in) {
  int i = threadIdx.x;
  float x = in[i];
  out[i] = x > 0 ? logf(x) : 0.0f;
  out[i] += x > 0 ? 1.0f / x : 0.0f;
  out[i] += x >= 0 ? sqrtf(x) : 0.0f;
  wide[i] = x > 0 ? log((double)x) + 1.0 / x + sqrt((double)x) : 0.0;
  out[i] += rsqrtf(fmaxf(x * x, 1e-12f));
}
__global__ void asked_afterwards(
    float *out, double *wide,
    const float *in) {  // quotients and roots that are taken if they are numbers
  int i = threadIdx.x;
  float q = in[i] / in[i ^ 1], root = sqrtf(in[i]);
  double reciprocal = 1.0 / in[i];
  out[i] = isfinite(q) ? q : 0.0f;
  out[i + 8] = root != root ? 0.0f : root;
  wide[i] = isinf(reciprocal) ? 0.0 : reciprocal;
}
__global__ void saturating_functions(
    float *out, const float *in) {  // tanhf divides by an exponential that overflows, and takes 1
  int i = threadIdx.x +
          blockIdx.x * blockDim.x;  // more threads than are tested everywhere at first
  float x = in[i & 7] * 40.0f;
  if (i < 8) out[i] = tanhf(x) + erff(x);
}
__global__ void shortest(
    float *dist,
    const float *weight) {  // one step of a shortest-path search: unreached is infinity
  int i = threadIdx.x;
  // finds-next: fp-input format=f32 count=2
  float d = dist[i ^ 1];
  dist[i + 8] = fminf(dist[i], d + weight[i]);
}
__global__ void takes_nan(float *out, const float *in) {  // NaN of the host passes through
  int i = threadIdx.x;
  // finds-next: fp-input format=f32 count=1
  out[i] = in[i] * 2.0f + 1.0f;
}
__global__ void functions(float *out,
                          const float *in) {  // library functions in their ordinary ranges
  int i = threadIdx.x;
  float x = in[i] + 3.0f;
  out[i] = sinf(x) + cosf(x) + tanf(x * 0.1f) + expf(-x * x) + powf(x + 4.0f, 1.5f) + tanhf(x) +
           atan2f(x, 2.0f) + erff(x) + cbrtf(x) + fmodf(x, 2.0f) + log1pf(x + 4.0f);
}
__global__ void functions_double(double *out, const float *in) {
  int i = threadIdx.x;
  double x = in[i] + 3.0f;
  out[i] = sin(x) + cos(x) + tan(x * 0.1) + exp(-x * x) + pow(x + 4.0, 1.5) + tanh(x) +
           atan2(x, 2.0) + erf(x) + cbrt(x) + fmod(x, 2.0) + log1p(x + 4.0);
}
// NaN in place of numbers that are missing: by index, by a flag, in a loop, in a branch. CUDART_NAN
// has the bits that functions of the library return.
__global__ void missing(float *out, double *wide, const float *in, const int *valid, int n) {
  for (int i = threadIdx.x; i < n; i += 2) {
    wide[i] = i % 5 == 0 ? CUDART_NAN : in[i] * 2.0;
    if (valid[i]) out[i] = in[i] + 1; else out[i] = CUDART_NAN_F;
    out[i + 64] = i % 3 == 0 ? NAN : in[i];
    out[i + 128] = i == n - 1 ? nanf("") : in[i];
  }
}
// Infinity in place of what is not looked for: where a number is whole, where it is zero.
__global__ void whole(float *out, double *wide, const float *in) {
  float x = in[threadIdx.x], cost = INFINITY;
  if (x != floorf(x)) cost = sqrtf(fabsf(x)) + sinf(x) * in[threadIdx.x + 8];
  out[threadIdx.x] = fminf(cost, 1e30f);
  double y = x * 0.5, far = CUDART_INF;
  if (y != trunc(y)) far = exp(-y * y) + in[threadIdx.x + 16];
  wide[threadIdx.x] = fmin(far, 1e300);
  float least = INFINITY;
  if (x != 0) least = cosf(x) + in[threadIdx.x + 24];
  out[threadIdx.x + 32] = fminf(least, 2);
}

int main() {
  float in[64], with_nan[8] = {1, NAN, 2, INFINITY, 3, NAN, -4, 5}, one_nan[4] = {1, 2, NAN, 4},
                signs[8] = {-2, -1, 0, 0.5f, 1, 2, 3, 4};
  float reached[8] = {0, 3, INFINITY, 5, 6, 7, INFINITY, 9};
  for (int i = 0; i < 64; i++) in[i] = (float)((i * 37) % 17) - 5;
  float *out, *dev, *other;
  double *wide;
  CHECK(cudaMalloc(&out, 4096));
  CHECK(cudaMalloc(&dev, 4096));
  CHECK(cudaMalloc(&other, 4096));
  CHECK(cudaMalloc(&wide, 4096));
  CHECK(cudaMemcpy(dev, in, sizeof in, cudaMemcpyHostToDevice));
  masked_softmax<<<1, 64>>>(out, dev, 40);
  float first;
  CHECK(cudaMemcpy(&first, out, 4, cudaMemcpyDeviceToHost));
  printf("softmax %.6f\n", first);
  masked_by_largest<<<1, 8>>>(out, wide, dev);
  taken_or_not<<<1, 8>>>(out, dev, 3);
  least<<<1, 32>>>(out, dev, 50);
  functions<<<1, 8>>>(out, dev);
  missing<<<1, 2>>>(out, wide, dev, (const int *)dev, 64);
  functions_double<<<1, 8>>>(wide, dev);
  whole<<<1, 8>>>(out, wide, dev);
  CHECK(cudaMemcpy(other, with_nan, sizeof with_nan, cudaMemcpyHostToDevice));
  skips_nan<<<1, 1>>>(out, other, 8);
  other_spellings<<<1, 8>>>((int *)wide, other);
  CHECK(cudaMemcpy(other, signs, sizeof signs, cudaMemcpyHostToDevice));
  guarded_functions<<<1, 8>>>(out, wide, other);
  asked_afterwards<<<1, 8>>>(out, wide, other);
  saturating_functions<<<300, 256>>>(out, other);
  CHECK(cudaMemcpy(other, reached, sizeof reached, cudaMemcpyHostToDevice));
  shortest<<<1, 8>>>(other, dev + 32);
  CHECK(cudaMemcpy(other, one_nan, sizeof one_nan, cudaMemcpyHostToDevice));
  takes_nan<<<1, 4>>>(out, other);
  CHECK(cudaDeviceSynchronize());
}
