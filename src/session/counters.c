#include "session/counters.h"

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
  free(c->seen);
  c->seen = NULL;
}

void session_counters_close(SessionDevice *d, bool alive) {
  session_each_piece(close_piece, &(Closing){d, alive});
}
