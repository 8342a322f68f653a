#include "session/counters.h"

#include "tools/tool.h"

#include "weave/execution_rows.h"

// The list of a piece only grows: a launch may be looking at it.
PieceCounters *session_counters_find(Piece *p, const SessionDevice *d) {
  for (PieceCounters *c = atomic_load_explicit(&p->counters, memory_order_acquire); c; c = c->next)
    if (c->device == d) return c;
  return NULL;
}

// With the lock held.
static PieceCounters *make(SessionDevice *d, Piece *p) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(d, &user);
  PieceCounters *c = mem_alloc(sizeof *c);
  c->device = d;
  c->address = ops->alloc(user, (size_t)p->code.ncounters * 8);
  c->next = p->counters;
  if (!c->address)
    session_note(SEVERITY_WARNING,
                 "device %d has no memory for %u counters: kernels of %s are not counted",
                 session_device_ordinal(d), p->code.ncounters, p->module->name);
  atomic_store_explicit(&p->counters, c, memory_order_release);
  return c;
}

uint64_t session_counters(SessionDevice *d, Piece *p) {
  if (!p->code.ncounters) return 0;
  PieceCounters *c = session_counters_find(p, d);
  if (c) return c->address;
  pthread_mutex_lock(&session_lock);
  c = session_counters_find(p, d);
  if (!c) c = make(d, p);
  pthread_mutex_unlock(&session_lock);
  return c->address;
}

uint64_t *session_counters_since(SessionDevice *d, Piece *p, unsigned tool, bool *lost) {
  PieceCounters *c = session_counters_find(p, d);
  *lost = false;
  if (!c || !c->address) return NULL;
  void *user;
  const SessionDeviceOps *ops = session_device_ops(d, &user);
  uint32_t n = p->code.ncounters;
  uint64_t *since = mem_alloc((size_t)n * 16), *now = since + n;
  bool any = false;
  *lost = !ops->read(user, now, c->address, (size_t)n * 8);
  if (!*lost) {
    if (!c->seen[tool]) c->seen[tool] = mem_alloc((size_t)n * 8);
    for (uint32_t i = 0; i < n; i++) {
      since[i] = now[i] - c->seen[tool][i];
      any |= since[i] != 0;
    }
    memcpy(c->seen[tool], now, (size_t)n * 8);
  }
  if (any) return since;
  free(since);
  return NULL;
}

typedef struct Sending {
  int device;
  uint64_t rows;
} Sending;

static void send_row(void *user, const CountRow *r) {
  Sending *s = user;
  uint64_t kernel = session_string(r->kernel), file = session_string(r->file);
  s->rows++;
  session_send(EVENT_COUNT_ROW,
               &(EventCountRow){kernel, file, r->line, (uint64_t)s->device, r->total, r->warp_total,
                                r->loads, r->stores, r->atomics, r->load_bytes, r->store_bytes,
                                r->atomic_bytes, r->instructions, ARRAY_LEN(r->instructions)});
}

uint64_t session_send_executions(const Piece *p, const uint64_t *counters, int device) {
  Sending s = {device, 0};
  count_rows(&p->code, counters, send_row, &s);
  return s.rows;
}

typedef struct Closing {
  SessionDevice *device;
  bool alive;
} Closing;

static void close_piece(void *user, Piece *p) {
  const Closing *closing = user;
  PieceCounters *c = session_counters_find(p, closing->device);
  if (!c) return;
  void *device_user;
  const SessionDeviceOps *ops = session_device_ops(closing->device, &device_user);
  if (closing->alive && c->address) ops->free(device_user, c->address);
  c->device = NULL;
  for (unsigned t = 0; t < TOOL_MOST; t++) {
    free(c->seen[t]);
    c->seen[t] = NULL;
  }
}

typedef struct Collecting {
  ToolDevice *d;
  bool alive;
  const SessionCollect *how;
} Collecting;

static void collect_piece(void *user, Piece *p) {
  const Collecting *c = user;
  const PieceCounters *counters = c->alive ? NULL : session_counters_find(p, c->d->device);
  if (c->alive) c->how->piece(c->d, p);
  else if (counters && counters->address) c->how->lost(c->d);
}

void session_counters_collect(ToolDevice *d, bool alive, const SessionCollect *how) {
  session_each_piece(collect_piece, &(Collecting){d, alive, how});
}

void session_counters_close(SessionDevice *d, bool alive) {
  session_each_piece(close_piece, &(Closing){d, alive});
}
