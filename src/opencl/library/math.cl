// Functions of double in place of libclc's (19): its sinh and cosh read far outside of a table for
// NaN and infinity, its tan is wrong for large numbers. tgamma of float is computed in double:
// libclc's is not as exact as OpenCL asks for.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static double BUILT_IN half_of_exp(double x) {  // of large x, where exp(x) may be infinite
  double e = exp(0.5 * x);
  return 0.5 * e * e;
}
double BUILT_IN cosh(double x) {
  x = fabs(x);
  if (x > 22) return half_of_exp(x);
  double e = exp(x), t = expm1(x);
  return x < 0.34 ? 1 + t * t / (2 * e) : 0.5 * e + 0.5 / e;
}
double BUILT_IN sinh(double x) {
  double size = fabs(x), t = expm1(size);
  return copysign(size > 22 ? half_of_exp(size) : 0.5 * (t + t / (t + 1)), x);
}
double BUILT_IN tan(double x) { return sin(x) / cos(x); }

// Lanczos's approximation with nine coefficients, for numbers from 0.5 on.
static double BUILT_IN gamma_above_half(double x) {
  double y = x - 1, t = y + 7.5, sum = 0.99999999999980993;
  sum += 676.5203681218851 / (y + 1);
  sum += -1259.1392167224028 / (y + 2);
  sum += 771.32342877765313 / (y + 3);
  sum += -176.61502916214059 / (y + 4);
  sum += 12.507343278686905 / (y + 5);
  sum += -0.13857109526572012 / (y + 6);
  sum += 9.9843695780195716e-6 / (y + 7);
  sum += 1.5056327351493116e-7 / (y + 8);
  double root = pow(t, 0.5 * (y + 0.5));
  return 2.5066282746310002 * root * exp(-t) * root * sum;
}
float BUILT_IN tgamma(float x) {
  if (x < 0 && x == floor(x)) return as_float(0x7fc00000);
  if (x == 0) return copysign(as_float(0x7f800000), x);
  if (isinf(x)) return x > 0 ? x : as_float(0x7fc00000);
  if (x >= 0.5f) return x > 40 ? as_float(0x7f800000) : (float)gamma_above_half(x);
  if (x < -50) return copysign(0.0f, sinpi(x));
  return (float)(M_PI / (sinpi((double)x) * gamma_above_half(1 - (double)x)));
}

// Vectors by halves.
#define BY_HALVES(f, type) \
  type##2 BUILT_IN f(type##2 x) { return (type##2)(f(x.x), f(x.y)); } \
  type##3 BUILT_IN f(type##3 x) { return (type##3)(f(x.x), f(x.y), f(x.z)); } \
  type##4 BUILT_IN f(type##4 x) { return (type##4)(f(x.lo), f(x.hi)); } \
  type##8 BUILT_IN f(type##8 x) { return (type##8)(f(x.lo), f(x.hi)); } \
  type##16 BUILT_IN f(type##16 x) { return (type##16)(f(x.lo), f(x.hi)); }
BY_HALVES(cosh, double)
BY_HALVES(sinh, double)
BY_HALVES(tan, double)
BY_HALVES(tgamma, float)

// libclc (19) has it for vectors of edges only.
#define SMOOTHSTEP(n) \
  double##n BUILT_IN smoothstep(double x, double y, double##n z) { \
    return smoothstep((double##n)x, (double##n)y, z); \
  }
SMOOTHSTEP(2)
SMOOTHSTEP(3)
SMOOTHSTEP(4)
SMOOTHSTEP(8)
SMOOTHSTEP(16)

// libclc's (19) remquo of float fails for subnormal divisors. In double, floats and remainders are
// exact.
#define REMQUO(n, space) \
  float##n BUILT_IN remquo(float##n x, float##n y, space int##n *quotient) { \
    int##n q; \
    double##n rest = remquo(convert_double##n(x), convert_double##n(y), (generic int##n *)&q); \
    *quotient = q; \
    return convert_float##n(rest); \
  }
#define REMQUO_SIZES(space) \
  REMQUO(, space) REMQUO(2, space) REMQUO(3, space) REMQUO(4, space) REMQUO(8, space) \
      REMQUO(16, space)
REMQUO_SIZES(global)
REMQUO_SIZES(local)
REMQUO_SIZES(private)

// libclc's (19) nan of double returns infinity for code 0.
#define NAN_OF_CODE(n) \
  double##n BUILT_IN nan(ulong##n code) { return as_double##n(code | 0x7ff8000000000000ul); }
NAN_OF_CODE()
NAN_OF_CODE(2)
NAN_OF_CODE(3)
NAN_OF_CODE(4)
NAN_OF_CODE(8)
NAN_OF_CODE(16)
