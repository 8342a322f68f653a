// What the OpenCL platform (src/opencl) calls around its calls of the driver: reports of kernels
// that it loads speak of work-items. A library of its own: it finds this function by its name.
#include "session/session.h"

__attribute__((visibility("default"))) void wg_opencl_call(int begins) {
  session_thread_api(begins ? API_OPENCL : API_CUDA);
}
