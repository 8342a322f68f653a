// What the devices do not have: images, pipes, objects of OpenGL and EGL. clGetDeviceInfo says so,
// and these functions return what the specification gives for such devices.
#include "opencl/graphics.h"
#include "opencl/opencl.h"

static void *no_object(cl_context context, cl_int *error) {
  if (error) *error = ocl_is(context, OCL_CONTEXT) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT;
  return NULL;
}

static cl_int no_command(cl_command_queue q) {
  return ocl_is(q, OCL_QUEUE) ? CL_INVALID_MEM_OBJECT : CL_INVALID_COMMAND_QUEUE;
}

cl_mem clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint packet, cl_uint packets,
                    const cl_pipe_properties *properties, cl_int *error) {
  return no_object(context, error);
}

cl_int clGetPipeInfo(cl_mem pipe, cl_pipe_info what, size_t room, void *value, size_t *needed) {
  return CL_INVALID_MEM_OBJECT;
}

cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                     const cl_image_desc *desc, void *host, cl_int *error) {
  return no_object(context, error);
}

cl_mem clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties,
                                   cl_mem_flags flags, const cl_image_format *format,
                                   const cl_image_desc *desc, void *host, cl_int *error) {
  return no_object(context, error);
}

cl_mem clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                       size_t width, size_t height, size_t row, void *host, cl_int *error) {
  return no_object(context, error);
}

cl_mem clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                       size_t width, size_t height, size_t depth, size_t row, size_t slice,
                       void *host, cl_int *error) {
  return no_object(context, error);
}

cl_int clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type,
                                  cl_uint room, cl_image_format *out, cl_uint *n) {
  if (!ocl_is(context, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
  if (n) *n = 0;
  return CL_SUCCESS;
}

cl_int clGetImageInfo(cl_mem image, cl_image_info what, size_t room, void *value, size_t *needed) {
  return CL_INVALID_MEM_OBJECT;
}

cl_int clEnqueueReadImage(cl_command_queue q, cl_mem image, cl_bool blocking, const size_t *origin,
                          const size_t *region, size_t row, size_t slice, void *host, cl_uint n,
                          const cl_event *list, cl_event *event) {
  return no_command(q);
}

cl_int clEnqueueWriteImage(cl_command_queue q, cl_mem image, cl_bool blocking, const size_t *origin,
                           const size_t *region, size_t row, size_t slice, const void *host,
                           cl_uint n, const cl_event *list, cl_event *event) {
  return no_command(q);
}

cl_int clEnqueueFillImage(cl_command_queue q, cl_mem image, const void *color, const size_t *origin,
                          const size_t *region, cl_uint n, const cl_event *list, cl_event *event) {
  return no_command(q);
}

cl_int clEnqueueCopyImage(cl_command_queue q, cl_mem from, cl_mem to, const size_t *from_origin,
                          const size_t *to_origin, const size_t *region, cl_uint n,
                          const cl_event *list, cl_event *event) {
  return no_command(q);
}

cl_int clEnqueueCopyImageToBuffer(cl_command_queue q, cl_mem from, cl_mem to, const size_t *origin,
                                  const size_t *region, size_t offset, cl_uint n,
                                  const cl_event *list, cl_event *event) {
  return no_command(q);
}

cl_int clEnqueueCopyBufferToImage(cl_command_queue q, cl_mem from, cl_mem to, size_t offset,
                                  const size_t *origin, const size_t *region, cl_uint n,
                                  const cl_event *list, cl_event *event) {
  return no_command(q);
}

void *clEnqueueMapImage(cl_command_queue q, cl_mem image, cl_bool blocking, cl_map_flags flags,
                        const size_t *origin, const size_t *region, size_t *row, size_t *slice,
                        cl_uint n, const cl_event *list, cl_event *event, cl_int *error) {
  if (error) *error = no_command(q);
  return NULL;
}

cl_mem ocl_no_gl_buffer(cl_context context, cl_mem_flags flags, cl_GLuint object, cl_int *error) {
  return no_object(context, error);
}

cl_mem ocl_no_gl_texture(cl_context context, cl_mem_flags flags, cl_GLenum target, cl_GLint level,
                         cl_GLuint texture, cl_int *error) {
  return no_object(context, error);
}

cl_mem ocl_no_egl_image(cl_context context, void *display, void *image, cl_mem_flags flags,
                        const cl_egl_image_properties_khr *properties, cl_int *error) {
  return no_object(context, error);
}

cl_event ocl_no_gl_event(cl_context context, cl_GLsync sync, cl_int *error) {
  return no_object(context, error);
}

cl_event ocl_no_egl_event(cl_context context, void *sync, void *display, cl_int *error) {
  return no_object(context, error);
}
