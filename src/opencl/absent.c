// Functions for features that the devices lack: pipes, objects of OpenGL and EGL. clGetDeviceInfo
// reports none of them, and these functions return the errors that the specification asks for.
#include "opencl/graphics.h"
#include "opencl/opencl.h"

static void *no_object(cl_context context, cl_int *error) {
  if (error) *error = ocl_is(context, OCL_CONTEXT) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT;
  return NULL;
}

cl_mem clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint packet, cl_uint packets,
                    const cl_pipe_properties *properties, cl_int *error) {
  return no_object(context, error);
}

cl_int clGetPipeInfo(cl_mem pipe, cl_pipe_info what, size_t room, void *value, size_t *needed) {
  return CL_INVALID_MEM_OBJECT;
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
