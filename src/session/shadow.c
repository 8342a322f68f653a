// The table of allocations with their shadows. See shadow.h.
#include "session/shadow.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
// whole, graph_writes, pieces of every entry
static pthread_mutex_t whole_lock = PTHREAD_MUTEX_INITIALIZER;
static SortedMap table;  // Shadow by base; they do not overlap

// Physical memory that may be mapped at several addresses: one shadow for all of them.
typedef struct SharedShadow {
  const void *physical;
  uint64_t address, size;
  SessionDevice *device;
  int maps;
  bool gone;
  struct SharedShadow *next;
} SharedShadow;
static SharedShadow *shared_list;
static _Atomic bool graphs_know;  // launches that were captured have been told where shadows are

bool session_wants_shadow(void) { return (session_tools() & TOOL_BIT(INITCHECK)) != 0; }

void shadow_lock(void) { pthread_rwlock_rdlock(&lock); }
void shadow_lock_to_change(void) { pthread_rwlock_wrlock(&lock); }
void shadow_unlock(void) { pthread_rwlock_unlock(&lock); }

// The first entry that begins at the address or later; NULL: none.
static Shadow *next_from(uint64_t address) {
  uint64_t base;
  return sorted_from(&table, address, &base);
}
static Shadow *next_after(const Shadow *s) {
  return s->base == UINT64_MAX ? NULL : next_from(s->base + 1);
}

Shadow *shadow_find(uint64_t address) {
  uint64_t base;
  Shadow *s = sorted_below(&table, address, &base);
  return s && address - s->base < s->size ? s : NULL;
}

uint64_t shadow_run(uint64_t address, uint64_t n, Shadow **out) {
  *out = shadow_find(address);
  if (*out) return MIN(n, (*out)->base + (*out)->size - address);
  const Shadow *next = next_from(address);
  return next ? MIN(n, next->base - address) : n;
}

// --- what is wholly initialised ---

static void drop_piece(Shadow *s, uint32_t i) {
  s->npieces--;
  memmove(&s->pieces[i], &s->pieces[i + 1], (s->npieces - i) * sizeof s->pieces[0]);
}

void shadow_covered(Shadow *s, uint64_t from, uint64_t to) {
  if (s->whole || !s->address) return;
  pthread_mutex_lock(&whole_lock);
  for (uint32_t i = s->npieces; i-- > 0;) {
    if (s->pieces[i].to < from || s->pieces[i].from > to) continue;
    from = MIN(from, s->pieces[i].from);
    to = MAX(to, s->pieces[i].to);
    drop_piece(s, i);
  }
  if (!from && to >= s->size) {
    s->whole = !s->graph_writes;
    s->npieces = 0;
  } else {
    if (s->npieces == SHADOW_PIECES) drop_piece(s, 0);  // only the short cut is lost
    s->pieces[s->npieces].from = from;
    s->pieces[s->npieces++].to = to;
  }
  pthread_mutex_unlock(&whole_lock);
}

void shadow_kernel_writes(Shadow *s, bool in_graph) {
  if (!s->whole && !s->npieces && (s->graph_writes || !in_graph)) return;
  pthread_mutex_lock(&whole_lock);
  s->whole = false;
  s->npieces = 0;
  s->graph_writes |= in_graph;
  pthread_mutex_unlock(&whole_lock);
}

// --- allocations come and go ---

static bool is_tracked(SessionMemoryKind kind) {
  return kind == SESSION_DEVICE || kind == SESSION_POOL || kind == SESSION_GRAPH ||
         kind == SESSION_VIRTUAL;
}

static void say_no_memory(uint64_t size) {
  static _Atomic bool said;
  if (!atomic_exchange(&said, true))
    session_note(SEVERITY_WARNING,
                 "initcheck: there is no memory for the shadow of an allocation of %llu bytes; it "
                 "and others like it count as initialised",
                 (unsigned long long)size);
}

// With a shared shadow only the mapping goes, unless it was the last one of memory that is gone.
static void release(Shadow *s) {
  SharedShadow *p = s->shared;
  if (p) {
    if (!--p->maps && p->gone && p->address && p->device) {
      shadow_give(p->device, p->address, shadow_bytes(p->size));
      p->address = 0;
    }
  } else if (s->address) {
    shadow_give(s->device, s->address, shadow_bytes(s->size));
  }
  free(s);
}

static void remove_entry(Shadow *s) {
  sorted_remove(&table, s->base);
  release(s);
}

