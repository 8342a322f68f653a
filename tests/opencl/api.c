// The OpenCL platform, call by call: each line is one matter.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failed;
#define EXPECT(name, ...) \
  do { \
    if (__VA_ARGS__) printf("ok %s\n", name); \
    else printf("FAIL %s: line %d\n", name, __LINE__), failed = 1; \
  } while (0)

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_int e;

static char *read_file(const char *path) {
  static char text[1 << 16];
  FILE *f = fopen(path, "r");
  text[f ? fread(text, 1, sizeof text - 1, f) : 0] = 0;
  if (f) fclose(f);
  return text;
}

static cl_mem ints(const int *values, int n) {
  return clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, n * 4, (void *)values,
                        &e);
}

static void setup(const char *path) {
  cl_uint n = 0;
  char text[256];
  size_t size;
  EXPECT("platforms", clGetPlatformIDs(1, &platform, &n) == CL_SUCCESS && n == 1);
  EXPECT("platform_name", !clGetPlatformInfo(platform, CL_PLATFORM_NAME, 256, text, &size) &&
                              !strcmp(text, "Warpgrind") && size == 10);
  EXPECT("platform_room", clGetPlatformInfo(platform, CL_PLATFORM_NAME, 3, text, 0) ==
                              CL_INVALID_VALUE);
  EXPECT("devices", !clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, &n) && n == 1);
  EXPECT("no_accelerator", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ACCELERATOR, 1, &device, &n) ==
                               CL_DEVICE_NOT_FOUND);
  size_t most[3];
  EXPECT("device_info", !clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof most, most,
                                         &size) && size == sizeof most && most[0] >= 1024);
  EXPECT("device_version", !clGetDeviceInfo(device, CL_DEVICE_VERSION, 256, text, 0) &&
                               !strncmp(text, "OpenCL 3.0 ", 11));
  cl_context_properties p[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
  context = clCreateContext(p, 1, &device, NULL, NULL, &e);
  EXPECT("context", context && !e);
  queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &e);
  EXPECT("queue", queue && !e);
  const char *source = read_file(path);
  program = clCreateProgramWithSource(context, 1, &source, NULL, &e);
  e = clBuildProgram(program, 1, &device, "-cl-mad-enable -D 'X=1' -w", NULL, NULL);
  static char log[8192];
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
  if (e) printf("%s\n", log);
  EXPECT("build", !e);
}

static void references(void) {
  cl_uint n;
  int x[1] = {0};
  cl_mem m = ints(x, 1);
  clRetainMemObject(m);
  EXPECT("reference_count", !clGetMemObjectInfo(m, CL_MEM_REFERENCE_COUNT, 4, &n, 0) && n == 2);
  clReleaseMemObject(m);
  EXPECT("released", clReleaseMemObject(m) == CL_SUCCESS &&
                         clReleaseMemObject(m) == CL_INVALID_MEM_OBJECT);
  EXPECT("wrong_kind", clReleaseEvent((cl_event)queue) == CL_INVALID_EVENT);
}

static void arguments(void) {
  struct { float a; int b[3]; } pair = {1, {2, 3, 4}};
  cl_float4 v = {{0, 0, 0, 5}};
  cl_char c = 6;
  cl_short3 s = {{0, 0, 7}};
  cl_ulong l = 8;
  double d = 9;
  int k[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[8];
  size_t global = 8;
  cl_mem o = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof out, NULL, &e), m = ints(k, 8);
  cl_kernel f = clCreateKernel(program, "arguments", &e);
  EXPECT("kernel", f && !e);
  EXPECT("unset", clEnqueueNDRangeKernel(queue, f, 1, 0, &global, 0, 0, 0, 0) ==
                      CL_INVALID_KERNEL_ARGS);
  EXPECT("argument_size", clSetKernelArg(f, 1, 3, &pair) == CL_INVALID_ARG_SIZE);
  EXPECT("argument_index", clSetKernelArg(f, 9, 3, &pair) == CL_INVALID_ARG_INDEX);
  e = clSetKernelArg(f, 0, sizeof o, &o) | clSetKernelArg(f, 1, sizeof pair, &pair) |
      clSetKernelArg(f, 2, sizeof v, &v) | clSetKernelArg(f, 3, 1, &c) |
      clSetKernelArg(f, 4, sizeof m, &m) | clSetKernelArg(f, 5, sizeof s, &s) |
      clSetKernelArg(f, 6, 8, &l) | clSetKernelArg(f, 7, 8, &d);
  EXPECT("arguments_set", !e);
  e = clEnqueueNDRangeKernel(queue, f, 1, 0, &global, 0, 0, 0, 0);
  clEnqueueReadBuffer(queue, o, CL_TRUE, 0, sizeof out, out, 0, 0, 0);
  int ok = !e;
  for (int i = 0; i < 8; i++) ok &= out[i] == 1 + 4 + 5 + 6 + i + 7 + 8 + 9 + 10 * (i % 4 + 1) + i;
  EXPECT("arguments", ok);
  char name[64];
  cl_kernel_arg_address_qualifier space;
  clGetKernelArgInfo(f, 4, CL_KERNEL_ARG_NAME, 64, name, 0);
  clGetKernelArgInfo(f, 4, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, 0);
  EXPECT("argument_info", !strcmp(name, "k") && space == CL_KERNEL_ARG_ADDRESS_CONSTANT);
  clReleaseKernel(f);
  clReleaseMemObject(o);
  clReleaseMemObject(m);
}

