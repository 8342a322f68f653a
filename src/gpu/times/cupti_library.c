// Finds and opens CUPTI, once.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glob.h>

#include "gpu/times/times.h"

static void *library;

static void *open_known(void) {
  static const char *const patterns[] = {"/usr/local/*/lib64/libcupti.so",
                                         "/usr/local/*/extras/CUPTI/lib64/libcupti.so",
                                         "/opt/*/lib64/libcupti.so"};
  void *found = NULL;
  for (size_t i = 0; i < ARRAY_LEN(patterns) && !found; i++) {
    glob_t paths = {0};
    if (glob(patterns[i], 0, NULL, &paths) == 0)
      for (size_t k = paths.gl_pathc; k-- > 0 && !found;)
        found = dlopen(paths.gl_pathv[k], RTLD_NOW | RTLD_LOCAL);
    globfree(&paths);
  }
  return found;
}

static void open_once(void) {
  static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++)  // a program that has it open may use it
    if (dlopen(names[i], RTLD_NOW | RTLD_NOLOAD)) return;
  for (size_t i = 0; i < ARRAY_LEN(names) && !library; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!library) library = open_known();
}

void *gpu_cupti_library(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_once);
  return library;
}
