// Functions of CUDA's library that answer with a constant, or throw away what they computed:
// overflows and undefined arguments with the findings a line must give (kind, format and count
// after // and =), and beside each its correct twin, which must give none. One thread each. Run by
// births.sh.
#include <cmath>
#include <cstdio>

#define CHECK(call) \
  do { \
    cudaError_t e_ = (call); \
    if (e_ != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e_)); \
      return 1; \
    } \
  } while (0)

__global__ void fast_powers(float *out, const float *x) {           // x: 0, -1, 1e30, 2
  out[0] = __powf(x[0], 2.5f);  // log2(0) is infinite, the power is 0
  out[1] = __powf(x[0], -1.0f);                                // finds: fp-inf format=f32 count=1
  out[2] = __powf(x[1], 2.5f);                                 // finds: fp-nan format=f32 count=1
  out[3] = __powf(x[2], 2.5f);                                 // finds: fp-inf format=f32 count=1
  out[4] = __powf(x[3], 2.5f);
}
__global__ void powers(float *out, double *wide, const float *x) {
  out[0] = powf(x[2], 3.0f);                                   // finds: fp-inf format=f32 count=1
  out[1] = powf(x[1], 0.5f);                                   // finds: fp-nan format=f32 count=1
  out[2] = powf(x[0], 2.5f);
  out[3] = powf(x[3], -300.0f);
  wide[0] = pow((double)x[2], 30.0 + x[3]);                    // finds: fp-inf format=f64 count=1
  wide[1] = pow((double)x[1], 0.5 + x[0]);                     // finds: fp-nan format=f64 count=1
  wide[2] = pow((double)x[0], 2.5 + x[0]);
  wide[3] = pow((double)x[3], -3000.0 + x[0]);
}
__global__ void exponentials(float *out, double *wide, const float *x) {    // x: 0, -1, 1e30, 2
  wide[0] = exp((double)x[2]);                                 // finds: fp-inf format=f64 count=1
  wide[1] = exp10((double)x[2]);                               // finds: fp-inf format=f64 count=1
  wide[2] = expm1((double)x[2]);                               // finds: fp-inf format=f64 count=1
  wide[3] = sinh((double)x[2]);                                // finds: fp-inf format=f64 count=1
  wide[4] = cosh((double)x[2]);                                // finds: fp-inf format=f64 count=1
  out[0] = expm1f(x[2]);                                       // finds: fp-inf format=f32 count=1
  wide[5] = exp(-(double)x[2]);
  wide[6] = exp10(-(double)x[2]);
  wide[7] = expm1(-(double)x[2]);
  wide[8] = sinh((double)x[3]);
  wide[9] = cosh((double)x[1]);
  out[1] = expm1f(-x[2]);
}
__global__ void undefined(float *out, double *wide, const float *x) {
  out[0] = fmodf(x[3], x[0]);                                  // finds: fp-nan format=f32 count=1
  wide[0] = fmod((double)x[3], (double)x[0]);                  // finds: fp-nan format=f64 count=1
  wide[1] = erfinv((double)x[3]);                              // finds: fp-nan format=f64 count=1
  out[1] = acosf(x[3]);                                        // finds: fp-nan format=f32 count=1
  out[2] = asinf(x[3]);                                        // finds: fp-nan format=f32 count=1
  out[3] = fmodf(x[0], x[3]);
  wide[2] = fmod((double)x[0], (double)x[3]);
  wide[3] = erfinv(0.5 + x[0]);
  out[4] = acosf(x[1]);
  out[5] = asinf(x[1]);
  wide[4] = asin((double)x[1]);
}
__global__ void logarithms(float *out, double *wide, const float *x) {
  out[0] = logf(x[1]);                                         // finds: fp-nan format=f32 count=1
  wide[0] = log((double)x[1]);                                 // finds: fp-nan format=f64 count=1
  out[1] = logf(x[0]);                                         // finds: fp-inf format=f32 count=1
  wide[1] = log10((double)x[0]);                               // finds: fp-inf format=f64 count=1
  out[2] = logf(x[3]);
  wide[2] = log((double)x[3]);
}
__global__ void poles(float *out, double *wide, const float *x) {     // x: 0, -1, 1e30, 2
  out[0] = lgammaf(x[1]);                                      // finds: fp-inf format=f32 count=1
  wide[0] = lgamma((double)x[1]);                              // finds: fp-inf format=f64 count=1
  out[1] = logbf(x[0]);                                        // finds: fp-inf format=f32 count=1
  wide[1] = logb((double)x[0]);                                // finds: fp-inf format=f64 count=1
  out[2] = rcbrtf(x[0]);                                       // finds: fp-inf format=f32 count=1
  wide[2] = rcbrt((double)x[0]);                               // finds: fp-inf format=f64 count=1
  out[3] = lgammaf(x[3]);
  wide[3] = lgamma(0.5 + x[1]);
  out[4] = logbf(x[2]);
  wide[4] = logb((double)x[3]);
  out[5] = rcbrtf(3e38f + x[0]);                               // x + x, on the way, is infinite
  wide[5] = rcbrt(1.5e308 + x[0]);
  wide[6] = cbrt(1.5e308 + x[0]);
}
__global__ void twice(float *out,
                      const float *x) {  // the same question by hand, and the sum is used
  float y = 3e38f + x[0], sum = y + y;                         // finds: fp-inf format=f32 count=1
  out[0] = sum == y ? 1.0f : 2.0f;
  out[1] = sum;
}
__global__ void roots(double *wide, const float *x) {
  wide[0] = asin((double)x[3]);                                // finds: fp-nan format=f64 count=1
  wide[1] = acosh(0.5 + x[0]);                                 // finds: fp-nan format=f64 count=1
  wide[2] = acosh(1.0 + x[0]);                                 // divides by zero on the way
  wide[3] = rhypot((double)x[0], (double)x[0]);                // finds: fp-div0 format=f64 count=1
  wide[4] = acosh((double)x[3]);
}
__global__ void masks(double *wide, const float *x) {          // x[5]: -inf
  wide[0] = exp((double)x[5]);
  wide[1] = exp2((double)x[5]);
  wide[2] = exp10((double)x[5]);
  wide[3] = exp(-(double)x[5]);                               // finds: fp-input format=f32 count=1
}
__global__ void rests(float *out, const float *x) {            // x[4]: NaN
  // finds-next: fp-compare format=f32 count=2
  out[0] = fmodf(x[4], x[3]);
}
__global__ void directions(float *out, const float *x) {       // of a vector that is zero
  out[0] = atan2f(x[0], x[0]);
  out[1] = atan2f(x[0], -x[0]);
  out[2] = atan2f(x[3], x[0]);
}
// The same, by hand: the quotient is made before it is asked for, some blocks earlier.
__global__ void ratio(float *out, const float *x, int n) {
  float top = x[1], bottom = x[0], q = top / bottom;
  if (n > 3) q += x[3];
  if (n > 5) q -= x[1] * (float)n;
  out[0] = bottom == 0.0f ? 1.0f : q;
}
__global__ void ratio_that_is_used(float *out, const float *x, int n) {
  float top = x[1], bottom = x[0], q = top / bottom;           // finds: fp-div0 format=f32 count=1
  if (n > 3) q += x[3];
  if (n > 5) q -= x[1] * (float)n;
  out[0] = bottom == 0.0f ? 1.0f : 2.0f;
  out[1] = q;
}
// A programmer's own constants are meant.
__global__ void own_constants(float *out, double *wide, const float *x, int n) {
  out[0] = x[0] > 1.0f ? x[0] : INFINITY;
  out[1] = n > 100 ? x[0] : NAN;
  out[2] = n == 3 ? 0.0f : INFINITY;
  wide[0] = x[3] >= 710.0f ? INFINITY : (double)x[3];
  float least = INFINITY;
  for (int i = 0; i < n; i++) least = fminf(least, x[i & 3]);
  out[3] = least;
}

int main() {
  const float x[6] = {0, -1, 1e30f, 2, NAN, -INFINITY};
  float *in, *out;
  double *wide;
  CHECK(cudaMalloc(&in, sizeof x)); CHECK(cudaMalloc(&out, 4096)); CHECK(cudaMalloc(&wide, 4096));
  CHECK(cudaMemcpy(in, x, sizeof x, cudaMemcpyHostToDevice));
  fast_powers<<<1, 1>>>(out, in);
  powers<<<1, 1>>>(out, wide, in);
  exponentials<<<1, 1>>>(out, wide, in);
  undefined<<<1, 1>>>(out, wide, in);
  logarithms<<<1, 1>>>(out, wide, in);
  poles<<<1, 1>>>(out, wide, in);
  twice<<<1, 1>>>(out, in);
  roots<<<1, 1>>>(wide, in);
  masks<<<1, 1>>>(wide, in);
  rests<<<1, 1>>>(out, in);
  directions<<<1, 1>>>(out, in);
  ratio<<<1, 1>>>(out, in, 4);
  ratio_that_is_used<<<1, 1>>>(out, in, 4);
  own_constants<<<1, 1>>>(out, wide, in, 8);
  CHECK(cudaDeviceSynchronize());
}