// clang 19 takes two chars for two shorts.
static void pairs_of_chars(void) {
  cl_char2 c = {{-1, 2}};
  cl_uchar2 u = {{3, 200}};
  int out[4] = {0};
  size_t global = 1;
  char attributes[128];
  cl_mem o = ints(out, 4);
  cl_kernel f = clCreateKernel(program, "pairs_of_chars", &e);
  clSetKernelArg(f, 0, sizeof c, &c);
  clSetKernelArg(f, 1, sizeof u, &u);
  clSetKernelArg(f, 2, sizeof o, &o);
  e = clEnqueueNDRangeKernel(queue, f, 1, 0, &global, 0, 0, 0, 0);
  clEnqueueReadBuffer(queue, o, CL_TRUE, 0, sizeof out, out, 0, 0, 0);
  EXPECT("pairs_of_chars", !e && out[0] == -1 && out[1] == 2 && out[2] == 3 && out[3] == 200);
  clGetKernelInfo(f, CL_KERNEL_ATTRIBUTES, sizeof attributes, attributes, 0);
  EXPECT("attributes", !strcmp(attributes, "vec_type_hint(uchar2) work_group_size_hint(1,2,3) "
                                           "reqd_work_group_size(1,1,1)"));
  clReleaseKernel(f);
  clReleaseMemObject(o);
}

static void locals(void) {
  int out[64], ok = 1;
  size_t global = 64, local = 32;
  cl_mem o = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof out, NULL, &e);
  cl_kernel f = clCreateKernel(program, "locals", &e);
  clSetKernelArg(f, 0, sizeof o, &o);
  EXPECT("local_value", clSetKernelArg(f, 1, 32 * 4, out) == CL_INVALID_ARG_VALUE);
  clSetKernelArg(f, 1, 32 * 4, NULL);
  clSetKernelArg(f, 2, 32 * 8, NULL);
  e = clEnqueueNDRangeKernel(queue, f, 1, 0, &global, &local, 0, 0, 0);
  clEnqueueReadBuffer(queue, o, CL_TRUE, 0, sizeof out, out, 0, 0, 0);
  for (int i = 0; i < 64; i++) ok &= out[i] == 2 * (31 - i % 32) + 101;
  EXPECT("locals", ok && !e);
  cl_ulong bytes;
  clGetKernelWorkGroupInfo(f, device, CL_KERNEL_LOCAL_MEM_SIZE, 8, &bytes, 0);
  EXPECT("local_size", bytes == 32 * 4 + 32 * 8 + 64 * 4);
  clReleaseKernel(f);
  clReleaseMemObject(o);
}

