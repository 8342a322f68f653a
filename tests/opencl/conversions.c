// OpenCL's conversions against the CPU's: conversions KERNELS.cl. Prints a line for each pair of
// types that differs.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 512, MODES = 5 };
static const char *const modes[MODES] = {"", "_rte", "_rtz", "_rtp", "_rtn"};
static const int roundings[MODES] = {FE_TONEAREST, FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD,
                                     FE_DOWNWARD};
static cl_context context;
static cl_command_queue queue;
static cl_program program;
#define MUST(e) \
  do { \
    cl_int e_ = (e); \
    if (e_) printf("line %d: error %d\n", __LINE__, e_), exit(2); \
  } while (0)

typedef struct Type {
  const char *name;
  int bytes;
  bool is_real, is_signed;
} Type;
static const Type types[] = {{"char", 1, false, true},   {"uchar", 1, false, false},
                             {"short", 2, false, true},  {"ushort", 2, false, false},
                             {"int", 4, false, true},    {"uint", 4, false, false},
                             {"long", 8, false, true},   {"ulong", 8, false, false},
                             {"float", 4, true, true},   {"double", 8, true, true}};
enum { TYPES = sizeof types / sizeof *types };

// Every number of these types is one of long double (64 bits of mantissa or more).
static long double load(const Type *t, const void *p, int i) {
  const char *at = (const char *)p + (size_t)i * (size_t)t->bytes;
  if (t->is_real && t->bytes == 4) return *(const float *)at;
  if (t->is_real) return *(const double *)at;
  switch (t->bytes * 2 + t->is_signed) {
    case 2: return *(const uint8_t *)at;
    case 3: return *(const int8_t *)at;
    case 4: return *(const uint16_t *)at;
    case 5: return *(const int16_t *)at;
    case 8: return *(const uint32_t *)at;
    case 9: return *(const int32_t *)at;
    case 16: return *(const uint64_t *)at;
    default: return *(const int64_t *)at;
  }
}

static void store(const Type *t, void *p, int i, double x, uint64_t bits) {
  char *at = (char *)p + (size_t)i * (size_t)t->bytes;
  if (t->is_real && t->bytes == 4) *(float *)at = (float)x;
  else if (t->is_real) *(double *)at = x;
  else memcpy(at, &bits, (size_t)t->bytes);
}

static long double least_of(const Type *t) {
  return t->is_signed ? -ldexpl(1, t->bytes * 8 - 1) : 0;
}
static long double most_of(const Type *t) {
  return ldexpl(1, t->bytes * 8 - t->is_signed) - 1;
}

static uint64_t next_random(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static void fill(const Type *t, void *in) {
  static const double edges[] = {0, 1, -1, 0.5, -0.5, 1.5, 2.5, -1.5, 127, 127.5, 128, -128.5,
                                 255.5, 32767.5, 65535.5, 2147483647, 2147483648.0, -2147483648.0,
                                 4294967295.0, 4294967296.0, 9223372036854775807.0,
                                 18446744073709551615.0, -9223372036854775808.0, 1e30, -1e30,
                                 16777217, 0.1, INFINITY, -INFINITY};
  enum { EDGES = sizeof edges / sizeof *edges };
  for (int i = 0; i < NUMBERS; i++) {
    double unit = (double)(next_random() >> 11) / 4503599627370496.0 - 1;
    double x = i < EDGES ? edges[i] : ldexp(unit, (int)(next_random() % 66));
    store(t, in, i, x, i < 64 ? (uint64_t)(int64_t)(i - 32) : next_random() >> next_random() % 64);
  }
}

// The result of C with the rounding mode; false: OpenCL leaves it open.
static bool reference(const Type *to, long double x, int mode, bool saturates, bool from_real,
                      long double *want) {
  bool truncates = !to->is_real && mode == 0;  // to integers the default is toward zero
  fesetround(truncates ? FE_TOWARDZERO : roundings[mode]);
  volatile long double in = x;
  if (to->is_real) *want = to->bytes == 4 ? (float)in : (double)in;
  else *want = rintl(in);
  fesetround(FE_TONEAREST);
  if (to->is_real) return true;
  bool fits = *want >= least_of(to) && *want <= most_of(to);
  if (saturates && !fits) *want = *want < least_of(to) ? least_of(to) : most_of(to);
  return fits || saturates;
}

static int test(const Type *from, const Type *to) {
  int results = (to->is_real ? 1 : 2) * MODES * 2, bad = 0;
  char name[64];
  void *in = calloc(NUMBERS, 8), *out = calloc((size_t)(NUMBERS * results), 8);
  cl_int e, all = NUMBERS;
  fill(from, in);
  snprintf(name, sizeof name, "%s_to_%s", from->name, to->name);
  cl_kernel k = clCreateKernel(program, name, &e);
  MUST(e);
  cl_mem a = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, NUMBERS * 8, in, &e),
         b = clCreateBuffer(context, CL_MEM_WRITE_ONLY, (size_t)(NUMBERS * results) * 8, NULL, &e);
  MUST(clSetKernelArg(k, 0, sizeof a, &a));
  MUST(clSetKernelArg(k, 1, sizeof b, &b));
  MUST(clSetKernelArg(k, 2, sizeof all, &all));
  size_t global = NUMBERS / 16, bytes = (size_t)(NUMBERS * results * to->bytes);
  MUST(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, NULL, 0, NULL, NULL));
  MUST(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, bytes, out, 0, NULL, NULL));
  for (int r = 0; r < results; r++)
    for (int i = 0; i < NUMBERS; i++) {
      int of_width = r % (results / 2);
      bool saturates = of_width >= MODES;
      long double x = load(from, in, i), want, got = load(to, out, r * NUMBERS + i);
      if (!reference(to, x, of_width % MODES, saturates, from->is_real, &want) || got == want)
        continue;
      if (!bad++)
        printf("convert_%s%s%s%s of %s %.20Lg is %.20Lg, not %.20Lg\n", to->name,
               r < results / 2 ? "" : "16", saturates ? "_sat" : "", modes[of_width % MODES],
               from->name, x, got, want);
    }
  clReleaseMemObject(a);
  clReleaseMemObject(b);
  clReleaseKernel(k);
  free(in);
  free(out);
  return bad != 0;
}

int main(int argc, char **argv) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int e;
  static char source[1 << 16];
  FILE *f = fopen(argv[1], "r");
  if (!f || !fread(source, 1, sizeof source - 1, f)) return 2;
  fclose(f);
  const char *text = source;
  MUST(clGetPlatformIDs(1, &platform, NULL));
  MUST(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
  MUST(e);
  queue = clCreateCommandQueue(context, device, 0, &e);
  MUST(e);
  program = clCreateProgramWithSource(context, 1, &text, NULL, &e);
  if (clBuildProgram(program, 1, &device, "", NULL, NULL)) {
    static char log[1 << 14];
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    printf("%s\n", log);
    return 2;
  }
  int pairs = 0, wrong = 0;
  for (int a = 0; a < TYPES; a++)
    for (int b = 0; b < TYPES; b++) {
      pairs++;
      wrong += test(&types[a], &types[b]);
    }
  printf("%d pairs of types, %d differ\n", pairs, wrong);
  return wrong != 0;
}
