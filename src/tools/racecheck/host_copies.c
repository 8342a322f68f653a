// Copies and sets leave entries as launches do, and may race with them. If device memory is the
// process's own, they are entered here; on a GPU a kernel that runs after them in their stream does
// so (race_copy_kernel.cu). It writes the races that it finds to memory of the host. The host reads
// them when the program has waited for something, before numbers are reused, and at the end.
#include "tools/racecheck/host.h"

#define DEVICE static inline
DEVICE uint64_t race_load(const uint64_t *at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
DEVICE uint64_t device_swap_if64(uint64_t *at, uint64_t was, uint64_t v) {
  __atomic_compare_exchange_n(at, &was, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return was;
}
#include "tools/racecheck/probe_copy.h"

// --- races that were found; they are reported without the lock ---

typedef struct Found {
  RaceCopy copy;
  uint64_t address;
  uint32_t launch;
  bool writes, other_writes;
} Found;
static VEC(Found) found;
static _Atomic uint32_t nfound;

static void keep(RaceDevice *r, uint32_t number, uint64_t entry, uint64_t address, bool writes) {
  uint32_t with = (uint32_t)(entry >> WG_RACE_LAUNCH_AT);
  vec_push(&found, (Found){r->copies[number], address, r->told->launches[with].launch, writes,
                           (entry & (WG_RACE_WRITE | WG_RACE_WROTE)) != 0});
  nfound = found.len;
}

void race_heard(RaceDevice *r) {
  if (!r->told || __atomic_load_n(&r->told->count, __ATOMIC_ACQUIRE) == r->heard) return;
  r->heard = __atomic_load_n(&r->told->count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 1; i < WG_RACE_LAUNCHES; i++) {
    WgRaceMet *m = &r->told->met[i];
    if (__atomic_load_n(&m->found, __ATOMIC_ACQUIRE) != WG_RACE_MET_ALL) continue;
    keep(r, i, m->entry, m->address, m->writes);
    m->found = WG_RACE_MET_SOME;  // it is not reported again
  }
}

static void report(const Found *f) {
  Str text = {0};
  if (f->copy.kernel)
    str_printf(&text, "a kernel of machine code gets a pointer to %s, to bytes that ",
               f->writes ? "write to" : "read from");
  else
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
                                    .kernel = f->copy.kernel,
                                    .launch = f->copy.launch,
                                    .stack = f->copy.stack,
                                    .no_stack = true});
  str_free(&text);
}

void race_report_copies(void) {
  while (nfound) {
    pthread_mutex_lock(&race_lock);
    bool any = found.len != 0;
    Found f = any ? found.data[--found.len] : (Found){0};
    nfound = found.len;
    pthread_mutex_unlock(&race_lock);
    if (any) report(&f);
  }
}

void race_host_waited(void) {
  pthread_mutex_lock(&race_lock);
  for (RaceDevice *r = race_devices(); r; r = r->next) race_heard(r);
  pthread_mutex_unlock(&race_lock);
  race_report_copies();
}

// --- the entries of a copy, with the lock ---

// The entries of one side of the copy. false: the device does not follow all of that memory
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
  const RaceEntries *e = race_entries(d, m.base, m.size);
  if (!e) return false;
  *out = (WgRaceRows){e->address, m.base & ~3ull, first - (m.base & ~3ull), pitch,
                      slice,      c->width,       (uint32_t)c->height,      (uint32_t)c->depth};
  return true;
}

static bool fill(RaceDevice *r, uint32_t number, int device, const SessionCopy *c,
                 WgRaceCopy *out) {
  *out = (WgRaceCopy){.number = number,
                      .pairs = race_wants_pairs(),
                      .unordered = r->copies[number].unordered,
                      .looks = r->copies[number].looks};
  bool to = rows_of(r->device, device, c, &c->to, &out->side[0]),
       from = !c->is_set && rows_of(r->device, device, c, &c->from, &out->side[1]);
  return to || from;
}

// --- numbers ---

static _Thread_local uint64_t last_copy;

uint64_t race_unordered(const SessionUnordered *o) {
  uint64_t list = o->one_thread ? WG_RACE_LATER : 0;
  for (uint32_t i = 0; i < o->n; i++) list |= (uint64_t)o->number[i] << 9 * i;
  return list;
}

static bool is_direct(const RaceDevice *r) {
  void *user;
  return race_ops(r, &user)->direct;
}

// On a GPU only our kernel can follow copies.
static bool follows_copies(const RaceDevice *r) { return is_direct(r) || r->kernel.function; }

uint64_t race_new_copy(RaceDevice *r, uint32_t number, const RaceCopy *copy) {
  r->copies[number] = *copy;
  r->told->launches[number] = (WgRaceLaunch){0};
  return (uint64_t)r->id << 16 | number;
}

void race_copy_asked(const SessionCopy *c) {
  SessionUnordered order;
  WgRaceCopy work;
  uint32_t number = 0;
  last_copy = 0;
  pthread_mutex_lock(&race_lock);
  RaceDevice *r = !c->captured && c->on && session_order_concurrent() ? race_device(c->on) : NULL;
  if (r && follows_copies(r) && fill(r, 0, c->device, c, &work)) number = race_next_number(r);
  // it counts as running once the driver has accepted it (race_copy_begins)
  if (number && is_direct(r) && r->running[number / WG_RACE_HALF])
    r->running[number / WG_RACE_HALF]--;
  if (number) {
    session_order_number_copy(c->on, number, &order);
    last_copy = race_new_copy(r, number,
                              &(RaceCopy){.call = c->call,
                                          .device = c->device,
                                          .stack = session_copy_stack(),
                                          .unordered = race_unordered(&order)});
  }
  pthread_mutex_unlock(&race_lock);
  race_report_copies();
}

