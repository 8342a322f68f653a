// Built-ins of OpenCL C against references on the CPU, for all widths of vectors, edge values
// included: builtins KERNELS.cl LIST.def. Prints a line for each built-in and type that differs.
#define CL_TARGET_OPENCL_VERSION 120
#define _GNU_SOURCE
#include <CL/cl.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTHS = 6, NUMBERS = 4096 };  // a multiple of 16
static const int widths[WIDTHS] = {1, 2, 3, 4, 8, 16};
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static int tested, wrong;
#define MUST(e) \
  do { \
    cl_int e_ = (e); \
    if (e_) printf("line %d: error %d\n", __LINE__, e_), exit(2); \
  } while (0)

// --- references ---

typedef long double Real;
#define PI 3.14159265358979323846264338327950288L
static Real reference_acospi(Real x) { return acosl(x) / PI; }
static Real reference_asinpi(Real x) { return asinl(x) / PI; }
static Real reference_atanpi(Real x) { return atanl(x) / PI; }
static Real reference_atan2pi(Real y, Real x) { return atan2l(y, x) / PI; }
static Real reference_sinpi(Real x) {
  Real y = fmodl(fabsl(x), 2), sign = y > 1 ? -1 : 1;
  if (y > 1) y -= 1;
  if (y > 0.5L) y = 1 - y;  // exact, where pi y would not be
  return copysignl(1, x) * (y == 0 ? 0 : sign * sinl(PI * y));
}
static Real reference_cospi(Real x) {
  Real y = fmodl(fabsl(x), 2);
  return isnan(y) ? y : reference_sinpi(y <= 1 ? 0.5L - y : y - 1.5L);
}
static Real reference_tanpi(Real x) {
  return reference_cospi(x) == 0 ? NAN : reference_sinpi(x) / reference_cospi(x);
}
static Real reference_exp10(Real x) { return powl(10, x); }
static Real reference_rsqrt(Real x) { return 1 / sqrtl(x); }
static Real reference_degrees(Real x) { return x * 180 / PI; }
static Real reference_radians(Real x) { return x * PI / 180; }
static Real reference_sign(Real x) { return isnan(x) ? 0 : x > 0 ? 1 : x < 0 ? -1 : x; }
static Real reference_maxmag(Real x, Real y) {
  return fabsl(x) > fabsl(y) ? x : fabsl(y) > fabsl(x) ? y : fmaxl(x, y);
}
static Real reference_minmag(Real x, Real y) {
  return fabsl(x) < fabsl(y) ? x : fabsl(y) < fabsl(x) ? y : fminl(x, y);
}
static Real reference_powr(Real x, Real y) {
  bool indefinite = x < 0 || (x == 0 && y == 0) || (isinf(x) && y == 0) || (x == 1 && isinf(y));
  return indefinite || isnan(x) || isnan(y) ? NAN : powl(fabsl(x), y);
}
static Real reference_step(Real edge, Real x) { return x < edge ? 0 : 1; }
static Real reference_mad(Real a, Real b, Real c) { return a * b + c; }
static Real reference_mix(Real x, Real y, Real a) { return x + (y - x) * a; }
static Real reference_clamp(Real x, Real least, Real most) {
  return fminl(fmaxl(x, least), most);
}
static Real reference_smoothstep(Real from, Real to, Real x) {
  Real t = reference_clamp((x - from) / (to - from), 0, 1);
  return t * t * (3 - 2 * t);
}

