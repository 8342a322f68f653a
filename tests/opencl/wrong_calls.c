// Sixty calls that are wrong, each with the error it must return, and three objects that are not
// released.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>

static int number, failed;
static void expect(cl_int got, cl_int want, int line) {
  number++;
  if (got == want) return;
  printf("FAIL line %d: error %d, expected %d\n", line, got, want);
  failed = 1;
}
#define WRONG(want, call) expect(call, want, __LINE__)
// of calls that return an object
#define WRONG_NEW(want, call) \
  do { \
    cl_int e = 0; \
    (void)(call); \
    expect(e, want, __LINE__); \
  } while (0)

static const char *source = "kernel void k(global int *a, local int *b, int c) { a[0] = c; }\n"
                            "kernel __attribute__((reqd_work_group_size(4, 1, 1)))\n"
                            "void four(global int *a) { a[get_global_id(0)] = 1; }\n";

static cl_platform_id p;
static cl_device_id d;
static cl_context c;
static cl_command_queue q;
static cl_mem m, no_host;  // 256 bytes each
static cl_program program, unbuilt;
static cl_kernel k, four;
static cl_event user;
static cl_int e, x[64];
static char text[64];

static void devices(void) {
  cl_uint n;
  cl_queue_properties on_device[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE, 0};
  cl_context_properties strange[] = {12345, 0, 0};
  WRONG(CL_INVALID_VALUE, clGetPlatformIDs(0, NULL, NULL));
  WRONG(CL_INVALID_VALUE, clGetPlatformInfo(p, 1, 64, text, NULL));
  WRONG(CL_INVALID_VALUE, clGetPlatformInfo(p, CL_PLATFORM_NAME, 1, text, NULL));
  WRONG(CL_INVALID_DEVICE_TYPE, clGetDeviceIDs(p, 0, 1, &d, &n));
  WRONG(CL_DEVICE_NOT_FOUND, clGetDeviceIDs(p, CL_DEVICE_TYPE_ACCELERATOR, 1, &d, &n));
  WRONG(CL_INVALID_VALUE, clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 0, NULL, NULL));
  WRONG(CL_INVALID_VALUE, clGetDeviceInfo(d, 1, 64, text, NULL));
  WRONG_NEW(CL_INVALID_VALUE, clCreateContext(NULL, 0, NULL, NULL, NULL, &e));
  WRONG_NEW(CL_INVALID_PROPERTY, clCreateContext(strange, 1, &d, NULL, NULL, &e));
  WRONG(CL_INVALID_VALUE, clGetContextInfo(c, 1, 64, text, NULL));
  WRONG_NEW(CL_INVALID_VALUE, clCreateCommandQueue(c, d, 1 << 20, &e));
  WRONG_NEW(CL_INVALID_QUEUE_PROPERTIES,
            clCreateCommandQueueWithProperties(c, d, on_device, &e));
}

