// The atomics of OpenCL C 2.0 and 3.0, with -cl-std of both: every operation on every type, in
// global and local memory, and the same results as one after the other.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <string.h>

#define BODY(T, A) \
  "kernel void of_" #T "(global " #A " *a, global " #T " *out) {\n" \
  "  local " #A " l;\n" \
  "  " #T " i = (" #T ")get_global_id(0), e = 1000;\n" \
  "  if (i == 0) atomic_init(&l, 5);\n" \
  "  work_group_barrier(CLK_LOCAL_MEM_FENCE);\n" \
  "  atomic_fetch_add(a, i);\n" \
  "  atomic_fetch_sub_explicit(a + 1, i, memory_order_relaxed);\n" \
  "  atomic_fetch_or_explicit(a + 2, (" #T ")1 << i % 16, memory_order_acq_rel,\n" \
  "                           memory_scope_device);\n" \
  "  atomic_fetch_and(a + 3, ~((" #T ")1 << i % 16));\n" \
  "  atomic_fetch_xor(a + 4, i);\n" \
  "  atomic_fetch_min(a + 5, i);\n" \
  "  atomic_fetch_max(a + 6, i);\n" \
  "  if (atomic_compare_exchange_strong(a + 7, &e, i)) atomic_fetch_add(a + 8, (" #T ")1);\n" \
  "  else if (e < 64) atomic_fetch_add(a + 9, (" #T ")1);\n" \
  "  if (atomic_exchange(a + 10, i) == 77) atomic_store(a + 11, 7);\n" \
  "  atomic_fetch_add_explicit(&l, (" #T ")1, memory_order_relaxed, memory_scope_work_group);\n" \
  "  work_group_barrier(CLK_LOCAL_MEM_FENCE);\n" \
  "  if (i == 0) out[0] = atomic_load(&l);\n" \
  "}\n"
static const char *source =
    BODY(int, atomic_int) BODY(uint, atomic_uint) BODY(long, atomic_long) BODY(ulong, atomic_ulong)
    "kernel void flags(global int *count, global atomic_float *f) {\n"
    "  local atomic_flag lock; local int inside;\n"
    "  if (get_local_id(0) == 0) { atomic_flag_clear(&lock); inside = 0; }\n"
    "  work_group_barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  if (!atomic_flag_test_and_set(&lock)) inside = 1;\n"
    "  work_group_barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  if (get_local_id(0) == 0) count[0] = inside;\n"
    "  if (get_global_id(0) == 0) atomic_store_explicit(f, atomic_exchange(f + 1, 2.5f) + 1,\n"
    "                                                   memory_order_release);\n"
    "}\n";

static cl_context c;
static cl_command_queue q;

static int one_type(cl_program p, const char *name, unsigned size, const char *std) {
  static const int start[12] = {0, 0, 0, 65535, 0, 500, 0, 1000, 0, 0, 77, 0};
  static const int want[12] = {2016, -2016, 65535, 0, 0, 0, 63, -1, 1, 63, -1, 7};
  char bytes[12 * 8] = {0};
  size_t n = 64;
  cl_int e;
  for (int i = 0; i < 12; i++) memcpy(bytes + i * size, &start[i], 4);
  cl_mem a = clCreateBuffer(c, CL_MEM_COPY_HOST_PTR, 12 * size, bytes, &e);
  cl_mem out = clCreateBuffer(c, 0, size, NULL, &e);
  cl_kernel k = clCreateKernel(p, name, &e);
  clSetKernelArg(k, 0, sizeof a, &a);
  clSetKernelArg(k, 1, sizeof out, &out);
  e = clEnqueueNDRangeKernel(q, k, 1, NULL, &n, &n, 0, NULL, NULL);
  e |= clEnqueueReadBuffer(q, a, CL_TRUE, 0, 12 * size, bytes, 0, NULL, NULL);
  long long local = 0;
  e |= clEnqueueReadBuffer(q, out, CL_TRUE, 0, size, &local, 0, NULL, NULL);
  int right = !e && local == 69;
  for (int i = 0; i < 12; i++) {
    int got;
    memcpy(&got, bytes + i * size, 4);
    if (want[i] == -1 ? got < 0 || got > 63 : got != want[i]) {
      printf("%s %s: a[%d] = %d, not %d\n", std, name, i, got, want[i]);
      right = 0;
    }
  }
  clReleaseKernel(k);
  clReleaseMemObject(a);
  clReleaseMemObject(out);
  printf("%s %s_%s\n", right ? "ok" : "FAIL", name, std);
  return !right;
}

static int flags(cl_program p, const char *std) {
  float f[2] = {0, 1.5f};
  int count = 0;
  size_t n = 64;
  cl_int e;
  cl_mem a = clCreateBuffer(c, 0, 4, NULL, &e);
  cl_mem b = clCreateBuffer(c, CL_MEM_COPY_HOST_PTR, sizeof f, f, &e);
  cl_kernel k = clCreateKernel(p, "flags", &e);
  clSetKernelArg(k, 0, sizeof a, &a);
  clSetKernelArg(k, 1, sizeof b, &b);
  e = clEnqueueNDRangeKernel(q, k, 1, NULL, &n, &n, 0, NULL, NULL);
  e |= clEnqueueReadBuffer(q, a, CL_TRUE, 0, 4, &count, 0, NULL, NULL);
  e |= clEnqueueReadBuffer(q, b, CL_TRUE, 0, sizeof f, f, 0, NULL, NULL);
  int right = !e && count == 1 && f[0] == 2.5f && f[1] == 2.5f;
  printf("%s flags_%s\n", right ? "ok" : "FAIL", std);
  clReleaseKernel(k);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
  return !right;
}

int main(void) {
  static const char *const options[] = {"-cl-std=CL2.0", "-cl-std=CL3.0"};
  cl_platform_id platform;
  cl_device_id d;
  cl_int e, failed = 0;
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &d, NULL);
  c = clCreateContext(NULL, 1, &d, NULL, NULL, &e);
  q = clCreateCommandQueue(c, d, 0, &e);
  for (int i = 0; i < 2; i++) {
    static char log[1 << 14];
    const char *std = options[i] + 8;
    cl_program p = clCreateProgramWithSource(c, 1, &source, NULL, &e);
    if (clBuildProgram(p, 0, NULL, options[i], NULL, NULL)) {
      clGetProgramBuildInfo(p, d, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
      printf("FAIL build_%s\n%s\n", std, log);
      return 1;
    }
    failed |= one_type(p, "of_int", 4, std) | one_type(p, "of_uint", 4, std);
    failed |= one_type(p, "of_long", 8, std) | one_type(p, "of_ulong", 8, std);
    failed |= flags(p, std);
    clReleaseProgram(p);
  }
  return failed;
}