typedef __int128 Wide;
typedef struct Type {
  const char *name;
  int bytes;
  bool is_signed;
} Type;
static Wide least_of(const Type *t) { return t->is_signed ? -((Wide)1 << (t->bytes * 8 - 1)) : 0; }
static Wide most_of(const Type *t) {
  return ((Wide)1 << (t->bytes * 8 - (t->is_signed ? 1 : 0))) - 1;
}
static Wide saturated(const Type *t, Wide x) {
  return x < least_of(t) ? least_of(t) : x > most_of(t) ? most_of(t) : x;
}
static int bits_of(const Type *t) { return t->bytes * 8; }
static uint64_t pattern(const Type *t, Wide x) {
  return (uint64_t)x & (t->bytes == 8 ? UINT64_MAX : ((uint64_t)1 << bits_of(t)) - 1);
}
static Wide product(const Type *t, Wide a, Wide b) {  // of 64-bit numbers without a sign: 128 bits
  return t->is_signed ? a * b : (Wide)((unsigned __int128)a * (unsigned __int128)b);
}
#define INTEGER(name) static Wide integer_##name(const Type *t, Wide a, Wide b, Wide c)
INTEGER(clz) {
  int n = 0;
  while (n < bits_of(t) && !(pattern(t, a) >> (bits_of(t) - 1 - n) & 1)) n++;
  return n;
}
INTEGER(popcount) { return __builtin_popcountll(pattern(t, a)); }
INTEGER(add_sat) { return saturated(t, a + b); }
INTEGER(sub_sat) { return saturated(t, a - b); }
INTEGER(hadd) { return (a + b) >> 1; }
INTEGER(rhadd) { return (a + b + 1) >> 1; }
INTEGER(max) { return a > b ? a : b; }
INTEGER(min) { return a < b ? a : b; }
INTEGER(mul_hi) {
  if (!t->is_signed) return (Wide)((unsigned __int128)product(t, a, b) >> bits_of(t));
  return product(t, a, b) >> bits_of(t);
}
INTEGER(mad_hi) { return integer_mul_hi(t, a, b, 0) + c; }
INTEGER(mad_sat) {
  if (!t->is_signed && t->bytes == 8) {  // 128 bits hold the product, and the sum where it counts
    unsigned __int128 p = (unsigned __int128)product(t, a, b);
    return p > UINT64_MAX || p + (uint64_t)c > UINT64_MAX ? most_of(t) : (Wide)(p + (uint64_t)c);
  }
  return saturated(t, a * b + c);
}
INTEGER(rotate) {
  unsigned n = (unsigned)(pattern(t, b) % (unsigned)bits_of(t));
  uint64_t x = pattern(t, a);
  return n ? (Wide)(x << n | x >> ((unsigned)bits_of(t) - n)) : (Wide)x;
}
INTEGER(clamp) { return a < b ? b : a > c ? c : a; }
INTEGER(abs) { return a < 0 ? -a : a; }
INTEGER(abs_diff) { return a > b ? a - b : b - a; }
INTEGER(mul24) { return a * b; }
INTEGER(mad24) { return a * b + c; }

// --- running a kernel ---

static uint64_t next_random(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static cl_mem buffer(size_t bytes, const void *from) {
  cl_int e;
  cl_mem_flags flags = from ? CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR : CL_MEM_WRITE_ONLY;
  cl_mem m = clCreateBuffer(context, flags, bytes, (void *)from, &e);
  MUST(e);
  return m;
}

// in: three arrays of NUMBERS elements; out: WIDTHS such arrays
static void run(const char *name, size_t bytes, void *const in[3], void *out) {
  cl_int e, all = NUMBERS;
  cl_kernel k = clCreateKernel(program, name, &e);
  if (e) printf("%s: error %d\n", name, e);
  MUST(e);
  cl_mem m[4];
  for (cl_uint i = 0; i < 4; i++) {
    m[i] = i < 3 ? buffer(NUMBERS * bytes, in[i]) : buffer(WIDTHS * NUMBERS * bytes, NULL);
    MUST(clSetKernelArg(k, i, sizeof m[i], &m[i]));
  }
  MUST(clSetKernelArg(k, 4, sizeof all, &all));
  size_t global = NUMBERS / 16;
  MUST(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, NULL, 0, NULL, NULL));
  MUST(clEnqueueReadBuffer(queue, m[3], CL_TRUE, 0, WIDTHS * NUMBERS * bytes, out, 0, NULL, NULL));
  for (int i = 0; i < 4; i++) clReleaseMemObject(m[i]);
  clReleaseKernel(k);
}

// Vectors of three leave out the last of 16 numbers.
static bool is_computed(int width, int i) { return width != 3 || i % 16 < 15; }

static void judge(const char *name, int bad, const char *first) {
  tested++;
  wrong += bad != 0;
  if (bad) printf("%s: %d of %d differ, the first: %s\n", name, bad, WIDTHS * NUMBERS, first);
}

// --- numbers with a point ---

enum { LOOSE = 1000 };  // the specification says nothing: compared with the size of the arguments
typedef struct Function {
  const char *name;
  int arguments;
  Real (*f1)(Real), (*f2)(Real, Real), (*f3)(Real, Real, Real);
  int ulp;
} Function;

static Real edge(int i) {
  static const double edges[] = {0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, 10, 100, -100, 1.5, 2.5,
                                 1e-5, -1e-5, 1e5, 1e10, INFINITY, -INFINITY, NAN, 3.4e38, -3.4e38,
                                 1.2e-38, 1e-30, 0.99999994, 1.0000001, 3.1415927, 1.5707964, 88,
                                 -88, 127};
  return edges[i % (int)(sizeof edges / sizeof *edges)];
}
static Real some_number(int i, int which) {
  if (i < 1024) return edge(which == 0 ? i : which == 1 ? i / 32 : i / 7);
  double unit = (double)(next_random() >> 11) / 9007199254740992.0;
  if (i < 2048) return 2 * unit - 1;
  if (i < 3072) return 200 * unit - 100;
  return ldexp(2 * unit - 1, (int)(next_random() % 60) - 30);
}

