// cuGetProcAddress: asks the real driver. If the result is a function that Warpgrind exports, the
// program gets Warpgrind's instead.
#include "gpu/gpu.h"

typedef struct Wrapper {
  size_t index;
  void *ours;
} Wrapper;
static const Wrapper wrappers[] = {
#define WRAP(name) {offsetof(GpuReal, name) / sizeof(void *), (void *)gpu_##name},
#include "gpu/wrappers.def"
};

// How a program asks for each function, in the order of GpuReal, and the exported entry that it is
// given: the same that dlsym finds. The entry leads to our wrapper or to the real function.
#include "cuda/exported.h"
typedef struct Entry {
  const char *base;
  int since;
  bool per_thread;
  const void *exported;
} Entry;
static const Entry entries[] = {
#define API(base, suffix, since, types) {#base, since, false, exported_##base##suffix},
#define SAME(base, suffix, since, target, params, args) \
  {#base, since, false, exported_##base##suffix},
#define PER_THREAD(base, suffix, kind, since, params, args) \
  {#base, since, true, exported_##base##suffix##kind},
#define NONE(base, suffix, kind, since) \
  {#base, since, sizeof(#kind) > 1, exported_##base##suffix##kind},
#include "cuda/api.def"
};
_Static_assert(sizeof(GpuReal) == ARRAY_LEN(entries) * sizeof(void *),
               "one pointer for each function");

// Open addressing, filled once and only read afterwards.
enum { SLOTS = 4096 };
static struct Slot { const void *real, *exported; } slots[SLOTS];
_Static_assert(ARRAY_LEN(entries) * 4 < SLOTS, "the table of functions is too full");

static struct Slot *slot_of(const void *real) {
  size_t i = ((uintptr_t)real >> 4) * 0x9e3779b97f4a7c15u >> 52;
  while (slots[i].real && slots[i].real != real) i = (i + 1) % SLOTS;
  return &slots[i];
}

// If two names of the real driver are one function (an older name kept for old programs), the first
// name is used: both have the same signature and meaning.
static void learn(const void *real, const void *exported) {
  struct Slot *s = slot_of(real);
  if (s->real) return;
  *s = (struct Slot){real, exported};
}

// cuGetProcAddress may return another function for a name than dlsym. An address that dlsym gave
// for no name at all, and that is the answer for exactly this name and version, is another way into
// the same function.
static void learn_answer(const Entry *e) {
  void *real = NULL;
  if (!gpu_real.cuGetProcAddress_v2) return;
  uint64_t flags = e->per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                 : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
  if (gpu_real.cuGetProcAddress_v2(e->base, &real, e->since, flags, NULL) == CUDA_SUCCESS && real)
    learn(real, e->exported);
}

// The table is written last and all at once: other threads call through it from then on.
void gpu_wrappers_install(void **table, bool wrap) {
  void **real = (void **)&gpu_real, *chosen[ARRAY_LEN(entries)];
  memcpy(chosen, real, sizeof chosen);
  for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
    if (real[wrappers[i].index])
      learn(real[wrappers[i].index], entries[wrappers[i].index].exported);
  for (size_t i = 0; i < ARRAY_LEN(entries); i++)
    if (real[i]) learn(real[i], entries[i].exported);
  for (size_t i = 0; wrap && i < ARRAY_LEN(wrappers); i++)
    if (real[wrappers[i].index]) {
      learn_answer(&entries[wrappers[i].index]);
      chosen[wrappers[i].index] = wrappers[i].ours;
    }
  for (size_t i = 0; i < ARRAY_LEN(entries); i++)
    if (chosen[i]) __atomic_store_n(&table[i], chosen[i], __ATOMIC_RELEASE);
}

// Functions of drivers newer than cuda/api.def that we wrap: they can only be found in this way.
static bool give_newer(const char *symbol, void **out) {
  if (strcmp(symbol, "cuGraphNodeGetParams") != 0) return false;
  gpu_real_cuGraphNodeGetParams = (CUresult(*)(CUgraphNode, CUgraphNodeParams *)) * out;
  *out = (void *)gpu_cuGraphNodeGetParams;
  return true;
}

static void give_ours(const char *symbol, void **out) {
  if (!*out || give_newer(symbol, out)) return;
  const void *exported = slot_of(*out)->exported;
  if (exported) *out = (void *)(uintptr_t)exported;
}

CUresult gpu_cuGetProcAddress_v2(const char *symbol, void **out, int version, uint64_t flags,
                                 CUdriverProcAddressQueryResult *status) {
  GPU_TRY(gpu_real.cuGetProcAddress_v2(symbol, out, version, flags, status));
  give_ours(symbol, out);
  return CUDA_SUCCESS;
}

CUresult gpu_cuGetProcAddress(const char *symbol, void **out, int version, uint64_t flags) {
  GPU_TRY(gpu_real.cuGetProcAddress(symbol, out, version, flags));
  give_ours(symbol, out);
  return CUDA_SUCCESS;
}
