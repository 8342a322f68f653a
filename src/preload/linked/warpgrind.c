// libwarpgrind.so: a program that is linked with -lwarpgrind needs no command in front of it. Puts
// Warpgrind's libcuda.so.1, which lies beside this library, in place before the CUDA runtime looks
// for a driver: the runtime opens one by that name, and gets the one that is loaded already. For
// programs that call the driver themselves it exports the driver's functions, too: it must be named
// before -lcuda.
#define _GNU_SOURCE

#include "base/base.h"
#include "gpu/find.h"
#include "preload/preload.h"

#include <dlfcn.h>

extern const char preload_stubs[] __attribute__((visibility("hidden")));

__attribute__((visibility("hidden"))) void *preload_table[] = {
#define API(base, suffix, since, types) NULL,
#define SAME(base, suffix, since, target, params, args) NULL,
#define PER_THREAD(base, suffix, kind, since, params, args) NULL,
#define NONE(base, suffix, kind, since) NULL,
#include "cuda/api.def"
};
static const char *const names[] = {
#define API(base, suffix, since, types) #base #suffix,
#define SAME(base, suffix, since, target, params, args) #base #suffix,
#define PER_THREAD(base, suffix, kind, since, params, args) #base #suffix #kind,
#define NONE(base, suffix, kind, since) #base #suffix #kind,
#include "cuda/api.def"
};

static void *library;

static int no_driver(void) { return 100; }  // CUDA_ERROR_NO_DEVICE

__attribute__((visibility("hidden"))) void *preload_bind(unsigned index) {
  void *found = library ? dlsym(library, names[index]) : NULL;
  if (found) preload_table[index] = found;
  return found ? found : (void *)no_driver;
}

// The defaults for a program in production: no tool, and a GPU if there is a driver for one.
static void set_defaults(void) {
  Str path = {0};
  setenv("WARPGRIND_TOOL", "none", 0);
  if (getenv("WARPGRIND_DEVICE")) return;
  Error err = {{0}};
  bool gpu = gpu_find_driver(&path, &err);
  setenv("WARPGRIND_DEVICE", gpu ? "gpu" : "cpu", 0);
  if (gpu) setenv(GPU_DRIVER_VARIABLE, path.data, 0);
  str_free(&path);
}

static void *open_beside(void) {
  Dl_info self;
  char path[4096];
  if (!dladdr((void *)preload_bind, &self)) return NULL;
  const char *slash = strrchr(self.dli_fname, '/');
  int folder = slash ? (int)(slash - self.dli_fname) : 1;
  snprintf(path, sizeof path, "%.*s/libcuda.so.1", folder, slash ? self.dli_fname : ".");
  return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

__attribute__((constructor(101))) static void start(void) {
  for (unsigned i = 0; i < ARRAY_LEN(preload_table); i++)
    preload_table[i] = (void *)(preload_stubs + (size_t)i * PRELOAD_STUB_BYTES);
  // `warpgrind` in front of the program has loaded it already
  if (dlsym(RTLD_DEFAULT, "wg_interrupt_register")) {
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return;
  }
  set_defaults();
  library = open_beside();
  if (!library) fprintf(stderr, "libwarpgrind.so: %s\n", dlerror());
}
