// Kernels get parts of a buffer: one leaves its part, and one writes to a part that is read-only.
// With an argument nothing is wrong.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>

static const char *source =
    "kernel void fill(global int *part, int n) {\n"
    "  size_t i = get_global_id(0);\n"
    "  if (i < n) part[i] = (int)i;\n"  // line 3
    "}\n"
    "kernel void swizzle(global int4 *part, int n) {\n"
    "  if (n) part[get_global_id(0)].y = n;\n"
    "}\n";

int main(int argc, char **argv) {
  cl_platform_id p;
  cl_device_id d;
  cl_int e, n = argc > 1 ? 64 : 65, four = 4;
  size_t global = 128, groups = 4;
  clGetPlatformIDs(1, &p, NULL);
  clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &d, NULL);
  cl_context c = clCreateContext(NULL, 1, &d, NULL, NULL, &e);
  cl_command_queue q = clCreateCommandQueue(c, d, 0, &e);
  cl_program program = clCreateProgramWithSource(c, 1, &source, NULL, &e);
  clBuildProgram(program, 0, NULL, "", NULL, NULL);
  cl_kernel fill = clCreateKernel(program, "fill", &e), swizzle = clCreateKernel(program, "swizzle",
                                                                                &e);
  cl_mem whole = clCreateBuffer(c, CL_MEM_READ_WRITE, 1024, NULL, &e);
  cl_buffer_region first = {0, 256}, second = {256, 256}, third = {512, 256};
  cl_mem parts[3] = {
      clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &first, &e),
      clCreateSubBuffer(whole, argc > 1 ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY,
                        CL_BUFFER_CREATE_TYPE_REGION, &second, &e),
      clCreateSubBuffer(whole, CL_MEM_WRITE_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &third, &e)};
  for (int i = 0; i < 2; i++) {
    clSetKernelArg(fill, 0, sizeof parts[i], &parts[i]);
    clSetKernelArg(fill, 1, sizeof n, i ? &four : &n);
    e = clEnqueueNDRangeKernel(q, fill, 1, NULL, &global, NULL, 0, NULL, NULL);
  }
  // the same memory as a whole: nothing is wrong
  n = 256;
  clSetKernelArg(fill, 0, sizeof whole, &whole);
  clSetKernelArg(fill, 1, sizeof n, &n);
  clEnqueueNDRangeKernel(q, fill, 1, NULL, &global, NULL, 0, NULL, NULL);
  // a compiler loads the vector to store a part of it
  clSetKernelArg(swizzle, 0, sizeof parts[2], &parts[2]);
  clSetKernelArg(swizzle, 1, sizeof n, &n);
  clEnqueueNDRangeKernel(q, swizzle, 1, NULL, &groups, NULL, 0, NULL, NULL);
  int out[256];
  e = clEnqueueReadBuffer(q, whole, CL_TRUE, 0, 512, out, 0, NULL, NULL);
  printf("%d %d %d\n", e, out[1], out[127]);
  for (int i = 0; i < 3; i++) clReleaseMemObject(parts[i]);
  clReleaseMemObject(whole);
  clReleaseKernel(fill);
  clReleaseKernel(swizzle);
  clReleaseProgram(program);
  clReleaseCommandQueue(q);
  clReleaseContext(c);
  return 0;
}
