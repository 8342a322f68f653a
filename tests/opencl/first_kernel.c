// Four threads ask for the first kernel of a program at once: it is loaded once.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ITEMS = 256 };
static const char *source = "kernel void count(global int *out, int first) {\n"
                            "  out[get_global_id(0)] = first + (int)get_global_id(0);\n"
                            "}\n";
static cl_device_id device;
static cl_context context;
static cl_program program;
static pthread_barrier_t start;

static void *work(void *number) {
  cl_int e, first = (int)(long)number * 1000, out[ITEMS];
  size_t global = ITEMS;
  cl_command_queue q = clCreateCommandQueue(context, device, 0, &e);
  cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof out, NULL, &e);
  pthread_barrier_wait(&start);
  cl_kernel k = clCreateKernel(program, "count", &e);
  clSetKernelArg(k, 0, sizeof m, &m);
  clSetKernelArg(k, 1, sizeof first, &first);
  clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, NULL);
  e = clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL);
  long right = !e && out[0] == first && out[ITEMS - 1] == first + ITEMS - 1;
  clReleaseKernel(k);
  clReleaseMemObject(m);
  clReleaseCommandQueue(q);
  return (void *)right;
}

int main(void) {
  cl_platform_id p;
  cl_int e;
  pthread_t threads[THREADS];
  long right = 0;
  clGetPlatformIDs(1, &p, NULL);
  clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
  program = clCreateProgramWithSource(context, 1, &source, NULL, &e);
  clBuildProgram(program, 0, NULL, "", NULL, NULL);
  pthread_barrier_init(&start, NULL, THREADS);
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    right += (long)result;
  }
  printf("%ld threads are right\n", right);
  clReleaseProgram(program);
  clReleaseContext(context);
  return 0;
}