static void buffers(void) {
  size_t o[3] = {0, 0, 0}, r[3] = {4, 1, 1}, none[3] = {0, 1, 1};
  cl_buffer_region region = {4, 16}, empty = {0, 0}, beyond = {256, 16};
  WRONG_NEW(CL_INVALID_BUFFER_SIZE, clCreateBuffer(c, CL_MEM_READ_WRITE, 0, NULL, &e));
  WRONG_NEW(CL_INVALID_HOST_PTR, clCreateBuffer(c, CL_MEM_COPY_HOST_PTR, 16, NULL, &e));
  WRONG_NEW(CL_INVALID_HOST_PTR, clCreateBuffer(c, CL_MEM_READ_WRITE, 16, x, &e));
  WRONG_NEW(CL_INVALID_VALUE,
            clCreateBuffer(c, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 16, NULL, &e));
  WRONG_NEW(CL_MISALIGNED_SUB_BUFFER_OFFSET,
            clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &e));
  WRONG_NEW(CL_INVALID_BUFFER_SIZE,
            clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &empty, &e));
  WRONG_NEW(CL_INVALID_VALUE, clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &beyond, &e));
  WRONG_NEW(CL_INVALID_VALUE, clCreateSubBuffer(m, 0, 1, &region, &e));
  WRONG(CL_INVALID_VALUE, clGetMemObjectInfo(m, 1, 64, text, NULL));
  WRONG(CL_INVALID_VALUE, clEnqueueReadBuffer(q, m, CL_TRUE, 0, 257, x, 0, NULL, NULL));
  WRONG(CL_INVALID_VALUE, clEnqueueReadBuffer(q, m, CL_TRUE, 0, 16, NULL, 0, NULL, NULL));
  WRONG(CL_INVALID_VALUE, clEnqueueWriteBuffer(q, m, CL_TRUE, 250, 16, x, 0, NULL, NULL));
  WRONG(CL_INVALID_OPERATION, clEnqueueReadBuffer(q, no_host, CL_TRUE, 0, 16, x, 0, NULL, NULL));
  WRONG(CL_INVALID_EVENT_WAIT_LIST,
        clEnqueueReadBuffer(q, m, CL_TRUE, 0, 16, x, 1, NULL, NULL));
  WRONG(CL_INVALID_EVENT_WAIT_LIST,
        clEnqueueReadBuffer(q, m, CL_TRUE, 0, 16, x, 0, &user, NULL));
  WRONG(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(q, m, m, 0, 8, 16, 0, NULL, NULL));
  WRONG(CL_INVALID_VALUE, clEnqueueCopyBuffer(q, m, no_host, 0, 250, 16, 0, NULL, NULL));
  WRONG(CL_INVALID_VALUE,
        clEnqueueReadBufferRect(q, m, CL_TRUE, o, o, none, 0, 0, 0, 0, x, 0, NULL, NULL));
  WRONG(CL_INVALID_VALUE,
        clEnqueueReadBufferRect(q, m, CL_TRUE, o, o, r, 2, 0, 0, 0, x, 0, NULL, NULL));
  WRONG(CL_INVALID_VALUE, clEnqueueFillBuffer(q, m, x, 3, 0, 12, 0, NULL, NULL));
  WRONG(CL_INVALID_VALUE, clEnqueueFillBuffer(q, m, x, 4, 2, 12, 0, NULL, NULL));
  WRONG_NEW(CL_INVALID_VALUE,
            clEnqueueMapBuffer(q, m, CL_TRUE, CL_MAP_READ, 0, 300, 0, NULL, NULL, &e));
  WRONG_NEW(CL_INVALID_OPERATION,
            clEnqueueMapBuffer(q, no_host, CL_TRUE, CL_MAP_READ, 0, 16, 0, NULL, NULL, &e));
  WRONG(CL_INVALID_VALUE, clEnqueueUnmapMemObject(q, m, x, 0, NULL, NULL));
  WRONG(CL_INVALID_VALUE, clEnqueueMigrateMemObjects(q, 0, NULL, 0, 0, NULL, NULL));
}

static void programs(void) {
  WRONG_NEW(CL_INVALID_VALUE, clCreateProgramWithSource(c, 0, &source, NULL, &e));
  WRONG_NEW(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(unbuilt, "k", &e));
  WRONG_NEW(CL_INVALID_KERNEL_NAME, clCreateKernel(program, "kk", &e));
  WRONG(CL_INVALID_OPERATION, clBuildProgram(program, 0, NULL, "", NULL, NULL));
  WRONG(CL_INVALID_VALUE, clBuildProgram(unbuilt, 1, NULL, "", NULL, NULL));
  WRONG(CL_INVALID_BUILD_OPTIONS, clBuildProgram(unbuilt, 0, NULL, "-what", NULL, NULL));
  WRONG(CL_INVALID_PROGRAM_EXECUTABLE,
        clGetProgramInfo(unbuilt, CL_PROGRAM_NUM_KERNELS, 64, text, NULL));
}