// 7 x 3 work-items in groups of 4 x 2, from (5, 2) on: four sizes of groups.
static void ranges(void) {
  size_t offset[] = {5, 2}, global[] = {7, 3}, local[] = {4, 2};
  cl_ulong out[21][10];
  cl_mem o = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof out, NULL, &e);
  cl_kernel f = clCreateKernel(program, "ids", &e);
  clSetKernelArg(f, 0, sizeof o, &o);
  e = clEnqueueNDRangeKernel(queue, f, 2, offset, global, local, 0, 0, 0);
  clEnqueueReadBuffer(queue, o, CL_TRUE, 0, sizeof out, out, 0, 0, 0);
  int ok = !e;
  for (cl_ulong y = 0; y < 3; y++)
    for (cl_ulong x = 0; x < 7; x++) {
      cl_ulong want[10] = {x + 5, y + 2, x / 4, 2, x < 4 ? 4 : 3, x % 4, 2, 5, 3, 3};
      ok &= !memcmp(out[y * 7 + x], want, sizeof want);
    }
  EXPECT("offset_and_remainder", ok);
  EXPECT("dimension", clEnqueueNDRangeKernel(queue, f, 4, 0, global, 0, 0, 0, 0) ==
                          CL_INVALID_WORK_DIMENSION);
  size_t huge[] = {4096, 1};
  EXPECT("group_size", clEnqueueNDRangeKernel(queue, f, 2, 0, huge, huge, 0, 0, 0) < 0);
  clReleaseKernel(f);
  clReleaseMemObject(o);
}

static void transfers(void) {
  int x[16], y[16] = {0}, ok = 1;
  for (int i = 0; i < 16; i++) x[i] = i;
  cl_mem a = ints(x, 16), b = ints(y, 16);
  size_t from[] = {4, 1, 0}, to[] = {0, 0, 0}, region[] = {8, 2, 1};
  e = clEnqueueCopyBufferRect(queue, a, b, from, to, region, 16, 0, 16, 0, 0, 0, 0);
  clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 64, y, 0, 0, 0);
  EXPECT("copy_rectangle", !e && y[0] == 5 && y[1] == 6 && y[4] == 9 && y[5] == 10 && !y[2]);
  e = clEnqueueReadBufferRect(queue, a, CL_TRUE, from, to, region, 16, 0, 8, 0, y, 0, 0, 0);
  EXPECT("read_rectangle", !e && y[0] == 5 && y[1] == 6 && y[2] == 9 && y[3] == 10);
  int two[] = {7, 8};
  e = clEnqueueFillBuffer(queue, b, two, 8, 8, 16, 0, 0, 0);
  clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 64, y, 0, 0, 0);
  EXPECT("fill", !e && y[2] == 7 && y[3] == 8 && y[4] == 7 && y[5] == 8 && y[1] == 6);
  EXPECT("overlap", clEnqueueCopyBuffer(queue, a, a, 0, 4, 8, 0, 0, 0) == CL_MEM_COPY_OVERLAP);
  EXPECT("outside", clEnqueueReadBuffer(queue, a, CL_TRUE, 60, 8, y, 0, 0, 0) ==
                        CL_INVALID_VALUE);
  clEnqueueCopyBuffer(queue, a, b, 0, 32, 32, 0, 0, 0);
  int *p = clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 32, 32, 0, 0, 0, &e);
  for (int i = 0; i < 8; i++) ok &= p[i] == i;
  p[0] = 99;
  EXPECT("map", ok && !e);
  EXPECT("unmap", !clEnqueueUnmapMemObject(queue, b, p, 0, 0, 0) &&
                      clEnqueueUnmapMemObject(queue, b, p, 0, 0, 0) == CL_INVALID_VALUE);
  clEnqueueReadBuffer(queue, b, CL_TRUE, 32, 4, y, 0, 0, 0);
  EXPECT("unmapped", y[0] == 99);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

static void sub_buffers(void) {
  int x[256];
  for (int i = 0; i < 256; i++) x[i] = i;
  cl_mem a = ints(x, 256);
  cl_buffer_region r = {512, 64};
  cl_mem s = clCreateSubBuffer(a, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &r, &e);
  cl_kernel f = clCreateKernel(program, "add_one", &e);
  size_t global = 16;
  clSetKernelArg(f, 0, sizeof s, &s);
  clEnqueueNDRangeKernel(queue, f, 1, 0, &global, 0, 0, 0, 0);
  clReleaseMemObject(s);
  clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof x, x, 0, 0, 0);
  EXPECT("sub_buffer", x[127] == 127 && x[128] == 129 && x[143] == 144 && x[144] == 144);
  cl_mem narrow = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY, 1024, 0, &e);
  cl_mem_flags flags;
  s = clCreateSubBuffer(narrow, 0, CL_BUFFER_CREATE_TYPE_REGION, &r, &e);
  clGetMemObjectInfo(s, CL_MEM_FLAGS, sizeof flags, &flags, 0);
  EXPECT("sub_buffer_flags", flags == (CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY));
  clReleaseMemObject(s);
  clReleaseMemObject(narrow);
  r.origin = 4;
  clCreateSubBuffer(a, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &r, &e);
  EXPECT("sub_buffer_alignment", e == CL_MISALIGNED_SUB_BUFFER_OFFSET);
  clReleaseKernel(f);
  clReleaseMemObject(a);
}

