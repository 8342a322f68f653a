// Commands of two queues, or of one that is out of order: queues HOW [ordered]
// HOW: two, apart (four kernels, two of them in each queue), free (out of order).
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <string.h>

static const char *source =
    "kernel void fill(global int *p, int v) { p[get_global_id(0)] = v; }\n";

int main(int argc, char **argv) {
  const char *how = argv[1];
  int ordered = argc > 2, n = 4096, values[4096];
  size_t global = 4096;
  cl_platform_id platform;
  cl_device_id device;
  cl_int e;
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
  int is_free = !strcmp(how, "free");
  cl_command_queue one = clCreateCommandQueue(
      context, device, is_free ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, &e);
  cl_command_queue two = is_free ? one : clCreateCommandQueue(context, device, 0, &e);
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &e);
  if (clBuildProgram(program, 1, &device, "", NULL, NULL)) return 1;
  cl_kernel kernel = clCreateKernel(program, "fill", &e);
  cl_mem shared = clCreateBuffer(context, CL_MEM_READ_WRITE, n * 4, NULL, &e);
  cl_mem other = clCreateBuffer(context, CL_MEM_READ_WRITE, n * 4, NULL, &e);
  cl_event first;
  int is_apart = !strcmp(how, "apart");
  for (int round = 0; round < (is_apart ? 2 : 1); round++) {
    int v = 1 + round;
    clSetKernelArg(kernel, 1, sizeof v, &v);
    clSetKernelArg(kernel, 0, sizeof shared, &shared);
    clEnqueueNDRangeKernel(one, kernel, 1, NULL, &global, NULL, 0, NULL, &first);
    if (is_apart) clSetKernelArg(kernel, 0, sizeof other, &other);
    v = 3;
    clSetKernelArg(kernel, 1, sizeof v, &v);
    clEnqueueNDRangeKernel(two, kernel, 1, NULL, &global, NULL, ordered, ordered ? &first : NULL,
                           NULL);
    clReleaseEvent(first);
  }
  clFinish(one);
  clFinish(two);
  e = clEnqueueReadBuffer(one, is_apart ? other : shared, CL_TRUE, 0, n * 4, values, 0, NULL, NULL);
  int right = 0;
  for (int i = 0; i < n; i++) right += values[i] == 3;
  printf("%d right\n", right);
  return e || (ordered && right != n);
}
