// cuGetProcAddress: the newest version of a function that the caller's CUDA version has, from
// api.def.
#include "driver/driver.h"

// Programs get the exported entry, the same address that dlsym finds.
#include "cuda/exported.h"

typedef struct Entry {
  const char *base, *name;
  int since;
  bool per_thread;
  const void *address;
} Entry;
static const Entry entries[] = {
#define ENTRY(base, name, since, per_thread) {#base, #name, since, per_thread, exported_##name},
#define API(base, suffix, since, types) ENTRY(base, base##suffix, since, false)
#define SAME(base, suffix, since, target, params, args) ENTRY(base, base##suffix, since, false)
#define PER_THREAD(base, suffix, kind, since, params, args) \
  ENTRY(base, base##suffix##kind, since, true)
#define NONE(base, suffix, kind, since) ENTRY(base, base##suffix##kind, since, sizeof(#kind) > 1)
#include "cuda/api.def"
};

static StrMap by_base;                   // base name -> index of its first entry + 1
static int next_of[ARRAY_LEN(entries)];  // chain of entries with the same base name; -1 ends it
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void build_index(void) {
  for (size_t i = ARRAY_LEN(entries); i-- > 0;) {
    next_of[i] = (int)(intptr_t)strmap_get(&by_base, entries[i].base) - 1;
    strmap_put(&by_base, entries[i].base, (void *)(intptr_t)(i + 1));
  }
}

static const Entry *newest(const char *base, int version, bool per_thread, bool *any) {
  const Entry *best = NULL;
  for (int i = (int)(intptr_t)strmap_get(&by_base, base) - 1; i >= 0; i = next_of[i]) {
    const Entry *e = &entries[i];
    if (e->per_thread != per_thread) continue;
    *any = true;
    if (e->since <= version && (!best || e->since >= best->since)) best = e;
  }
  return best;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **out, int version, uint64_t flags,
                             CUdriverProcAddressQueryResult *status) {
  if (!symbol || !out || flags > 2) return CUDA_ERROR_INVALID_VALUE;
  pthread_once(&once, build_index);
  bool any = false;
  const Entry *e = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                       ? newest(symbol, version, true, &any)
                       : NULL;
  if (!e) e = newest(symbol, version, false, &any);
  *out = e ? (void *)(uintptr_t)e->address : NULL;
  if (status)
    *status = e     ? CU_GET_PROC_ADDRESS_SUCCESS
              : any ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **out, int version, uint64_t flags) {
  TRY(cuGetProcAddress_v2(symbol, out, version, flags, NULL));
  return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
