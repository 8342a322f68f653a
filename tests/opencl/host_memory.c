// Writes that do not block: argument 1 says what is written, 2 what happens to the host memory.
//   buffer, rectangle, image: the last two are the left half of each row of the host memory
//   early     it is changed while a user event still holds the write back
//   unmapped  it is unmapped then
//   beside    other bytes are changed then: behind the buffer, or the right halves of rows
//   finish    it is changed after clFinish
//   wait      after clWaitForEvents
//   blocking  after a blocking read of the same queue
//   callback  in the callback of the write's event
//   in_place  a later command reads the results into it
//   staged    an earlier command, which is not complete either, has read the data into it
//   shared    it belongs to a buffer with CL_MEM_USE_HOST_PTR
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WIDTH = 1024, ROWS = 1024, BYTES = WIDTH * ROWS };
static char *host;
static volatile int called;
static cl_command_queue queue;
static cl_mem buffer, image;
static const char *form, *what;

static void CL_CALLBACK change(cl_event e, cl_int status, void *user) {
  memset(host, 9, BYTES);
  called = 1;
}

static int is(const char *name) { return strcmp(what, name) == 0; }

static cl_int write_it(const cl_event *gate, cl_event *written) {
  size_t zero[3] = {0}, rectangle[3] = {WIDTH / 2, ROWS, 1}, pixels[3] = {WIDTH / 8, ROWS, 1};
  if (form[0] == 'r')
    return clEnqueueWriteBufferRect(queue, buffer, CL_FALSE, zero, zero, rectangle, WIDTH, 0, WIDTH,
                                    0, host, gate != NULL, gate, written);
  if (form[0] == 'i')
    return clEnqueueWriteImage(queue, image, CL_FALSE, zero, pixels, WIDTH, 0, host, gate != NULL,
                               gate, written);
  size_t size = is("beside") ? BYTES / 2 : BYTES;
  return clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, size, host, gate != NULL, gate, written);
}

static void change_beside(void) {
  if (form[0] == 'b') memset(host + BYTES / 2, 2, BYTES / 2);
  else
    for (size_t y = 0; y < ROWS; y++) memset(host + y * WIDTH + WIDTH / 2, 2, WIDTH / 2);
}

int main(int argc, char **argv) {
  form = argc > 2 ? argv[1] : "";
  what = argc > 2 ? argv[2] : "";
  cl_platform_id platform;
  cl_device_id device;
  cl_int error = 0;
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  queue = clCreateCommandQueue(context, device, 0, &error);
  buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
  cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc desc = {CL_MEM_OBJECT_IMAGE2D, WIDTH / 8, ROWS};
  image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
  cl_event gate = clCreateUserEvent(context, &error), written = NULL;
  host = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(host, 1, BYTES);
  cl_mem other = clCreateBuffer(context, is("shared") ? CL_MEM_USE_HOST_PTR : 0, BYTES,
                                is("shared") ? host : NULL, &error);
  if (is("staged")) {
    char nine = 9;
    clEnqueueFillBuffer(queue, other, &nine, 1, 0, BYTES, 1, &gate, NULL);
    clEnqueueReadBuffer(queue, other, CL_FALSE, 0, BYTES, host, 0, NULL, NULL);
  }
  if (is("callback")) {  // nothing is watched from here on
    write_it(NULL, &written);
    clSetEventCallback(written, CL_COMPLETE, change, NULL);
    clFinish(queue);
    while (!called) usleep(1000);
  } else {
    error = write_it(&gate, &written);
  }
  if (is("early") || is("shared")) memset(host, 2, BYTES);
  if (is("beside")) change_beside();
  if (is("in_place")) {
    char nine = 9;
    clEnqueueFillBuffer(queue, buffer, &nine, 1, 0, BYTES, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, BYTES, host, 0, NULL, NULL);
  }
  clSetUserEventStatus(gate, CL_COMPLETE);
  if (is("unmapped")) {
    clFinish(queue);
    clReleaseEvent(gate);
    gate = clCreateUserEvent(context, &error);
    write_it(NULL, NULL);
    munmap(host, BYTES);
  }
  if (is("wait")) clWaitForEvents(1, &written);
  char one;
  if (is("blocking"))
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, &one, 0, NULL, NULL);
  if (is("finish")) clFinish(queue);
  if (is("wait") || is("blocking") || is("finish")) memset(host, 3, BYTES);
  clFinish(queue);
  clReleaseEvent(written);
  clReleaseEvent(gate);
  clReleaseMemObject(buffer);
  clReleaseMemObject(other);
  clReleaseMemObject(image);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  printf("%s %s: %d\n", form, what, error);
  return error != 0;
}
