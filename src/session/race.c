// racecheck: memory for the entries of allocations and of shared memory, and what a launch is told.
// See tools/racecheck/abi.h.
//
// Entries hold the number of the launch that made them, so nothing is cleared between launches.
// There are 511 numbers, in two halves: before a half is used again all entries are cleared, when
// no launch of the last time runs any more.
#include "session/race.h"

#include <sys/mman.h>

#include "session/tool_memory.h"

enum {
  HALF = WG_RACE_HALF,
  SHARED_LEAST = 1 << 20,
  SHARED_MOST = 256 << 20,
  SYSTEM_SHARED = WG_SHARED_RESERVED
};
pthread_mutex_t session_race_lock = PTHREAD_MUTEX_INITIALIZER;
static RaceDevice *devices;
static U64Map known;  // base of an allocation -> RaceEntries
static uint32_t last_serial, last_id;

bool session_wants_races(void) { return (session_tools() & TOOL_BIT(RACECHECK)) != 0; }

RaceDevice *session_race_devices(void) { return devices; }

RaceDevice *session_race_device(SessionDevice *d, bool add) {
  for (RaceDevice *r = devices; r; r = r->next)
    if (r->device == d) return r;
  if (!add) return NULL;
  RaceDevice *r = mem_alloc(sizeof *r);
  r->device = d;
  r->id = ++last_id;
  r->next = devices;
  return devices = r;
}

static void say_no_memory(uint64_t size) {
  static _Atomic bool said;
  if (!atomic_exchange(&said, true))
    session_note(SEVERITY_WARNING,
                 "racecheck: there is no memory to follow %llu bytes; this memory and others like "
                 "it are not checked",
                 (unsigned long long)size);
}

static void clear(SessionDevice *d, uint64_t address, size_t bytes) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(d, &user);
  if (ops->direct) memset((void *)(uintptr_t)address, 0, bytes);
  else ops->fill(user, NULL, address, 0, bytes);
}

// --- entries of allocations, with the lock held ---

// a vector access may begin at the last byte
static size_t entry_bytes(uint64_t size) {
  return (size_t)((size + 3) / 4 + 8) * (session_plan()->race_full ? 16 : 8);
}

typedef struct Meant {
  uint64_t base, size;
} Meant;
static VEC(Meant) meant;  // races there are

// Words of which a part is named count as a whole.
static bool meant_words(const RaceEntries *e, Meant m, uint64_t *first, uint64_t *end) {
  uint64_t from = MAX(m.base, e->base), to = MIN(m.base + m.size, e->base + e->size);
  *first = (from - e->base) / 4;
  *end = (to - e->base + 3) / 4;
  return from < to;
}

static void mark_meant(const RaceEntries *e, Meant m) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(e->device, &user);
  uint64_t each = session_plan()->race_full ? 16 : 8, first, end;
  if (!meant_words(e, m, &first, &end)) return;
  if (ops->direct) memset((char *)(uintptr_t)e->address + first * each, 0xff, (end - first) * each);
  else ops->fill(user, NULL, e->address + first * each, 0xff, (end - first) * each);
}

static void mark_all_meant(const RaceEntries *e) {
  for (uint32_t i = 0; i < meant.len; i++) mark_meant(e, meant.data[i]);
}

// Launches may run meanwhile, so what is meant stays so all the time.
static void clear_but_meant(const RaceEntries *e) {
  uint64_t each = session_plan()->race_full ? 16 : 8, words = e->bytes / each;
  for (uint64_t at = 0; at < words;) {
    uint64_t next = words, behind = at, first, end;
    for (uint32_t i = 0; i < meant.len; i++) {
      if (!meant_words(e, meant.data[i], &first, &end)) continue;
      if (first <= at && end > behind) behind = end;
      else if (first > at) next = MIN(next, first);
    }
    if (behind == at) {
      clear(e->device, e->address + at * each, (size_t)((next - at) * each));
      behind = next;
    }
    at = behind;
  }
}

static void drop(void *entries) {
  RaceEntries *e = entries;
  session_tool_memory_give(e->device, TOOL_RACECHECK, e->address, e->bytes);
  free(e);
}

// Memory that was freed in the order of a stream is used again in that order, and so are its
// entries if it comes back as it was. All others wait until no launch runs that may still come to
// them.
static VEC(RaceEntries *) left;  // their place in `known` is taken

