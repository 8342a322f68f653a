// Fills in racecheck's part of a launch record: the entries of the memory that its parameters point
// to, its number, and the launches and copies that are unordered with it.
#include "tools/racecheck/host.h"

enum { SHARED_LEAST = 1 << 20, SHARED_MOST = 256 << 20 };  // bytes of entries for shared memory

static void note_unseen(SessionKernel *k, const char *what) {
  static char said;
  if (atomic_exchange(&k->tool_data[TOOL_RACECHECK], &said)) return;
  Str text = {0};
  str_printf(&text, "racecheck does not see what is accessed by %s", what);
  session_kernel_note(k, text.data);
  str_free(&text);
}

bool race_launch(ToolDevice *d, ToolLaunch *l) {
  const RaceKernel *k = race_kernel(session_kernel_code(l->kernel));
  if (k->unseen) note_unseen(l->kernel, k->unseen);
  return true;
}

// --- facts ---

static bool entries_pointed_to(const WeaveFact *f, const SessionParams *params,
                               WgMemoryRange *out) {
  uint64_t pointer;
  return f->kind == FACT_RACE && session_fact_pointer(f, params, &pointer) && pointer &&
         session_ranges_find(pointer, out);
}

static bool has_branches(const SessionLaunch *l) { return l->beside && !l->beside->alone; }
static bool overlaps(const WovenKernel *code, const SessionLaunch *l) {
  return l->overlaps && !code->waits_for_launch;
}

// Another launch may run at the same time.
static bool is_concurrent(const WovenKernel *code, const SessionLaunch *l) {
  return session_order_concurrent() || has_branches(l) || overlaps(code, l) ||
         race_kernel(code)->lets;
}

// Whether this launch, or a concurrent one, may write to the allocation.
static bool is_written(const WovenKernel *code, const SessionLaunch *l, const SessionParams *params,
                       uint64_t base) {
  WgMemoryRange r;
  if (race_kernel(code)->stores_anywhere || is_concurrent(code, l)) return true;
  for (uint32_t i = 0; i < code->nfacts; i++)
    if (!code->facts[i].read_only && entries_pointed_to(&code->facts[i], params, &r) &&
        r.base == base)
      return true;
  return false;
}

// The accesses of fact i; n 0: not all are known.
static const RaceReaches *reaches_of(const RaceKernel *k, uint32_t fact) {
  static const RaceReaches none;
  return fact - k->first_fact < k->nreaches ? &k->reaches[fact - k->first_fact] : &none;
}

// Whether all accesses to the allocation are known, and each thread only accesses bytes of its own.
static bool is_private(const WovenKernel *code, uint32_t fact, const SessionParams *params,
                       const SessionLaunch *l, uint64_t base) {
  enum { MOST = 16 };
  const RaceKernel *k = race_kernel(code);
  const RaceReaches *list[MOST];
  uint32_t n = 0;
  WgMemoryRange r;
  if (!reaches_of(k, fact)->n || is_concurrent(code, l)) return false;
  for (uint32_t i = 0; i < code->nfacts; i++)
    if (entries_pointed_to(&code->facts[i], params, &r) && r.base == base) {
      if (n == MOST) return false;
      list[n++] = reaches_of(k, i);
    }
  return race_disjoint(k, l, params, list, n);
}

static void fill_facts(SessionDevice *d, const WovenKernel *code, const SessionLaunch *l,
                       const SessionParams *params, void *record) {
  for (uint32_t i = 0; i < code->nfacts; i++) {
    uint64_t fact[3] = {0};
    WgMemoryRange r;
    if (code->facts[i].kind != FACT_RACE) continue;
    bool found = entries_pointed_to(&code->facts[i], params, &r) &&
                 is_written(code, l, params, r.base) && !is_private(code, i, params, l, r.base);
    const RaceEntries *e = found ? race_entries(d, r.base, r.size) : NULL;
    if (e) memcpy(fact, (uint64_t[]){e->base, e->size, e->address}, sizeof fact);
    memcpy((char *)record + code->facts[i].record_offset, fact, sizeof fact);
  }
}

static void fill_groups(const WovenKernel *code, const SessionLaunch *l,
                        const SessionParams *params, void *record) {
  const RaceKernel *k = race_kernel(code);
  bool left = false;
  for (uint32_t i = 0; i < k->ngroups; i++) {
    bool meets = !race_group_disjoint(k, l, params, &k->groups[i]);
    memcpy((char *)record + k->groups[i].record_offset, &(uint64_t){meets}, 8);
    left |= meets;
  }
  if (!left || !k->rehearsal || !race_rehearse(k->rehearsal, l, params)) return;
  for (uint32_t i = 0; i < k->ngroups; i++)
    memset((char *)record + k->groups[i].record_offset, 0, 8);
}

static void clear_facts(const WovenKernel *code, void *record) {
  const RaceKernel *k = race_kernel(code);
  for (uint32_t i = 0; i < k->ngroups; i++)
    memset((char *)record + k->groups[i].record_offset, 0, 8);
  for (uint32_t i = 0; i < code->nfacts; i++)
    if (code->facts[i].kind == FACT_RACE)
      memset((char *)record + code->facts[i].record_offset, 0, 24);
}

static bool has_nothing_to_check(const WovenKernel *code, const void *record) {
  const RaceKernel *k = race_kernel(code);
  for (uint32_t i = 0; i < code->nfacts; i++) {
    uint64_t fact[3];
    memcpy(fact, (const char *)record + code->facts[i].record_offset, sizeof fact);
    if (code->facts[i].kind == FACT_RACE && fact[1]) return false;
  }
  for (uint32_t i = 0; i < k->ngroups; i++) {
    uint64_t left;
    memcpy(&left, (const char *)record + k->groups[i].record_offset, sizeof left);
    if (left) return false;
  }
  return k->by_facts;
}

