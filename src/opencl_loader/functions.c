// The exported functions: each calls its function in the table. A tail call, so that return
// addresses are the program's.
#include "opencl_loader/loader.h"

#define EXPORT __attribute__((visibility("default"))) CL_API_ENTRY

#define UNPACK(...) __VA_ARGS__
#define CALL(name, parameters, arguments, ...) \
  EXPORT cl_int CL_API_CALL name parameters { return loader_table()->name arguments; }
#define MAKES(name, result, parameters, arguments, ...) \
  EXPORT result CL_API_CALL name(UNPACK parameters, cl_int *error_) { \
    return loader_table()->name(UNPACK arguments, error_); \
  }
#include "opencl_layer/calls.def"

#define FORWARD(result, name, parameters, arguments) \
  EXPORT result CL_API_CALL name parameters { return loader_table()->name arguments; }
#include "opencl_loader/more_functions.def"

EXPORT void CL_API_CALL clSVMFree(cl_context context, void *memory) {
  loader_table()->clSVMFree(context, memory);
}