static Real allowed(const Function *f, Real want, const Real x[3], bool is_float) {
  Real epsilon = is_float ? FLT_EPSILON : DBL_EPSILON, least = is_float ? FLT_MIN : DBL_MIN;
  if (f->ulp == LOOSE)
    return 64 * epsilon * (1 + fabsl(x[0])) * (1 + fabsl(x[1])) * (1 + fabsl(x[2]));
  int exponent;
  frexpl(want, &exponent);
  Real ulp = ldexpl(epsilon, exponent - 1), smallest = least * epsilon;
  Real ulps = f->ulp ? f->ulp : 0.5005L;  // the reference is rounded, too
  return ulps * (ulp > smallest ? ulp : smallest);
}

static bool is_near(const Function *f, Real got, Real want, const Real x[3], bool is_float) {
  Real least = is_float ? FLT_MIN : DBL_MIN;
  want = is_float ? isfinite(want) && fabsl(want) < 3.5e38L ? want : (Real)(float)want
                  : isfinite(want) && fabsl(want) < 1.8e308L ? want : (Real)(double)want;
  if (isnan(want)) return isnan(got);
  Real large = is_float ? 3.3e38L : 1.7e308L;
  if (isinf(want)) return got == want || (f->ulp > 1 && fabsl(got) > large);
  if (fabsl(want) < least) return fabsl(got) <= least;  // it may be flushed to 0
  Real rounded = is_float ? (Real)(float)want : (Real)(double)want;
  return got == rounded || fabsl(got - want) <= allowed(f, want, x, is_float) +
                                                    (isinf(rounded) ? fabsl(want) : 0);
}

// Where the specification leaves the result open.
static bool is_open(const Function *f, const Real x[3], Real want) {
  bool huge = false;
  for (int i = 0; i < f->arguments; i++) huge |= !isfinite(x[i]) || fabsl(x[i]) > 1e6L;
  if (f->ulp == LOOSE && (huge || !isfinite(want))) return true;
  if (!strcmp(f->name, "smoothstep")) return x[0] >= x[1];
  if (!strcmp(f->name, "clamp")) return isnan(x[0]) || !(x[1] <= x[2]);
  if (!strcmp(f->name, "tanpi")) return fabsl(fmodl(x[0], 1)) == 0.5L;
  return false;
}

static void test_reals(const Function *f, bool is_float) {
  size_t bytes = is_float ? 4 : 8;
  void *in[3], *out = calloc(WIDTHS * NUMBERS, bytes);
  char name[64], first[200] = "";
  int bad = 0;
  snprintf(name, sizeof name, "%s_%s", f->name, is_float ? "float" : "double");
  for (int k = 0; k < 3; k++) {
    in[k] = calloc(NUMBERS, bytes);
    for (int i = 0; i < NUMBERS; i++)
      if (is_float) ((float *)in[k])[i] = (float)some_number(i, k);
      else ((double *)in[k])[i] = (double)some_number(i, k);
  }
  run(name, bytes, in, out);
  for (int w = 0; w < WIDTHS; w++)
    for (int i = 0; i < NUMBERS; i++) {
      Real x[3], got;
      for (int k = 0; k < 3; k++)
        x[k] = k >= f->arguments ? 0 : is_float ? ((float *)in[k])[i] : ((double *)in[k])[i];
      Real want = f->arguments == 1 ? f->f1(x[0]) : f->arguments == 2 ? f->f2(x[0], x[1])
                                                                      : f->f3(x[0], x[1], x[2]);
      got = is_float ? ((float *)out)[w * NUMBERS + i] : ((double *)out)[w * NUMBERS + i];
      if (!is_computed(widths[w], i) || is_open(f, x, want) || is_near(f, got, want, x, is_float))
        continue;
      if (!bad++)
        snprintf(first, sizeof first, "width %d, (%.9Lg, %.9Lg, %.9Lg) gives %.17Lg, not %.17Lg",
                 widths[w], x[0], x[1], x[2], got, want);
    }
  judge(name, bad, first);
  for (int k = 0; k < 3; k++) free(in[k]);
  free(out);
}

// --- integers ---

typedef Wide Integer(const Type *, Wide, Wide, Wide);

static Wide load(const Type *t, const void *p, int i) {
  uint64_t bits = 0;
  memcpy(&bits, (const char *)p + (size_t)i * (size_t)t->bytes, (size_t)t->bytes);
  bool negative = t->is_signed && bits >> (bits_of(t) - 1) & 1;
  return negative ? (Wide)bits - ((Wide)1 << bits_of(t)) : (Wide)bits;
}

