// Storage of half numbers against the CPU: halves KERNELS.cl.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 65536, MODES = 5 };
static const char *const modes[MODES] = {"", "_rte", "_rtz", "_rtp", "_rtn"};
#define MUST(e) \
  do { \
    cl_int e_ = (e); \
    if (e_) printf("line %d: error %d\n", __LINE__, e_), exit(2); \
  } while (0)

static double value_of(unsigned half) {
  int exponent = half >> 10 & 31, part = half & 1023;
  double size = exponent == 31 ? part ? NAN : INFINITY
                               : exponent ? ldexp(part + 1024, exponent - 25) : ldexp(part, -24);
  return half & 0x8000 ? -size : size;
}

// Halves of one sign grow with their numbers: the two around x, and one of them by the mode.
static unsigned half_of(float x, int mode) {
  unsigned sign = signbit(x) ? 0x8000 : 0, below = 0;
  double size = fabs((double)x);
  if (isnan(x)) return 0x7e00;
  for (unsigned step = 0x4000; step; step >>= 1)
    if (below + step <= 0x7c00 && value_of(below + step) <= size) below += step;
  if (value_of(below) == size) return sign | below;
  bool up = mode == 3 ? !sign : mode == 4 ? sign != 0 : false;
  if (mode < 2) {
    double next = below + 1 == 0x7c00 ? 65536 : value_of(below + 1);
    double low = size - value_of(below), high = next - size;
    up = high < low || (high == low && below & 1);
  }
  return sign | (below + up);
}

static uint32_t next_random(void) {
  static uint32_t state = 2463534242u;
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

static float numbers[N], loaded[2 * N];
static uint16_t halves[N], stored[2 * MODES * N];

static int compare(void) {
  int bad = 0;
  for (int r = 0; r < 2 * MODES; r++)
    for (int i = 0; i < N; i++) {
      unsigned want = half_of(numbers[i], r % MODES), got = stored[r * N + i];
      bool both_nan = isnan(numbers[i]) && isnan(value_of(got));
      // libclc (19) rounds numbers below the smallest half to 0 in every mode
      bool is_tiny = r % MODES >= 3 && fabs((double)numbers[i]) < 0x1p-24 && !(got & 0x7fff);
      if (got == want || both_nan || is_tiny || bad++ > 5) continue;
      printf("vstore_half%s%s of %.9g is %#x, not %#x\n", r < MODES ? "" : "4", modes[r % MODES],
             numbers[i], got, want);
    }
  for (int i = 0; i < 2 * N; i++) {
    double want = value_of((unsigned)i % N);
    if (loaded[i] == want || (isnan(want) && isnan(loaded[i])) || bad++ > 5) continue;
    printf("vload_half%s of %#x is %g, not %g\n", i < N ? "" : "4", i % N, loaded[i], want);
  }
  return bad;
}

int main(int argc, char **argv) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int e, n = N;
  static char source[1 << 14];
  FILE *f = fopen(argv[1], "r");
  if (!f || !fread(source, 1, sizeof source - 1, f)) return 2;
  fclose(f);
  const char *text = source;
  for (int i = 0; i < N; i++) {
    uint32_t bits = next_random();
    if (i & 1) bits = (bits & 0x80ffffff) | (uint32_t)(100 + next_random() % 45) << 23;
    halves[i] = (uint16_t)i;
    memcpy(&numbers[i], &bits, 4);
    if (i % 64 == 0) numbers[i] = (float)value_of((unsigned)i);
    if (i % 64 == 32) numbers[i] = (float)(value_of((unsigned)i & 0x7bff) * (1 + 0x1p-12));
  }
  MUST(clGetPlatformIDs(1, &platform, NULL));
  MUST(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &e);
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &e);
  MUST(clBuildProgram(program, 1, &device, "", NULL, NULL));
  struct {
    const char *kernel;
    const void *in;
    size_t in_bytes;
    void *out;
    size_t out_bytes;
  } runs[] = {{"store", numbers, sizeof numbers, stored, sizeof stored},
              {"load", halves, sizeof halves, loaded, sizeof loaded}};
  for (int i = 0; i < 2; i++) {
    cl_kernel k = clCreateKernel(program, runs[i].kernel, &e);
    MUST(e);
    cl_mem a = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, runs[i].in_bytes,
                              (void *)runs[i].in, &e),
           b = clCreateBuffer(context, CL_MEM_WRITE_ONLY, runs[i].out_bytes, NULL, &e);
    size_t global = N;
    MUST(clSetKernelArg(k, 0, sizeof a, &a));
    MUST(clSetKernelArg(k, 1, sizeof b, &b));
    MUST(clSetKernelArg(k, 2, sizeof n, &n));
    MUST(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, NULL, 0, NULL, NULL));
    MUST(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, runs[i].out_bytes, runs[i].out, 0, NULL, NULL));
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseKernel(k);
  }
  int bad = compare();
  printf("%d numbers differ\n", bad);
  return bad != 0;
}