static volatile int called;
static void CL_CALLBACK on_event(cl_event event, cl_int status, void *user) {
  *(volatile int *)user = status == CL_COMPLETE ? 1 : 2;
}

static int run_two(cl_command_queue q, cl_event start) {
  int x[4] = {1, 2, 3, 4};
  size_t global = 4;
  cl_mem m = ints(x, 4);
  cl_kernel add = clCreateKernel(program, "add_one", &e);
  cl_kernel mul = clCreateKernel(program, "twice", &e);
  cl_event first, second, third;
  clSetKernelArg(add, 0, sizeof m, &m);
  clSetKernelArg(mul, 0, sizeof m, &m);
  clEnqueueNDRangeKernel(q, add, 1, 0, &global, 0, start ? 1 : 0, start ? &start : 0, &first);
  clEnqueueNDRangeKernel(q, mul, 1, 0, &global, 0, 1, &first, &second);
  clEnqueueReadBuffer(q, m, CL_FALSE, 0, sizeof x, x, 1, &second, &third);
  clSetEventCallback(third, CL_COMPLETE, on_event, (void *)&called);
  int waited = 1;
  if (start) {
    cl_int status;
    clGetEventInfo(first, CL_EVENT_COMMAND_EXECUTION_STATUS, 4, &status, 0);
    waited = status == CL_QUEUED;
    clSetUserEventStatus(start, CL_COMPLETE);
  }
  clWaitForEvents(1, &third);
  int ok = waited && x[0] == 4 && x[3] == 10;
  clReleaseEvent(first);
  clReleaseEvent(second);
  clReleaseEvent(third);
  clReleaseKernel(add);
  clReleaseKernel(mul);
  clReleaseMemObject(m);
  return ok;
}

