// Compiled code behind the interpreter: the places where a warp may enter it, when a function is
// compiled, and how the result is installed.
//
// With --jit=always a function is compiled when a warp first comes by. With auto this happens in
// the background while the interpreter goes on: after some entries code of an earlier run is taken
// if there is any; after many more it is compiled. A failure is said with -v, and the interpreter
// runs everything.
#include "vgpu/region/region.h"

#include "jit/jit.h"

enum { SHAPES = 4 };
// Entries before a function is looked for among those of earlier runs, which takes as long as
// writing its text; and before compiling it pays: the interpreter has then run for tens of
// milliseconds.
enum { WARM = 3000, HOT = 100000 };
static const uint32_t columns_of[SHAPES] = {0, 32, 16, 8};
static VgpuJit mode;

typedef const Inst *RegionFn(Warp *w, const Inst *in, const RegionEnv *env);

// The compiled forms of one function, by the shape of blocks. Jobs in the background share it.
struct Regions {
  const Code *code;
  _Atomic(RegionFn *) fn[SHAPES];
  _Atomic bool asked[SHAPES];
  JitCode machine[SHAPES];
  // the form that runs whole blocks: kernels only
  _Atomic(TurnsFn *) turns[SHAPES];
  JitCode turns_machine[SHAPES];
  uint64_t waiting_bytes[SHAPES];
  _Atomic uint32_t heat[SHAPES], users;
};

void region_configure(VgpuJit m) {
  Error why = {""};
  mode = m;
  if (m == VGPU_JIT_OFF || jit_possible(&why)) return;
  log_verbose("kernels are interpreted, not compiled: %s", why.text);
  mode = VGPU_JIT_OFF;
}

bool region_is_on(void) { return mode != VGPU_JIT_OFF; }

uint8_t region_lane_shape(const uint32_t block[3]) {
  bool flat = block[1] == 1 && block[2] == 1;
  if (block[0] % LANES == 0 || flat) return 1;
  bool whole = block[2] == 1 || block[0] * block[1] % LANES == 0;
  return whole && block[0] == 16 ? 2 : whole && block[0] == 8 ? 3 : 0;
}

// --- compiling ---
static void release(Regions *g) {
  if (atomic_fetch_sub(&g->users, 1) != 1) return;
  for (unsigned s = 0; s < SHAPES; s++) {
    jit_free(&g->machine[s]);
    jit_free(&g->turns_machine[s]);
  }
  free(g);
}

// For developers of the compiler: WARPGRIND_JIT_TEXTS names a folder for the texts.
static void keep_text(const Str *text, const char *name, unsigned shape, bool block) {
  const char *folder = getenv("WARPGRIND_JIT_TEXTS");
  if (!folder || !*folder) return;
  Str path = {0};
  Error err = {""};
  str_printf(&path, "%s/%.100s.%u%s.ll", folder, name, columns_of[shape], block ? ".block" : "");
  if (!file_write(path.data, text->data, text->len, &err)) log_verbose("%s", err.text);
  str_free(&path);
}

typedef struct Job {
  Regions *regions;
  unsigned shape;
  bool only_kept;  // code of an earlier run, or none
  bool block;      // the form that runs whole blocks
  Str text;
  size_t waiting_bytes;
  char name[256];
  struct Job *next;
} Job;

static bool is_finished(const Job *j) {
  Regions *g = j->regions;
  return j->block ? g->turns[j->shape] != NULL : g->fn[j->shape] != NULL;
}

static void finish(Job *j) {
  Regions *g = j->regions;
  Error err = {""};
  uint64_t start = clock_ns();
  JitCode machine;
  const char *form = j->block ? " (whole blocks)" : "";
  if (is_finished(j)) return;
  keep_text(&j->text, j->name, j->shape, j->block);
  if (!jit_compile(&j->text, j->only_kept, &machine, &err)) {
    if (!j->only_kept) log_verbose("%s%s is not compiled: %s", j->name, form, err.text);
    return;
  }
  log_verbose("%s is compiled%s: %zu bytes after %llu ms", j->name, form, machine.bytes,
              (unsigned long long)(clock_ns() - start) / 1000000);
  if (j->block) {
    g->turns_machine[j->shape] = machine;
    g->waiting_bytes[j->shape] = j->waiting_bytes;
    atomic_store_explicit(&g->turns[j->shape], (TurnsFn *)machine.entry, memory_order_release);
  } else {
    g->machine[j->shape] = machine;
    atomic_store_explicit(&g->fn[j->shape], (RegionFn *)machine.entry, memory_order_release);
  }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static Job *first, **last = &first;
static bool started;

static void drop(Job *j) {
  str_free(&j->text);
  free(j);
}

static void *compile_jobs(void *user) {
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!first) pthread_cond_wait(&arrived, &lock);
    Job *j = first;
    first = j->next;
    if (!first) last = &first;
    pthread_mutex_unlock(&lock);
    finish(j);
    release(j->regions);
    drop(j);
    pthread_mutex_lock(&lock);
  }
  return NULL;
}

