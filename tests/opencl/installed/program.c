// A correct program that does what OpenCL programs do, and prints what it computes: kernels with
// arguments of all kinds, threads with queues of their own, events between queues, user events,
// parts of buffers, images, printf. program FILE.cl [buffers]: without images
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call) must((call), #call)
enum { N = 1000, THREADS = 4, TURNS = 20 };

static cl_context context;
static cl_device_id device;
static cl_program program;

static void must(cl_int error, const char *what) {
  if (error == CL_SUCCESS) return;
  printf("%s: error %d\n", what, error);
  exit(1);
}

static cl_mem buffer(cl_mem_flags flags, size_t bytes, void *host) {
  cl_int error;
  cl_mem m = clCreateBuffer(context, flags, bytes, host, &error);
  must(error, "clCreateBuffer");
  return m;
}

static cl_kernel kernel(const char *name) {
  cl_int error;
  cl_kernel k = clCreateKernel(program, name, &error);
  must(error, name);
  return k;
}

static cl_command_queue queue(void) {
  cl_int error;
  cl_command_queue q = clCreateCommandQueue(context, device, 0, &error);
  must(error, "clCreateCommandQueue");
  return q;
}

static double total(const float *list, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += list[i];
  return sum;
}

// Each thread has its own queue, kernel and buffers.
static void *scale(void *user) {
  struct {
    float factor;
    int add;
  } change = {(float)(size_t)user, 3};
  float numbers[N];
  int n = N;
  double *result = malloc(sizeof *result);
  cl_command_queue q = queue();
  cl_kernel k = kernel("scale");
  for (int i = 0; i < N; i++) numbers[i] = (float)(i % 17);
  for (int turn = 0; turn < TURNS; turn++) {
    cl_mem in = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers),
           out = buffer(CL_MEM_WRITE_ONLY, sizeof numbers, NULL);
    MUST(clSetKernelArg(k, 0, sizeof out, &out));
    MUST(clSetKernelArg(k, 1, sizeof in, &in));
    MUST(clSetKernelArg(k, 2, sizeof change, &change));
    MUST(clSetKernelArg(k, 3, sizeof n, &n));
    MUST(clEnqueueNDRangeKernel(q, k, 1, NULL, &(size_t){1024}, turn % 2 ? &(size_t){128} : NULL, 0,
                                NULL, NULL));
    float back[N];
    MUST(clEnqueueReadBuffer(q, out, CL_TRUE, 0, sizeof back, back, 0, NULL, NULL));
    *result = total(back, N);
    MUST(clReleaseMemObject(in));
    MUST(clReleaseMemObject(out));
  }
  MUST(clReleaseKernel(k));
  MUST(clReleaseCommandQueue(q));
  return result;
}

