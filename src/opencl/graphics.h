// Functions for sharing objects with OpenGL and EGL: in the table of every platform, and errors in
// ours (absent.c).
#ifndef WG_OPENCL_GRAPHICS_H
#define WG_OPENCL_GRAPHICS_H

#include "opencl/opencl.h"

#include <CL/cl_egl.h>
#include <CL/cl_gl.h>

cl_mem ocl_no_gl_buffer(cl_context context, cl_mem_flags flags, cl_GLuint object, cl_int *error);
cl_mem ocl_no_gl_texture(cl_context context, cl_mem_flags flags, cl_GLenum target, cl_GLint level,
                         cl_GLuint texture, cl_int *error);
cl_mem ocl_no_egl_image(cl_context context, void *display, void *image, cl_mem_flags flags,
                        const cl_egl_image_properties_khr *properties, cl_int *error);
cl_event ocl_no_gl_event(cl_context context, cl_GLsync sync, cl_int *error);
cl_event ocl_no_egl_event(cl_context context, void *sync, void *display, cl_int *error);

#endif
