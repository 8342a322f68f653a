// Births of floating-point exceptions, one kernel each, with the findings a line must give: kind,
// format and count after // and = Threads take their operands from memory, so that no compiler
// knows them. Run by births.sh.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#define CHECK(call) \
  do { \
    cudaError_t e_ = (call); \
    if (e_ != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e_)); \
      return 1; \
    } \
  } while (0)

__global__ void divides(float *out, const float *a, const float *b) {       // 8 threads
  int i = threadIdx.x;
  // finds-next: fp-div0 format=f32 count=2; fp-nan format=f32 count=1; fp-input format=f32 count=1
  out[i] = a[i] / b[i];
}
__global__ void divides_double(double *out, const double *a, const double *b) {
  int i = threadIdx.x;
  // finds-next: fp-div0 format=f64 count=2; fp-nan format=f64 count=1; fp-input format=f64 count=1
  out[i] = a[i] / b[i];
}
__global__ void reciprocals(float *out, const float *b) {
  int i = threadIdx.x;
  // finds-next: fp-div0 format=f32 count=3
  out[i] = __frcp_rn(b[i]);
  // finds-next: fp-div0 format=f32 count=3; fp-nan format=f32 count=1
  out[i] += rsqrtf(b[i]);
}
__global__ void fast_divides(float *out, const float *a, const float *b) {
  int i = threadIdx.x;
  // finds-next: fp-div0 format=f32 count=2; fp-nan format=f32 count=1; fp-input format=f32 count=1
  out[i] = __fdividef(a[i], b[i]);
}
__global__ void square_roots(float *out, const float *b) {
  int i = threadIdx.x;
  // finds-next: fp-nan format=f32 count=1
  out[i] = sqrtf(b[i]);
}
__global__ void logarithms(float *out, double *wide, const float *b) {
  int i = threadIdx.x;
  // finds-next: fp-nan format=f32 count=1; fp-inf format=f32 count=3
  out[i] = logf(b[i]);
  // finds-next: fp-nan format=f64 count=1; fp-inf format=f64 count=3
  wide[i] = log((double)b[i]);
  // finds-next: fp-nan format=f64 count=4; fp-inf format=f64 count=3
  wide[i + 8] = log(-(double)b[i]);
}
__global__ void fast_logarithms(float *out, const float *b) {
  int i = threadIdx.x;
  // finds-next: fp-nan format=f32 count=1; fp-inf format=f32 count=3
  out[i] = __log2f(b[i]);
}
__global__ void overflows(float *out, const float *big) {                   // 4 threads
  int i = threadIdx.x;
  // finds-next: fp-inf format=f32 count=2
  out[i] = big[i] * big[i];
  // finds-next: fp-inf format=f32 count=1
  out[i + 4] = big[i] + big[i];
  // finds-next: fp-inf format=f32 count=2
  out[i + 8] = fmaf(big[i], big[i], 1.0f);
  // finds-next: fp-inf format=f32 count=3
  out[i + 12] = expf(big[i]);
}
__global__ void underflows(float *out, double *wide, const float *small,
                           const double *tiny) {  // 4 threads
  int i = threadIdx.x;
  // finds-next: fp-subnormal format=f32 count=1
  out[i] = small[i] * small[i];
  // finds-next: fp-subnormal format=f64 count=2
  wide[i] = tiny[i] * 1e-10;
}
__global__ void halves(__half *out, const __half *a, __half2 *pairs) {      // 4 threads
  int i = threadIdx.x;
  // finds-next: fp-inf format=f16 count=2
  out[i] = __hmul(a[i], a[i]);
  __half2 pair = __halves2half2(a[i], a[i ^ 1]);
  // finds-next: fp-inf format=f16 count=2
  pairs[i] = __hadd2(pair, pair);
}
__global__ void brains(__nv_bfloat16 *out, const float *big) {              // 4 threads
  int i = threadIdx.x;
  // finds-next: fp-inf format=f32 count=1
  out[i] = __float2bfloat16(big[i] * 2.0f);
}
__global__ void conversions(float *out, __half *half, const double *wide) { // 4 threads
  int i = threadIdx.x;
  // finds-next: fp-inf format=f32 count=2
  out[i] = (float)wide[i];
  // finds-next: fp-inf format=f16 count=1
  half[i] = __float2half(out[i] * 0.5f);
}
__global__ void undefined(float *out, const float *in) {  // 4 threads: inf, -inf, inf, 1
  int i = threadIdx.x;
  // finds-next: fp-nan format=f32 count=3; fp-input format=f32 count=3
  out[i] = in[i] - in[i];
}
__global__ void decides(float *out, const float *in) {                      // 4 threads, one NaN
  int i = threadIdx.x;
  // finds-next: fp-input format=f32 count=1
  float x = in[i];
  // finds-next: fp-compare format=f32 count=1
  if (x > 2.0f) out[i] = 1;
  else out[i] = 2;
}
__global__ void summed(float *out, const float *in,
                       int n) {  // one thread: born in the third step, then carried
  float s = 0;
  // finds-next: fp-inf format=f32 count=1
  for (int i = 0; i < n; i++) s += in[i] * 1e20f;
  *out = s;
}
__device__ __noinline__ float helper(float x) {
  // finds-next: fp-div0 format=f32 count=3
  return 1.0f / x;
}
__global__ void calls(float *out, const float *b) {
  out[threadIdx.x] = helper(b[threadIdx.x]) + 1.0f;
}
__global__ void guarded(float *out, const float *b) {                       // half of the threads
  int i = threadIdx.x;
  // finds-next: fp-div0 format=f32 count=2
  if (i & 1) out[i] = 5.0f / b[i];
}
__global__ void asked_too_little(
    float *out, const float *a,
    const float *b) {  // 8 threads: taken although it is infinite; asked and not taken
  int i = threadIdx.x;
  // finds-next: fp-div0 format=f32 count=2; fp-input format=f32 count=1
  float q = a[i] / b[i];
  out[i] = isnan(q) ? 0.0f : q + 1.0f;
  // finds-next: fp-nan format=f32 count=1
  float root = sqrtf(b[i]);
  out[i + 8] = isnan(root) ? 1.0f : 0.0f;
}
__global__ void tiles(
    __half *out, const __half *a,
    const __half *b) {  // one warp: a row of 16 times 256 * 16 is too large for a half
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, __half> fc;
  wmma::fill_fragment(fc, __float2half(0.0f));
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  // finds-next: fp-inf format=f16 count=16
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(out, fc, 16, wmma::mem_row_major);
}

