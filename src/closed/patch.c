// Puts patches into modules of machine code.
#include "closed/closed.h"

#include <pthread.h>

#include "closed/sanitizer.h"

// Made by the build: patches.c compiled for each architecture; sm 0 ends the list.
extern const struct ClosedCode {
  uint64_t sm;
  const char *image;
} closed_code[];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map contexts, modules;  // CUcontext, CUmodule -> Result

typedef struct Result {  // the result of loading the patches, or of patching
  bool ok;
  char *reason;
} Result;

// Machine code runs on later architectures of the same generation.
static const char *code_for(unsigned sm) {
  const struct ClosedCode *best = NULL;
  for (const struct ClosedCode *c = closed_code; c->sm; c++)
    if (c->sm / 10 == sm / 10 && c->sm <= sm && (!best || c->sm > best->sm)) best = c;
  return best ? best->image : NULL;
}

static Result *load(CUcontext context, unsigned sm) {
  const char *image = code_for(sm);
  Result *r = mem_alloc(sizeof *r);
  int error = image ? sanitizer_api()->sanitizerAddPatches(image, context) : 0;
  r->ok = image && !error;
  Str why = {0};
  if (!closed_code[0].sm) str_add(&why, "Warpgrind was built without ptxas");
  else if (!image) str_printf(&why, "Warpgrind has no patches for machine code of sm_%u", sm);
  else if (error) str_printf(&why, "the driver does not take patches (error %d)", error);
  r->reason = why.data;
  return r;
}

static Result *patch(CUmodule m) {
  Result *r = mem_alloc(sizeof *r);
  const SanitizerApi *api = sanitizer_api();
  int error = 0;
#define INSTRUCTION(id, function, needed) \
  { \
    int e = api->sanitizerPatchInstructions(id, m, #function); \
    if (e && needed) error = e; \
  }
#include "closed/instructions.def"
  if (!error) error = api->sanitizerPatchModule(m);
  r->ok = !error;
  Str why = {0};
  if (error) str_printf(&why, "its machine code cannot be patched (error %d)", error);
  r->reason = why.data;
  return r;
}

bool closed_patch(CUmodule module, CUcontext context, unsigned sm, Error *err) {
  if (!sanitizer_api()) return error_set(err, "%s", closed_refusal(NULL));
  pthread_mutex_lock(&lock);
  Result *r = u64map_get(&contexts, (uintptr_t)context);
  if (!r) u64map_put(&contexts, (uintptr_t)context, r = load(context, sm));
  if (r->ok) {
    r = u64map_get(&modules, (uintptr_t)module);
    if (!r) u64map_put(&modules, (uintptr_t)module, r = patch(module));
  }
  pthread_mutex_unlock(&lock);
  return r->ok || error_set(err, "%s", r->reason);
}

bool closed_code_address(CUmodule module, const char *kernel, uint64_t *address) {
  uint64_t bytes;
  return sanitizer_api() &&
         sanitizer_api()->sanitizerGetFunctionPcAndSize(module, kernel, address, &bytes) == 0;
}

void closed_set_record(CUfunction kernel, uint64_t record) {
  sanitizer_api()->sanitizerSetCallbackData(kernel, (const void *)(uintptr_t)record);
}

static void forget(U64Map *map, uintptr_t key) {
  pthread_mutex_lock(&lock);
  Result *r = u64map_remove(map, key);
  pthread_mutex_unlock(&lock);
  if (r) free(r->reason);
  free(r);
}

void closed_module_gone(CUmodule module) { forget(&modules, (uintptr_t)module); }
void closed_context_gone(CUcontext context) { forget(&contexts, (uintptr_t)context); }
