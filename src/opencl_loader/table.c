// The table that all calls go through: our platform's, or the installed loader's functions by name;
// layers stand in front of it. Made at the first call.
#define _GNU_SOURCE

#include "opencl_loader/loader.h"

#include "base/options.h"

#include <CL/cl_layer.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cl_icd_dispatch bottom;
static const cl_icd_dispatch *_Atomic table;

// Functions for a program that has neither platform nor installed loader.
static cl_int no_platform(void) { return CL_PLATFORM_NOT_FOUND_KHR; }
static void *no_result(void) { return NULL; }
#define UNPACK(...) __VA_ARGS__
#define CALL(...)
#define MAKES(name, result, parameters, ...) \
  static result CL_API_CALL no_##name(UNPACK parameters, cl_int *error_) { \
    if (error_) *error_ = CL_PLATFORM_NOT_FOUND_KHR; \
    return NULL; \
  }
#include "opencl_layer/calls.def"

static cl_int no_platforms(cl_uint room, cl_platform_id *out, cl_uint *n) {
  if (n) *n = 0;
  return CL_PLATFORM_NOT_FOUND_KHR;
}

static void fill_with_errors(cl_icd_dispatch *t) {
  void **slots = (void **)t;
  for (size_t i = 0; i < sizeof *t / sizeof *slots; i++) slots[i] = (void *)no_platform;
#define CALL(...)
#define MAKES(name, ...) t->name = no_##name;
#include "opencl_layer/calls.def"
  t->clGetPlatformIDs = no_platforms;
  t->clSVMAlloc = (void *)no_result;
  t->clGetExtensionFunctionAddress = (void *)no_result;
  t->clGetExtensionFunctionAddressForPlatform = (void *)no_result;
}

// A file of Warpgrind's libraries: this one is in lib/opencl, they are in lib.
static void *open_ours(const char *name) {
  Dl_info self;
  char path[PATH_MAX];
  if (!dladdr((void *)open_ours, &self) || !self.dli_fname) return NULL;
  const char *slash = strrchr(self.dli_fname, '/');
  int n = slash ? (int)(slash - self.dli_fname) : 0;
  snprintf(path, sizeof path, "%.*s/../%s", n, self.dli_fname, name);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) log_error("OpenCL: %s", dlerror());
  return library;
}

static void take_platform(cl_icd_dispatch *out) {
  void *library = open_ours("libwarpgrind_opencl.so");
  cl_int (*platforms)(cl_uint, cl_platform_id *,
                      cl_uint *) = library ? dlsym(library, "clIcdGetPlatformIDsKHR") : NULL;
  cl_platform_id p = NULL;
  if (platforms && platforms(1, &p, NULL) == CL_SUCCESS) *out = **(const cl_icd_dispatch **)p;
}

// An old loader lacks functions of later versions: those stay errors.
static void take_installed(cl_icd_dispatch *out) {
  void *library = loader_open_installed(), *f;
  if (!library) return;
#define TAKE(name) \
  if ((f = dlsym(library, #name))) out->name = f;
#define CALL(name, ...) TAKE(name)
#define MAKES(name, ...) TAKE(name)
#define FORWARD(result, name, ...) TAKE(name)
#include "opencl_layer/calls.def"
#include "opencl_loader/more_functions.def"
  TAKE(clSVMFree)
}

static const cl_icd_dispatch *add_layer(void *library, const cl_icd_dispatch *below) {
  pfn_clInitLayer init = library ? (pfn_clInitLayer)dlsym(library, "clInitLayer") : NULL;
  const cl_icd_dispatch *above;
  cl_uint n, entries = sizeof *below / sizeof(void *);
  if (!init || init(entries, below, &n, &above) || n < entries) return below;
  return above;
}

// Layers that the program's user names; the installed loader takes them if it knows layers.
static const cl_icd_dispatch *add_users_layers(const cl_icd_dispatch *t) {
  const char *list = getenv("OPENCL_LAYERS");
  while (list && *list) {
    size_t n = strcspn(list, ":");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s", (int)n, list);
    if (!strstr(path, "libwarpgrind_opencl_layer.so"))
      t = add_layer(dlopen(path, RTLD_NOW | RTLD_LOCAL), t);
    list += n + (list[n] == ':');
  }
  return t;
}

static void make_table(void) {
  Options o = {0};
  Error err = {0};
  bool known = options_from_environment(&o, &err);
  bool system = known && options_is(&o, OPT_OPENCL, "system");
  fill_with_errors(&bottom);
  if (system) take_installed(&bottom);
  else take_platform(&bottom);
  const cl_icd_dispatch *t = system ? &bottom : add_users_layers(&bottom);
  if (known && options_want_opencl_layer(&o))
    t = add_layer(open_ours("libwarpgrind_opencl_layer.so"), t);
  table = t;
}

const cl_icd_dispatch *loader_table(void) {
  const cl_icd_dispatch *t = table;
  if (t) return t;
  pthread_once(&once, make_table);
  return table;
}
