// All functions of CUDA's math library, float and double: poles, arguments they are not defined
// for, overflows, infinity and NaN that come in, and ordinary arguments. Prints for each what must
// be reported, which follows from arguments and results. A row has up to 7 sets of arguments; 3^i
// threads take set i, so that the count of a finding tells which sets it was for. Run by
// functions.sh.
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call) \
  do { \
    cudaError_t e_ = (call); \
    if (e_ != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e_)); \
      exit(1); \
    } \
  } while (0)
#ifndef AFTER
#define AFTER(r) (r)                       // what is computed from the result
#endif
enum { SETS = 7, THREADS = 1093, BLOCK = 128, MOST_ARGUMENTS = 4 };

// The largest number and the smallest of either type.
const double MOST = DBL_MAX, LEAST = 4.9406564584124654e-324, INF = INFINITY;
template <class T> T number(double d);
template <> double number(double d) { return d; }
template <> float number(double d) {
  return d == MOST     ? FLT_MAX
         : d == -MOST  ? -FLT_MAX
         : d == LEAST  ? 1.4e-45f
         : d == -LEAST ? -1.4e-45f
                       : (float)d;
}

template <class T> using Kernel = void (*)(T *, const T *, const int *, int);
template <class T>
void check(const char *name, Kernel<T> kernel, int arity, const std::vector<double> &values) {
  static T in[SETS * MOST_ARGUMENTS], out[THREADS];
  static int set[THREADS];
  int sets = (int)values.size() / arity, n = 0, *dev_set;
  T *dev_in, *dev_out;
  if (values.size() % arity || sets > SETS) {
    printf("%s: %zu arguments\n", name, values.size());
    exit(1);
  }
  for (size_t i = 0; i < values.size(); i++) in[i] = number<T>(values[i]);
  for (int i = 0, times = 1; i < sets; i++, times *= 3)
    for (int t = 0; t < times; t++) set[n++] = i * arity;
  CHECK(cudaMalloc(&dev_in, sizeof in));
  CHECK(cudaMalloc(&dev_out, sizeof out));
  CHECK(cudaMalloc(&dev_set, sizeof set));
  CHECK(cudaMemcpy(dev_in, in, sizeof in, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dev_set, set, sizeof set, cudaMemcpyHostToDevice));
  kernel<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(dev_out, dev_in, dev_set, n);
  CHECK(cudaMemcpy(out, dev_out, n * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(dev_in)); CHECK(cudaFree(dev_out)); CHECK(cudaFree(dev_set));
  printf("%s", name);
  for (int i = 0, at = 0, times = 1; i < sets; i++, at += times, times *= 3) {
    bool nan = false, infinite = false;
    for (int a = 0; a < arity; a++) {
      T x = in[i * arity + a];
      nan |= isnan(x), infinite |= isinf(x);
      printf("%s%g", a ? "," : " ", (double)x);
    }
    printf("=%g:%s", (double)out[at],
           nan                           ? "-"
           : isnan(out[at])              ? "nan"
           : isinf(out[at]) && !infinite ? "inf"
                                         : "-");
  }
  printf("\n");
}

struct Row {
  const char *name;
  Kernel<float> f32;
  Kernel<double> f64;
  int arity;
  std::vector<double> values;
};
static std::vector<Row> rows;
struct Add { Add(Row row) { rows.push_back(row); } };

#define KERNEL(T, name, arity, expression) \
  extern "C" __global__ void name(T *out, const T *in, const int *set, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x; \
    if (i >= n) return; \
    T x = in[set[i]], y = arity > 1 ? in[set[i] + 1] : 0; \
    T z = arity > 2 ? in[set[i] + 2] : 0, w = arity > 3 ? in[set[i] + 3] : 0; \
    (void)(x + y + z + w); \
    out[i] = AFTER(expression); \
  }
#define FLOAT(name, arity, expression, ...) \
  KERNEL(float, name##_f32, arity, expression) \
  static Add add_##name##_f32({#name "_f32", name##_f32, nullptr, arity, {__VA_ARGS__}});
#define DOUBLE(name, arity, expression, ...) \
  KERNEL(double, name##_f64, arity, expression) \
  static Add add_##name##_f64({#name "_f64", nullptr, name##_f64, arity, {__VA_ARGS__}});
#define BOTH(name, arity, float_expression, double_expression, ...) \
  FLOAT(name, arity, float_expression, __VA_ARGS__) \
  DOUBLE(name, arity, double_expression, __VA_ARGS__)
#define ONE(name, ...) BOTH(name, 1, name##f(x), name(x), __VA_ARGS__)
#define TWO(name, ...) BOTH(name, 2, name##f(x, y), name(x, y), __VA_ARGS__)

// Functions with two results: their sum.
__device__ float both_sincos(float x) { float s, c; sincosf(x, &s, &c); return s + c; }
__device__ double both_sincos(double x) { double s, c; sincos(x, &s, &c); return s + c; }
__device__ float both_sincospi(float x) { float s, c; sincospif(x, &s, &c); return s + c; }
__device__ double both_sincospi(double x) { double s, c; sincospi(x, &s, &c); return s + c; }
__device__ float both_modf(float x) { float whole; return modff(x, &whole); }
__device__ double both_modf(double x) { double whole; return modf(x, &whole); }
__device__ float both_frexp(float x) { int e; float r = frexpf(x, &e); return r + (float)(e & 1); }
__device__ double both_frexp(double x) {
  int e;
  double r = frexp(x, &e);
  return r + (double)(e & 1);
}
__device__ float both_remquo(float x, float y) {
  int q;
  float r = remquof(x, y, &q);
  return r + (float)(q & 1);
}
__device__ double both_remquo(double x, double y) {
  int q;
  double r = remquo(x, y, &q);
  return r + (double)(q & 1);
}
__device__ float fast_sincos(float x) { float s, c; __sincosf(x, &s, &c); return s + c; }

ONE(acos, 0.5, 1, -1, 2, -1.5, INF, NAN)
ONE(acosh, 2, 1, 1e30, 0.5, -1, INF, 1.0000001)
ONE(asin, 0.5, 1, -1, 2, -1.5, INF, 0)
ONE(asinh, 0.5, 0, -1e30, MOST, INF, NAN, LEAST)
ONE(atan, 0.5, 0, MOST, -INF, NAN, 1, LEAST)
ONE(atanh, 0.5, 0, 1, -1, 2, INF, NAN)
ONE(cbrt, 8, 0, -27, MOST, INF, NAN, LEAST)
ONE(ceil, 0.5, -0.5, MOST, INF, NAN)
ONE(cos, 0.5, 0, 1e30, MOST, INF, -INF, NAN)
ONE(cosh, 0.5, 0, 1000, -1000, INF, NAN, LEAST)
ONE(cospi, 0.5, 0, 1e30, MOST, INF, -INF, NAN)
ONE(cyl_bessel_i0, 0.5, 0, 1000, -1000, INF, NAN, 20)
ONE(cyl_bessel_i1, 0.5, 0, 1000, -1000, INF, NAN, 20)
ONE(erf, 0.5, 0, 30, -MOST, INF, NAN, LEAST)
ONE(erfc, 0.5, 0, 30, -MOST, INF, NAN, MOST)
ONE(erfcinv, 0.5, 1, 0, 2, -1, 3, LEAST)
ONE(erfcx, 0.5, 0, MOST, -1000, INF, -INF, NAN)
ONE(erfinv, 0.5, 0, 1, -1, 2, -2, NAN)
ONE(exp, 0.5, 0, 1000, -1000, INF, -INF, NAN)
ONE(exp10, 0.5, 0, 1000, -1000, INF, -INF, NAN)
ONE(exp2, 0.5, 0, 2000, -2000, INF, -INF, NAN)
ONE(expm1, 0.5, 0, 1000, -1000, INF, -INF, NAN)
ONE(fabs, 0.5, 0, -MOST, -INF, NAN)
ONE(floor, 0.5, 0, -MOST, -INF, NAN)
ONE(j0, 0.5, 0, 20, MOST, INF, -INF, NAN)
ONE(j1, 0.5, 0, 20, MOST, INF, -INF, NAN)
ONE(lgamma, 0.5, 1, 0, -1, -2.5, MOST, INF)
ONE(log, 0.5, 1, 0, -1, INF, NAN, LEAST)
ONE(log10, 0.5, 1, 0, -1, INF, NAN, LEAST)
ONE(log1p, 0.5, 0, -1, -2, INF, NAN, MOST)
ONE(log2, 0.5, 1, 0, -1, INF, NAN, LEAST)
ONE(logb, 0.5, 1, 0, -3, INF, NAN, LEAST)
ONE(nearbyint, 0.5, 0, -MOST, -INF, NAN)
ONE(normcdf, 0.5, 0, 50, -MOST, INF, -INF, NAN)
ONE(normcdfinv, 0.5, 0, 1, -1, 2, NAN, LEAST)
ONE(rcbrt, 8, 0, -27, MOST, INF, NAN, LEAST)
ONE(rint, 0.5, 0, -MOST, -INF, NAN)
ONE(round, 0.5, 0, -MOST, -INF, NAN)
ONE(rsqrt, 0.5, 0, -1, MOST, INF, NAN, -0.0)
ONE(sin, 0.5, 0, 1e30, MOST, INF, -INF, NAN)
ONE(sinh, 0.5, 0, 1000, -1000, INF, NAN, LEAST)
ONE(sinpi, 0.5, 0, 1e30, MOST, INF, -INF, NAN)
ONE(sqrt, 0.5, 0, -1, MOST, INF, -INF, NAN)
ONE(tan, 0.5, 0, 1e30, MOST, INF, -INF, NAN)
ONE(tanh, 0.5, 0, 1000, -1000, INF, NAN, LEAST)
ONE(tgamma, 0.5, 0, -1, 1000, -2.5, INF, -INF)
ONE(trunc, 0.5, 0, -MOST, -INF, NAN)
ONE(y0, 0.5, 20, 0, -1, MOST, INF, NAN)
ONE(y1, 0.5, 20, 0, -1, LEAST, INF, NAN)

// Far from everything, and around the largest arguments of exponentials.
#define FAR(name) \
  BOTH(name##_far, 1, name##f(x), name(x), MOST, -MOST, 1e30, -1e30, 88.5, 709, -740)
FAR(acos)
FAR(acosh)
FAR(asin)
FAR(asinh)
FAR(atan)
FAR(atanh)
FAR(cbrt)
FAR(cosh)
FAR(erf)
FAR(erfc)
FAR(erfcx)
FAR(exp)
FAR(exp10)
FAR(exp2)
FAR(expm1)
FAR(lgamma)
FAR(log)
FAR(log10)
FAR(log1p)
FAR(log2)
FAR(normcdf)
FAR(rcbrt)
FAR(rsqrt)
FAR(sinh)
FAR(sqrt)
FAR(tanh)
FAR(tgamma)

TWO(atan2, 1, 2, 0, 0, 1, 0, 0, -1, INF, INF, 1e30, LEAST, NAN, 1)
TWO(copysign, 1, -2, 0, -1, MOST, -1, INF, -1, NAN, 1)
TWO(fdim, 1, 2, 2, 1, MOST, -MOST, INF, INF, INF, 1, -MOST, MOST, NAN, 1)
TWO(fmax, 1, 2, MOST, -MOST, INF, 1, NAN, 1)
TWO(fmin, 1, 2, MOST, -MOST, INF, 1, NAN, 1)
TWO(fmod, 5, 3, 0, 3, 5, 0, INF, 3, 5, INF, 1e30, LEAST, NAN, 1)
TWO(hypot, 3, 4, 0, 0, MOST, MOST, INF, 1, NAN, INF, NAN, 1, LEAST, LEAST)
TWO(nextafter, 1, 2, 0, 1, MOST, INF, INF, 0, NAN, 1)
TWO(pow, 2, 3, 0, 2.5, 0, -1, 0, -2.5, -1, 0.5, 1e30, 30, -8, 3)
TWO(remainder, 5, 3, 0, 3, 5, 0, INF, 3, 5, INF, 1e30, LEAST, NAN, 1)
TWO(rhypot, 3, 4, MOST, 1, 0, 0, INF, 1, NAN, 1, LEAST, LEAST)
BOTH(pow_more, 2, powf(x, y), pow(x, y), -0.0, -3, 2, -5000, 0, -INF, INF, 2, -INF, -3, 1, NAN, 0.5,
     -5000)
BOTH(powi, 2, powf(x, (int)y), pow(x, (int)y), 2, 3, 0, 2, 0, -1, -1, 3, 1e30, 30, INF, -2, NAN, 0)
BOTH(ldexp, 2, ldexpf(x, (int)y), ldexp(x, (int)y), 1, 3, 1, 3000, -1, 3000, 0, 3000, 1, -3000, INF,
     1, NAN, 1)
BOTH(scalbn, 2, scalbnf(x, (int)y), scalbn(x, (int)y), 1, 3, 1, 3000, -1, 3000, 0, 3000, 1, -3000,
     INF, 1, NAN, 1)
BOTH(scalbln, 2, scalblnf(x, (long)y), scalbln(x, (long)y), 1, 3, 1, 3000, -1, 3000, 0, 3000, 1,
     -3000, INF, 1, NAN, 1)
BOTH(jn, 2, jnf((int)x, y), jn((int)x, y), 2, 0.5, 2, 0, 3, 20, 2, MOST, 2, INF, 2, NAN, 0, 1)
BOTH(yn, 2, ynf((int)x, y), yn((int)x, y), 2, 0.5, 3, 20, 2, 0, 2, -1, 2, INF, 2, NAN, 0, 1)
BOTH(fma, 3, fmaf(x, y, z), fma(x, y, z), 1, 2, 3, MOST, 2, 0, INF, 0, 1, INF, 1, -INF, NAN, 1, 1,
     MOST, 2, -INF)
BOTH(norm3d, 3, norm3df(x, y, z), norm3d(x, y, z), 1, 2, 2, 0, 0, 0, MOST, MOST, 0, INF, 1, 1, NAN,
     1, 1, NAN, INF, 1)
BOTH(rnorm3d, 3, rnorm3df(x, y, z), rnorm3d(x, y, z), 1, 2, 2, 0, 0, 0, MOST, 1, 0, INF, 1, 1, NAN,
     1, 1)
BOTH(norm4d, 4, norm4df(x, y, z, w), norm4d(x, y, z, w), 1, 2, 2, 4, 0, 0, 0, 0, MOST, MOST, 0, 1,
     INF, 1, 1, 1, NAN, 1, 1, 1)
BOTH(rnorm4d, 4, rnorm4df(x, y, z, w), rnorm4d(x, y, z, w), 1, 2, 2, 4, 0, 0, 0, 0, MOST, 1, 0, 1,
     INF, 1, 1, 1, NAN, 1, 1, 1)
BOTH(norm, 3, normf(3, in + set[i]), norm(3, in + set[i]), 1, 2, 2, 0, 0, 0, MOST, MOST, 0, INF, 1,
     1, NAN, 1, 1)
BOTH(rnorm, 3, rnormf(3, in + set[i]), rnorm(3, in + set[i]), 1, 2, 2, 0, 0, 0, MOST, 1, 0, INF, 1,
     1, NAN, 1, 1)
BOTH(sincos, 1, both_sincos(x), both_sincos(x), 0.5, 0, 1e30, MOST, NAN)
BOTH(sincospi, 1, both_sincospi(x), both_sincospi(x), 0.5, 0, 1e30, MOST, NAN)
BOTH(modf, 1, both_modf(x), both_modf(x), 0.5, 0, -2.5, MOST, INF, -INF, NAN)
BOTH(frexp, 1, both_frexp(x), both_frexp(x), 0.5, 0, -2.5, MOST, INF, NAN, LEAST)
BOTH(remquo, 2, both_remquo(x, y), both_remquo(x, y), 5, 3, 0, 3, 5, 0, INF, 3, 5, INF, NAN, 1)
BOTH(lgamma_more, 1, lgammaf(x), lgamma(x), 3, 20, -30, -INF, NAN, -0.5, LEAST)
BOTH(ilogb, 1, (float)ilogbf(x), (double)ilogb(x), 0.5, 0, MOST, INF, NAN, LEAST)
BOTH(llround, 1, (float)llroundf(x), (double)llround(x), 0.5, 0, -2.5, 1e10)
BOTH(divide, 2, x / y, x / y, 1, 2, 1, 0, 0, 0, -1, 0, INF, 0, MOST, 0.5, NAN, 0)
BOTH(reciprocal, 1, __frcp_rn(x), __drcp_rn(x), 2, 0, -0.0, MOST, INF, NAN)
BOTH(sqrt_rz, 1, __fsqrt_rz(x), __dsqrt_rz(x), 2, 0, -1, MOST, INF, -INF, NAN)

FLOAT(fdividef, 2, fdividef(x, y), 1, 2, 1, 0, 0, 0, -1, 0, INF, 0, NAN, 0)
FLOAT(fast_cos, 1, __cosf(x), 0.5, 0, INF, -INF, NAN)
FLOAT(fast_exp, 1, __expf(x), 0.5, 0, 1000, -1000, INF, -INF, NAN)
FLOAT(fast_exp10, 1, __exp10f(x), 0.5, 0, 1000, -1000, INF, -INF, NAN)
FLOAT(fast_log, 1, __logf(x), 0.5, 1, 0, -1, INF, NAN)
FLOAT(fast_log10, 1, __log10f(x), 0.5, 1, 0, -1, INF, NAN)
FLOAT(fast_log2, 1, __log2f(x), 0.5, 1, 0, -1, INF, NAN)
FLOAT(fast_pow, 2, __powf(x, y), 2, 3, 0, 2.5, 0, -1, -1, 0.5, 1e30, 30, NAN, 1)
FLOAT(fast_sin, 1, __sinf(x), 0.5, 0, INF, -INF, NAN)
FLOAT(fast_sincos, 1, fast_sincos(x), 0.5, 0, NAN)
FLOAT(fast_tan, 1, __tanf(x), 0.5, 0, INF, NAN)
FLOAT(fast_divide, 2, __fdividef(x, y), 1, 2, 1, 0, 0, 0, -1, 0, NAN, 0)
FLOAT(saturate, 1, __saturatef(x), 0.5, 0, 2, -2, INF)

int main() {
  for (const Row &row : rows)
    if (row.f32) check<float>(row.name, row.f32, row.arity, row.values);
    else check<double>(row.name, row.f64, row.arity, row.values);
}
