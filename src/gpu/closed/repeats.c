// Launches of patched kernels that repeat the accesses of a checked launch (src/session/repeats.c):
// they run as the kernel without patches, which is in a second copy of its module. A launch that
// may be a model of others is watched: the patches set a word if it accesses anything but the
// allocations that its parameters point into, and an event tells when it has ended.
#include "gpu/closed/closed.h"

enum {
  WATCHED = 16384,       // words of a context
  EXTENTS = 512,         // of a launch, with the end of the list
  EXTENTS_STREAMS = 256  // streams whose launches can be watched
};

typedef struct Watch {
  CUevent ended;
  volatile uint32_t *outside;
} Watch;

// --- copies of modules, for kernels without patches ---

typedef struct Copy {
  const GpuModule *of;
  uint32_t entry;
  CUcontext context;
  CUmodule module;
} Copy;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VEC(Copy) copies;

// With the lock, the context entered.
static CUmodule copy_of(const GpuFunction *f, CUcontext context, const GpuClosedCode *code) {
  for (uint32_t i = 0; i < copies.len; i++) {
    const Copy *c = &copies.data[i];
    if (c->of == f->module && c->entry == code->entry && c->context == context) return c->module;
  }
  CUmodule module = NULL;
  if (gpu_real.cuModuleLoadData(&module, code->image) != CUDA_SUCCESS) return NULL;
  vec_push(&copies, ((Copy){f->module, code->entry, context, module}));
  return module;
}

static void forget(const GpuModule *m, CUcontext context, bool unload) {
  pthread_mutex_lock(&lock);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < copies.len; i++) {
    Copy c = copies.data[i];
    if (c.of != m && c.context != context) copies.data[kept++] = c;
    else if (unload) gpu_real.cuModuleUnload(c.module);
  }
  copies.len = kept;
  pthread_mutex_unlock(&lock);
}

void gpu_repeats_module_gone(const GpuModule *m) { forget(m, NULL, true); }
void gpu_repeats_context_gone(CUcontext context) { forget(NULL, context, false); }

static CUfunction plain_function(GpuFunction *f, GpuContext *c, GpuClosed *k) {
  CUfunction plain = atomic_load_explicit(&k->plain, memory_order_acquire);
  if (plain || k->no_plain) return plain;
  GpuClosedCode code;
  GpuEntered e = gpu_context_enter(c);
  pthread_mutex_lock(&lock);
  if (e.ok && gpu_closed_code(f, &code)) {
    CUmodule m = copy_of(f, c->handle, &code);
    if (!m || gpu_real.cuModuleGetFunction(&plain, m, f->name) != CUDA_SUCCESS) plain = NULL;
    arena_free(&code.arena);
  }
  k->no_plain = !plain;
  pthread_mutex_unlock(&lock);
  if (plain) gpu_function_apply_all(f, plain);
  gpu_context_leave(e);
  atomic_store_explicit(&k->plain, plain, memory_order_release);
  return plain;
}

void gpu_repeats_set(GpuFunction *f, const FunctionSetting *s) {
  for (GpuClosed *k = atomic_load(&f->closed); k; k = k->next) {
    CUfunction plain = atomic_load(&k->plain);
    if (!plain || !k->context) continue;
    if (s->kind == SET_ATTRIBUTE)
      gpu_real.cuFuncSetAttribute(plain, (CUfunction_attribute)s->attribute, s->value);
    if (s->kind == SET_CACHE) gpu_real.cuFuncSetCacheConfig(plain, (CUfunc_cache)s->value);
    if (s->kind == SET_SHARED) gpu_real.cuFuncSetSharedMemConfig(plain, (CUsharedconfig)s->value);
  }
}

// --- kernels ---

// With eager loading nothing may be loaded at a launch.
static bool loads_lazily(void) {
  CUmoduleLoadingMode mode;
  return gpu_real.cuModuleGetLoadingMode &&
         gpu_real.cuModuleGetLoadingMode(&mode) == CUDA_SUCCESS && mode == CU_MODULE_LAZY_LOADING;
}

void gpu_repeats_open(GpuFunction *f, GpuContext *c, GpuClosed *k) {
  GpuClosedCode code;
  if (!session_repeats_closed() || !loads_lazily() || !gpu_closed_code(f, &code)) return;
  SassProgram *program = sass_program_open(&code.kernel);
  arena_free(&code.arena);
  if (program) k->repeats = session_repeats_new(f->kernel, program);
}

// --- launches ---