static void remove_of_device(SessionDevice *d, bool leaving_only, void (*end)(void *entries)) {
  VEC(uint64_t) gone = {0};
  uint32_t it = 0;
  uint64_t base;
  void *e;
  while (u64map_next(&known, &it, &base, &e))
    if (((RaceEntries *)e)->device == d && (!leaving_only || ((RaceEntries *)e)->leaving))
      vec_push(&gone, base);
  for (uint32_t i = 0; i < gone.len; i++) end(u64map_remove(&known, gone.data[i]));
  vec_free(&gone);
  for (uint32_t i = left.len; i-- > 0;)
    if (left.data[i]->device == d) {
      end(left.data[i]);
      left.data[i] = left.data[--left.len];
    }
}

static void drop_leaving(SessionDevice *d) { remove_of_device(d, true, drop); }

static uint64_t take(SessionDevice *d, size_t bytes, bool *fresh) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(d, &user);
  uint64_t address = session_tool_memory_take(d, TOOL_RACECHECK, bytes, fresh);
  if (address || !ops->settle || !ops->settle(user)) return address;
  drop_leaving(d);
  return session_tool_memory_take(d, TOOL_RACECHECK, bytes, fresh);
}

RaceEntries *session_race_entries(SessionDevice *d, uint64_t base, uint64_t size) {
  RaceEntries *e = u64map_get(&known, base);
  if (e && e->size == size && e->device == d) {
    if (e->leaving) {
      clear(d, e->address, e->bytes);
      mark_all_meant(e);
    }
    e->leaving = false;
    return e;
  }
  // another device's; it may not be able to reach it
  if (e && e->size == size && !e->leaving) return NULL;
  if (e) u64map_remove(&known, base);
  if (e && e->leaving) vec_push(&left, e);
  else if (e) drop(e);
  bool fresh = false;
  size_t bytes = entry_bytes(size);
  uint64_t address = take(d, bytes, &fresh);
  if (!address) {
    say_no_memory(size);
    return NULL;
  }
  if (!fresh) clear(d, address, bytes);
  e = mem_alloc(sizeof *e);
  *e = (RaceEntries){base, size, address, bytes, d, false};
  u64map_put(&known, base, e);
  mark_all_meant(e);
  return e;
}

void session_race_meant(uint64_t address, uint64_t n) {
  if (!session_wants_races() || !n) return;
  pthread_mutex_lock(&session_race_lock);
  vec_push(&meant, (Meant){address, n});
  uint32_t it = 0;
  uint64_t base;
  void *e;
  while (u64map_next(&known, &it, &base, &e)) mark_meant(e, meant.data[meant.len - 1]);
  pthread_mutex_unlock(&session_race_lock);
}

// With the allocation goes what was said of it.
static void forget_meant(const RaceEntries *e) {
  for (uint32_t i = meant.len; i-- > 0;)
    if (meant.data[i].base - e->base < e->size) meant.data[i] = meant.data[--meant.len];
}

void session_race_free(uint64_t base, bool in_order) {
  if (!session_wants_races()) return;
  pthread_mutex_lock(&session_race_lock);
  RaceEntries *e = u64map_get(&known, base);
  if (e) forget_meant(e);
  if (e && in_order) e->leaving = true;
  else if (e) drop(u64map_remove(&known, base));
  pthread_mutex_unlock(&session_race_lock);
}

// A kernel that looks addresses up may come to any allocation.
typedef struct Bare {
  VEC(WgMemoryRange) list;
} Bare;
static void collect_bare(void *user, const HeapRange *r) {
  Bare *b = user;
  if (r->memory.state == WG_MEMORY_LIVE && !r->memory.race && r->kind != SESSION_ARRAY)
    vec_push(&b->list, r->memory);
}

static void cover_all(SessionDevice *d) {
  static uint64_t seen;
  if (session_ranges_version() == seen) return;
  Bare b = {0};
  session_ranges_each(collect_bare, &b);
  for (uint32_t i = 0; i < b.list.len; i++) {
    RaceEntries *e = session_race_entries(d, b.list.data[i].base, b.list.data[i].size);
    if (e) session_ranges_set_address(e->base, offsetof(WgMemoryRange, race), e->address);
  }
  seen = session_ranges_version();
  vec_free(&b.list);
}

