// Handles of kernels, and the code that runs in their place. Every launch looks a handle up here:
// reading takes no lock.
#include "gpu/closed/closed.h"
#include "gpu/modules/modules.h"

// --- a table that is read without a lock ---
// Slots are only ever added; a removed one keeps its key with no value. A table that is too full is
// replaced by a larger one and never freed, since a thread may be reading it: all old tables
// together are no larger than the last one.

typedef struct Slot {
  _Atomic(uintptr_t) key;
  _Atomic(FunctionRecord *) value;
} Slot;
typedef struct Table {
  uint32_t cap, used;
  Slot slots[];
} Table;
typedef _Atomic(Table *) TablePtr;
static TablePtr by_handle, by_target;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static Slot *slot_of(Table *t, uintptr_t key) {
  uint32_t i = (uint32_t)((key >> 4) * 0x9e3779b97f4a7c15ull >> 32) & (t->cap - 1);
  for (;; i = (i + 1) & (t->cap - 1)) {
    uintptr_t k = atomic_load_explicit(&t->slots[i].key, memory_order_acquire);
    if (!k || k == key) return &t->slots[i];
  }
}

static FunctionRecord *table_get(TablePtr *table, void *handle) {
  Table *t = atomic_load_explicit(table, memory_order_acquire);
  return t && handle
             ? atomic_load_explicit(&slot_of(t, (uintptr_t)handle)->value, memory_order_acquire)
             : NULL;
}

static void table_add(Table *t, uintptr_t key, FunctionRecord *value) {
  Slot *s = slot_of(t, key);
  bool is_new = !atomic_load(&s->key);
  atomic_store_explicit(&s->value, value, memory_order_release);
  if (!is_new) return;
  atomic_store_explicit(&s->key, key, memory_order_release);
  t->used++;
}

static void table_put(TablePtr *table, void *handle, FunctionRecord *value) {  // with table_lock
  Table *t = atomic_load(table);
  if (!t || t->used * 2 >= t->cap) {
    uint32_t cap = t ? t->cap * 2 : 256;
    Table *bigger = mem_alloc(sizeof *bigger + cap * sizeof(Slot));
    bigger->cap = cap;
    for (uint32_t i = 0; t && i < t->cap; i++) {
      FunctionRecord *old = atomic_load(&t->slots[i].value);
      if (old) table_add(bigger, atomic_load(&t->slots[i].key), old);
    }
    atomic_store_explicit(table, bigger, memory_order_release);
    t = bigger;
  }
  table_add(t, (uintptr_t)handle, value);
}

static void table_remove(TablePtr *table, void *handle, const FunctionRecord *if_this) {
  Table *t = atomic_load(table);
  Slot *s = t && handle ? slot_of(t, (uintptr_t)handle) : NULL;
  if (s && atomic_load(&s->value) == if_this) atomic_store(&s->value, NULL);
}

// --- handles ---

GpuFunction *gpu_function(CUfunction handle) {
  FunctionRecord *r = table_get(&by_handle, handle);
  return r ? &r->base : NULL;
}

GpuFunction *gpu_function_of_target(CUfunction target) {
  FunctionRecord *r = table_get(&by_target, target);
  if (r) return &r->base;
  GpuFunction *f = gpu_function(target);  // the original in its own place
  return f && atomic_load(&f->target) == target ? f : NULL;
}

// With CUDA_MODULE_LOADING=EAGER nothing may be loaded at a launch: the program may have a kernel
// running that never ends.
static bool loads_eagerly;
static void ask_mode(void) {
  CUmoduleLoadingMode mode;
  loads_eagerly = gpu_real.cuModuleGetLoadingMode &&
                  gpu_real.cuModuleGetLoadingMode(&mode) == CUDA_SUCCESS &&
                  mode == CU_MODULE_EAGER_LOADING;
}

void gpu_function_found(GpuModule *m, CUfunction handle, bool is_kernel, const char *name) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, ask_mode);
  GpuFunction *f = gpu_function_register(m, handle, is_kernel, name);
  if (loads_eagerly) gpu_function_target(f);
}

GpuFunction *gpu_function_register(GpuModule *m, CUfunction handle, bool is_kernel,
                                   const char *name) {
  FunctionRecord *r = table_get(&by_handle, handle);
  if (r && r->base.module == m && !strcmp(r->base.name, name)) return &r->base;
  pthread_mutex_lock(&table_lock);
  r = table_get(&by_handle, handle);
  // the driver may use a handle again
  if (!r || r->base.module != m || strcmp(r->base.name, name)) {
    r = mem_alloc(sizeof *r);
    r->base.handle = handle;
    r->base.is_kernel = is_kernel;
    r->base.module = m;
    r->base.name = mem_strdup(name);
    r->base.kernel = session_kernel(m->session, r->base.name);
    r->context = m->context;
    // a library's, in this context
    if (!is_kernel && !r->context) gpu_real.cuCtxGetCurrent(&r->context);
    session_created(handle);
    vec_push(&m->functions, r);
    table_put(&by_handle, handle, r);
  }
  pthread_mutex_unlock(&table_lock);
  return &r->base;
}

