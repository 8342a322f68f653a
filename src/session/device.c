// A context's channel for findings and the counters of its modules.
#include <unistd.h>

#include "base/runstats.h"
#include "tools/fpcheck/abi.h"
#include "session/race.h"
#include "session/trace.h"
#include "session/watch.h"

enum { FP_SMALL = 1 << 16 };               // threads of a first launch that fpcheck tests everywhere even in fast mode

struct SessionDevice {
  SessionDeviceOps ops;
  void *user;
  int ordinal;
  WgChannel *channel;                      // NULL: none
  uint32_t index;                          // of the channel
  Reports reports;
  MemoryTables tables;
  TraceRings trace;
  bool lost_said;
  uint64_t rows;
  uint64_t watch; bool watch_failed;       // WgWatch; 0: none yet
  uint64_t heap_memory; uint32_t heap; bool heap_failed;   // WgHeap; 0: none yet
};

const SessionDeviceOps *session_device_ops(const SessionDevice *d, void **user) {
  *user = d->user;
  return &d->ops;
}

// Counting works without a channel; nothing else does.
static bool needs_channel(void) { return (session_tools() & ~TOOL_BIT(COUNT)) != 0; }

static bool open_channel(SessionDevice *d, Error *err) {
  session_send(EVENT_STRING, &(EventString){0, ""});                 // makes sure that there is a lane
  d->channel = channel_device_claim(&d->index, err);
  if (!d->channel) return false;
  bool mapped = d->ops.map_host(d->user, d->channel, CHANNEL_DEVICE_BYTES, &d->reports.channel_address);
  session_send(EVENT_DEVICE, &(EventDevice){d->index, (uint64_t)d->ordinal});
  if (mapped) {
    session_reports_open(&d->reports, d->channel, &d->ops, d->user);
    return true;
  }
  session_send(EVENT_DEVICE_END, &(EventDeviceEnd){d->index, (uint64_t)d->ordinal});
  channel_device_unmap(d->channel);
  d->channel = NULL;
  return error_set(err, "device %d cannot reach the memory that findings are written to", d->ordinal);
}

SessionDevice *session_device_open(const SessionDeviceOps *ops, void *user, int ordinal, Error *err) {
  SessionDevice *d = mem_alloc(sizeof *d);
  d->ops = *ops;
  d->user = user;
  d->ordinal = ordinal;
  Error why = {{0}};
  if (open_channel(d, &why) || !needs_channel()) return d;
  session_note(SEVERITY_WARNING, "findings of device %d cannot be reported: %s", ordinal, why.text);
  if (channel_command_lives()) runstats_fail("Findings of device %d in process %d cannot be reported: %s.", ordinal, (int)getpid(), why.text);
  error_set(err, "%s", why.text);
  free(d);
  return NULL;
}

static PieceCounters *find_counters(Piece *p, const SessionDevice *d) {
  for (PieceCounters *c = atomic_load_explicit(&p->counters, memory_order_acquire); c; c = c->next)
    if (c->device == d) return c;
  return NULL;
}

// The counters of the piece on this device, made when first needed.
static uint64_t counters_of(SessionDevice *d, Piece *p) {
  if (!p->code.ncounters) return 0;
  PieceCounters *c = find_counters(p, d);
  if (c) return c->address;
  pthread_mutex_lock(&session_lock);
  c = find_counters(p, d);
  if (!c) {
    c = mem_alloc(sizeof *c);
    c->device = d;
    c->address = d->ops.alloc(d->user, (size_t)p->code.ncounters * 8);
    c->seen = c->address ? mem_alloc((size_t)p->code.ncounters * 8) : NULL;
    c->next = p->counters;
    if (!c->address)
      session_note(SEVERITY_WARNING, "device %d has no memory for %u counters: kernels of %s are not counted", d->ordinal, p->code.ncounters, p->module->name);
    atomic_store_explicit(&p->counters, c, memory_order_release);
  }
  pthread_mutex_unlock(&session_lock);
  return c->address;
}

