// Writes that do not block: argument 1 says what happens to their host memory.
//   early     it is changed while a user event still holds the write back
//   unmapped  it is unmapped then
//   finish    it is changed after clFinish
//   wait      after clWaitForEvents
//   blocking  after a blocking read of the same queue
//   callback  in the callback of the write's event
//   part      behind the part that is written
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };
static char *host;
static volatile int called;

static void CL_CALLBACK change(cl_event e, cl_int status, void *user) {
  memset(host, 9, BYTES);
  called = 1;
}

static int is(const char *what, const char *name) { return strcmp(what, name) == 0; }

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  cl_platform_id platform;
  cl_device_id device;
  cl_int error = 0;
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
  cl_event gate = clCreateUserEvent(context, &error), written;
  host = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(host, 1, BYTES);
  size_t size = is(what, "part") ? BYTES / 2 : BYTES;
  if (is(what, "callback")) {  // nothing is watched from here on
    clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, size, host, 0, NULL, &written);
    clSetEventCallback(written, CL_COMPLETE, change, NULL);
    clFinish(queue);
    while (!called) usleep(1000);
  } else {
    error = clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, size, host, 1, &gate, &written);
  }
  if (is(what, "early")) memset(host, 2, BYTES);
  if (is(what, "part")) memset(host + size, 2, BYTES - size);
  clSetUserEventStatus(gate, CL_COMPLETE);
  if (is(what, "unmapped")) {
    clFinish(queue);
    clReleaseEvent(gate);
    gate = clCreateUserEvent(context, &error);
    clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, size, host, 0, NULL, NULL);
    munmap(host, BYTES);
  }
  if (is(what, "wait")) clWaitForEvents(1, &written);
  char one;
  if (is(what, "blocking"))
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, &one, 0, NULL, NULL);
  if (is(what, "finish")) clFinish(queue);
  if (is(what, "wait") || is(what, "blocking") || is(what, "finish")) memset(host, 3, BYTES);
  clFinish(queue);
  clReleaseEvent(written);
  clReleaseEvent(gate);
  clReleaseMemObject(buffer);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  printf("%s: %d\n", what, error);
  return error != 0;
}