void gpu_functions_gone(GpuModule *m) {
  gpu_hash_all_deferred(NULL);  // its variables go
  pthread_mutex_lock(&table_lock);
  for (uint32_t i = 0; i < m->functions.len; i++)
    session_destroyed(SESSION_FUNCTION_GONE, m->functions.data[i]->base.handle);
  pthread_mutex_unlock(&table_lock);
}

void gpu_functions_forget(GpuModule *m, CUcontext ctx) {
  pthread_mutex_lock(&table_lock);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < m->functions.len; i++) {
    FunctionRecord *r = m->functions.data[i];
    if (ctx && r->context != ctx) {
      m->functions.data[kept++] = r;
      continue;
    }
    gpu_closed_unloaded(&r->base);
    table_remove(&by_handle, r->base.handle, r);
    table_remove(&by_target, atomic_load(&r->base.target), r);
    table_remove(&by_target, r->also, r);
  }
  m->functions.len = kept;
  pthread_mutex_unlock(&table_lock);
}

// --- settings ---
// What the program sets on its handle is set on ours too, whether it comes before or after the
// decision.

static pthread_mutex_t settings_lock = PTHREAD_MUTEX_INITIALIZER;

static void apply(const FunctionRecord *r, CUfunction target, const FunctionSetting *s) {
  CUresult result = CUDA_SUCCESS;
  switch (s->kind) {
    case SET_ATTRIBUTE:
      result = s->of_kernel ? gpu_real.cuKernelSetAttribute((CUfunction_attribute)s->attribute,
                                                            s->value, (CUkernel)target, s->device)
                            : gpu_real.cuFuncSetAttribute(
                                  target, (CUfunction_attribute)s->attribute, s->value);
      break;
    case SET_CACHE:
      result = s->of_kernel ? gpu_real.cuKernelSetCacheConfig((CUkernel)target,
                                                              (CUfunc_cache)s->value, s->device)
                            : gpu_real.cuFuncSetCacheConfig(target, (CUfunc_cache)s->value);
      break;
    case SET_SHARED:
      result = gpu_real.cuFuncSetSharedMemConfig(target, (CUsharedconfig)s->value);
      break;
  }
  if (result != CUDA_SUCCESS)
    log_verbose("kernel %s: attribute %d cannot be set to %d for the code that runs: error %d",
                r->base.name, s->attribute, s->value, (int)result);
}

void gpu_function_set(GpuFunction *f, FunctionSetting s) {
  FunctionRecord *r = (FunctionRecord *)f;
  pthread_mutex_lock(&settings_lock);
  uint32_t i = 0;
  for (; i < r->settings.len; i++) {
    FunctionSetting *old = &r->settings.data[i];
    if (old->kind == s.kind && old->attribute == s.attribute && old->of_kernel == s.of_kernel &&
        old->device == s.device)
      break;
  }
  if (i < r->settings.len) r->settings.data[i] = s;
  else vec_push(&r->settings, s);
  CUfunction target = atomic_load(&f->target);
  if (target && target != f->handle) apply(r, target, &s);
  if (f->resume) apply(r, f->resume, &s);
  gpu_repeats_set(f, &s);
  pthread_mutex_unlock(&settings_lock);
}

void gpu_function_apply_all(GpuFunction *f, CUfunction copy) {
  const FunctionRecord *r = (const FunctionRecord *)f;
  pthread_mutex_lock(&settings_lock);
  for (uint32_t i = 0; i < r->settings.len; i++) {
    FunctionSetting s = r->settings.data[i];
    s.of_kernel = false;  // a CUfunction, in whichever way the program named the kernel
    apply(r, copy, &s);
  }
  pthread_mutex_unlock(&settings_lock);
}

// --- the decision for one kernel ---

// Finds a CUkernel's CUfunction in the current context: the driver has two handles for it.
static void also_function(FunctionRecord *r, CUkernel k) {
  if (!gpu_context_current() || gpu_real.cuKernelGetFunction(&r->also, k) != CUDA_SUCCESS)
    r->also = NULL;
}

static CUfunction find_target(FunctionRecord *r, const GpuPiece *p, const char *name) {
  CUfunction target = NULL;
  CUkernel k = NULL;
  if (p->loaded.module)
    return gpu_real.cuModuleGetFunction(&target, p->loaded.module, name) == CUDA_SUCCESS ? target
                                                                                         : NULL;
  if (gpu_real.cuLibraryGetKernel(&k, p->loaded.library, name) != CUDA_SUCCESS) return NULL;
  if (r->base.is_kernel) {
    also_function(r, k);
    return (CUfunction)k;
  }
  return gpu_real.cuKernelGetFunction(&target, k) == CUDA_SUCCESS ? target : NULL;
}