static void events(void) {
  cl_queue_properties p[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
  cl_command_queue free_queue = clCreateCommandQueueWithProperties(context, device, p, &e);
  EXPECT("in_order", run_two(queue, NULL));
  for (int i = 0; i < 2000 && !called; i++) usleep(1000);
  EXPECT("callback", called == 1);
  EXPECT("out_of_order", run_two(free_queue, NULL));
  cl_event user = clCreateUserEvent(context, &e);
  EXPECT("user_event", run_two(free_queue, user));
  EXPECT("user_event_twice", clSetUserEventStatus(user, CL_COMPLETE) == CL_INVALID_OPERATION);
  clReleaseEvent(user);
  user = clCreateUserEvent(context, &e);
  cl_event marker;
  clEnqueueMarkerWithWaitList(queue, 1, &user, &marker);
  clSetUserEventStatus(user, -7);
  EXPECT("failed_event", clWaitForEvents(1, &marker) ==
                             CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  clReleaseEvent(user);
  clReleaseEvent(marker);
  EXPECT("barrier", !clEnqueueBarrierWithWaitList(free_queue, 0, 0, 0) && !clFinish(free_queue));
  int x[4] = {0};
  cl_mem m = ints(x, 4);
  cl_event read;
  clEnqueueReadBuffer(queue, m, CL_TRUE, 0, 16, x, 0, 0, &read);
  cl_ulong t[4] = {0};
  for (int i = 0; i < 4; i++)
    clGetEventProfilingInfo(read, CL_PROFILING_COMMAND_QUEUED + i, 8, &t[i], NULL);
  EXPECT("profiling", t[0] && t[0] <= t[1] && t[1] <= t[2] && t[2] <= t[3]);
  clReleaseEvent(read);
  clReleaseMemObject(m);
  clReleaseCommandQueue(free_queue);
}

static int runs_eight(cl_program p) {
  int x[16] = {0};
  size_t global = 16;
  cl_mem m = ints(x, 16);
  cl_kernel f = clCreateKernel(p, "eight", &e);
  if (e) return 0;
  clSetKernelArg(f, 0, sizeof m, &m);
  e = clEnqueueNDRangeKernel(queue, f, 1, 0, &global, 0, 0, 0, 0);
  clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof x, x, 0, 0, 0);
  size_t local = 4;
  int refused = clEnqueueNDRangeKernel(queue, f, 1, 0, &global, &local, 0, 0, 0) ==
                CL_INVALID_WORK_GROUP_SIZE;
  clReleaseKernel(f);
  clReleaseMemObject(m);
  return !e && refused && x[0] == 8 && x[15] == 8;
}

static void properties(void) {
  cl_context_properties odd[] = {CL_CONTEXT_INTEROP_USER_SYNC, 2, 0};
  cl_context_properties twice[] = {CL_CONTEXT_INTEROP_USER_SYNC, 1, CL_CONTEXT_INTEROP_USER_SYNC, 1,
                                   0};
  clCreateContext(odd, 1, &device, 0, 0, &e);
  EXPECT("odd_property", e == CL_INVALID_PROPERTY);
  clCreateContext(twice, 1, &device, 0, 0, &e);
  EXPECT("property_twice", e == CL_INVALID_PROPERTY);
  twice[2] = 0;
  cl_context c = clCreateContext(twice, 1, &device, 0, 0, &e);
  EXPECT("property", c && !e);
  clReleaseContext(c);
}

static void programs(void) {
  EXPECT("required_size", runs_eight(program));
  size_t size;
  clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, 0);
  unsigned char *binary = malloc(size);
  clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, 0);
  cl_int status;
  cl_program p = clCreateProgramWithBinary(context, 1, &device, &size,
                                           (const unsigned char **)&binary, &status, &e);
  EXPECT("binary", !e && !clBuildProgram(p, 0, 0, "", 0, 0) && runs_eight(p));
  clReleaseProgram(p);
  const unsigned char *junk = (const unsigned char *)"junk";
  size = 4;
  clCreateProgramWithBinary(context, 1, &device, &size, &junk, &status, &e);
  EXPECT("bad_binary", e == CL_INVALID_BINARY && status == CL_INVALID_BINARY);
  free(binary);
  char names[256];
  clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, 0);
  EXPECT("kernel_names", strstr(names, "add_one;twice;eight") != NULL);
  clCreateKernel(program, "nothing", &e);
  EXPECT("kernel_name", e == CL_INVALID_KERNEL_NAME);
}

static void kernel_in_kernel(cl_command_queue q) {
  int x[4] = {1, 2, 3, 4};
  size_t global = 4;
  cl_mem m = ints(x, 4);
  cl_kernel k = clCreateKernel(program, "calls_kernel", &e);
  clSetKernelArg(k, 0, sizeof m, &m);
  clEnqueueNDRangeKernel(q, k, 1, 0, &global, 0, 0, 0, 0);
  clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof x, x, 0, 0, 0);
  EXPECT("kernel_in_kernel", x[0] == 3 && x[3] == 9);
  clReleaseKernel(k);
  clReleaseMemObject(m);
}

// The binary of a library is one again, and links.
static void library_binary(cl_program part, cl_program user) {
  cl_program made = clLinkProgram(context, 0, 0, "-create-library", 1, &part, 0, 0, &e);
  size_t size;
  clGetProgramInfo(made, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, 0);
  unsigned char *binary = malloc(size);
  clGetProgramInfo(made, CL_PROGRAM_BINARIES, sizeof binary, &binary, 0);
  cl_program read = clCreateProgramWithBinary(context, 1, &device, &size,
                                              (const unsigned char **)&binary, 0, &e);
  cl_program_binary_type type = 0;
  clGetProgramBuildInfo(read, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, 0);
  cl_program both[] = {user, read}, linked = clLinkProgram(context, 0, 0, "", 2, both, 0, 0, &e);
  EXPECT("library_binary", !e && type == CL_PROGRAM_BINARY_TYPE_LIBRARY);
  free(binary);
  clReleaseProgram(made);
  clReleaseProgram(read);
  clReleaseProgram(linked);
}