template <class T> static T *buffer(const T *from, int n, int room = 256) {
  T *p = nullptr;
  if (cudaMalloc(&p, room * sizeof(T)) != cudaSuccess ||
      cudaMemset(p, 0, room * sizeof(T)) != cudaSuccess)
    return nullptr;
  if (from && cudaMemcpy(p, from, n * sizeof(T), cudaMemcpyHostToDevice) != cudaSuccess)
    return nullptr;
  return p;
}

int main() {
  const float a[8] = {1, 0, -3, 4, 5, 6, INFINITY, 8}, b[8] = {0, 0, 2, -0.0f, 7, 7, 2, -1};
  double da[8], db[8];
  for (int i = 0; i < 8; i++) da[i] = a[i], db[i] = b[i];
  const float big[4] = {3e38f, 1e20f, 100, 1}, small[4] = {1e-20f, 1e-30f, 1, 0},
              infs[4] = {INFINITY, -INFINITY, INFINITY, 1}, one_nan[4] = {1, NAN, 3, 4};
  const double tiny[4] = {1e-300, 1e-305, 1, 0}, wide[4] = {1e300, -1e39, 1e38, 1};
  const float steps[6] = {1, 2, 3e19f, 1, 1, 1};
  __half halves_in[4], ones[256], large[256];
  const float half_values[4] = {300, 60000, 2, 1};
  for (int i = 0; i < 4; i++) halves_in[i] = __float2half(half_values[i]);
  for (int i = 0; i < 256; i++)
    ones[i] = __float2half(i < 16 ? 256.0f : 1.0f), large[i] = __float2half(16.0f);
  float *out = buffer<float>(nullptr, 0);
  double *dout = buffer<double>(nullptr, 0);
  __half *hout = buffer<__half>(nullptr, 0);
  float *db_a = buffer(a, 8), *db_b = buffer(b, 8), *dev_big = buffer(big, 4);
  divides<<<1, 8>>>(out, db_a, db_b);
  divides_double<<<1, 8>>>(dout, buffer(da, 8), buffer(db, 8));
  reciprocals<<<1, 8>>>(out, db_b);
  fast_divides<<<1, 8>>>(out, db_a, db_b);
  square_roots<<<1, 8>>>(out, db_b);
  logarithms<<<1, 8>>>(out, dout, db_b);
  fast_logarithms<<<1, 8>>>(out, db_b);
  overflows<<<1, 4>>>(out, dev_big);
  underflows<<<1, 4>>>(out, dout, buffer(small, 4), buffer(tiny, 4));
  halves<<<1, 4>>>(hout, buffer(halves_in, 4), (__half2 *)buffer<__half>(nullptr, 0));
  brains<<<1, 4>>>((__nv_bfloat16 *)hout, dev_big);
  conversions<<<1, 4>>>(out, hout, buffer(wide, 4));
  undefined<<<1, 4>>>(out, buffer(infs, 4));
  decides<<<1, 4>>>(out, buffer(one_nan, 4));
  summed<<<1, 1>>>(out, buffer(steps, 6), 6);
  calls<<<1, 8>>>(out, db_b);
  guarded<<<1, 8>>>(out, db_b);
  asked_too_little<<<1, 8>>>(out, db_a, db_b);
  tiles<<<1, 32>>>(hout, buffer(ones, 256), buffer(large, 256));
  CHECK(cudaDeviceSynchronize());
  printf("done\n");
}
