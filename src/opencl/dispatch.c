// The table through which the loader calls us, and the three functions it finds by name.
#include "opencl/graphics.h"
#include "opencl/opencl.h"

#include <CL/cl_icd.h>

#define EXPORT __attribute__((visibility("default")))

// Functions of extensions that we do not have: graphics sharing, sub-devices of 1.1.
static cl_int absent(void) { return CL_INVALID_OPERATION; }

static cl_icd_dispatch table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void) {
  void **slots = (void **)&table;
  for (size_t i = 0; i < sizeof table / sizeof *slots; i++) slots[i] = (void *)absent;
  table.clCreateFromGLBuffer = table.clCreateFromGLRenderbuffer = ocl_no_gl_buffer;
  table.clCreateFromGLTexture2D = table.clCreateFromGLTexture3D = ocl_no_gl_texture;
  table.clCreateFromGLTexture = ocl_no_gl_texture;
  table.clCreateFromEGLImageKHR = ocl_no_egl_image;
  table.clCreateEventFromGLsyncKHR = ocl_no_gl_event;
  table.clCreateEventFromEGLSyncKHR = ocl_no_egl_event;
#define API(name) table.name = name;
#include "opencl/api.def"
}

const void *ocl_dispatch(void) {
  pthread_once(&once, fill);
  return &table;
}

static cl_int platforms(cl_uint room, cl_platform_id *out, cl_uint *n) {
  if ((!out && !n) || (out && !room)) return CL_INVALID_VALUE;
  if (out) out[0] = ocl_platform();
  if (n) *n = 1;
  return CL_SUCCESS;
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *out,
                                                              cl_uint *n) {
  return platforms(room, out, n);
}

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *out, cl_uint *n) {
  return platforms(room, out, n);
}

static const struct {
  const char *name;
  void *function;
} functions[] = {
    {"clIcdGetPlatformIDsKHR", (void *)clIcdGetPlatformIDsKHR},
#define API(name) {#name, (void *)name},
#include "opencl/api.def"
};

static void *function_named(const char *name) {
  for (size_t i = 0; name && i < ARRAY_LEN(functions); i++)
    if (!strcmp(functions[i].name, name)) return functions[i].function;
  return NULL;
}

EXPORT void *clGetExtensionFunctionAddress(const char *name) { return function_named(name); }

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name) {
  return ocl_is(platform, OCL_PLATFORM) ? function_named(name) : NULL;
}
