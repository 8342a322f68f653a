// count inside the program: the counters of each module on each device. What kernels added to them is sent to the command when a
// module is unloaded or the device is closed.
#include "session/internal.h"
#include "tools/count/rows.h"
#include "tools/tool.h"

typedef struct Counters {                  // of one piece of a module on one device
  SessionDevice *device;                   // NULL: it is closed
  uint64_t address;                        // 0: the device had no memory for them
  uint64_t *seen;                          // as they were when they were last sent
  struct Counters *next;
} Counters;
typedef struct CountDevice { bool lost_said; uint64_t rows; } CountDevice;

// The list of a piece only grows: a launch may be looking at it.
static Counters *find_counters(Piece *p, const SessionDevice *d) {
  for (Counters *c = atomic_load_explicit(&p->tool_data[TOOL_COUNT], memory_order_acquire); c; c = c->next)
    if (c->device == d) return c;
  return NULL;
}

// With session_lock held.
static Counters *make_counters(ToolDevice *d, Piece *p) {
  uint32_t n = p->code.ncounters;
  Counters *c = mem_alloc(sizeof *c);
  c->device = d->device;
  c->address = d->ops->alloc(d->user, (size_t)n * 8);
  c->seen = c->address ? mem_alloc((size_t)n * 8) : NULL;
  c->next = p->tool_data[TOOL_COUNT];
  if (!c->address)
    session_note(SEVERITY_WARNING, "device %d has no memory for %u counters: kernels of %s are not counted", d->ordinal, n, p->module->name);
  atomic_store_explicit(&p->tool_data[TOOL_COUNT], c, memory_order_release);
  return c;
}

static bool launch(ToolDevice *d, ToolLaunch *l) {
  Piece *p = l->kernel->piece;
  if (!p->code.ncounters) return true;
  Counters *c = find_counters(p, d->device);
  if (!c) {
    pthread_mutex_lock(&session_lock);
    c = find_counters(p, d->device);
    if (!c) c = make_counters(d, p);
    pthread_mutex_unlock(&session_lock);
  }
  l->record->counters = c->address;
  return c->address != 0;
}

static void send_row(void *user, const CountRow *r) {
  ToolDevice *d = user;
  uint64_t kernel = session_string(r->kernel), file = session_string(r->file);
  ((CountDevice *)d->state)->rows++;
  session_send(EVENT_COUNT_ROW, &(EventCountRow){kernel, file, r->line, (uint64_t)d->ordinal, r->total, r->warp_total, r->loads, r->stores,
    r->atomics, r->load_bytes, r->store_bytes, r->atomic_bytes, r->instructions, ARRAY_LEN(r->instructions)});
}

static void say_lost(ToolDevice *d, const char *why) {
  CountDevice *state = d->state;
  if (state->lost_said) return;
  state->lost_said = true;
  session_note(SEVERITY_WARNING, "the counts of device %d are lost: %s", d->ordinal, why);
}

// Sends what was counted since the last time.
static void collect_piece(ToolDevice *d, Piece *p) {
  Counters *c = find_counters(p, d->device);
  if (!c || !c->address) return;
  uint32_t n = p->code.ncounters;
  uint64_t *now = mem_alloc((size_t)n * 8), *delta = mem_alloc((size_t)n * 8);
  if (d->ops->read(d->user, now, c->address, (size_t)n * 8)) {
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

static void collect(ToolDevice *d, SessionModule *m) {
  for (Piece *p = m->pieces; p; p = p->next) collect_piece(d, p);
}

static void collect_and_free(void *user, Piece *p) {
  ToolDevice *d = user;
  collect_piece(d, p);
  Counters *c = find_counters(p, d->device);
  if (c && c->address) d->ops->free(d->user, c->address);
}

static void note_uncollected(void *user, Piece *p) {
  ToolDevice *d = user;
  Counters *c = find_counters(p, d->device);
  if (c && c->address) say_lost(d, "its context was gone before they were read");
}

static void forget(void *user, Piece *p) {
  ToolDevice *d = user;
  Counters *c = find_counters(p, d->device);
  if (!c) return;
  c->device = NULL;
  free(c->seen);
  c->seen = NULL;
}

static void device_close(ToolDevice *d, bool alive) {
  session_each_piece(alive ? collect_and_free : note_uncollected, d);
  session_each_piece(forget, d);
  session_send(EVENT_COUNTS_READ, &(EventCountsRead){(uint64_t)d->ordinal, ((CountDevice *)d->state)->rows});
}

const Tool tool_count = {.device_bytes = sizeof(CountDevice), .launch = launch, .collect = collect, .device_close = device_close};