static void add(Shadow *s) {
  shadow_lock_to_change();
  // The end of older entries there was never announced.
  for (Shadow *old; (old = shadow_find(s->base)) ||
                    ((old = next_from(s->base)) && old->base - s->base < s->size);)
    remove_entry(old);
  sorted_put(&table, s->base, s);
  if (s->address) session_ranges_set_shadow(s->base, s->address);
  shadow_unlock();
}

static Shadow *new_entry(uint64_t base, uint64_t size, SessionMemoryKind kind) {
  Shadow *s = mem_alloc(sizeof *s);
  *s = (Shadow){.base = base, .size = size, .kind = kind};
  return s;
}

void session_shadow_alloc(SessionDevice *d, const void *stream, uint64_t base, uint64_t size,
                          SessionMemoryKind kind) {
  if (!session_wants_shadow() || !size) return;
  Shadow *s = new_entry(base, size, kind);
  bool fresh = false;
  if (d && is_tracked(kind) && base % 4 == 0) {
    s->address = shadow_take(d, shadow_bytes(size), &fresh);
    if (!s->address) say_no_memory(size);
    s->device = s->address ? d : NULL;
  }
  if (s->address && !fresh) shadow_set(s, stream, 0, size, SHADOW_NEVER);
  add(s);
}

static SharedShadow *shared_of(SessionDevice *d, const void *physical, uint64_t size) {
  for (SharedShadow *p = shared_list; p; p = p->next)
    if (p->physical == physical && !p->gone) return p;
  if (!d) return NULL;
  SharedShadow *p = mem_alloc(sizeof *p);
  bool fresh = false;
  *p = (SharedShadow){.physical = physical,
                      .size = size,
                      .device = d,
                      .address = shadow_take(d, shadow_bytes(size), &fresh),
                      .next = shared_list};
  if (!p->address) say_no_memory(size);
  else if (!fresh)
    shadow_set(&(Shadow){.address = p->address, .device = d, .size = size}, NULL, 0, size,
               SHADOW_NEVER);
  shared_list = p;
  return p;
}

void session_shadow_map(SessionDevice *d, uint64_t base, uint64_t size, const void *physical,
                        uint64_t offset, uint64_t physical_size) {
  if (!session_wants_shadow() || !size) return;
  Shadow *s = new_entry(base, size, SESSION_VIRTUAL);
  shadow_lock_to_change();
  SharedShadow *p = shared_of(d, physical, physical_size);
  if (p && p->address && p->device) {
    p->maps++;
    s->shared = p;
    s->device = p->device;
    s->address = p->address + offset / 4;
  }
  shadow_unlock();
  add(s);
}

// What others have written into it counts as initialised, now and for ever.
void session_shadow_physical_shared(const void *physical) {
  if (!session_wants_shadow()) return;
  shadow_lock_to_change();
  for (SharedShadow *p = shared_list; p; p = p->next) {
    if (p->physical != physical || p->gone || !p->address) continue;
    shadow_set(&(Shadow){.address = p->address, .device = p->device, .size = p->size}, NULL, 0,
               p->size, SHADOW_GOOD);
    for (Shadow *s = next_from(0); s; s = next_after(s)) {
      if (s->shared != p) continue;
      s->address = 0;
      s->device = NULL;
      session_ranges_set_shadow(s->base, 0);
    }
    p->address = 0;
  }
  shadow_unlock();
}

void session_shadow_physical_gone(const void *physical) {
  if (!session_wants_shadow()) return;
  shadow_lock_to_change();
  for (SharedShadow *p = shared_list; p; p = p->next) {
    if (p->physical != physical || p->gone) continue;
    p->gone = true;  // its number may be used again
    if (p->address && p->device && !p->maps) {
      shadow_give(p->device, p->address, shadow_bytes(p->size));
      p->address = 0;
    }
  }
  shadow_unlock();
}

void session_shadow_free(uint64_t base) {
  if (!session_wants_shadow()) return;
  shadow_lock_to_change();
  Shadow *s = sorted_get(&table, base);
  if (s) {
    if (s->address) session_ranges_set_shadow(base, 0);
    remove_entry(s);
  }
  shadow_unlock();
}

// Another process, another API or the host may write to it from now on.
void session_shadow_forget(uint64_t address) {
  if (!session_wants_shadow()) return;
  shadow_lock_to_change();
  Shadow *s = shadow_find(address);
  if (s && s->address) {
    // kernels that run now still look at it: it is not given back
    shadow_set(s, NULL, 0, s->size, SHADOW_GOOD);
    s->address = 0;
    s->device = NULL;
    s->shared = NULL;
    session_ranges_set_shadow(s->base, 0);
  }
  shadow_unlock();
}

