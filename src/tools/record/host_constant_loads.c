// --record: loads whose values are left out, because earlier records imply them: loads from memory
// that no launch has written and this one does not write. Stores of kernels are recorded too, but
// if two threads wrote the same element, the last writer is not known.
#include "tools/record/host.h"

// Something ran that is not recorded: memory may hold anything.
static _Atomic bool unknown;

void record_unknown_contents(void) { atomic_store_explicit(&unknown, true, memory_order_relaxed); }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Bases of allocations that launches have written. An entry stays when its memory is freed: a new
// allocation at the same place then has its values recorded, which does no harm.
static U64Map written_before;
static bool wrote_anywhere;

static void keep_written(const uint64_t *bases, uint32_t n) {
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < n; i++) u64map_put(&written_before, bases[i], &lock);
  pthread_mutex_unlock(&lock);
}

static bool was_written(uint64_t base) {
  pthread_mutex_lock(&lock);
  bool was = wrote_anywhere || u64map_get(&written_before, base);
  pthread_mutex_unlock(&lock);
  return was;
}

static uint32_t writes_anything(void) {
  pthread_mutex_lock(&lock);
  wrote_anywhere = true;
  pthread_mutex_unlock(&lock);
  return UINT32_MAX;
}

// Only copies, sets and kernels write to such memory.
static bool is_followed(const HeapRange *r) {
  return r->memory.state == WG_MEMORY_LIVE &&
         (r->kind == SESSION_DEVICE || r->kind == SESSION_POOL);
}

uint32_t record_loaded_values(const WovenKernel *code, const SessionParams *params) {
  const RecordKernel *k = record_kernel(code);
  uint64_t pointer, written[64];
  uint32_t nwritten = 0, values = 0;
  HeapRange r;
  if (!code->writes_known || code->writes_elsewhere || code->nwrites > ARRAY_LEN(written))
    return writes_anything();
  for (uint32_t i = 0; i < code->nwrites; i++) {
    if (!session_fact_pointer(&code->writes[i].pointer, params, &pointer) ||
        !session_ranges_look(pointer, &r) || r.memory.state != WG_MEMORY_LIVE)
      return writes_anything();
    written[nwritten++] = r.memory.base;
  }
  bool followed = !atomic_load_explicit(&unknown, memory_order_relaxed) &&
                  !session_launch_captured();
  for (uint32_t i = 0; i < k->nreads; i++) {
    bool constant = followed && session_fact_pointer(&k->reads[i], params, &pointer) &&
                    session_ranges_look(pointer, &r) && is_followed(&r) &&
                    !was_written(r.memory.base);
    for (uint32_t w = 0; w < nwritten && constant; w++) constant = written[w] != r.memory.base;
    if (!constant) values |= 1u << i;
  }
  keep_written(written, nwritten);
  return values;
}
