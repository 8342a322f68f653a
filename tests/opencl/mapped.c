// A kernel that uses buffers while the host has them mapped: mapped [right]
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64 };
static const char *source = "kernel void copy(global const int *in, global int *out) {\n"
                            "  size_t i = get_global_id(0);\n"
                            "  out[i] = in[i];\n"
                            "}\n";
#define MUST(e) \
  do { \
    cl_int e_ = (e); \
    if (e_) printf("line %d: error %d\n", __LINE__, e_), exit(2); \
  } while (0)

int main(int argc, char **argv) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int e;
  MUST(clGetPlatformIDs(1, &platform, NULL));
  MUST(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  cl_context c = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
  MUST(e);
  cl_command_queue q = clCreateCommandQueue(c, device, 0, &e);
  MUST(e);
  cl_program p = clCreateProgramWithSource(c, 1, &source, NULL, &e);
  MUST(clBuildProgram(p, 1, &device, "", NULL, NULL));
  cl_kernel k = clCreateKernel(p, "copy", &e);
  MUST(e);
  int data[N];
  for (int i = 0; i < N; i++) data[i] = i;
  cl_mem in = clCreateBuffer(c, CL_MEM_COPY_HOST_PTR, sizeof data, data, &e);
  MUST(e);
  cl_mem out = clCreateBuffer(c, CL_MEM_COPY_HOST_PTR, sizeof data, data, &e);
  MUST(e);
  MUST(clSetKernelArg(k, 0, sizeof in, &in));
  MUST(clSetKernelArg(k, 1, sizeof out, &out));
  int *to = clEnqueueMapBuffer(q, in, CL_TRUE, CL_MAP_WRITE, 0, sizeof data, 0, NULL, NULL, &e);
  MUST(e);
  int *from = clEnqueueMapBuffer(q, out, CL_TRUE, CL_MAP_READ, 0, sizeof data, 0, NULL, NULL, &e);
  MUST(e);
  size_t n = N;
  if (argc > 1) {
    MUST(clEnqueueUnmapMemObject(q, in, to, 0, NULL, NULL));
    MUST(clEnqueueUnmapMemObject(q, out, from, 0, NULL, NULL));
  }
  MUST(clEnqueueNDRangeKernel(q, k, 1, NULL, &n, NULL, 0, NULL, NULL));
  if (argc == 1) {
    MUST(clEnqueueUnmapMemObject(q, in, to, 0, NULL, NULL));
    MUST(clEnqueueUnmapMemObject(q, out, from, 0, NULL, NULL));
  }
  // a part that the kernel does not need, while the rest is used
  int *part = clEnqueueMapBuffer(q, in, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &e);
  MUST(e);
  MUST(clEnqueueNDRangeKernel(q, k, 1, NULL, &n, NULL, 0, NULL, NULL));
  MUST(clEnqueueUnmapMemObject(q, in, part, 0, NULL, NULL));
  MUST(clFinish(q));
  return 0;
}
