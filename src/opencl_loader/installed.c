// Finds the installed libOpenCL.so.1. Its name leads to this library, so that it is opened by its
// path or under the name of the file that the name links to.
#define _GNU_SOURCE

#include "opencl_loader/loader.h"

#include <dlfcn.h>
#include <limits.h>

static const char *const places[] = {
    "libOpenCL.so.1.0.0",
    "libOpenCL.so.1.0",
    "/usr/lib/x86_64-linux-gnu/libOpenCL.so.1",
    "/usr/lib/aarch64-linux-gnu/libOpenCL.so.1",
    "/usr/lib64/libOpenCL.so.1",
    "/usr/lib/libOpenCL.so.1",
    "/usr/local/lib/libOpenCL.so.1",
};

// DEEPBIND: calls inside of it must not come back to us.
static void *open_at(const char *path) {
  return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
}

void *loader_open_installed(void) {
  void *found = NULL;
  // the program's LD_LIBRARY_PATH without our folders
  for (const char *p = getenv("WARPGRIND_SAVED_LD_LIBRARY_PATH"); p && *p && !found;) {
    size_t n = strcspn(p, ":");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s/libOpenCL.so.1", (int)n, p);
    if (n) found = open_at(path);
    p += n + (p[n] == ':');
  }
  for (size_t i = 0; i < ARRAY_LEN(places) && !found; i++) found = open_at(places[i]);
  return found;
}