static uint64_t table_for_launch(SessionDevice *d, const SessionKernel *k) {
  uint64_t heap = session_shadow_heap(d, k && k->piece->code.uses_heap && session_shadow_follows((SessionKernel *)k));
  pthread_mutex_lock(&session_lock);
  if (heap) d->tables.heap = heap;
  uint64_t table = session_table(&d->tables, &d->ops, d->user);
  pthread_mutex_unlock(&session_lock);
  return table;
}

// Made for the first kernel of a module that calls malloc or free; from then on every launch gets it.
static uint32_t heap_for_launch(SessionDevice *d, const SessionKernel *k) {
  pthread_mutex_lock(&session_lock);
  if (!d->heap && k->piece->code.uses_heap && !d->heap_failed) {
    uint64_t unit = 1ull << WG_HEAP_SHIFT, at = d->ops.alloc(d->user, sizeof(WgHeap) + unit);
    d->heap_memory = at;
    d->heap = (uint32_t)((at + unit - 1) / unit);
    d->heap_failed = !at;
    if (!at) session_note(SEVERITY_WARNING, "device %d has no memory for what its heap holds: memory of malloc in kernels is not checked", d->ordinal);
  }
  pthread_mutex_unlock(&session_lock);
  return d->heap;
}

// Made for the first launch that is checked.
static uint64_t watch_for_launch(SessionDevice *d) {
  if (!(session_tools() & TOOL_BIT(SYNCCHECK))) return 0;
  bool fresh = false;
  pthread_mutex_lock(&session_lock);
  if (!d->watch && !d->watch_failed) {
    d->watch = d->ops.alloc(d->user, sizeof(WgWatch));
    d->watch_failed = !d->watch;
    fresh = d->watch != 0;
    if (!d->watch) session_note(SEVERITY_WARNING, "device %d has no memory for what synccheck keeps of its warps: kernels are not checked by it", d->ordinal);
  }
  pthread_mutex_unlock(&session_lock);
  if (fresh) session_watch_device(d, &d->ops, d->user, d->watch);
  return d->watch;
}

static void set_tables(SessionDevice *d, SessionKernel *k, WgLaunch *r) {
  r->heap = session_tools() & TOOL_BIT(MEMCHECK) ? heap_for_launch(d, k) : 0;
  r->memory = table_for_launch(d, k);
  r->init_memory = session_wants_shadow() && session_shadow_follows(k) ? r->memory : 0;
}

static void say_unfollowed(SessionKernel *k, const char *why) {
  if (atomic_exchange(&k->unfollowed_said, true)) return;
  Str text = {0};
  str_printf(&text, "initcheck does not follow it: %s", why);
  session_kernel_note(k, text.data);
  str_free(&text);
}

static void say_not_looked_into(SessionKernel *k, const char *what) {
  if (atomic_exchange(&k->uncalled_said, true)) return;
  Str text = {0};
  str_printf(&text, "racecheck does not see what is accessed by %s", what);
  session_kernel_note(k, text.data);
  str_free(&text);
}

// The first launch of a kernel, if it is small, is tested everywhere.
static uint32_t fp_flags(SessionKernel *k, const WovenKernel *code, const SessionParams *params) {
  if (!(session_tools() & TOOL_BIT(FPCHECK))) return 0;
  uint64_t before = atomic_fetch_add_explicit(&k->fp_turns, 1, memory_order_relaxed);
  uint32_t flags = (uint32_t)(before % 0xffff + 1) << WG_LAUNCH_FP_TURN;
  if (session_launch_captured()) flags |= WG_LAUNCH_FP_GRAPH;
  if (!before && session_threads_launched() <= FP_SMALL) flags |= WG_LAUNCH_FP_FULL;
  else if (code->nfp_writes && session_fp_apart(code, params)) flags |= WG_LAUNCH_FP_APART;
  return flags;
}