static void sums(cl_command_queue q) {
  int weights[4] = {5, 6, 7, 8}, out[4];
  cl_mem w = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof weights, weights),
         to = buffer(CL_MEM_READ_WRITE, sizeof out, NULL);
  cl_kernel k = kernel("sum");
  MUST(clSetKernelArg(k, 0, sizeof to, &to));
  MUST(clSetKernelArg(k, 1, 64 * sizeof(int), NULL));
  MUST(clSetKernelArg(k, 2, sizeof w, &w));
  MUST(clEnqueueNDRangeKernel(q, k, 1, &(size_t){1000}, &(size_t){256}, &(size_t){64}, 0, NULL,
                              NULL));
  MUST(clEnqueueReadBuffer(q, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  printf("sum: %d %d %d %d\n", out[0], out[1], out[2], out[3]);
  MUST(clReleaseKernel(k));
  MUST(clReleaseMemObject(w));
  MUST(clReleaseMemObject(to));
}

// A part of a buffer, two dimensions, an event between two queues, and one of the host.
static void orders(cl_command_queue q) {
  cl_int error, out[64] = {0}, width = 8, sum = 0;
  cl_command_queue other = queue();
  cl_mem whole = buffer(CL_MEM_READ_WRITE, 1024, NULL);
  cl_buffer_region region = {512, sizeof out};
  cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  must(error, "clCreateSubBuffer");
  cl_event start = clCreateUserEvent(context, &error), written, read;
  must(error, "clCreateUserEvent");
  cl_kernel k = kernel("where");
  MUST(clSetKernelArg(k, 0, sizeof part, &part));
  MUST(clSetKernelArg(k, 1, sizeof width, &width));
  MUST(clEnqueueNDRangeKernel(q, k, 2, NULL, (size_t[]){8, 8}, (size_t[]){4, 2}, 1, &start,
                              &written));
  MUST(clFlush(q));
  MUST(clEnqueueReadBuffer(other, part, CL_FALSE, 0, sizeof out, out, 1, &written, &read));
  MUST(clFlush(other));
  MUST(clSetUserEventStatus(start, CL_COMPLETE));
  MUST(clWaitForEvents(1, &read));
  for (int i = 0; i < 64; i++) sum += out[i];
  printf("where: %d %d %d\n", out[0], out[63], sum);
  MUST(clReleaseEvent(start));
  MUST(clReleaseEvent(written));
  MUST(clReleaseEvent(read));
  MUST(clReleaseKernel(k));
  MUST(clReleaseMemObject(part));
  MUST(clReleaseMemObject(whole));
  MUST(clReleaseCommandQueue(other));
}

static void counts_and_says(cl_command_queue q) {
  int zero = 0;
  cl_mem to = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zero, &zero);
  cl_kernel k = kernel("counts"), says = kernel("says");
  MUST(clSetKernelArg(k, 0, sizeof to, &to));
  MUST(clSetKernelArg(says, 0, sizeof to, &to));
  for (int i = 0; i < 3; i++)
    MUST(clEnqueueNDRangeKernel(q, k, 1, NULL, &(size_t){100}, NULL, 0, NULL, NULL));
  MUST(clEnqueueTask(q, k, 0, NULL, NULL));
  int *mapped = clEnqueueMapBuffer(q, to, CL_TRUE, CL_MAP_READ, 0, sizeof zero, 0, NULL, NULL,
                                   NULL);
  printf("counts: %d\n", *mapped);
  MUST(clEnqueueUnmapMemObject(q, to, mapped, 0, NULL, NULL));
  fflush(stdout);
  MUST(clEnqueueNDRangeKernel(q, says, 1, NULL, &(size_t){1}, NULL, 0, NULL, NULL));
  MUST(clFinish(q));
  MUST(clReleaseKernel(k));
  MUST(clReleaseKernel(says));
  MUST(clReleaseMemObject(to));
}

static void pixels(cl_command_queue q) {
  cl_int error;
  float from[4][4][4], to[16][4];
  for (int i = 0; i < 64; i++) (&from[0][0][0])[i] = (float)i;
  cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
  cl_mem image = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                               &(cl_image_format){CL_RGBA, CL_FLOAT}, &shape, from, &error);
  must(error, "clCreateImage");
  cl_sampler s = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &error);
  must(error, "clCreateSampler");
  cl_mem out = buffer(CL_MEM_READ_WRITE, sizeof to, NULL);
  cl_kernel k = kernel("pixels");
  MUST(clSetKernelArg(k, 0, sizeof image, &image));
  MUST(clSetKernelArg(k, 1, sizeof s, &s));
  MUST(clSetKernelArg(k, 2, sizeof out, &out));
  MUST(clEnqueueNDRangeKernel(q, k, 2, NULL, (size_t[]){4, 4}, NULL, 0, NULL, NULL));
  MUST(clEnqueueReadBuffer(q, out, CL_TRUE, 0, sizeof to, to, 0, NULL, NULL));
  printf("pixels: %g\n", total(&to[0][0], 64));
  MUST(clReleaseKernel(k));
  MUST(clReleaseSampler(s));
  MUST(clReleaseMemObject(image));
  MUST(clReleaseMemObject(out));
}

int main(int argc, char **argv) {
  cl_platform_id platform;
  cl_int error;
  pthread_t threads[THREADS];
  static char source[1 << 16];
  const char *text = source;
  FILE *f = fopen(argv[1], "r");
  if (!f || !fread(source, 1, sizeof source - 1, f)) return 1;
  fclose(f);
  MUST(clGetPlatformIDs(1, &platform, NULL));
  MUST(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  must(error, "clCreateContext");
  program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
  must(error, "clCreateProgramWithSource");
  MUST(clBuildProgram(program, 1, &device, "", NULL, NULL));
  for (size_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, scale, (void *)(i + 1));
  for (size_t i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    printf("thread %zu: %g\n", i, *(double *)result);
    free(result);
  }
  cl_command_queue q = queue();
  sums(q);
  orders(q);
  counts_and_says(q);
  if (argc == 2) pixels(q);
  MUST(clReleaseCommandQueue(q));
  MUST(clReleaseProgram(program));
  MUST(clReleaseContext(context));
  return 0;
}
