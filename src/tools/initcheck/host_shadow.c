// The table of allocations with their shadows.
#include "session/tool_memory.h"
#include "tools/initcheck/host.h"

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
static _Atomic bool graphs_know;  // captured launches hold addresses of shadows

void shadow_graphs_use(void) { graphs_know = true; }

void shadow_lock(void) { pthread_rwlock_rdlock(&lock); }
void shadow_lock_to_change(void) { pthread_rwlock_wrlock(&lock); }
void shadow_unlock(void) { pthread_rwlock_unlock(&lock); }

// The first entry that begins at the address or later; NULL: none.
static Shadow *next_from(uint64_t address) {
  uint64_t base;
  return sorted_from(&table, address, &base);
}
Shadow *shadow_next(const Shadow *s) {
  if (!s) return next_from(0);
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

// --- allocations that are wholly initialised ---

static void drop_piece(Shadow *s, uint32_t i) {
  s->npieces--;
  memmove(&s->pieces[i], &s->pieces[i + 1], (s->npieces - i) * sizeof s->pieces[0]);
}

void shadow_covered(Shadow *s, uint64_t from, uint64_t to) {
  s->touched = true;
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
    if (s->npieces == SHADOW_PIECES) drop_piece(s, 0);  // `whole` is set later or never
    s->pieces[s->npieces].from = from;
    s->pieces[s->npieces++].to = to;
  }
  pthread_mutex_unlock(&whole_lock);
}

void shadow_kernel_writes(Shadow *s, bool in_graph) {
  s->touched = true;
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

static uint64_t take(SessionDevice *d, uint64_t size, bool *fresh) {
  return session_tool_memory_take(d, TOOL_INITCHECK, shadow_bytes(size), fresh);
}

static void give(SessionDevice *d, uint64_t address, uint64_t size) {
  session_tool_memory_give(d, TOOL_INITCHECK, address, shadow_bytes(size));
}

// the field of WgMemoryRange that kernels read
static void publish(uint64_t base, uint64_t shadow) {
  session_ranges_set_address(base, offsetof(WgMemoryRange, tools.shadow), shadow);
}

static void say_no_memory(uint64_t size) {
  static _Atomic bool said;
  if (!atomic_exchange(&said, true))
    session_note(SEVERITY_WARNING,
                 "initcheck: there is no memory for the shadow of an allocation of %llu bytes; it "
                 "and others like it count as initialised",
                 (unsigned long long)size);
}

// A shared shadow is given back once its physical memory is gone and has no mapping left.
static void release(Shadow *s) {
  SharedShadow *p = s->shared;
  if (p) {
    if (!--p->maps && p->gone && p->address && p->device) {
      give(p->device, p->address, p->size);
      p->address = 0;
    }
  } else if (s->address) {
    give(s->device, s->address, s->size);
  }
  free(s);
}

static void remove_entry(Shadow *s) {
  sorted_remove(&table, s->base);
  release(s);
}

static void add(Shadow *s) {
  shadow_lock_to_change();
  // older entries there have ended without MEMORY_GONE
  for (Shadow *old; (old = shadow_find(s->base)) ||
                    ((old = next_from(s->base)) && old->base - s->base < s->size);)
    remove_entry(old);
  sorted_put(&table, s->base, s);
  if (s->address) publish(s->base, s->address);
  shadow_unlock();
}

static Shadow *new_entry(uint64_t base, uint64_t size, SessionMemoryKind kind) {
  Shadow *s = mem_alloc(sizeof *s);
  *s = (Shadow){.base = base, .size = size, .kind = kind};
  return s;
}

static void new_memory(const SessionMemoryEvent *e) {
  if (!e->size) return;
  Shadow *s = new_entry(e->base, e->size, e->memory);
  bool fresh = false;
  if (e->device && is_tracked(e->memory) && e->base % 4 == 0) {
    s->address = take(e->device, e->size, &fresh);
    if (!s->address) say_no_memory(e->size);
    s->device = s->address ? e->device : NULL;
  }
  if (s->address && !fresh) shadow_set(s, e->stream, 0, e->size, SHADOW_NEVER);
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
                      .address = take(d, size, &fresh),
                      .next = shared_list};
  if (!p->address) say_no_memory(size);
  else if (!fresh)
    shadow_set(&(Shadow){.address = p->address, .device = d, .size = size}, NULL, 0, size,
               SHADOW_NEVER);
  shared_list = p;
  return p;
}

static void map(const SessionMemoryEvent *e) {
  if (!e->size) return;
  Shadow *s = new_entry(e->base, e->size, SESSION_VIRTUAL);
  shadow_lock_to_change();
  SharedShadow *p = shared_of(e->device, e->physical, e->physical_size);
  if (p && p->address && p->device) {
    p->maps++;
    s->shared = p;
    s->device = p->device;
    s->address = p->address + e->offset / 4;
  }
  shadow_unlock();
  add(s);
}