bool session_device_record(SessionDevice *d, SessionKernel *k, uint32_t launch, const SessionParams *params, void *record) {
  const WovenKernel *code = session_kernel_code(k);
  if (!code || !code->instrumented) return false;
  uint32_t bytes = code->record_bytes ? code->record_bytes : (uint32_t)sizeof(WgLaunch);   // of the record without a tool's own facts
  uint64_t counters = counters_of(d, k->piece);
  if (k->piece->code.ncounters && !counters) return false;
  memset(record, 0, bytes);
  WgLaunch r = {.channel = session_reports(&d->reports, d->channel, &d->ops, d->user), .counters = counters, .launch = launch, .site_base = k->piece->site_base};
  r.flags = fp_flags(k, code, params);
  r.progress = watch_for_launch(d);
  if (session_launch_cooperative()) r.flags |= WG_LAUNCH_COOPERATIVE;
  if (code->uninit_reason && session_wants_shadow()) say_unfollowed(k, code->uninit_reason);
  if (code->race_unseen && session_wants_races()) say_not_looked_into(k, code->race_unseen);
  if (session_wants_memory()) {
    if (session_wants_races() && !session_launch_captured()) session_race_cover(d, k);     // before the table is made
    if (!session_launch_captured()) set_tables(d, k, &r);              // a captured one gets them when its graph is launched
    session_fill_facts(code, params, record);
    if (session_wants_shadow() && !d->ops.direct && session_shadow_facts(code, params, session_launch_captured(), record)) r.flags |= WG_LAUNCH_HEAP_UNSEEN;
  }
  r.fp = d->reports.fp_memory;
  if (!session_launch_captured()) r.race = session_race_record(d, k, session_launched(), launch, r.channel, params, record);
  session_trace_launch(&d->trace, &d->ops, d->user, d->ordinal, k, params, &r, record);
  memcpy(record, &r, sizeof r);
  atomic_fetch_add_explicit(&channel_kernel_counts(k->id)->checked, 1, memory_order_relaxed);
  return true;
}

void session_device_refresh(SessionDevice *d, SessionKernel *k, const SessionParams *params, const SessionLaunch *shape, void *record) {
  const WovenKernel *code = session_kernel_code(k);
  if (!code || !code->instrumented || (!session_wants_memory() && !session_wants_trace())) return;
  WgLaunch r;
  memcpy(&r, record, sizeof r);
  uint32_t again = session_wants_trace() ? session_step_again(r.launch) : 0;
  if (again) r.launch = again;
  if (shape && session_wants_races()) session_race_cover(d, k);
  if (session_wants_memory()) set_tables(d, k, &r);
  if (session_wants_memory()) session_fill_facts(code, params, record);
  if (shape) r.race = session_race_record(d, k, shape, r.launch, r.channel, params, record);
  memcpy(record, &r, sizeof r);
}

uint64_t session_memory_version(void) { return session_ranges_version(); }

void session_device_uses_table(SessionDevice *d) { table_for_launch(d, NULL); }

bool session_device_crowded(SessionDevice *d) {
  pthread_mutex_lock(&session_lock);
  bool crowded = session_table_crowded(&d->tables);
  pthread_mutex_unlock(&session_lock);
  return crowded;
}

void session_device_done(SessionDevice *d, const void *record) {
  WgLaunch r;
  memcpy(&r, record, sizeof r);
  session_race_done(d, r.race);
  if (!r.memory) return;
  pthread_mutex_lock(&session_lock);
  session_table_done(&d->tables, r.memory);
  pthread_mutex_unlock(&session_lock);
}

uint64_t session_device_mark(SessionDevice *d) {
  pthread_mutex_lock(&session_lock);
  uint64_t mark = d->tables.launches;
  pthread_mutex_unlock(&session_lock);
  return mark;
}

void session_device_settled(SessionDevice *d, uint64_t mark) {
  pthread_mutex_lock(&session_lock);
  d->tables.settled = MAX(d->tables.settled, mark);
  pthread_mutex_unlock(&session_lock);
}

