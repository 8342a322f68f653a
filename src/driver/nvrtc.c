// Programs that compile kernels while they run (NVRTC) may ask for machine code. The virtual device needs PTX: the real
// compiler is asked for the same architecture's PTX instead, and hands it out where the program asks for the cubin.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "driver/driver.h"

typedef void *NvrtcProgram;
enum { NVRTC_INTERNAL_ERROR = 11 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map redirected;                     // programs compiled to PTX although machine code was asked for

static bool is_redirected(NvrtcProgram p) {
  pthread_mutex_lock(&lock);
  bool yes = u64map_get(&redirected, (uintptr_t)p) != NULL;
  pthread_mutex_unlock(&lock);
  return yes;
}

// "sm_90a" in any of the option's spellings becomes "compute_90a"; NULL: not such an option.
static char *to_virtual(const char *option, bool is_value) {
  static const char *const spellings[] = {"--gpu-architecture=sm_", "-arch=sm_", "--gpu-architecture sm_"};
  Str s = {0};
  if (is_value && !strncmp(option, "sm_", 3)) {
    str_printf(&s, "compute_%s", option + 3);
    return s.data;
  }
  for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
    size_t n = strlen(spellings[i]);
    if (strncmp(option, spellings[i], n)) continue;
    str_printf(&s, "--gpu-architecture=compute_%s", option + n);
    return s.data;
  }
  return NULL;
}

static bool takes_value(const char *option) { return !strcmp(option, "-arch") || !strcmp(option, "--gpu-architecture"); }

CUDA_EXPORT int nvrtcCompileProgram(NvrtcProgram program, int n, const char *const *options) {
  int (*real)(NvrtcProgram, int, const char *const *) = (int (*)(NvrtcProgram, int, const char *const *))dlsym(RTLD_NEXT, "nvrtcCompileProgram");
  if (!real) return NVRTC_INTERNAL_ERROR;
  const char **ours = mem_alloc(sizeof *ours * (size_t)MAX(n, 1));
  VEC(char *) made = {0};
  for (int i = 0; i < n; i++) {
    char *changed = to_virtual(options[i], i && takes_value(options[i - 1]));
    ours[i] = changed ? changed : options[i];
    if (changed) vec_push(&made, changed);
  }
  if (made.len) {
    pthread_mutex_lock(&lock);
    u64map_put(&redirected, (uintptr_t)program, program);
    pthread_mutex_unlock(&lock);
  }
  int result = real(program, n, ours);
  for (uint32_t i = 0; i < made.len; i++) free(made.data[i]);
  vec_free(&made);
  free(ours);
  return result;
}

CUDA_EXPORT int nvrtcGetCUBINSize(NvrtcProgram program, size_t *size) {
  const char *name = is_redirected(program) ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize";
  int (*real)(NvrtcProgram, size_t *) = (int (*)(NvrtcProgram, size_t *))dlsym(RTLD_NEXT, name);
  return real ? real(program, size) : NVRTC_INTERNAL_ERROR;
}

CUDA_EXPORT int nvrtcGetCUBIN(NvrtcProgram program, char *out) {
  const char *name = is_redirected(program) ? "nvrtcGetPTX" : "nvrtcGetCUBIN";
  int (*real)(NvrtcProgram, char *) = (int (*)(NvrtcProgram, char *))dlsym(RTLD_NEXT, name);
  return real ? real(program, out) : NVRTC_INTERNAL_ERROR;
}

CUDA_EXPORT int nvrtcDestroyProgram(NvrtcProgram *program) {
  int (*real)(NvrtcProgram *) = (int (*)(NvrtcProgram *))dlsym(RTLD_NEXT, "nvrtcDestroyProgram");
  if (!real) return NVRTC_INTERNAL_ERROR;
  if (program) {
    pthread_mutex_lock(&lock);
    u64map_remove(&redirected, (uintptr_t)*program);
    pthread_mutex_unlock(&lock);
  }
  return real(program);
}