// Finds the kernel that resumes after interrupts. Its handle is ours; the program never sees it.
static void find_resume(FunctionRecord *r, const GpuPiece *p) {
  const InterruptKernel *k = interrupt_kernel(&p->interrupts, r->base.name);
  if (!k) return;
  r->base.interrupts = k;
  if (k->refused) return;
  FunctionRecord *second = mem_alloc(sizeof *second);
  CUfunction also = r->also, f = find_target(r, p, k->resume);
  r->also = also;
  *second = (FunctionRecord){.context = r->context};
  second->base.handle = f;
  second->base.is_kernel = r->base.is_kernel;
  second->base.module = r->base.module;
  second->base.name = k->resume;
  second->base.is_resume = true;
  second->base.kernel = session_kernel(r->base.module->session, k->resume);
  const WovenKernel *code = session_kernel_code(second->base.kernel);
  second->base.code = code && code->record_bytes ? code : NULL;
  atomic_store(&second->base.target, f);
  for (uint32_t i = 0; f && i < r->settings.len; i++) apply(r, f, &r->settings.data[i]);
  r->base.resume = f;
  pthread_mutex_lock(&table_lock);
  if (f) table_put(&by_handle, f, second);
  pthread_mutex_unlock(&table_lock);
}

static void run_original(FunctionRecord *r, const char *reason, const char *cure) {
  r->base.machine_code = gpu_closed_takes(&r->base, reason, cure);
}

static CUfunction decide(FunctionRecord *r) {
  GpuModule *m = r->base.module;
  GpuPiece *p = gpu_piece_of(m, r->base.name);
  if (!p) {
    run_original(r,
                 m->code.reason ? m->code.reason : "its PTX is not in the image it was loaded from",
                 m->code.cure);
    return r->base.handle;
  }
  bool ours = gpu_piece_decide(m, p, r->base.name) == PIECE_OURS;
  const WovenKernel *code = session_kernel_code(r->base.kernel);
  r->base.unchanged = code && code->unchanged && !p->nvars && (ours || p->unchanged);
  if (!ours && p->reason) run_original(r, p->reason, p->cure);
  if (!ours || r->base.unchanged) return r->base.handle;
  GpuQuiet q = gpu_quiet_begin();
  GpuPushed pushed = gpu_push_context(r->context);
  CUfunction target = find_target(r, p, r->base.name);
  find_resume(r, p);
  gpu_pop_context(pushed);
  gpu_quiet_end(q);
  if (!target) {  // its variables are ours already: we can only report it
    session_kernel_uncovered(r->base.kernel,
                             "the driver does not find it in the code Warpgrind made", NULL);
    return r->base.handle;
  }
  if (m->code.note) session_kernel_note(r->base.kernel, m->code.note);
  r->base.is_free = !p->nvars;
  return target;
}

// Launches that need no checks (session_launch_settled) need not wait for the compiler.
const WovenKernel *gpu_function_early(GpuFunction *f) {
  const WovenKernel *code = atomic_load_explicit(&f->early, memory_order_acquire);
  if (code || !session_launch_may_settle(NULL) || loads_eagerly) return code;
  GpuPiece *p = gpu_piece_of(f->module, f->name);
  if (!p || p->nvars) return NULL;
  code = gpu_piece_look(f->module, p, f->kernel);
  if (!code || !code->record_bytes || !session_launch_may_settle(code)) return NULL;
  f->is_free = true;
  atomic_store_explicit(&f->early, code, memory_order_release);
  return code;
}

CUfunction gpu_function_target(GpuFunction *f) {
  CUfunction target = atomic_load_explicit(&f->target, memory_order_acquire);
  if (target) return target;
  FunctionRecord *r = (FunctionRecord *)f;
  target = decide(r);
  pthread_mutex_lock(&settings_lock);
  CUfunction first = atomic_load(&f->target);
  if (first) {  // another thread was faster, with the same answer
    pthread_mutex_unlock(&settings_lock);
    return first;
  }
  bool ours = target != f->handle;
  if (ours) {
    GpuQuiet q = gpu_quiet_begin();
    GpuPushed pushed = gpu_push_context(r->context);
    for (uint32_t i = 0; i < r->settings.len; i++) apply(r, target, &r->settings.data[i]);
    const WovenKernel *code = session_kernel_code(f->kernel);
    if (code && code->may_recurse) gpu_stack_deepen(gpu_context_current());
    gpu_pop_context(pushed);
    gpu_quiet_end(q);
    f->code = code && code->record_bytes ? code : NULL;
  } else if (f->is_kernel) {
    GpuQuiet q = gpu_quiet_begin();
    GpuPushed pushed = gpu_push_context(r->context);
    also_function(r, (CUkernel)f->handle);
    gpu_pop_context(pushed);
    gpu_quiet_end(q);
  }
  pthread_mutex_lock(&table_lock);
  if (ours) table_put(&by_target, target, r);
  // a graph node may be read back as either
  if (r->also && !table_get(&by_target, r->also)) table_put(&by_target, r->also, r);
  pthread_mutex_unlock(&table_lock);
  atomic_store_explicit(&f->target, target, memory_order_release);
  pthread_mutex_unlock(&settings_lock);
  return target;
}