bool race_is_settled(SessionKernel *k, const void *record) {
  return has_nothing_to_check(session_kernel_code(k), record);
}

bool race_may_settle(const WovenKernel *code) { return race_kernel(code)->by_facts; }

// --- the record ---

static uint32_t bits_for(uint64_t n) {
  uint32_t bits = 1;
  while (bits < 40 && n > 1ull << bits) bits++;
  return bits;
}

static void choose_layout(const WovenKernel *code, const SessionLaunch *l, WgRaceRecord *out) {
  const RaceKernel *k = race_kernel(code);
  uint64_t block = (uint64_t)l->block[0] * l->block[1] * l->block[2],
           threads = block * l->grid[0] * l->grid[1] * l->grid[2];
  uint32_t thread = MIN(MAX(bits_for(threads), 8u), (uint32_t)WG_RACE_MOST_THREAD_BITS),
           rest = WG_RACE_TIME_BITS - thread;
  uint32_t syncs = k->syncs ? MIN(4u, rest / 4) : 0,
           clock = k->clock ? MIN((rest - syncs) / 2, 16u) : 0, barriers = rest - syncs - clock;
  thread = WG_RACE_TIME_BITS - syncs - clock - barriers;
  uint32_t at = WG_RACE_TIME_AT + thread + clock;
  out->layout = WG_RACE_LAYOUT(clock, syncs, barriers, thread, block) |
                (race_wants_pairs() ? (uint32_t)WG_RACE_PAIRS : 0);
  out->threads = (1u << thread) - 1;
  out->block = (uint32_t)block;
  out->clock_at = WG_RACE_TIME_AT + thread;
  out->clock = ((1ull << clock) - 1) << out->clock_at;
  out->sync = syncs ? 1ull << at : 0;
  out->syncs = ((1ull << syncs) - 1) << at;
  out->barrier = 1ull << (at + syncs);
  out->interval = ~0ull << (at + syncs);
  out->moment = ~0ull << at;
  out->barriers = ((1ull << barriers) - 1) << (at + syncs);
}

// Blocks whose numbers are equal modulo shared_slots share entries; entries of another block are
// ignored.
static void give_shared(RaceDevice *r, const WovenKernel *code, const SessionLaunch *l,
                        WgRaceRecord *out) {
  const RaceKernel *k = race_kernel(code);
  void *user;
  const SessionDeviceOps *ops = race_ops(r, &user);
  uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2],
           bytes = k->shared + l->shared + WG_SHARED_RESERVED;
  uint64_t stride = (bytes + 63) / 64 * 64 * 4, need = MIN(stride * blocks, (uint64_t)SHARED_MOST);
  if (!k->shared) return;
  // the old memory stays for launches that use it, and goes with the device
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

// Fills in the launches that are unordered with this one, and its own identity. number 0: it leaves
// no entries.
static void fill_order(RaceDevice *r, const ToolLaunch *t, uint32_t number, WgRaceRecord *out) {
  const SessionLaunch *l = t->shape;
  const WovenKernel *code = session_kernel_code(t->kernel);
  uint32_t sites = t->kernel->piece->site_base + race_kernel(code)->first_site;
  SessionUnordered order;
  session_order_launch(r->device, l->stream, number, overlaps(code, l), code->tells_host, &order);
  if (!number) return;
  for (uint32_t i = 0; l->beside && i < l->beside->n && order.n < SESSION_UNORDERED; i++)
    order.number[order.n++] = l->beside->number[i];
  r->told->launches[number] = (WgRaceLaunch){t->record->launch, sites, t->record->channel};
  out->launches = r->told_at + offsetof(RaceTold, launches);
  out->channel = t->record->channel;
  out->sites = sites;
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
  const RaceKernel *k = race_kernel(code);
  void *user;
  const SessionDeviceOps *ops = race_ops(r, &user);
  choose_layout(code, l, out);
  give_shared(r, code, l, out);
  if (k->clock && !r->slots) r->slots = ops->alloc(user, sizeof(WgRaceSlot) * WG_RACE_SLOTS);
  if (k->clock) out->slots = r->slots;
  out->bounds = k->bounds;
  static uint32_t last_serial;
  out->serial = ++last_serial;
}

// A captured launch gets its number when its graph is launched, if it runs once in the graph.
void race_facts(ToolDevice *d, ToolLaunch *t) {
  const WovenKernel *code = session_kernel_code(t->kernel);
  const RaceKernel *k = race_kernel(code);
  const SessionLaunch *l = t->shape;
  RaceDevice *r = d->state;
  WgRaceRecord out = {0};
  bool captured = !t->refreshed && session_launch_captured();
  if (captured || !l || !k->record_at) return;
  pthread_mutex_lock(&race_lock);
  session_order_uses(l->stream);
  fill_facts(d->device, code, l, t->params, t->whole_record);
  fill_groups(code, l, t->params, t->whole_record);
  uint32_t number = has_nothing_to_check(code, t->whole_record) ? 0 : race_next_number(r);
  fill_order(r, t, number, &out);
  if (number) fill(r, code, l, &out);
  // nothing to check, no way to report, or no memory for clocks
  if (!out.launches || (k->clock && !out.slots)) {
    memset(&out, 0, sizeof out);
    clear_facts(code, t->whole_record);
  } else {
    out.start = (uint64_t)number << WG_RACE_LAUNCH_AT;
  }
  memcpy((char *)t->whole_record + k->record_at, &out, sizeof out);
  pthread_mutex_unlock(&race_lock);
  t->record->race = t->number = number;
}
