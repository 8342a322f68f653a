// Runs the kernel `example` of an OpenCL C file: example FILE.cl [SIZE]
//   gcc -o example example.c -lOpenCL
//   warpgrind ./example overrun.cl
// All kernels here have the same arguments, so that one program serves them.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(cl_int error, const char *what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "%s: error %d\n", what, error);
  exit(1);
}

static char *read_file(const char *path) {
  FILE *f = fopen(path, "r");
  if (!f) {
    perror(path);
    exit(1);
  }
  char *text = calloc(1, 1 << 16);
  if (!fread(text, 1, (1 << 16) - 1, f)) exit(1);
  fclose(f);
  return text;
}

int main(int argc, char **argv) {
  int n = argc > 2 ? atoi(argv[2]) : 1000;
  size_t local = 64, global = (n + local - 1) / local * local, bytes = n * sizeof(float);
  cl_platform_id platform;
  cl_device_id device;
  cl_int error;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  check(error, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  check(error, "clCreateCommandQueue");

  char *source = read_file(argv[1]);
  cl_program program =
      clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &error);
  check(error, "clCreateProgramWithSource");
  error = clBuildProgram(program, 1, &device, "", NULL, NULL);
  if (error) {
    char log[8192] = "";
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    fputs(log, stderr);
  }
  check(error, "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "example", &error);
  check(error, "clCreateKernel");

  float *numbers = malloc(bytes);
  for (int i = 0; i < n; i++) numbers[i] = (float)(i % 10);
  cl_mem in = clCreateBuffer(context, CL_MEM_READ_ONLY, bytes, NULL, &error);
  check(error, "clCreateBuffer");
  cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  check(error, "clCreateBuffer");
  check(clEnqueueWriteBuffer(queue, in, CL_TRUE, 0, bytes, numbers, 0, NULL, NULL),
        "clEnqueueWriteBuffer");
  clSetKernelArg(kernel, 0, sizeof in, &in);
  clSetKernelArg(kernel, 1, sizeof out, &out);
  clSetKernelArg(kernel, 2, local * sizeof(float), NULL);
  clSetKernelArg(kernel, 3, sizeof n, &n);
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");
  check(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, bytes, numbers, 0, NULL, NULL),
        "clEnqueueReadBuffer");

  clReleaseMemObject(in);
  clReleaseMemObject(out);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  free(numbers);
  free(source);
  return 0;
}
