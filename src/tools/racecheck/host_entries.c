// Memory for the entries of allocations. Entries contain the number of the launch that made them,
// so nothing is cleared between launches.
#include "session/tool_memory.h"
#include "tools/racecheck/host.h"

static U64Map known;  // base of an allocation -> RaceEntries

static void say_no_memory(uint64_t size) {
  static _Atomic bool said;
  if (!atomic_exchange(&said, true))
    session_note(SEVERITY_WARNING,
                 "racecheck: there is no memory to follow %llu bytes; this memory and others like "
                 "it are not checked",
                 (unsigned long long)size);
}

void race_clear(SessionDevice *d, uint64_t address, size_t bytes) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(d, &user);
  if (ops->direct) memset((void *)(uintptr_t)address, 0, bytes);
  else ops->fill(user, NULL, address, 0, bytes);
}

static uint64_t entry_size(void) { return race_wants_pairs() ? 16 : 8; }

// With room for a vector access that begins at the last byte.
static size_t entry_bytes(uint64_t size) { return (size_t)((size + 3) / 4 + 8) * entry_size(); }

// --- races that the program calls benign (wg_benign_race) ---

typedef struct Benign {
  uint64_t base, size;
} Benign;
static VEC(Benign) benign;

// Finds the words of the allocation that the range touches, even in part. false: none
static bool benign_words(const RaceEntries *e, Benign b, uint64_t *first, uint64_t *end) {
  uint64_t from = MAX(b.base, e->base), to = MIN(b.base + b.size, e->base + e->size);
  *first = (from - e->base) / 4;
  *end = (to - e->base + 3) / 4;
  return from < to;
}

static void mark_benign(const RaceEntries *e, Benign b) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(e->device, &user);
  uint64_t each = entry_size(), first, end;
  if (!benign_words(e, b, &first, &end)) return;
  if (ops->direct) memset((char *)(uintptr_t)e->address + first * each, 0xff, (end - first) * each);
  else ops->fill(user, NULL, e->address + first * each, 0xff, (end - first) * each);
}

static void mark_all_benign(const RaceEntries *e) {
  for (uint32_t i = 0; i < benign.len; i++) mark_benign(e, benign.data[i]);
}

// Clears all entries except the benign ones: running launches must never see these cleared.
static void clear_others(const RaceEntries *e) {
  uint64_t each = entry_size(), words = e->bytes / each;
  for (uint64_t at = 0; at < words;) {
    uint64_t next = words, behind = at, first, end;
    for (uint32_t i = 0; i < benign.len; i++) {
      if (!benign_words(e, benign.data[i], &first, &end)) continue;
      if (first <= at && end > behind) behind = end;
      else if (first > at) next = MIN(next, first);
    }
    if (behind == at) {
      race_clear(e->device, e->address + at * each, (size_t)((next - at) * each));
      behind = next;
    }
    at = behind;
  }
}

void race_benign(uint64_t address, uint64_t n) {
  if (!n) return;
  pthread_mutex_lock(&race_lock);
  vec_push(&benign, (Benign){address, n});
  uint32_t it = 0;
  uint64_t base;
  void *e;
  while (u64map_next(&known, &it, &base, &e)) mark_benign(e, benign.data[benign.len - 1]);
  pthread_mutex_unlock(&race_lock);
}

static void forget_benign(const RaceEntries *e) {
  for (uint32_t i = benign.len; i-- > 0;)
    if (benign.data[i].base - e->base < e->size) benign.data[i] = benign.data[--benign.len];
}

// --- entries come and go ---

static void drop(void *entries) {
  RaceEntries *e = entries;
  session_tool_memory_give(e->device, TOOL_RACECHECK, e->address, e->bytes);
  free(e);
}

// Memory that was freed in the order of a stream is reused in that order. Its entries are reused,
// too, if it comes back with the same size. All other entries wait here until no launch that may
// use them is running.
static VEC(RaceEntries *) left;  // others have taken their place in `known`

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

void race_drop_leaving(SessionDevice *d) { remove_of_device(d, true, drop); }
void race_forget_entries(SessionDevice *d) { remove_of_device(d, false, free); }

static uint64_t take(SessionDevice *d, size_t bytes, bool *fresh) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(d, &user);
  uint64_t address = session_tool_memory_take(d, TOOL_RACECHECK, bytes, fresh);
  if (address || !ops->settle || !ops->settle(user)) return address;
  race_drop_leaving(d);
  return session_tool_memory_take(d, TOOL_RACECHECK, bytes, fresh);
}

RaceEntries *race_entries(SessionDevice *d, uint64_t base, uint64_t size) {
  RaceEntries *e = u64map_get(&known, base);
  if (e && e->size == size && e->device == d) {
    if (e->leaving) {
      race_clear(d, e->address, e->bytes);
      mark_all_benign(e);
    }
    e->leaving = false;
    return e;
  }
  // belongs to another device, whose memory this one may not be able to reach
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
  if (!fresh) race_clear(d, address, bytes);
  e = mem_alloc(sizeof *e);
  *e = (RaceEntries){base, size, address, bytes, d, false};
  u64map_put(&known, base, e);
  mark_all_benign(e);
  return e;
}

void race_freed(uint64_t base, bool in_order) {
  pthread_mutex_lock(&race_lock);
  RaceEntries *e = u64map_get(&known, base);
  if (e) forget_benign(e);
  if (e && in_order) e->leaving = true;
  else if (e) drop(u64map_remove(&known, base));
  pthread_mutex_unlock(&race_lock);
}

void race_clear_entries(RaceDevice *r) {
  uint32_t it = 0;
  uint64_t base;
  void *e;
  while (u64map_next(&known, &it, &base, &e))
    if (((RaceEntries *)e)->device == r->device) clear_others(e);
}

// --- the table of allocations ---

// Allocations without entries. A kernel that looks up addresses may access any of them.
typedef struct Bare {
  VEC(WgMemoryRange) list;
} Bare;
static void collect_bare(void *user, const HeapRange *r) {
  Bare *b = user;
  if (r->memory.state == WG_MEMORY_LIVE && !r->memory.tools.race && r->kind != SESSION_ARRAY)
    vec_push(&b->list, r->memory);
}

static void cover_all(SessionDevice *d) {
  static uint64_t seen;
  if (session_ranges_version() == seen) return;
  Bare b = {0};
  session_ranges_each(collect_bare, &b);
  for (uint32_t i = 0; i < b.list.len; i++) {
    RaceEntries *e = race_entries(d, b.list.data[i].base, b.list.data[i].size);
    if (e) session_ranges_set_address(e->base, offsetof(WgMemoryRange, tools.race), e->address);
  }
  seen = session_ranges_version();
  vec_free(&b.list);
}

void race_before_table(ToolDevice *d, SessionKernel *k, const SessionLaunch *shape) {
  const WovenKernel *code = session_kernel_code(k);
  const RaceKernel *race = code ? race_kernel(code) : NULL;
  if (!shape || !race || !race->record_at || !race->looks_up) return;
  pthread_mutex_lock(&race_lock);
  cover_all(d->device);
  pthread_mutex_unlock(&race_lock);
}