uint64_t race_copy_tag(void) {
  uint64_t tag = last_copy;
  last_copy = 0;
  return tag;
}

static uint32_t number_of(uint64_t tag) { return (uint32_t)tag & 0xffff; }

// Its order against other nodes is given by the graph's edges, its order against other launches by
// the graph's stream. On a GPU it leaves no entries: it only looks for entries of concurrent nodes.
uint64_t race_graph_copy(ToolDevice *d, const SessionCopy *c, const SessionBeside *beside,
                         uint32_t *out) {
  RaceDevice *r = d->state;
  SessionUnordered order = {0};
  WgRaceCopy work;
  uint64_t tag = 0;
  bool looks = !d->ops->direct;
  bool wanted = looks ? !beside->alone && beside->n : !beside->alone || session_order_concurrent();
  pthread_mutex_lock(&race_lock);
  uint32_t number = 0;
  if (wanted && follows_copies(r) && fill(r, 0, c->device, c, &work)) number = race_next_number(r);
  if (number) {
    if (!looks) session_order_launch(d->device, c->stream, number, false, false, &order);
    for (uint32_t i = 0; i < beside->n && order.n < SESSION_UNORDERED; i++)
      order.number[order.n++] = beside->number[i];
    tag = race_new_copy(r, number,
                        &(RaceCopy){.call = c->call,
                                    .device = c->device,
                                    .stack = session_copy_stack(),
                                    .unordered = race_unordered(&order),
                                    .in_graph = true,
                                    .looks = looks});
  }
  *out = number;
  pthread_mutex_unlock(&race_lock);
  race_report_copies();
  return tag;
}

static RaceDevice *find(uint64_t tag) {
  RaceDevice *r = tag ? race_devices() : NULL;
  while (r && r->id != tag >> 16) r = r->next;
  return r;
}

// --- nodes of graphs that are compared by their addresses ---

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
  report(&(Found){.copy = {.call = a->call, .in_graph = true, .stack = session_copy_stack()},
                  .address = MAX(first, its_first),
                  .writes = true,
                  .other_writes = other_writes});
  return true;
}

void race_graph_copies_unordered(const SessionCopy *a, const SessionCopy *b) {
  if (meet(a, &a->to, b, &b->to, true) || (!b->is_set && meet(a, &a->to, b, &b->from, false)))
    return;
  if (!a->is_set) meet(b, &b->to, a, &a->from, false);
}

// --- on a GPU ---

static uint64_t words_of(const WgRaceRows *r) { return (r->width / 4 + 2) * r->rows * r->slices; }

// Runs after the copy, in its stream.
static void run_kernel(const RaceDevice *r, const void *stream, WgRaceCopy *work) {
  void *user, *params[] = {work};
  const SessionDeviceOps *ops = race_ops(r, &user);
  uint64_t words = MAX(words_of(&work->side[0]), words_of(&work->side[1]));
  unsigned blocks = (unsigned)MIN((words + WG_RACE_COPY_THREADS - 1) / WG_RACE_COPY_THREADS,
                                  (uint64_t)r->kernel.processors * 4);
  if (!ops->launch_kernel(user, stream, &r->kernel, blocks, WG_RACE_COPY_THREADS, params))
    log_verbose("a copy or set could not be followed for racecheck");
}

void race_enter_on_device(RaceDevice *r, uint32_t number, const SessionCopy *c) {
  WgRaceCopy work;
  pthread_mutex_lock(&race_lock);
  bool any = fill(r, number, r->copies[number].device, c, &work);
  if (any) {
    work.met = r->told_at + offsetof(RaceTold, met) + number * sizeof(WgRaceMet);
    work.count = r->told_at + offsetof(RaceTold, count);
  }
  pthread_mutex_unlock(&race_lock);
  if (any) run_kernel(r, c->stream, &work);
}

static void enter_on_device(const SessionCopy *c) {
  pthread_mutex_lock(&race_lock);
  RaceDevice *r = find(c->tag);
  pthread_mutex_unlock(&race_lock);
  if (r) race_enter_on_device(r, number_of(c->tag), c);
}

void race_graph_copy_ran(SessionDevice *d, const SessionCopy *c) { enter_on_device(c); }

// --- where device memory is the process's own ---

void race_copy_begins(uint64_t tag) {
  pthread_mutex_lock(&race_lock);
  RaceDevice *r = find(tag);
  if (r) r->running[number_of(tag) / WG_RACE_HALF]++;
  pthread_mutex_unlock(&race_lock);
}

static void enter_here(const SessionCopy *c) {
  WgRaceCopy work;
  uint32_t number = number_of(c->tag);
  pthread_mutex_lock(&race_lock);
  RaceDevice *r = find(c->tag);
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
  pthread_mutex_unlock(&race_lock);
  race_report_copies();
}

void race_copy_runs(SessionDevice *d, const SessionCopy *c) {
  if (!c->tag) return;
  if (d) enter_on_device(c);
  else enter_here(c);
}