// The memory counts as initialised from now on: another process may write to it.
static void share_physical(const void *physical) {
  shadow_lock_to_change();
  for (SharedShadow *p = shared_list; p; p = p->next) {
    if (p->physical != physical || p->gone || !p->address) continue;
    shadow_set(&(Shadow){.address = p->address, .device = p->device, .size = p->size}, NULL, 0,
               p->size, SHADOW_GOOD);
    for (Shadow *s = shadow_next(NULL); s; s = shadow_next(s)) {
      if (s->shared != p) continue;
      s->address = 0;
      s->device = NULL;
      publish(s->base, 0);
    }
    p->address = 0;
  }
  shadow_unlock();
}

static void forget_physical(const void *physical) {
  shadow_lock_to_change();
  for (SharedShadow *p = shared_list; p; p = p->next) {
    if (p->physical != physical || p->gone) continue;
    p->gone = true;  // its handle may be used again
    if (p->address && p->device && !p->maps) {
      give(p->device, p->address, p->size);
      p->address = 0;
    }
  }
  shadow_unlock();
}

static void remove_memory(uint64_t base) {
  shadow_lock_to_change();
  Shadow *s = sorted_get(&table, base);
  if (s) {
    if (s->address) publish(base, 0);
    remove_entry(s);
  }
  shadow_unlock();
}

// Another process, another API or the host may write to the allocation from now on: it counts as
// initialised for good.
static void share(uint64_t address) {
  shadow_lock_to_change();
  Shadow *s = shadow_find(address);
  if (s && s->address) {
    // the shadow is not given back: kernels that run now still read it
    shadow_set(s, NULL, 0, s->size, SHADOW_GOOD);
    s->address = 0;
    s->device = NULL;
    s->shared = NULL;
    publish(s->base, 0);
  }
  shadow_unlock();
}

static void reuse(uint64_t base, const void *stream) {
  shadow_lock();
  Shadow *s = shadow_find(base);
  if (s && s->address) {
    shadow_kernel_writes(s, false);
    shadow_set(s, stream, 0, s->size, SHADOW_NEVER);
    s->touched = false;
  }
  shadow_unlock();
}

void shadow_memory_event(const SessionMemoryEvent *e) {
  switch (e->kind) {
    case MEMORY_NEW: new_memory(e); break;
    case MEMORY_MAPPED: map(e); break;
    case MEMORY_REUSED: reuse(e->base, e->stream); break;
    case MEMORY_SHARED: share(e->base); break;
    case MEMORY_GONE: remove_memory(e->base); break;
    case PHYSICAL_SHARED: share_physical(e->physical); break;
    case PHYSICAL_GONE: forget_physical(e->physical); break;
  }
}

void shadow_unchecked_writes(SessionDevice *d, const void *stream) {
  shadow_lock();
  for (Shadow *s = shadow_next(NULL); s; s = shadow_next(s)) {
    if (!s->address || s->whole) continue;
    shadow_set(s, s->device == d ? stream : NULL, 0, s->size, SHADOW_GOOD);
    shadow_covered(s, 0, s->size);
  }
  shadow_heap_forget(d, stream);
  shadow_unlock();
}

// The caller holds the lock for writing.
static void forget_device(SessionDevice *d) {
  for (Shadow *s = shadow_next(NULL); s; s = shadow_next(s)) {
    if (s->device != d) continue;
    s->address = 0;
    s->device = NULL;
    s->shared = NULL;
    publish(s->base, 0);
  }
  for (SharedShadow *p = shared_list; p; p = p->next)
    if (p->device == d) {
      p->device = NULL;
      p->address = 0;
    }
}

void shadow_forget_device(SessionDevice *d) {
  shadow_lock_to_change();
  forget_device(d);
  shadow_unlock();
}

// Kernels in graphs may read shadows at any time: then they cannot be freed.
bool shadow_release_memory(ToolDevice *d) {
  if (graphs_know) return false;
  shadow_lock_to_change();
  forget_device(d->device);
  bool any = session_tool_memory_give_up(d->device, TOOL_INITCHECK);
  shadow_unlock();
  if (any)
    session_note(SEVERITY_WARNING, "initcheck: the program needs all memory of the device: what it "
                                   "allocates there counts as initialised from now on");
  return any;
}

// --- warpgrind.h ---

// Waits until streams that set the shadow have done so.
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

static void mark(uint64_t address, uint64_t n, bool initialised) {
  for (uint64_t step; n; address += step, n -= step) {
    Shadow *s;
    step = shadow_run(address, n, &s);
    if (!s || !s->address) continue;
    uint64_t at = address - s->base;
    if (!initialised) shadow_kernel_writes(s, false);
    shadow_set(s, NULL, at, step, initialised ? SHADOW_GOOD : SHADOW_NEVER);
    if (initialised) shadow_covered(s, at, at + step);
  }
}

bool shadow_is_initialised(uint64_t address, uint64_t n) {
  bool all = true;
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

void shadow_annotated(SessionAnnotation what, uint64_t address, uint64_t n) {
  if (what != SESSION_INITIALISED && what != SESSION_UNINITIALISED) return;
  settle_at(address);
  shadow_lock();
  mark(address, n, what == SESSION_INITIALISED);
  shadow_unlock();
}