void session_shadow_unwritten(uint64_t base, const void *stream) {
  if (!session_wants_shadow()) return;
  shadow_lock();
  Shadow *s = shadow_find(base);
  if (s && s->address) {
    shadow_kernel_writes(s, false);
    shadow_set(s, stream, 0, s->size, SHADOW_NEVER);
  }
  shadow_unlock();
}

bool session_shadow_follows(SessionKernel *k) {
  const WovenKernel *code = session_kernel_code(k);
  return code && code->instrumented && !code->uninit_reason;
}

bool session_shadow_marks(SessionKernel *k, const void *record) {
  WgLaunch r;
  if (!session_shadow_follows(k) || !record) return false;
  memcpy(&r, record, sizeof r);
  return r.launch && (r.init_memory || !session_kernel_code(k)->stores_anywhere);
}

void session_shadow_unknown_kernel(SessionDevice *d, const void *stream) {
  if (!session_wants_shadow()) return;
  shadow_lock();
  for (Shadow *s = next_from(0); s; s = next_after(s)) {
    if (!s->address || s->whole) continue;
    shadow_set(s, s->device == d ? stream : NULL, 0, s->size, SHADOW_GOOD);
    shadow_covered(s, 0, s->size);
  }
  shadow_heap_forget(d, stream);
  shadow_unlock();
}

// With the lock held, to change.
static void forget_device(SessionDevice *d) {
  for (Shadow *s = next_from(0); s; s = next_after(s)) {
    if (s->device != d) continue;
    s->address = 0;
    s->device = NULL;
    s->shared = NULL;
    session_ranges_set_shadow(s->base, 0);
  }
  for (SharedShadow *p = shared_list; p; p = p->next)
    if (p->device == d) {
      p->device = NULL;
      p->address = 0;
    }
}

void session_shadows_close(SessionDevice *d, bool alive) {
  if (!session_wants_shadow()) return;
  shadow_lock_to_change();
  forget_device(d);
  shadow_unlock();
  shadow_pool_close(d, alive);
}

bool session_shadow_give_up(SessionDevice *d) {
  if (!session_wants_shadow() || graphs_know) return false;
  shadow_lock_to_change();
  forget_device(d);
  bool any = shadow_pool_give_up(d);
  shadow_unlock();
  if (any)
    session_note(SEVERITY_WARNING, "initcheck: the program needs all memory of the device: what it "
                                   "allocates there counts as initialised from now on");
  return any;
}

// --- what a launch is told ---

// A pointer into no allocation that anybody told us of may lead to the device's heap, which has no
// facts: what is written through it is not marked.
static bool may_write_heap(const WovenKernel *code, const SessionParams *params) {
  for (uint32_t i = 0; i < code->nfacts; i++) {
    const WeaveFact *f = &code->facts[i];
    uint64_t pointer;
    WgMemoryRange known;
    if (f->kind == FACT_SHADOW && !f->read_only && session_fact_pointer(f, params, &pointer) &&
        pointer && !session_ranges_find(pointer, &known))
      return true;
  }
  return false;
}

// A pointer to the end of an allocation belongs to it.
static Shadow *pointed_to(const WeaveFact *f, const SessionParams *params) {
  uint64_t pointer;
  if (f->kind != FACT_SHADOW || !session_fact_pointer(f, params, &pointer) || !pointer) return NULL;
  Shadow *s = shadow_find(pointer);
  if (!s) {
    s = shadow_find(pointer - 1);
    if (s && s->base + s->size != pointer) s = NULL;
  }
  return s && s->address ? s : NULL;
}

// Kernels may have filled it: where looking costs little, that is noticed. What was bad the last
// time is looked at first.
static bool is_whole(Shadow *s) {
  void *user;
  if (s->whole || s->graph_writes || !session_device_ops(s->device, &user)->direct) return s->whole;
  const uint8_t *bits = (const uint8_t *)(uintptr_t)s->address;
  uint64_t word = s->bad_at / 4 * 4;
  if (s->bad_at && shadow_first_bad(&bits[word / 4], MIN(s->size - word, 4u)) == 0) return false;
  s->bad_at = shadow_first_bad(bits, s->size);
  if (s->bad_at == s->size) {
    s->bad_at = 0;
    shadow_covered(s, 0, s->size);
  }
  return s->whole;
}

static bool reads_good(const WovenKernel *code, const SessionParams *params) {
  for (uint32_t i = 0; i < code->nfacts; i++) {
    Shadow *s = code->facts[i].is_read ? pointed_to(&code->facts[i], params) : NULL;
    if (s && !is_whole(s)) return false;
  }
  return true;
}