static void uniform_groups(void) {
  const char *text = "kernel void nothing(void) {}\n";
  size_t global = 4, local = 3;
  cl_program p = clCreateProgramWithSource(context, 1, &text, 0, &e);
  clBuildProgram(p, 0, 0, "-cl-uniform-work-group-size", 0, 0);
  cl_kernel k = clCreateKernel(p, "nothing", &e);
  EXPECT("uniform_groups", clEnqueueNDRangeKernel(queue, k, 1, 0, &global, &local, 0, 0, 0) ==
                               CL_INVALID_WORK_GROUP_SIZE);
  clReleaseKernel(k);
  clReleaseProgram(p);
}

// Needs a compiler: the rest may come from the cache.
static void compiler(void) {
  cl_bool there;
  clGetDeviceInfo(device, CL_DEVICE_COMPILER_AVAILABLE, sizeof there, &there, 0);
  if (!there) return;
  const char *header = "int plus(int);\n", *a = "int plus(int x) { return x + 5; }\n",
             *b = "#include \"plus.h\"\nkernel void eight(global int *x) {\n"
                  "  x[get_global_id(0)] = plus(3) + 0 * (int)get_local_size(0); }\n",
             *name = "plus.h", *bad = "kernel void f(global int *x) {\n  *x = y;\n}\n";
  cl_program h = clCreateProgramWithSource(context, 1, &header, 0, &e),
             one = clCreateProgramWithSource(context, 1, &a, 0, &e),
             two = clCreateProgramWithSource(context, 1, &b, 0, &e),
             wrong = clCreateProgramWithSource(context, 1, &bad, 0, &e);
  EXPECT("compile", !clCompileProgram(one, 0, 0, "", 0, 0, 0, 0, 0) &&
                        !clCompileProgram(two, 0, 0, "", 1, &h, &name, 0, 0));
  cl_program both[] = {one, two}, linked = clLinkProgram(context, 0, 0, "", 2, both, 0, 0, &e);
  cl_kernel f = clCreateKernel(linked, "eight", &e);
  EXPECT("link", f && !e);
  clReleaseKernel(f);
  library_binary(one, two);
  uniform_groups();
  char log[4096] = "";
  EXPECT("build_fails", clBuildProgram(wrong, 0, 0, "", 0, 0) == CL_BUILD_PROGRAM_FAILURE);
  clGetProgramBuildInfo(wrong, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, 0);
  EXPECT("build_log", strstr(log, "program.cl:2:8: error:") != NULL);
  EXPECT("build_option", clBuildProgram(wrong, 0, 0, "--nonsense", 0, 0) ==
                             CL_INVALID_BUILD_OPTIONS);
  clReleaseProgram(h);
  clReleaseProgram(one);
  clReleaseProgram(two);
  clReleaseProgram(wrong);
  clReleaseProgram(linked);
}

static void svm(void) {
  size_t global = 8;
  int *p = clSVMAlloc(context, CL_MEM_READ_WRITE, 32, 0), ok = 1;
  cl_kernel f = clCreateKernel(program, "add_one", &e);
  clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, p, 32, 0, 0, 0);
  for (int i = 0; i < 8; i++) p[i] = i;
  clEnqueueSVMUnmap(queue, p, 0, 0, 0);
  clSetKernelArgSVMPointer(f, 0, p);
  e = clEnqueueNDRangeKernel(queue, f, 1, 0, &global, 0, 0, 0, 0);
  clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, p, 32, 0, 0, 0);
  for (int i = 0; i < 8; i++) ok &= p[i] == i + 1;
  clEnqueueSVMUnmap(queue, p, 0, 0, 0);
  clFinish(queue);
  EXPECT("svm", ok && !e);
  // a buffer over it is the same memory
  cl_bool uses = 0;
  cl_mem same = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 32, p, &e);
  clGetMemObjectInfo(same, CL_MEM_USES_SVM_POINTER, sizeof uses, &uses, 0);
  clSetKernelArg(f, 0, sizeof same, &same);
  clEnqueueNDRangeKernel(queue, f, 1, 0, &global, 0, 0, 0, 0);
  int *mapped = clEnqueueMapBuffer(queue, same, CL_TRUE, CL_MAP_READ, 0, 32, 0, 0, 0, &e);
  EXPECT("svm_buffer", !e && uses && mapped == p && p[0] == 2 && p[7] == 9);
  clEnqueueUnmapMemObject(queue, same, mapped, 0, 0, 0);
  clReleaseMemObject(same);
  clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 64, p, &e);
  EXPECT("svm_buffer_size", e == CL_INVALID_BUFFER_SIZE);
  clFinish(queue);
  clSVMFree(context, p);
  clReleaseKernel(f);
}

