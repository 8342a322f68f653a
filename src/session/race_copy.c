// racecheck: copies and sets leave entries as launches do, and may race with them. Where the
// device's memory is the process's own they come to the entries here; on a GPU a kernel in their
// stream does (tools/racecheck/race_copy_kernel.cu).
#include "session/race.h"

#define DEVICE static inline
DEVICE uint64_t race_load(const uint64_t *at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
DEVICE uint64_t device_swap_if64(uint64_t *at, uint64_t was, uint64_t v) {
  __atomic_compare_exchange_n(at, &was, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return was;
}
#include "tools/racecheck/probe_copy.h"

// --- what was found, told when no lock is held ---

typedef struct Found {
  RaceCopy copy;
  uint64_t address;
  uint32_t launch;
  bool writes, other_writes;
} Found;
static VEC(Found) found;  // with the lock
static _Atomic uint32_t nfound;

static void keep(RaceDevice *r, uint32_t number, uint64_t entry, uint64_t address, bool writes) {
  uint32_t with = (uint32_t)(entry >> WG_RACE_LAUNCH_AT);
  vec_push(&found, (Found){r->copies[number], address, r->told->launches[with].launch, writes,
                           (entry & (WG_RACE_WRITE | WG_RACE_WROTE)) != 0});
  nfound = found.len;
}

void session_race_heard(RaceDevice *r) {
  if (!r->told || __atomic_load_n(&r->told->count, __ATOMIC_ACQUIRE) == r->heard) return;
  r->heard = __atomic_load_n(&r->told->count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 1; i < WG_RACE_LAUNCHES; i++) {
    WgRaceMet *m = &r->told->met[i];
    if (__atomic_load_n(&m->found, __ATOMIC_ACQUIRE) != WG_RACE_MET_ALL) continue;
    keep(r, i, m->entry, m->address, m->writes);
    m->found = WG_RACE_MET_SOME;  // it is not told again
  }
}

static void tell(const Found *f) {
  Str text = {0};
  str_printf(&text, "%s %s bytes that ", f->copy.call ? f->copy.call : "a copy",
             f->writes ? "writes" : "reads");
  if (f->launch) str_printf(&text, "launch %u %s", f->launch, f->other_writes ? "writes" : "reads");
  else str_printf(&text, "another copy or set %s", f->other_writes ? "writes" : "reads");
  str_add(&text, f->copy.in_graph
                     ? ", and nothing orders the two: there is no path between them in the graph"
                     : ", and nothing orders the two: no common stream, event or synchronisation");
  session_finding(&(SessionFinding){.kind = "race-host",
                                    .text = text.data,
                                    .has_address = true,
                                    .address = f->address,
                                    .size = 4,
                                    .stack = f->copy.stack,
                                    .no_stack = true});
  str_free(&text);
}

void session_race_tell(void) {
  while (nfound) {
    pthread_mutex_lock(&session_race_lock);
    bool any = found.len != 0;
    Found f = any ? found.data[--found.len] : (Found){0};
    nfound = found.len;
    pthread_mutex_unlock(&session_race_lock);
    if (any) tell(&f);
  }
}

void session_races_listen(void) {
  if (!session_wants_races()) return;
  pthread_mutex_lock(&session_race_lock);
  for (RaceDevice *r = session_race_devices(); r; r = r->next) session_race_heard(r);
  pthread_mutex_unlock(&session_race_lock);
  session_race_tell();
}

// --- where it comes to, with the lock ---

// Memory that is followed on that device, as a whole. Copies of what is not do not matter.
static bool rows_of(SessionDevice *d, int device, const SessionCopy *c, const SessionPlace *p,
                    WgRaceRows *out) {
  HeapRange r;
  WgMemoryRange m;
  *out = (WgRaceRows){0};
  if (p->kind == SESSION_PLACE_ARRAY || !c->width || !c->height || !c->depth) return false;
  uint64_t pitch = p->pitch ? p->pitch : p->x + c->width,
           slice = pitch * (p->rows ? p->rows : p->y + c->height);
  uint64_t first = p->address + p->z * slice + p->y * pitch + p->x,
           bytes = (c->depth - 1) * slice + (c->height - 1) * pitch + c->width;
  if (!session_ranges_look(first, &r) || r.kind == SESSION_ARRAY ||
      !session_ranges_find(first, &m) || bytes > m.size || first - m.base > m.size - bytes)
    return false;
  if (r.device != device && r.kind != SESSION_PINNED && r.kind != SESSION_REGISTERED &&
      r.kind != SESSION_MANAGED)
    return false;
  const RaceEntries *e = session_race_entries(d, m.base, m.size);
  if (!e) return false;
  *out = (WgRaceRows){e->address, m.base & ~3ull, first - (m.base & ~3ull), pitch,
                      slice,      c->width,       (uint32_t)c->height,      (uint32_t)c->depth};
  return true;
}

static bool fill(RaceDevice *r, uint32_t number, int device, const SessionCopy *c,
                 WgRaceCopy *out) {
  *out = (WgRaceCopy){.number = number,
                      .pairs = session_plan()->race_full,
                      .unordered = r->copies[number].unordered,
                      .looks = r->copies[number].looks};
  bool to = rows_of(r->device, device, c, &c->to, &out->side[0]),
       from = !c->is_set && rows_of(r->device, device, c, &c->from, &out->side[1]);
  return to || from;
}

// --- the program asks for it ---

static _Thread_local uint64_t last_copy;

static uint64_t unordered_of(const RaceOrder *o) {
  uint64_t list = o->one_thread ? WG_RACE_LATER : 0;
  for (uint32_t i = 0; i < o->n; i++) list |= (uint64_t)o->number[i] << 9 * i;
  return list;
}

static bool is_direct(SessionDevice *d) {
  void *user;
  return session_device_ops(d, &user)->direct;
}

void session_race_copy(const SessionCopy *c) {
  RaceOrder order;
  WgRaceCopy work;
  uint32_t number = 0;
  last_copy = 0;
  pthread_mutex_lock(&session_race_lock);
  RaceDevice *r = session_wants_races() && !c->captured && c->on && session_order_concurrent()
                      ? session_race_device(c->on, true)
                      : NULL;
  if (r && fill(r, 0, c->device, c, &work)) number = session_race_next(r);
  // it may be refused
  if (number && is_direct(c->on) && r->running[number / WG_RACE_HALF])
    r->running[number / WG_RACE_HALF]--;
  session_order_copy(c, c->on, number, &order);
  if (number) {
    r->copies[number] = (RaceCopy){.call = c->call,
                                   .device = c->device,
                                   .stack = session_copy_stack(),
                                   .unordered = unordered_of(&order)};
    r->told->launches[number] = (WgRaceLaunch){0};
    last_copy = (uint64_t)r->id << 16 | number;
  }
  pthread_mutex_unlock(&session_race_lock);
  session_race_tell();
}

uint32_t session_race_number(uint64_t race) { return (uint32_t)race & 0xffff; }

// Order within the graph is that of its edges; what it is to launches of other streams the graph's
// stream says.
uint64_t session_race_node(SessionDevice *d, const SessionCopy *c, const SessionBeside *beside,
                           bool looks) {
  RaceOrder order;
  WgRaceCopy work;
  uint64_t race = 0;
  pthread_mutex_lock(&session_race_lock);
  RaceDevice *r = session_wants_races() && d &&
                          (!beside->alone || (!looks && session_order_concurrent()))
                      ? session_race_device(d, true)
                      : NULL;
  uint32_t number = r && fill(r, 0, c->device, c, &work) ? session_race_next(r) : 0;
  if (number) {
    if (looks) order = (RaceOrder){0};
    else session_order_launch(d, c->stream, number, false, false, &order);
    for (uint32_t i = 0; i < beside->n && order.n < RACE_UNORDERED; i++)
      order.number[order.n++] = beside->number[i];
    r->copies[number] = (RaceCopy){.call = c->call,
                                   .device = c->device,
                                   .stack = session_copy_stack(),
                                   .unordered = unordered_of(&order),
                                   .in_graph = true,
                                   .looks = looks};
    r->told->launches[number] = (WgRaceLaunch){0};
    race = (uint64_t)r->id << 16 | number;
  }
  pthread_mutex_unlock(&session_race_lock);
  session_race_tell();
  return race;
}

uint64_t session_race_copy_number(void) {
  uint64_t race = last_copy;
  last_copy = 0;
  return race;
}

static RaceDevice *find(uint64_t race) {
  RaceDevice *r = race ? session_race_devices() : NULL;
  while (r && r->id != race >> 16) r = r->next;
  return r;
}

bool session_race_work(const SessionCopy *c, WgRaceCopy *out) {
  if (!c->race) return false;
  pthread_mutex_lock(&session_race_lock);
  uint32_t number = session_race_number(c->race);
  RaceDevice *r = find(c->race);
  bool any = r && fill(r, number, r->copies[number].device, c, out);
  if (any) {
    out->met = r->told_at + offsetof(RaceTold, met) + number * sizeof(WgRaceMet);
    out->count = r->told_at + offsetof(RaceTold, count);
  }
  pthread_mutex_unlock(&session_race_lock);
  return any;
}

// --- nodes of graphs that do not come to entries ---

static bool flat_range(const SessionCopy *c, const SessionPlace *p, uint64_t *first,
                       uint64_t *end) {
  *first = p->address + p->x;
  *end = *first + c->width;
  return p->kind != SESSION_PLACE_ARRAY && c->height == 1 && c->depth == 1 && !p->y && !p->z &&
         c->width;
}

static bool meet(const SessionCopy *a, const SessionPlace *writes, const SessionCopy *b,
                 const SessionPlace *other, bool other_writes) {
  uint64_t first, end, its_first, its_end;
  if (!flat_range(a, writes, &first, &end) || !flat_range(b, other, &its_first, &its_end) ||
      first >= its_end || its_first >= end)
    return false;
  tell(&(Found){.copy = {.call = a->call, .in_graph = true, .stack = session_copy_stack()},
                .address = MAX(first, its_first),
                .writes = true,
                .other_writes = other_writes});
  return true;
}

void session_race_nodes(const SessionCopy *a, const SessionCopy *b) {
  if (meet(a, &a->to, b, &b->to, true) || (!b->is_set && meet(a, &a->to, b, &b->from, false)))
    return;
  if (!a->is_set) meet(b, &b->to, a, &a->from, false);
}

// --- where the device's memory is the process's own ---

void session_race_begins(uint64_t race) {
  if (!race) return;
  pthread_mutex_lock(&session_race_lock);
  RaceDevice *r = find(race);
  if (r) r->running[session_race_number(race) / WG_RACE_HALF]++;
  pthread_mutex_unlock(&session_race_lock);
}

void session_race_copied(const SessionCopy *c) {
  WgRaceCopy work;
  if (!c->race) return;
  pthread_mutex_lock(&session_race_lock);
  uint32_t number = session_race_number(c->race);
  RaceDevice *r = find(c->race);
  bool any = r && fill(r, number, r->copies[number].device, c, &work), kept = false;
  for (uint32_t side = 0; any && side < 2; side++)
    for (uint64_t i = 0, all = race_copy_words_of(&work.side[side]), address; i < all; i++) {
      uint64_t with = race_copy_at(&work, side, i, &address);
      if (with && !kept) {
        keep(r, number, with, address, !side);
        kept = true;
      }
    }
  if (r && r->running[number / WG_RACE_HALF]) r->running[number / WG_RACE_HALF]--;
  pthread_mutex_unlock(&session_race_lock);
  session_race_tell();
}
