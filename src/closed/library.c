// Finds and opens NVIDIA's libsanitizer-public.so.
#define _GNU_SOURCE

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "closed/closed.h"
#include "closed/sanitizer.h"

static SanitizerApi api;
static const char *why = "closed_start was not called", *cure;

static const char NAME[] = "libsanitizer-public.so";
static const char INSTALL[] =
    "install NVIDIA's compute-sanitizer (part of the CUDA toolkit), or name its "
    "libsanitizer-public.so with --closed-library";

const SanitizerApi *sanitizer_api(void) { return why ? NULL : &api; }

const char *closed_refusal(const char **out) {
  if (out) *out = cure;
  return why;
}

static void *open_in(const char *folder, const char *below) {
  Str path = {0};
  str_printf(&path, "%s/%s%s", folder, below, NAME);
  void *lib = access(path.data, R_OK) == 0 ? dlopen(path.data, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (lib) log_verbose("machine code is patched by %s", path.data);
  str_free(&path);
  return lib;
}

// The folders of a program on PATH: toolkits have the library beside their bin/.
static void *open_beside(const char *program) {
  const char *list = getenv("PATH");
  void *lib = NULL;
  for (const char *p = list; p && *p && !lib;) {
    size_t n = strcspn(p, ":");
    Str file = {0};
    str_printf(&file, "%.*s/%s", (int)n, p, program);
    char *real = access(file.data, X_OK) == 0 ? realpath(file.data, NULL) : NULL;
    char *slash = real ? strrchr(real, '/') : NULL;
    if (slash) {
      *slash = 0;
      lib = open_in(real, "");
      if (!lib) lib = open_in(real, "../compute-sanitizer/");
    }
    free(real);
    str_free(&file);
    p += n + (p[n] == ':');
  }
  return lib;
}

// Toolkits that are not on PATH; of several the last one.
static void *open_known(void) {
  static const char *const patterns[] = {
      "/usr/local/*/compute-sanitizer", "/opt/*/compute-sanitizer",
      "/opt/*/extras/compute-sanitizer", "/usr/lib/*/compute-sanitizer"};
  void *lib = NULL;
  for (size_t i = 0; i < ARRAY_LEN(patterns) && !lib; i++) {
    glob_t found = {0};
    if (glob(patterns[i], 0, NULL, &found) == 0)
      for (size_t k = found.gl_pathc; k-- > 0 && !lib;) lib = open_in(found.gl_pathv[k], "");
    globfree(&found);
  }
  return lib;
}

static void *open_library(const char *file) {
  if (file) return dlopen(file, RTLD_NOW | RTLD_LOCAL);
  static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"};
  void *lib = NULL;
  for (size_t i = 0; i < ARRAY_LEN(homes) && !lib; i++)
    if (getenv(homes[i])) lib = open_in(getenv(homes[i]), "compute-sanitizer/");
  if (!lib) lib = dlopen(NAME, RTLD_NOW | RTLD_LOCAL);  // the loader's own folders
  if (!lib) lib = open_beside("compute-sanitizer");
  if (!lib) lib = open_beside("nvcc");
  return lib ? lib : open_known();
}

// Subscribes to no event: the API needs a subscriber before it patches.
static void ignore(void *user, int domain, uint32_t id, const void *data) {}

static const char *open_api(const char *file) {
  void *lib = open_library(file), *subscriber = NULL;
  if (!lib) {
    cure = INSTALL;
    return file ? "the library that --closed-library names cannot be loaded"
                : "NVIDIA's Sanitizer API, which could check its machine code, is not installed";
  }
#define FUNCTION(name, parameters) \
  if (!(*(void **)&api.name = dlsym(lib, #name))) return "NVIDIA's Sanitizer API has no " #name;
  SANITIZER_FUNCTIONS
#undef FUNCTION
  if (api.sanitizerSubscribe(&subscriber, ignore, NULL) == 0) return NULL;
  cure = "run the program without compute-sanitizer, profilers and debuggers";
  return "NVIDIA's Sanitizer API is in use by another tool in this process";
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *named;
static void start(void) { why = open_api(named); }

void closed_start(const char *file) {
  named = file;
  pthread_once(&once, start);
}