static void test_integers(const char *f, Integer *reference, const Type *t, bool of_24_bits) {
  size_t bytes = (size_t)t->bytes;
  void *in[3], *out = calloc(WIDTHS * NUMBERS, bytes);
  char name[64], first[160] = "";
  int bad = 0;
  snprintf(name, sizeof name, "%s_%s", f, t->name);
  for (int k = 0; k < 3; k++) {
    in[k] = calloc(NUMBERS, bytes);
    for (int i = 0; i < NUMBERS; i++) {
      static const int64_t edges[] = {0, 1, -1, 2, 127, -128, 255, 32767, -32768, 65535, INT32_MAX,
                                      INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN, 7};
      uint64_t x = i < 512 ? (uint64_t)edges[(k == 0 ? i : k == 1 ? i / 16 : i / 5) % 16]
                           : next_random() >> next_random() % 60;
      if (of_24_bits) x = t->is_signed ? (uint64_t)((int64_t)(x << 40) >> 40) : x & 0xffffff;
      memcpy((char *)in[k] + (size_t)i * bytes, &x, bytes);
    }
  }
  run(name, bytes, in, out);
  for (int w = 0; w < WIDTHS; w++)
    for (int i = 0; i < NUMBERS; i++) {
      Wide a = load(t, in[0], i), b = load(t, in[1], i), c = load(t, in[2], i);
      if (!is_computed(widths[w], i) || (!strcmp(f, "clamp") && b > c)) continue;
      uint64_t want = pattern(t, reference(t, a, b, c)),
               got = pattern(t, load(t, out, w * NUMBERS + i));
      if (got == want) continue;
      if (!bad++)
        snprintf(first, sizeof first, "width %d, (%lld, %lld, %lld) gives %#llx, not %#llx",
                 widths[w], (long long)a, (long long)b, (long long)c, (unsigned long long)got,
                 (unsigned long long)want);
    }
  judge(name, bad, first);
  for (int k = 0; k < 3; k++) free(in[k]);
  free(out);
}

static void test_types(const char *f, Integer *reference, bool of_24_bits) {
  static const Type types[] = {{"int", 4, true},   {"uint", 4, false},  {"char", 1, true},
                               {"uchar", 1, false}, {"short", 2, true},  {"ushort", 2, false},
                               {"long", 8, true},   {"ulong", 8, false}};
  for (int i = 0; i < (of_24_bits ? 2 : 8); i++)
    test_integers(f, reference, &types[i], of_24_bits);
}

static char *read_file(const char *path) {
  FILE *f = fopen(path, "r");
  char *text = calloc(1, 1 << 16);
  if (!f || !fread(text, 1, (1 << 16) - 1, f)) exit(2);
  fclose(f);
  return text;
}

int main(int argc, char **argv) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int e;
  MUST(clGetPlatformIDs(1, &platform, NULL));
  MUST(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
  MUST(e);
  queue = clCreateCommandQueue(context, device, 0, &e);
  MUST(e);
  const char *sources[] = {read_file(argv[1]), read_file(argv[2])};
  program = clCreateProgramWithSource(context, 2, sources, NULL, &e);
  if (clBuildProgram(program, 1, &device, "", NULL, NULL)) {
    static char log[1 << 16];
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    printf("%s\n", log);
    return 2;
  }
#define MATH1(name, reference, ulp_) {#name, 1, .f1 = reference, .ulp = ulp_},
#define MATH2(name, reference, ulp_) {#name, 2, .f2 = reference, .ulp = ulp_},
#define MATH3(name, reference, ulp_) {#name, 3, .f3 = reference, .ulp = ulp_},
#define INTEGER1(name)
#define INTEGER2(name)
#define INTEGER3(name)
#define UNSIGNED1(name)
#define UNSIGNED2(name)
#define WORD2(name)
#define WORD3(name)
  static const Function functions[] = {
#include "builtins.def"
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    test_reals(&functions[i], true);
    test_reals(&functions[i], false);
  }
#undef MATH1
#undef MATH2
#undef MATH3
#undef INTEGER1
#undef INTEGER2
#undef INTEGER3
#undef UNSIGNED1
#undef UNSIGNED2
#undef WORD2
#undef WORD3
#define MATH1(name, reference, ulp)
#define MATH2(name, reference, ulp)
#define MATH3(name, reference, ulp)
#define INTEGER1(name) test_types(#name, integer_##name, false);
#define INTEGER2 INTEGER1
#define INTEGER3 INTEGER1
#define UNSIGNED1 INTEGER1
#define UNSIGNED2 INTEGER1
#define WORD2(name) test_types(#name, integer_##name, true);
#define WORD3 WORD2
#include "builtins.def"
  printf("%d built-ins of one type, %d differ\n", tested, wrong);
  return wrong != 0;
}