static void library(void) {
  int out[32], ok = 1;
  cl_long sum = 0;
  cl_ulong most = 0;
  size_t global = 32;
  cl_mem i = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof out, NULL, &e);
  cl_mem l = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 8, &sum, &e);
  cl_mem u = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 8, &most, &e);
  cl_kernel f = clCreateKernel(program, "library", &e);
  clSetKernelArg(f, 0, sizeof i, &i);
  clSetKernelArg(f, 1, sizeof l, &l);
  clSetKernelArg(f, 2, sizeof u, &u);
  clSetKernelArg(f, 3, 8, NULL);
  e = clEnqueueNDRangeKernel(queue, f, 1, 0, &global, &global, 0, 0, 0);
  clEnqueueReadBuffer(queue, i, CL_TRUE, 0, sizeof out, out, 0, 0, 0);
  clEnqueueReadBuffer(queue, l, CL_TRUE, 0, 8, &sum, 0, 0, 0);
  clEnqueueReadBuffer(queue, u, CL_TRUE, 0, 8, &most, 0, 0, 0);
  for (int k = 0; k < 32; k++) ok &= out[k] == (1 << 8) + 3 + 32;
  EXPECT("mad_hi", ok && !e);
  EXPECT("atomics_64", sum == 32l << 33 && most == 31ul << 40);
  clReleaseKernel(f);
  clReleaseMemObject(i);
  clReleaseMemObject(l);
  clReleaseMemObject(u);
}

static void absent(void) {
  cl_bool images;
  cl_image_format format = {CL_RGBA, CL_FLOAT};
  cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
  clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, 0);
  cl_mem m = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &e);
  EXPECT("images", images ? m && !e : !m && e == CL_INVALID_OPERATION);
  if (m) clReleaseMemObject(m);
  EXPECT("native_kernel", clEnqueueNativeKernel(queue, 0, 0, 0, 0, 0, 0, 0, 0, 0) ==
                              CL_INVALID_OPERATION);
  clCreatePipe(context, 0, 4, 4, NULL, &e);
  EXPECT("pipes", e == CL_INVALID_OPERATION);
}

static void *thread(void *number) {
  int ok = 1;
  cl_command_queue q = clCreateCommandQueue(context, device, 0, NULL);
  for (int round = 0; round < 20; round++) {
    int x[32];
    for (int i = 0; i < 32; i++) x[i] = i;
    size_t global = 32;
    cl_int error;
    cl_mem m = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof x, x, &error);
    cl_kernel f = clCreateKernel(program, "add_one", &error);
    clSetKernelArg(f, 0, sizeof m, &m);
    clEnqueueNDRangeKernel(q, f, 1, 0, &global, 0, 0, 0, 0);
    clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof x, x, 0, 0, 0);
    for (int i = 0; i < 32; i++) ok &= x[i] == i + 1;
    clReleaseKernel(f);
    clReleaseMemObject(m);
  }
  clReleaseCommandQueue(q);
  return ok ? number : NULL;
}

static void threads(void) {
  pthread_t t[4];
  int ok = 1;
  void *result;
  for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, thread, &ok);
  for (int i = 0; i < 4; i++) {
    pthread_join(t[i], &result);
    ok &= result != NULL;
  }
  EXPECT("threads", ok);
}

int main(int argc, char **argv) {
  setup(argv[1]);
  references();
  arguments();
  pairs_of_chars();
  properties();
  locals();
  ranges();
  transfers();
  sub_buffers();
  events();
  programs();
  kernel_in_kernel(queue);
  compiler();
  svm();
  library();
  absent();
  threads();
  cl_kernel say = clCreateKernel(program, "say", &e);
  size_t global = 4;
  int n = 4;
  clSetKernelArg(say, 0, sizeof n, &n);
  clEnqueueNDRangeKernel(queue, say, 1, 0, &global, 0, 0, 0, 0);
  clFinish(queue);
  clReleaseKernel(say);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  EXPECT("last_release", clReleaseContext(context) == CL_SUCCESS &&
                             clRetainContext(context) == CL_INVALID_CONTEXT);
  return failed;
}
