// When launches and copies ran, by CUPTI: nothing is added to the program's streams, and the times
// are those of the work alone. Used where nothing of ours runs on the device, and where nobody else
// in the program has CUPTI open: it has one user at a time.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glob.h>

#include "gpu/cupti.h"
#include "gpu/times.h"

enum { BUFFER = 1 << 20, FLUSH_MS = 200 };

static Cupti cupti;
static bool used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Work between gpu_cupti_begin and gpu_cupti_end, by our number; times come in any order.
typedef struct Work {
  bool is_told;
  GpuTimed what;
  SessionTimes times;  // begin 0: not known yet
} Work;
typedef struct Correlated {  // by CUPTI's number of a call
  uint64_t id;               // 0: not known yet
  SessionTimes times;
} Correlated;
static U64Map works, correlated;
static uint64_t last_id;

// --- what CUPTI tells ---

// With the lock held.
static Work *work_of(uint64_t id) {
  Work *w = u64map_get(&works, id);
  if (w) return w;
  w = mem_alloc(sizeof *w);
  u64map_put(&works, id, w);
  return w;
}

static Correlated *call_of(uint32_t correlation) {
  Correlated *c = u64map_get(&correlated, correlation);
  if (c) return c;
  c = mem_alloc(sizeof *c);
  u64map_put(&correlated, correlation, c);
  return c;
}

// A copy of pageable memory has several parts.
static void join(SessionTimes *to, const SessionTimes *t) {
  if (!to->begin) *to = *t;
  to->begin = MIN(to->begin, t->begin);
  to->end = MAX(to->end, t->end);
}

static void take(const CuptiRecord *r) {
  if (r->kind == CUPTI_EXTERNAL) {
    const CuptiExternal *e = (const CuptiExternal *)r;
    call_of(e->correlation)->id = e->id;
  } else if (r->kind == CUPTI_KERNEL) {
    const CuptiKernel *k = (const CuptiKernel *)r;
    join(&call_of(k->correlation)->times,
         &(SessionTimes){k->queued, k->submitted, k->start, k->end, "CUPTI"});
  } else if (r->kind == CUPTI_COPY || r->kind == CUPTI_SET) {
    const CuptiCopy *k = (const CuptiCopy *)r;
    join(&call_of(k->correlation)->times,
         &(SessionTimes){.begin = k->start, .end = k->end, .source = "CUPTI"});
  }
}

// Calls of which both the number and the times are known.
static void settle_calls(void) {
  VEC(uint64_t) settled = {0};
  uint32_t it = 0;
  uint64_t correlation;
  void *value;
  while (u64map_next(&correlated, &it, &correlation, &value)) {
    Correlated *c = value;
    if (!c->id || !c->times.begin) continue;
    join(&work_of(c->id)->times, &c->times);
    vec_push(&settled, correlation);
  }
  for (uint32_t i = 0; i < settled.len; i++) free(u64map_remove(&correlated, settled.data[i]));
  vec_free(&settled);
}

// Tells what is complete, without the lock: the session has its own.
static void tell_complete(void) {
  VEC(Work) done = {0};
  VEC(uint64_t) ids = {0};
  uint32_t it = 0;
  uint64_t id;
  void *value;
  pthread_mutex_lock(&lock);
  while (u64map_next(&works, &it, &id, &value)) {
    const Work *w = value;
    if (!w->is_told || !w->times.begin) continue;
    vec_push(&done, *w);
    vec_push(&ids, id);
  }
  for (uint32_t i = 0; i < ids.len; i++) free(u64map_remove(&works, ids.data[i]));
  pthread_mutex_unlock(&lock);
  for (uint32_t i = 0; i < done.len; i++) gpu_timed_ran(&done.data[i].what, &done.data[i].times);
  vec_free(&done);
  vec_free(&ids);
}

static void want(uint8_t **buffer, size_t *bytes, size_t *most_records) {
  *bytes = BUFFER;
  *buffer = aligned_alloc(8, BUFFER);
  *most_records = 0;
}

static void filled(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                   size_t valid) {
  CuptiRecord *r = NULL;
  pthread_mutex_lock(&lock);
  while (!cupti.cuptiActivityGetNextRecord(buffer, valid, &r)) take(r);
  settle_calls();
  pthread_mutex_unlock(&lock);
  free(buffer);
  tell_complete();
}

// --- what we tell CUPTI ---

static void *open_library(void) {
  static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  static const char *const patterns[] = {"/usr/local/cuda*/lib64/libcupti.so",
                                         "/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so",
                                         "/opt/*/lib64/libcupti.so"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++)  // a program that has it open may use it
    if (dlopen(names[i], RTLD_NOW | RTLD_NOLOAD)) return NULL;
  void *library = NULL;
  for (size_t i = 0; i < ARRAY_LEN(names) && !library; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; i < ARRAY_LEN(patterns) && !library; i++) {
    glob_t found = {0};
    if (glob(patterns[i], 0, NULL, &found) == 0)
      for (size_t k = found.gl_pathc; k-- > 0 && !library;)
        library = dlopen(found.gl_pathv[k], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
  }
  return library;
}

static bool open_functions(void *library) {
#define FUNCTION(name, parameters) \
  if (!(*(void **)&cupti.name = dlsym(library, #name))) return false;
  CUPTI_FUNCTIONS
#undef FUNCTION
  return true;
}

static void start(void) {
  static const uint32_t kinds[] = {CUPTI_KERNEL, CUPTI_COPY, CUPTI_SET, CUPTI_EXTERNAL};
  void *library = open_library();
  if (!library || !open_functions(library)) return;
  bool ok = !cupti.cuptiActivityRegisterTimestampCallback(clock_ns) &&
            !cupti.cuptiActivityEnableLatencyTimestamps(1) &&
            !cupti.cuptiActivityRegisterCallbacks(want, filled);
  for (size_t i = 0; i < ARRAY_LEN(kinds) && ok; i++) ok = !cupti.cuptiActivityEnable(kinds[i]);
  if (ok) cupti.cuptiActivityFlushPeriod(FLUSH_MS);
  used = ok;
}

bool gpu_cupti_open(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start);
  return used;
}

uint64_t gpu_cupti_begin(void) {
  pthread_mutex_lock(&lock);
  uint64_t id = ++last_id;
  pthread_mutex_unlock(&lock);
  return cupti.cuptiActivityPushExternalCorrelationId(CUPTI_CUSTOM, id) ? 0 : id;
}

void gpu_cupti_end(uint64_t id, const GpuTimed *what) {
  uint64_t popped;
  if (!id) return;
  cupti.cuptiActivityPopExternalCorrelationId(CUPTI_CUSTOM, &popped);
  pthread_mutex_lock(&lock);
  Work *w = work_of(id);
  w->is_told = true;
  w->what = *what;
  if (!what->number) free(u64map_remove(&works, id));  // it was not made
  pthread_mutex_unlock(&lock);
}

void gpu_cupti_flush(void) {
  if (!used) return;
  cupti.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
  tell_complete();
}
