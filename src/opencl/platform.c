// The one platform.
#include "opencl/opencl.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cl_platform_id the_platform;

static void make(void) { the_platform = ocl_object_new(OCL_PLATFORM, sizeof *the_platform); }

cl_platform_id ocl_platform(void) {
  pthread_once(&once, make);
  return the_platform;
}

__attribute__((visibility("default"))) cl_int clGetPlatformInfo(cl_platform_id platform,
                                                                cl_platform_info what, size_t room,
                                                                void *value, size_t *needed) {
  OclAnswer to = {room, value, needed};
  if (platform && !ocl_is(platform, OCL_PLATFORM)) return CL_INVALID_PLATFORM;
  switch (what) {
    case CL_PLATFORM_PROFILE: return ocl_answer_text(to, "FULL_PROFILE");
    case CL_PLATFORM_VERSION: return ocl_answer_text(to, "OpenCL 3.0 Warpgrind");
    case CL_PLATFORM_NUMERIC_VERSION: return OCL_ANSWER(to, cl_version, CL_MAKE_VERSION(3, 0, 0));
    case CL_PLATFORM_NAME: return ocl_answer_text(to, "Warpgrind");
    case CL_PLATFORM_VENDOR: return ocl_answer_text(to, "Warpgrind");
    case CL_PLATFORM_EXTENSIONS: return ocl_answer_text(to, "cl_khr_icd");
    case CL_PLATFORM_EXTENSIONS_WITH_VERSION: {
      cl_name_version v = {CL_MAKE_VERSION(1, 0, 0), "cl_khr_icd"};
      return ocl_answer(to, &v, sizeof v);
    }
    case CL_PLATFORM_ICD_SUFFIX_KHR: return ocl_answer_text(to, "WARPGRIND");
    case CL_PLATFORM_HOST_TIMER_RESOLUTION: return OCL_ANSWER(to, cl_ulong, 1);
  }
  return CL_INVALID_VALUE;
}

cl_int clUnloadPlatformCompiler(cl_platform_id platform) {
  return ocl_is(platform, OCL_PLATFORM) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

cl_int clUnloadCompiler(void) { return CL_SUCCESS; }
