// Programs that compile kernels while they run (NVRTC) may ask for machine code. The virtual device
// needs PTX: we ask the real compiler for the same architecture's PTX instead, and hand it out
// where the program asks for the cubin. On a GPU, we pass all calls on unchanged.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>

#include "driver/driver.h"

typedef void *NvrtcProgram;
enum { NVRTC_INTERNAL_ERROR = 11 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map redirected;  // programs compiled to PTX although machine code was asked for

static bool on_gpu(void) {
  const char *device = getenv("WARPGRIND_DEVICE");
  return device && !strcmp(device, "gpu");
}

// The compiler's own function. dlsym does not find it if a library was opened RTLD_LOCAL together
// with its libnvrtc, as PyTorch does. Then we search the libnvrtc that the caller is linked with.
static void *real_function(const char *name, const void *caller) {
  void *found = dlsym(RTLD_NEXT, name);
  Dl_info info;
  struct link_map *map;
  if (found || !dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map->l_ld) return found;
  const char *strings = NULL;
  for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
    if (d->d_tag == DT_STRTAB) strings = (const char *)d->d_un.d_ptr;
  for (const ElfW(Dyn) *d = map->l_ld; strings && !found && d->d_tag != DT_NULL; d++) {
    if (d->d_tag != DT_NEEDED || !strstr(strings + d->d_un.d_val, "libnvrtc.so")) continue;
    void *library = dlopen(strings + d->d_un.d_val, RTLD_LAZY | RTLD_NOLOAD);
    if (!library) continue;
    found = dlsym(library, name);
    dlclose(library);  // the caller keeps it
  }
  return found;
}
#define REAL(type, name) (type) real_function(name, __builtin_return_address(0))

static bool is_redirected(NvrtcProgram p) {
  pthread_mutex_lock(&lock);
  bool yes = u64map_get(&redirected, (uintptr_t)p) != NULL;
  pthread_mutex_unlock(&lock);
  return yes;
}

// "sm_90a" in any of the option's spellings becomes "compute_90a"; NULL: not such an option.
static char *to_virtual(const char *option, bool is_value) {
  static const char *const spellings[] = {"--gpu-architecture=sm_", "-arch=sm_",
                                          "--gpu-architecture sm_"};
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

static bool takes_value(const char *option) {
  return !strcmp(option, "-arch") || !strcmp(option, "--gpu-architecture");
}

CUDA_EXPORT int nvrtcCompileProgram(NvrtcProgram program, int n, const char *const *options) {
  int (*real)(NvrtcProgram, int, const char *const *) = REAL(
      int (*)(NvrtcProgram, int, const char *const *), "nvrtcCompileProgram");
  if (!real) return NVRTC_INTERNAL_ERROR;
  if (on_gpu()) return real(program, n, options);
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
  int (*real)(NvrtcProgram, size_t *) = REAL(int (*)(NvrtcProgram, size_t *), name);
  return real ? real(program, size) : NVRTC_INTERNAL_ERROR;
}

CUDA_EXPORT int nvrtcGetCUBIN(NvrtcProgram program, char *out) {
  const char *name = is_redirected(program) ? "nvrtcGetPTX" : "nvrtcGetCUBIN";
  int (*real)(NvrtcProgram, char *) = REAL(int (*)(NvrtcProgram, char *), name);
  return real ? real(program, out) : NVRTC_INTERNAL_ERROR;
}

CUDA_EXPORT int nvrtcDestroyProgram(NvrtcProgram *program) {
  int (*real)(NvrtcProgram *) = REAL(int (*)(NvrtcProgram *), "nvrtcDestroyProgram");
  if (!real) return NVRTC_INTERNAL_ERROR;
  if (program) {
    pthread_mutex_lock(&lock);
    u64map_remove(&redirected, (uintptr_t)*program);
    pthread_mutex_unlock(&lock);
  }
  return real(program);
}
