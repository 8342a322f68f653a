// cuGetProcAddress: the real driver is asked, and where its answer is a function that we wrap, ours is given instead.
#include "gpu/gpu.h"

typedef struct Wrapper { const char *name; size_t index; void *ours; } Wrapper;
static const Wrapper wrappers[] = {
#define WRAP(name) {#name, offsetof(GpuReal, name) / sizeof(void *), (void *)gpu_##name},
#include "gpu/wrappers.def"
};

// How a program asks for each function, in the order of GpuReal.
typedef struct Question { const char *base; int since; bool per_thread; } Question;
static const Question questions[] = {
#define API(base, suffix, since, types) {#base, since, false},
#define SAME(base, suffix, since, target, params, args) {#base, since, false},
#define PER_THREAD(base, suffix, kind, since, params, args) {#base, since, true},
#define NONE(base, suffix, kind, since) {#base, since, sizeof(#kind) > 1},
#include "cuda/api.def"
};
_Static_assert(sizeof(GpuReal) == ARRAY_LEN(questions) * sizeof(void *), "one pointer for each function");

// Open addressing, filled once and only read afterwards. All functions of the real driver that have a name are in it:
// ours is NULL where they are not wrapped.
enum { SLOTS = 4096 };
static struct Slot { const void *real; void *ours; } slots[SLOTS];
_Static_assert((ARRAY_LEN(wrappers) + ARRAY_LEN(questions)) * 2 < SLOTS, "the table of functions is too full");

static struct Slot *slot_of(const void *real) {
  size_t i = ((uintptr_t)real >> 4) * 0x9e3779b97f4a7c15u >> 52;
  while (slots[i].real && slots[i].real != real) i = (i + 1) % SLOTS;
  return &slots[i];
}

void *gpu_wrapper_of(const void *real) {
  return real ? slot_of(real)->ours : NULL;
}

// Where two names of the real driver are one function (an older name kept for old programs), the first wrapper stands: they
// have the same signature and meaning then.
static void learn(const void *real, void *ours) {
  struct Slot *s = slot_of(real);
  s->real = real;
  if (!s->ours) s->ours = ours;
}

// What cuGetProcAddress gives for a name need not be what dlsym finds. An address that dlsym gave for no name at all, and
// that is the answer for exactly this name and version, is another way into the same function.
static void learn_answer(const Wrapper *w) {
  const Question *q = &questions[w->index];
  void *real = NULL;
  if (!gpu_real.cuGetProcAddress_v2) return;
  uint64_t flags = q->per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
  if (gpu_real.cuGetProcAddress_v2(q->base, &real, q->since, flags, NULL) == CUDA_SUCCESS && real && !slot_of(real)->real)
    learn(real, w->ours);
}

void gpu_wrappers_install(void **table) {
  void **real = (void **)&gpu_real;
  for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
    if (real[wrappers[i].index]) learn(real[wrappers[i].index], wrappers[i].ours);
  for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
    if (!real[i]) continue;
    learn(real[i], NULL);
    table[i] = real[i];
  }
  for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
    if (real[wrappers[i].index]) {
      learn_answer(&wrappers[i]);
      table[wrappers[i].index] = wrappers[i].ours;
    }
}

CUresult gpu_cuGetProcAddress_v2(const char *symbol, void **out, int version, uint64_t flags, CUdriverProcAddressQueryResult *status) {
  GPU_TRY(gpu_real.cuGetProcAddress_v2(symbol, out, version, flags, status));
  void *ours = gpu_wrapper_of(*out);
  if (ours) *out = ours;
  return CUDA_SUCCESS;
}

CUresult gpu_cuGetProcAddress(const char *symbol, void **out, int version, uint64_t flags) {
  GPU_TRY(gpu_real.cuGetProcAddress(symbol, out, version, flags));
  void *ours = gpu_wrapper_of(*out);
  if (ours) *out = ours;
  return CUDA_SUCCESS;
}
