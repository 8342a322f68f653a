/* The benchmarks on OpenCL: the first platform whose name contains BENCH_PLATFORM, or the first of
 * all. */
#define CL_TARGET_OPENCL_VERSION 120
#include "backend.h"

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;

static void must(cl_int status, const char *what)
{
    if (status == CL_SUCCESS)
        return;
    fprintf(stderr, "%s: OpenCL error %d\n", what, status);
    exit(1);
}

void backend_open(void)
{
    cl_platform_id platforms[8], platform = NULL;
    cl_uint count;
    const char *wanted = getenv("BENCH_PLATFORM");
    must(clGetPlatformIDs(8, platforms, &count), "clGetPlatformIDs");
    for (cl_uint i = 0; i < count && i < 8 && !platform; i++) {
        char name[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (!wanted || strstr(name, wanted))
            platform = platforms[i];
    }
    if (!platform) {
        fprintf(stderr, "no OpenCL platform %s\n", wanted ? wanted : "");
        exit(1);
    }
    cl_int status;
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    must(status, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &status);
    must(status, "clCreateCommandQueue");
}

void *backend_kernel(const char *folder, const char *name)
{
    char path[4096], text[16384] = "";
    snprintf(path, sizeof path, "%s/opencl/%s.cl", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    const char *source = text;
    cl_int status;
    cl_program program = clCreateProgramWithSource(context, 1, &source, &size, &status);
    must(status, "clCreateProgramWithSource");
    must(clBuildProgram(program, 1, &device, "", NULL, NULL), path);
    cl_kernel kernel = clCreateKernel(program, name, &status);
    must(status, name);
    return kernel;
}

Buffer backend_allocate(size_t size)
{
    cl_int status;
    Buffer buffer = {.object = clCreateBuffer(context, CL_MEM_READ_WRITE, size, NULL, &status)};
    must(status, "clCreateBuffer");
    return buffer;
}

void backend_free(Buffer buffer)
{
    must(clReleaseMemObject(buffer.object), "clReleaseMemObject");
}

void backend_write(Buffer buffer, const void *from, size_t size)
{
  must(clEnqueueWriteBuffer(queue, buffer.object, CL_TRUE, 0, size, from, 0, NULL, NULL),
       "clEnqueueWriteBuffer");
}

void backend_read(void *to, Buffer buffer, size_t size)
{
  must(clEnqueueReadBuffer(queue, buffer.object, CL_TRUE, 0, size, to, 0, NULL, NULL),
       "clEnqueueReadBuffer");
}

void backend_run(void *kernel, size_t blocks, size_t blocks_y, size_t threads, size_t threads_y,
                 Argument *arguments, int count) {
  size_t global[2] = {blocks * threads, blocks_y * threads_y}, local[2] = {threads, threads_y};
  for (int i = 0; i < count; i++)
    must(clSetKernelArg(kernel, (cl_uint)i, arguments[i].size, arguments[i].value),
         "clSetKernelArg");
  must(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL),
       "clEnqueueNDRangeKernel");
  must(clFinish(queue), "clFinish");
}