void session_race_cover(SessionDevice *d, SessionKernel *k) {
  const WovenKernel *code = session_kernel_code(k);
  if (!code || !code->race_at || !code->race_looks_up) return;
  pthread_mutex_lock(&session_race_lock);
  cover_all(d);
  pthread_mutex_unlock(&session_race_lock);
}

// --- numbers of launches ---

static void clear_all(RaceDevice *r) {
  uint32_t it = 0;
  uint64_t base;
  void *e;
  while (u64map_next(&known, &it, &base, &e))
    if (((RaceEntries *)e)->device == r->device) clear_but_meant(e);
  if (r->shared) clear(r->device, r->shared, r->shared_bytes);
}

enum { TOLD_BYTES = (sizeof(RaceTold) + 4095) & ~4095u };

static void open_told(RaceDevice *r) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(r->device, &user);
  void *p = mmap(NULL, TOLD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return;
  if (ops->map_host(user, p, TOLD_BYTES, &r->told_at)) r->told = p;
  else munmap(p, TOLD_BYTES);
}

uint32_t session_race_next(RaceDevice *r) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(r->device, &user);
  uint32_t next = r->number + 1 == WG_RACE_LAUNCHES ? 1 : r->number + 1;
  if (!r->told) open_told(r);
  if (!r->told) return 0;
  if (next == HALF || (next == 1 && r->number)) {
    if (ops->settle ? !ops->settle(user) : r->running[next / HALF]) return 0;
    session_race_heard(r);
    if (ops->settle || !(r->running[0] | r->running[1])) drop_leaving(r->device);
    clear_all(r);
    session_order_forget(r->device, next, next + HALF);
  }
  r->number = next;
  r->copies[next] = (RaceCopy){0};
  r->told->met[next] = (WgRaceMet){0};
  if (!ops->settle) r->running[next / HALF]++;
  return next;
}

void session_race_done(SessionDevice *d, uint64_t number) {
  if (!number) return;
  pthread_mutex_lock(&session_race_lock);
  RaceDevice *r = session_race_device(d, true);
  if (r->running[number / HALF]) r->running[number / HALF]--;
  pthread_mutex_unlock(&session_race_lock);
}

// --- what a launch is told ---

static bool entries_pointed_to(const WeaveFact *f, const SessionParams *params,
                               WgMemoryRange *out) {
  uint64_t pointer;
  return f->kind == FACT_RACE && session_fact_pointer(f, params, &pointer) && pointer &&
         session_ranges_find(pointer, out);
}

static bool has_branches(const SessionLaunch *l) { return l->beside && !l->beside->alone; }
static bool overlaps(const WovenKernel *code, const SessionLaunch *l) {
  return l->overlaps && !code->race_waits;
}

// Something else may run at the same time.
static bool is_concurrent(const WovenKernel *code, const SessionLaunch *l) {
  return session_order_concurrent() || has_branches(l) || overlaps(code, l) || code->race_lets;
}

// May this launch write to that allocation?
static bool is_written(const WovenKernel *code, const SessionLaunch *l, const SessionParams *params,
                       uint64_t base) {
  WgMemoryRange r;
  if (code->race_stores_anywhere || is_concurrent(code, l)) return true;  // another one may
  for (uint32_t i = 0; i < code->nfacts; i++)
    if (!code->facts[i].read_only && entries_pointed_to(&code->facts[i], params, &r) &&
        r.base == base)
      return true;
  return false;
}

// Every pointer that leads there does so in a known way, and each thread stays with its own.
static bool is_private(const WovenKernel *code, const WeaveFact *f, const SessionParams *params,
                       const SessionLaunch *l, uint64_t base) {
  enum { MOST = 16 };
  const WeaveFact *list[MOST];
  uint32_t n = 0;
  WgMemoryRange r;
  if (!f->nrace_reaches || is_concurrent(code, l)) return false;
  for (uint32_t i = 0; i < code->nfacts; i++)
    if (entries_pointed_to(&code->facts[i], params, &r) && r.base == base) {
      if (n == MOST) return false;
      list[n++] = &code->facts[i];
    }
  return session_race_apart(code, l, params, list, n);
}