static void send_row(void *user, const CountRow *r) {
  SessionDevice *d = user;
  uint64_t kernel = session_string(r->kernel), file = session_string(r->file);
  d->rows++;
  session_send(EVENT_COUNT_ROW, &(EventCountRow){kernel, file, r->line, (uint64_t)d->ordinal, r->total, r->warp_total, r->loads, r->stores,
    r->atomics, r->load_bytes, r->store_bytes, r->atomic_bytes, r->instructions, ARRAY_LEN(r->instructions)});
}

static void say_lost(SessionDevice *d, const char *why) {
  if (d->lost_said) return;
  d->lost_said = true;
  session_note(SEVERITY_WARNING, "the counts of device %d are lost: %s", d->ordinal, why);
}

// Sends what was counted since the last time. With the lock held.
static void collect_piece(SessionDevice *d, Piece *p) {
  PieceCounters *c = find_counters(p, d);
  if (!c || !c->address) return;
  uint32_t n = p->code.ncounters;
  uint64_t *now = mem_alloc((size_t)n * 8), *delta = mem_alloc((size_t)n * 8);
  if (d->ops.read(d->user, now, c->address, (size_t)n * 8)) {
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
      delta[i] = now[i] - c->seen[i];
      any |= delta[i] != 0;
    }
    if (any) count_rows(&p->code, delta, send_row, d);
    memcpy(c->seen, now, (size_t)n * 8);
  } else {
    say_lost(d, "its memory cannot be read any more, which is so after a fault");
  }
  free(now);
  free(delta);
}

void session_device_collect(SessionDevice *d, SessionModule *m) {
  pthread_mutex_lock(&session_lock);
  for (Piece *p = m->pieces; p; p = p->next) collect_piece(d, p);
  pthread_mutex_unlock(&session_lock);
}

static void collect_each(void *user, Piece *p) { collect_piece(user, p); }

// The device is going: its counters stay in the list, but nobody asks for them any more.
static void forget_counters(void *user, Piece *p) {
  SessionDevice *d = user;
  PieceCounters *c = find_counters(p, d);
  if (!c) return;
  c->device = NULL;
  free(c->seen);
  c->seen = NULL;
}

static void free_counters(void *user, Piece *p) {
  SessionDevice *d = user;
  PieceCounters *c = find_counters(p, d);
  if (c && c->address) d->ops.free(d->user, c->address);
}

static void note_uncollected(void *user, Piece *p) {
  PieceCounters *c = find_counters(p, user);
  if (c && c->address) say_lost(user, "its context was gone before they were read");
}

void session_launches_ended(SessionDevice *d, const uint64_t *launches, uint32_t n) {
  if (d) session_trace_ended(&d->trace, &d->ops, d->user, launches, n);
}

void session_device_close(SessionDevice *d, bool alive) {
  session_watch_device_gone(d);
  session_shadows_close(d, alive);
  session_shadow_heap_close(d, alive);
  session_fp_forget(&d->reports);
  session_races_close(d, alive);
  pthread_mutex_lock(&session_lock);
  session_each_piece(alive ? collect_each : note_uncollected, d);
  if (alive) session_each_piece(free_counters, d);
  session_each_piece(forget_counters, d);
  if (alive && d->heap_memory) d->ops.free(d->user, d->heap_memory);
  if (alive && d->watch) d->ops.free(d->user, d->watch);
  session_trace_close(&d->trace, &d->ops, d->user, alive);
  session_tables_free(&d->tables, &d->ops, d->user, alive);
  if (d->channel) {
    session_reports_close(&d->reports, d->channel, &d->ops, d->user, alive);
    if (alive) d->ops.unmap_host(d->user, d->channel);
    session_send(EVENT_DEVICE_END, &(EventDeviceEnd){d->index, (uint64_t)d->ordinal});
    channel_device_unmap(d->channel);
  }
  session_send(EVENT_COUNTS_READ, &(EventCountsRead){(uint64_t)d->ordinal, d->rows});
  pthread_mutex_unlock(&session_lock);
  free(d);
}
