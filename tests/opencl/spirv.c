// A program in SPIR-V: spirv MODULE.spv [beyond]
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
#define MUST(e) \
  do { \
    cl_int e_ = (e); \
    if (e_) printf("line %d: error %d\n", __LINE__, e_), exit(2); \
  } while (0)
#define CHECK(name, x) printf("%s %s\n", (x) ? "ok" : "FAIL", name)

static cl_mem buffer(size_t bytes, const void *from) {
  cl_int e;
  cl_mem m = clCreateBuffer(context, from ? CL_MEM_COPY_HOST_PTR : 0, bytes, (void *)from, &e);
  MUST(e);
  return m;
}

static void run_mixed(cl_program p) {
  enum { N = 64, GROUP = 16 };
  float in[N], out[N];
  struct {
    int first;
    float second;
  } pair = {100, 0.25f};
  cl_int e, n = N, wrong = 0;
  for (int i = 0; i < N; i++) in[i] = (float)i * 1.375f;
  cl_mem a = buffer(sizeof in, in), b = buffer(sizeof out, NULL);
  cl_kernel k = clCreateKernel(p, "mixed", &e);
  MUST(e);
  MUST(clSetKernelArg(k, 0, sizeof a, &a));
  MUST(clSetKernelArg(k, 1, sizeof b, &b));
  MUST(clSetKernelArg(k, 2, GROUP * sizeof(float), NULL));
  MUST(clSetKernelArg(k, 3, sizeof pair, &pair));
  MUST(clSetKernelArg(k, 4, sizeof n, &n));
  size_t global = N, local = GROUP;
  MUST(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL));
  MUST(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  for (int i = 0; i < N; i++) {
    float x = in[i / GROUP * GROUP + GROUP - 1 - i % GROUP], whole = floorf(x);
    wrong += out[i] != x - whole + whole * 2 + (float)(i % 4 * 10 + 10) + 100 + 0.25f;
  }
  CHECK("mixed", !wrong);
  char name[32] = "";
  clGetKernelArgInfo(k, 3, CL_KERNEL_ARG_NAME, sizeof name, name, NULL);
  CHECK("argument_name", !strcmp(name, "pair"));
  clReleaseKernel(k);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

static void run_counted(cl_program p) {
  cl_int e, count = 5;
  float in[4] = {1, -2, 3e9f, 0.5f};
  cl_int out[4];
  cl_mem a = buffer(sizeof count, &count), b = buffer(sizeof in, in);
  cl_kernel k = clCreateKernel(p, "counted", &e);
  MUST(e);
  MUST(clSetKernelArg(k, 0, sizeof a, &a));
  MUST(clSetKernelArg(k, 1, sizeof b, &b));
  size_t one = 1;
  MUST(clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, &one, 0, NULL, NULL));
  MUST(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof count, &count, 0, NULL, NULL));
  MUST(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  // the largest int and one more
  CHECK("counted", count == 6 && out[0] == 3 && out[1] == -4 && out[2] == -2147483647 - 1 &&
                       out[3] == 2);
  clReleaseKernel(k);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

static void run_pixels(cl_program p) {
  float in[4 * 4 * 4], out[4 * 4 * 4];
  cl_int e, wrong = 0;
  for (int i = 0; i < 64; i++) in[i] = (float)i;
  cl_image_format format = {CL_RGBA, CL_FLOAT};
  cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
  cl_mem a = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, in, &e);
  MUST(e);
  cl_mem b = clCreateImage(context, 0, &format, &desc, NULL, &e);
  MUST(e);
  cl_sampler s = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &e);
  MUST(e);
  cl_kernel k = clCreateKernel(p, "pixels", &e);
  MUST(e);
  MUST(clSetKernelArg(k, 0, sizeof a, &a));
  MUST(clSetKernelArg(k, 1, sizeof b, &b));
  MUST(clSetKernelArg(k, 2, sizeof s, &s));
  size_t global[2] = {4, 4}, origin[3] = {0}, region[3] = {4, 4, 1};
  MUST(clEnqueueNDRangeKernel(queue, k, 2, NULL, global, NULL, 0, NULL, NULL));
  MUST(clEnqueueReadImage(queue, b, CL_TRUE, origin, region, 0, 0, out, 0, NULL, NULL));
  for (int i = 0; i < 64; i++) wrong += out[i] != in[i] * 1.5f;
  CHECK("pixels", !wrong);
  clReleaseKernel(k);
  clReleaseSampler(s);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

static void run_beyond(cl_program p) {
  cl_int e, n = 64;
  cl_mem a = buffer(64 * sizeof(int), NULL);
  cl_kernel k = clCreateKernel(p, "beyond", &e);
  MUST(e);
  MUST(clSetKernelArg(k, 0, sizeof a, &a));
  MUST(clSetKernelArg(k, 1, sizeof n, &n));
  size_t global = 96, local = 32;
  MUST(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL));
  MUST(clFinish(queue));
  clReleaseKernel(k);
  clReleaseMemObject(a);
}

static char il[1 << 20];

int main(int argc, char **argv) {
  cl_platform_id platform;
  cl_int e;
  FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
  size_t n = f ? fread(il, 1, sizeof il, f) : 0;
  if (f) fclose(f);
  MUST(clGetPlatformIDs(1, &platform, NULL));
  MUST(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
  MUST(e);
  queue = clCreateCommandQueueWithProperties(context, device, NULL, &e);
  MUST(e);
  char version[64] = "";
  MUST(clGetDeviceInfo(device, CL_DEVICE_IL_VERSION, sizeof version, version, NULL));
  cl_program p = clCreateProgramWithIL(context, il, n, &e);
  if (e == CL_INVALID_OPERATION) {
    printf("no translator, version '%s'\n", version);
    return !!*version;
  }
  MUST(e);
  CHECK("version", strstr(version, "SPIR-V_1."));
  cl_int wrong;
  CHECK("not_spirv", !clCreateProgramWithIL(context, "not SPIR-V, but a text", 20, &wrong) &&
                         wrong == CL_INVALID_VALUE);
  size_t size = 0;
  MUST(clGetProgramInfo(p, CL_PROGRAM_IL, 0, NULL, &size));
  CHECK("il", size == n);
  e = clBuildProgram(p, 1, &device, "", NULL, NULL);
  if (e) {
    static char log[1 << 14];
    clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    printf("error %d\n%s\n", e, log);
    return 1;
  }
  if (argc > 2) run_beyond(p);
  else {
    run_mixed(p);
    run_counted(p);
    run_pixels(p);
  }
  clReleaseProgram(p);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