static void fill_facts(SessionDevice *d, const WovenKernel *code, const SessionLaunch *l,
                       const SessionParams *params, void *record) {
  for (uint32_t i = 0; i < code->nfacts; i++) {
    uint64_t fact[3] = {0};
    WgMemoryRange r;
    if (code->facts[i].kind != FACT_RACE) continue;
    bool found = entries_pointed_to(&code->facts[i], params, &r) &&
                 is_written(code, l, params, r.base) &&
                 !is_private(code, &code->facts[i], params, l, r.base);
    const RaceEntries *e = found ? session_race_entries(d, r.base, r.size) : NULL;
    if (e) memcpy(fact, (uint64_t[]){e->base, e->size, e->address}, sizeof fact);
    memcpy((char *)record + code->facts[i].record_offset, fact, sizeof fact);
  }
}

static void fill_groups(const WovenKernel *code, const SessionLaunch *l,
                        const SessionParams *params, void *record) {
  for (uint32_t i = 0; i < code->nrace_groups; i++)
    memcpy((char *)record + code->race_groups[i].record_offset,
           &(uint64_t){!session_race_group_apart(code, l, params, &code->race_groups[i])}, 8);
}

static void clear_facts(const WovenKernel *code, void *record) {
  for (uint32_t i = 0; i < code->nrace_groups; i++)
    memset((char *)record + code->race_groups[i].record_offset, 0, 8);
  for (uint32_t i = 0; i < code->nfacts; i++)
    if (code->facts[i].kind == FACT_RACE)
      memset((char *)record + code->facts[i].record_offset, 0, 24);
}

static bool has_nothing_to_check(const WovenKernel *code, const void *record) {
  for (uint32_t i = 0; i < code->nfacts; i++) {
    uint64_t fact[3];
    memcpy(fact, (const char *)record + code->facts[i].record_offset, sizeof fact);
    if (code->facts[i].kind == FACT_RACE && fact[1]) return false;
  }
  for (uint32_t i = 0; i < code->nrace_groups; i++) {
    uint64_t left;
    memcpy(&left, (const char *)record + code->race_groups[i].record_offset, sizeof left);
    if (left) return false;
  }
  return code->race_by_facts;
}

bool session_race_settled(SessionKernel *k, const void *record) {
  return session_tools() == TOOL_BIT(RACECHECK) &&
         has_nothing_to_check(session_kernel_code(k), record);
}

static uint32_t bits_for(uint64_t n) {
  uint32_t bits = 1;
  while (bits < 40 && n > 1ull << bits) bits++;
  return bits;
}

static void choose_layout(const WovenKernel *code, const SessionLaunch *l, WgRaceRecord *out) {
  uint64_t block = (uint64_t)l->block[0] * l->block[1] * l->block[2],
           threads = block * l->grid[0] * l->grid[1] * l->grid[2];
  uint32_t thread = MIN(MAX(bits_for(threads), 8u), (uint32_t)WG_RACE_MOST_THREAD_BITS),
           rest = WG_RACE_TIME_BITS - thread;
  uint32_t syncs = code->race_syncs ? MIN(4u, rest / 4) : 0,
           clock = code->race_clock ? MIN((rest - syncs) / 2, 16u) : 0,
           barriers = rest - syncs - clock;
  thread = WG_RACE_TIME_BITS - syncs - clock - barriers;
  uint32_t at = WG_RACE_TIME_AT + thread + clock;
  out->layout = WG_RACE_LAYOUT(clock, syncs, barriers, thread, block) |
                (session_plan()->race_full ? (uint32_t)WG_RACE_PAIRS : 0);
  out->threads = (1u << thread) - 1;
  out->block = (uint32_t)block;
  out->sync = syncs ? 1ull << at : 0;
  out->syncs = ((1ull << syncs) - 1) << at;
  out->barrier = 1ull << (at + syncs);
  out->interval = ~0ull << (at + syncs);
  out->moment = ~0ull << at;
  out->barriers = ((1ull << barriers) - 1) << (at + syncs);
}

// Blocks share what there is by their numbers; an entry of another block is nothing.
static void give_shared(RaceDevice *r, const WovenKernel *code, const SessionLaunch *l,
                        WgRaceRecord *out) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(r->device, &user);
  uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2],
           bytes = code->race_shared + l->shared + SYSTEM_SHARED;
  uint64_t stride = (bytes + 63) / 64 * 64 * 4, need = MIN(stride * blocks, (uint64_t)SHARED_MOST);
  if (!code->race_shared) return;
  // the old one is left to launches that use it, and goes with the device
  if (r->shared_bytes < need) {
    size_t size = SHARED_LEAST;
    while (size < need) size *= 2;
    uint64_t p = ops->alloc(user, size);
    if (p) {
      r->shared = p;
      r->shared_bytes = size;
    }
  }
  if (!r->shared || r->shared_bytes < stride) return;
  out->shared = r->shared;
  out->shared_stride = (uint32_t)stride;
  out->shared_slots = (uint32_t)MIN(r->shared_bytes / stride, blocks);
}