// NULL: this function cannot be compiled.
static Job *make_job(Regions *g, unsigned shape, bool only_kept) {
  Job *j = mem_alloc(sizeof *j);
  *j = (Job){.regions = g, .shape = shape, .only_kept = only_kept};
  snprintf(j->name, sizeof j->name, "%s", g->code->func->name);
  Str rest = {0};
  bool possible = region_text(g->code, columns_of[shape], &j->text, &rest);
  if (rest.len && !only_kept) log_verbose("%s, what is not compiled:%s", j->name, rest.data);
  str_free(&rest);
  if (possible) return j;
  log_verbose("%s is not compiled: it is too large, or has something that is not known", j->name);
  drop(j);
  return NULL;
}

// NULL: this function has no such form.
static Job *make_block_job(Regions *g, unsigned shape, bool only_kept) {
  if (g->code->kernel->code != g->code) return NULL;
  Job *j = mem_alloc(sizeof *j);
  *j = (Job){.regions = g, .shape = shape, .only_kept = only_kept, .block = true};
  snprintf(j->name, sizeof j->name, "%s", g->code->func->name);
  if (region_block_text(g->code, columns_of[shape], &j->text, &j->waiting_bytes)) return j;
  drop(j);
  return NULL;
}

static void put_job(Job *j) {
  atomic_fetch_add(&j->regions->users, 1);
  pthread_mutex_lock(&lock);
  pthread_t t;
  if (!started) started = !thread_start(&t, compile_jobs, NULL);
  *last = j;
  last = &j->next;
  pthread_cond_signal(&arrived);
  pthread_mutex_unlock(&lock);
}

static void compile_later(Regions *g, unsigned shape, bool only_kept) {
  Job *j = make_job(g, shape, only_kept);
  if (!j) {
    atomic_store(&g->heat[shape], HOT + 1);
    return;
  }
  put_job(j);
  if ((j = make_block_job(g, shape, only_kept))) put_job(j);
}

static void compile_form(Job *j) {
  if (!j) return;
  finish(j);
  drop(j);
}

static RegionFn *compile_now(Regions *g, unsigned shape) {
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  if (atomic_load(&g->asked[shape])) return g->fn[shape];
  pthread_mutex_lock(&one);
  if (!g->asked[shape]) {
    compile_form(make_job(g, shape, false));
    if (g->fn[shape]) compile_form(make_block_job(g, shape, false));
  }
  g->asked[shape] = true;
  pthread_mutex_unlock(&one);
  return g->fn[shape];
}

// Counts an entry while there is no code for this shape, and has hot functions compiled.
static RegionFn *consider(Regions *g, unsigned shape) {
  if (!shape) return NULL;
  if (mode == VGPU_JIT_ALWAYS) return compile_now(g, shape);
  // beyond HOT nothing is counted: workers share the word
  if (atomic_load_explicit(&g->heat[shape], memory_order_relaxed) > HOT) return NULL;
  uint32_t heat = atomic_fetch_add_explicit(&g->heat[shape], 1, memory_order_relaxed);
  if (heat == WARM || heat == HOT) compile_later(g, shape, heat == WARM);
  return NULL;
}

static inline const Inst *run(Warp *w, const Inst *in) {
  Regions *g = (Regions *)(uintptr_t)in->ptr;
  unsigned shape = w->launch->lane_shape;
  RegionFn *f = atomic_load_explicit(&g->fn[shape], memory_order_acquire);
  if (__builtin_expect(!f, 0) && !(f = consider(g, shape))) return in + 1;
  if (w->exec != FULL_MASK) return in + 1;
  RegionEnv env = {vgpu_window_base, warp_split_lanes};
  return f(w, in, &env);
}

TurnsFn *region_turns(const Code *code, unsigned shape, uint64_t *waiting_bytes) {
  Regions *g = code->regions;
  if (!g || !shape) return NULL;
  if (mode == VGPU_JIT_ALWAYS) compile_now(g, shape);
  TurnsFn *f = atomic_load_explicit(&g->turns[shape], memory_order_acquire);
  if (f) *waiting_bytes = g->waiting_bytes[shape];
  return f;
}

const Inst *region_join(Warp *w, const Inst *in) {
  return w->nfrags == 1 ? run(w, in) : exec_join(w, in);
}

const Inst *region_enter(Warp *w, const Inst *in) { return w->nfrags == 1 ? run(w, in) : in + 1; }

// --- decoded code ---
void regions_attach(Code *code) {
  if (!region_is_on()) return;
  Regions *g = code->regions = mem_alloc(sizeof *g);
  g->code = code;
  g->users = 1;
  for (uint32_t i = 0; i < code->ninsts; i++)
    if (region_is_head(&code->insts[i])) {
      code->insts[i].d = i;
      code->insts[i].ptr = g;
    }
}

void regions_detach(Code *code) {
  if (code->regions) release(code->regions);
  code->regions = NULL;
}