static void kernels_and_events(void) {
  size_t one = 1, zero = 0, five = 5, huge = 1 << 20;
  cl_event done;
  WRONG(CL_INVALID_ARG_INDEX, clSetKernelArg(k, 3, 4, x));
  WRONG(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 2, 8, x));
  WRONG(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 0, 4, &m));
  WRONG(CL_INVALID_ARG_VALUE, clSetKernelArg(k, 1, 16, x));
  WRONG(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 1, 0, NULL));
  WRONG(CL_INVALID_ARG_VALUE, clSetKernelArg(k, 2, 4, NULL));
  WRONG(CL_INVALID_MEM_OBJECT, clSetKernelArg(k, 0, sizeof q, &q));
  WRONG(CL_INVALID_KERNEL_ARGS, clEnqueueNDRangeKernel(q, k, 1, NULL, &one, NULL, 0, NULL, NULL));
  WRONG(CL_INVALID_WORK_DIMENSION,
        clEnqueueNDRangeKernel(q, four, 0, NULL, &one, NULL, 0, NULL, NULL));
  WRONG(CL_INVALID_WORK_DIMENSION,
        clEnqueueNDRangeKernel(q, four, 4, NULL, &one, NULL, 0, NULL, NULL));
  WRONG(CL_INVALID_WORK_GROUP_SIZE,
        clEnqueueNDRangeKernel(q, four, 1, NULL, &five, &five, 0, NULL, NULL));
  WRONG(CL_INVALID_WORK_GROUP_SIZE,
        clEnqueueNDRangeKernel(q, four, 1, NULL, &five, &zero, 0, NULL, NULL));
  clSetKernelArg(k, 0, sizeof m, &m);
  clSetKernelArg(k, 1, 16, NULL);
  clSetKernelArg(k, 2, 4, x);
  WRONG(CL_INVALID_WORK_ITEM_SIZE,
        clEnqueueNDRangeKernel(q, k, 1, NULL, &huge, &huge, 0, NULL, NULL));
  WRONG(CL_INVALID_VALUE, clWaitForEvents(0, NULL));
  WRONG(CL_INVALID_VALUE, clSetUserEventStatus(user, 5));
  clEnqueueReadBuffer(q, m, CL_TRUE, 0, 16, x, 0, NULL, &done);
  WRONG(CL_INVALID_EVENT, clSetUserEventStatus(done, CL_COMPLETE));
  WRONG(CL_PROFILING_INFO_NOT_AVAILABLE,
        clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_START, 8, text, NULL));
  clReleaseEvent(done);
  WRONG(CL_INVALID_EVENT, clReleaseEvent(done));
  WRONG(CL_INVALID_COMMAND_QUEUE, clFinish((cl_command_queue)c));
}

int main(void) {
  clGetPlatformIDs(1, &p, NULL);
  clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &d, NULL);
  c = clCreateContext(NULL, 1, &d, NULL, NULL, &e);
  q = clCreateCommandQueue(c, d, 0, &e);
  m = clCreateBuffer(c, CL_MEM_READ_WRITE, 256, NULL, &e);
  no_host = clCreateBuffer(c, CL_MEM_HOST_NO_ACCESS, 256, NULL, &e);
  program = clCreateProgramWithSource(c, 1, &source, NULL, &e);
  unbuilt = clCreateProgramWithSource(c, 1, &source, NULL, &e);
  clBuildProgram(program, 0, NULL, "", NULL, NULL);
  k = clCreateKernel(program, "k", &e);
  four = clCreateKernel(program, "four", &e);
  user = clCreateUserEvent(c, &e);
  clSetKernelArg(four, 0, sizeof m, &m);
  devices();
  buffers();
  programs();
  kernels_and_events();

  clSetUserEventStatus(user, CL_COMPLETE);
  clReleaseEvent(user);
  clReleaseKernel(four);
  clReleaseProgram(unbuilt);
  clReleaseProgram(program);
  clReleaseMemObject(m);
  clReleaseCommandQueue(q);
  clRetainContext(c);
  clReleaseContext(c);
  // left: the context, no_host, k
  printf("%d wrong calls\n", number);
  return failed;
}