// This launch may store something bad: what it may store to must be marked, and is wholly
// initialised no more.
static void expect_stores(const WovenKernel *code, const SessionParams *params, bool in_graph) {
  for (Shadow *s = code->stores_anywhere ? next_from(0) : NULL; s; s = next_after(s))
    if (s->address) shadow_kernel_writes(s, in_graph);
  for (uint32_t i = 0; i < code->nfacts; i++) {
    Shadow *s = code->facts[i].read_only ? NULL : pointed_to(&code->facts[i], params);
    if (s) shadow_kernel_writes(s, in_graph);
  }
}

bool session_shadow_facts(const WovenKernel *code, const SessionParams *params, bool in_graph,
                          void *record) {
  bool heap = (in_graph || shadow_has_heap()) && may_write_heap(code, params);
  if (heap && in_graph) shadow_heap_lose();
  shadow_lock();
  if (in_graph) graphs_know = true;
  if (in_graph || !code->good_if_reads_good || !reads_good(code, params))
    expect_stores(code, params, in_graph);
  for (uint32_t i = 0; i < code->nfacts; i++) {
    uint64_t fact[3] = {0};
    if (code->facts[i].kind != FACT_SHADOW) continue;
    const Shadow *s = pointed_to(&code->facts[i], params);
    if (s && (in_graph || !s->whole))
      memcpy(fact, (uint64_t[]){s->base, s->size, s->address}, sizeof fact);
    memcpy((char *)record + code->facts[i].record_offset, fact, sizeof fact);
  }
  shadow_unlock();
  return heap;
}

void session_shadow_refresh(SessionKernel *k, const SessionParams *params, void *record) {
  const WovenKernel *code = session_kernel_code(k);
  if (!code || !code->record_bytes || !session_wants_shadow()) return;
  WgLaunch r;
  memcpy(&r, record, sizeof r);
  r.flags &= ~(uint32_t)WG_LAUNCH_HEAP_UNSEEN;
  if (session_shadow_facts(code, params, false, record)) r.flags |= WG_LAUNCH_HEAP_UNSEEN;
  memcpy(record, &r, sizeof r);
}

uint64_t session_shared_shadow(SessionKernel *k, uint64_t blocks, uint32_t bytes,
                               WgLaunch *record) {
  const WovenKernel *code = session_kernel_code(k);
  if (!session_wants_shadow() || !bytes || !blocks || !code || !code->instrumented) return 0;
  bytes += 1024;  // from sm_90 on a block's variables begin behind what the system keeps for itself
  record->shared_stride = (((bytes + 3) / 4) + 15) & ~15u;
  uint64_t most = SESSION_SHARED_SHADOW / record->shared_stride;
  record->shared_blocks = (uint32_t)MIN(blocks, most);
  return (uint64_t)record->shared_stride * record->shared_blocks;
}

// --- warpgrind.h ---

// The program asks about what it has done so far: where streams see to the shadow, they must have
// got there.
static void settle_at(uint64_t address) {
  Shadow *s;
  shadow_lock();
  shadow_run(address, 1, &s);
  SessionDevice *d = s && s->address ? s->device : NULL;
  shadow_unlock();
  void *user;
  const SessionDeviceOps *ops = d ? session_device_ops(d, &user) : NULL;
  if (ops && !ops->direct && ops->settle) ops->settle(user);
}

void session_shadow_mark(uint64_t address, uint64_t n, bool initialised) {
  if (!session_wants_shadow()) return;
  settle_at(address);
  shadow_lock();
  for (uint64_t step; n; address += step, n -= step) {
    Shadow *s;
    step = shadow_run(address, n, &s);
    if (!s || !s->address) continue;
    uint64_t at = address - s->base;
    if (!initialised) shadow_kernel_writes(s, false);
    shadow_set(s, NULL, at, step, initialised ? SHADOW_GOOD : SHADOW_NEVER);
    if (initialised) shadow_covered(s, at, at + step);
  }
  shadow_unlock();
}

bool session_shadow_is_initialised(uint64_t address, uint64_t n) {
  bool all = true;
  if (!session_wants_shadow()) return true;
  settle_at(address);
  shadow_lock();
  for (uint64_t step; n && all; address += step, n -= step) {
    Shadow *s;
    step = shadow_run(address, n, &s);
    if (!s || !s->address || s->whole) continue;
    ShadowTally t = {0};
    uint64_t at = address - s->base;
    if (shadow_read_tally(s, at, step, &t)) all = !t.derived && !t.never;
  }
  shadow_unlock();
  return all;
}
