// The functions of a library that are not implemented. FUNCTIONS is the library's table, STATUS its
// own "not supported". Included by one file of each library.
#include "cuda/library_call.h"
#include "libraries/common/call.h"

__attribute__((unused)) static int missing(const char *name) {
  warpgrind_library_services.unsupported(name, "it returns its library's \"not supported\"");
  return STATUS;
}
#define API(name)
#define NONE(name) \
  EXPORT int name(void) { return missing(#name); }
#include FUNCTIONS
