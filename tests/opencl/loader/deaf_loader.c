// A libOpenCL.so.1 that knows neither OCL_ICD_VENDORS nor layers, as NVIDIA's: it shows seven
// platforms of its own, and has no other functions than these.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *out, cl_uint *n) {
  if (n) *n = 7;
  return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t room, void *value,
                         size_t *needed) {
  return CL_INVALID_PLATFORM;
}