// false: it is not known yet.
static bool has_ended(GpuContext *c, GpuClosed *k, SessionRepeat *which) {
  void **slot = session_repeat_watch(which);
  Watch *w = *slot;
  if (!w) return false;
  GpuEntered e = gpu_context_enter(c);
  CUresult result = e.ok ? gpu_real.cuEventQuery(w->ended) : CUDA_ERROR_NOT_READY;
  if (result != CUDA_ERROR_NOT_READY) gpu_real.cuEventDestroy_v2(w->ended);
  gpu_context_leave(e);
  if (result == CUDA_ERROR_NOT_READY) return false;
  *slot = NULL;
  session_repeat_settle(k->repeats, which, result == CUDA_SUCCESS && !*w->outside);
  free(w);
  return true;
}

bool gpu_repeats_begin(GpuLaunch *l, const SessionCall *call, GpuClosed *k) {
  SessionRepeat *which = NULL;
  if (!k->repeats) return false;
  pthread_mutex_lock(&k->launching);
  SessionRepeatAnswer answer = session_repeats_look(k->repeats, call, &which);
  if (answer == SESSION_REPEAT_WAITS && has_ended(l->context, k, which))
    answer = session_repeats_look(k->repeats, call, &which);
  pthread_mutex_unlock(&k->launching);
  if (answer == SESSION_REPEAT_NEW) {
    l->watch = which;
    l->watched_by = NULL;
  }
  if (answer != SESSION_REPEAT_KNOWN) return false;
  CUfunction plain = plain_function(l->of, l->context, k);
  if (!plain) return false;
  l->function = plain;
  session_repeat_count();
  return true;
}

// Memory for watching, once for each context. The context is entered.
static bool open_memory(struct GpuClosedRecords *r) {
  if (r->outside) return true;
  void *outside = NULL;
  size_t list = EXTENTS * sizeof(WgExtent);
  if (!r->extents && gpu_real.cuMemAlloc_v2(&r->extents, list * EXTENTS_STREAMS) != CUDA_SUCCESS)
    r->extents = 0;
  if (!r->extents || gpu_real.cuMemHostAlloc(&outside, WATCHED * sizeof *r->outside,
                                             CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS)
    return false;
  if (gpu_real.cuMemHostGetDevicePointer_v2(&r->outside_at, outside, 0) != CUDA_SUCCESS)
    return false;
  memset(outside, 0, WATCHED * sizeof *r->outside);
  r->outside = outside;
  return true;
}

static bool take_word(struct GpuClosedRecords *r, uint32_t *word) {
  pthread_mutex_lock(&lock);
  bool ok = open_memory(r) && r->watched < WATCHED;
  if (ok) *word = r->watched++;
  pthread_mutex_unlock(&lock);
  return ok;
}

static void give_up(GpuLaunch *l, GpuClosed *k) {
  session_repeat_settle(k->repeats, l->watch, false);
  l->watch = NULL;
}

void gpu_repeats_watch(GpuLaunch *l, const SessionCall *call, GpuClosed *k, uint32_t number,
                       WgClosed *record) {
  struct GpuClosedRecords *r = l->context->closed;
  CUstream stream = (CUstream)(uintptr_t)l->event.stream;
  WgExtent list[EXTENTS];
  uint32_t word, n = session_repeat_extents(call, list, EXTENTS - 1);
  CUdeviceptr to;
  if (!n || number > EXTENTS_STREAMS || !take_word(r, &word)) {
    give_up(l, k);
    return;
  }
  to = r->extents + (number - 1) * (CUdeviceptr)sizeof list;
  list[n++] = (WgExtent){0, 0};
  Watch *w = mem_alloc(sizeof *w);
  w->outside = &r->outside[word];
  if (gpu_real.cuMemcpyHtoDAsync_v2(to, list, n * sizeof *list, stream) != CUDA_SUCCESS ||
      gpu_real.cuEventCreate(&w->ended, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
    free(w);
    give_up(l, k);
    return;
  }
  l->watched_by = w;
  record->outside = r->outside_at + word * sizeof *r->outside;
  record->extents = to;
}

// Before the kernel is unlocked: until its event is recorded, nobody may ask for it.
void gpu_repeats_end(GpuLaunch *l, GpuClosed *k, bool launched) {
  Watch *w = l->watched_by;
  GpuEntered e = gpu_context_enter(l->context);
  bool recorded = launched && w && e.ok &&
                  gpu_real.cuEventRecord(w->ended, (CUstream)(uintptr_t)l->event.stream) ==
                      CUDA_SUCCESS;
  if (recorded) {
    *session_repeat_watch(l->watch) = w;
  } else {
    if (w) gpu_real.cuEventDestroy_v2(w->ended);
    free(w);
    session_repeat_settle(k->repeats, l->watch, false);
  }
  gpu_context_leave(e);
  l->watch = NULL;
}
