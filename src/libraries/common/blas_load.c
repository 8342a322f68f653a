// Opens libwarpgrind-blas.so, which lies beside the library that this file is part of.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cuda/library_call.h"
#include "libraries/blas/blas.h"

static const BlasTable *table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  char path[4096];
  Dl_info me;
  if (!dladdr((void *)load, &me) || !me.dli_fname) return;
  const char *slash = strrchr(me.dli_fname, '/');
  int folder = slash ? (int)(slash + 1 - me.dli_fname) : 0;
  snprintf(path, sizeof path, "%.*slibwarpgrind-blas.so", folder, me.dli_fname);
  void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (file) table = dlsym(file, "warpgrind_blas");
  else
    warpgrind_library_services.unsupported(
        "linear algebra", "libwarpgrind-blas.so is not there; make builds it where OpenBLAS is "
                          "installed (Debian: libopenblas-serial-dev)");
}

const BlasTable *blas(void) {
  pthread_once(&once, load);
  return table;
}