// Which launches nothing orders before this one, and what it is called by others. number 0: it
// leaves nothing behind.
static void fill_order(RaceDevice *r, SessionKernel *k, const SessionLaunch *l, uint32_t number,
                       uint32_t launch, uint64_t channel, WgRaceRecord *out) {
  const WovenKernel *code = session_kernel_code(k);
  RaceOrder order;
  session_order_launch(r->device, l->stream, number, overlaps(code, l), code->race_tells_host,
                       &order);
  if (!number) return;
  for (uint32_t i = 0; l->beside && i < l->beside->n && order.n < RACE_UNORDERED; i++)
    order.number[order.n++] = l->beside->number[i];
  r->told->launches[number] = (WgRaceLaunch){launch, k->piece->site_base + code->race_first_site,
                                             channel};
  out->launches = r->told_at + offsetof(RaceTold, launches);
  out->channel = channel;
  out->sites = k->piece->site_base + code->race_first_site;
  if (order.one_thread && (session_order_concurrent() || has_branches(l)))
    out->unordered = WG_RACE_LATER;
  // smaller numbers are of launches that come before this one
  uint32_t ordered = out->unordered ? number : WG_RACE_LAUNCHES;
  for (uint32_t i = 0; i < order.n; i++) {
    out->unordered |= (uint64_t)order.number[i] << 9 * i;
    ordered = MIN(ordered, order.number[i]);
  }
  out->replace = (uint64_t)ordered << WG_RACE_LAUNCH_AT;
}

static void fill(RaceDevice *r, const WovenKernel *code, const SessionLaunch *l,
                 WgRaceRecord *out) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(r->device, &user);
  choose_layout(code, l, out);
  give_shared(r, code, l, out);
  if (code->race_clock && !r->slots)
    r->slots = ops->alloc(user, sizeof(WgRaceSlot) * WG_RACE_SLOTS);
  if (code->race_clock) out->slots = r->slots;
  out->bounds = code->race_bounds;
  out->serial = ++last_serial;
}

uint64_t session_race_record(SessionDevice *d, SessionKernel *k, const SessionLaunch *l,
                             uint32_t launch, uint64_t channel, const SessionParams *params,
                             void *record) {
  const WovenKernel *code = session_kernel_code(k);
  WgRaceRecord out = {0};
  if (!session_wants_races() || !code || !code->race_at) return 0;
  pthread_mutex_lock(&session_race_lock);
  RaceDevice *r = session_race_device(d, true);
  session_order_uses(l->stream);
  fill_facts(d, code, l, params, record);
  fill_groups(code, l, params, record);
  uint32_t number = has_nothing_to_check(code, record) ? 0 : session_race_next(r);
  fill_order(r, k, l, number, launch, channel, &out);
  if (number) fill(r, code, l, &out);
  // nothing to check, nobody could be told, or no clocks, no order: nothing could be said
  if (!out.launches || (code->race_clock && !out.slots)) {
    memset(&out, 0, sizeof out);
    clear_facts(code, record);
  } else out.start = (uint64_t)number << WG_RACE_LAUNCH_AT;
  memcpy((char *)record + code->race_at, &out, sizeof out);
  pthread_mutex_unlock(&session_race_lock);
  return number;
}

void session_races_close(SessionDevice *d, bool alive) {
  if (!session_wants_races()) return;
  pthread_mutex_lock(&session_race_lock);
  remove_of_device(d, false, free);  // their memory goes with the device
  for (RaceDevice **p = &devices; *p; p = &(*p)->next)
    if ((*p)->device == d) {
      RaceDevice *r = *p;
      *p = r->next;
      session_race_heard(r);
      if (r->told && alive) {
        void *user;
        session_device_ops(d, &user)->unmap_host(user, r->told);
        munmap(r->told, TOLD_BYTES);
      }
      free(r);  // the rest of its memory goes with the context's
      break;
    }
  pthread_mutex_unlock(&session_race_lock);
  session_race_tell();
}
