// Launches that are refused, in the same words on both devices, with the place of a call.
#include "interrupt/interrupt.h"

static bool refuse(const InterruptKernel *k, Error *err, const char *what) {
  const InterruptCall *c = k->calls;
  if (k->ncalls && c->file)
    return error_set(err, "kernel %s calls interrupts (%s:%u): %s", k->name, c->file, c->line,
                     what);
  return error_set(err, "kernel %s calls interrupts: %s", k->name, what);
}

bool interrupt_refuse_graph(const InterruptKernel *k, Error *err) {
  return refuse(k, err, "it cannot be part of a graph");
}

bool interrupt_refuse_memory(const InterruptKernel *k, const InterruptSizes *s, Error *err) {
  char what[160];
  snprintf(what, sizeof what,
           "its %zu threads need %zu bytes of device memory to be suspended, and there are not so "
           "many",
           s->threads, s->all);
  return refuse(k, err, what);
}

bool interrupt_refuse_threads(const InterruptKernel *k, double threads, Error *err) {
  char what[160];
  snprintf(what, sizeof what, "it is launched with %.0f threads, and at most 4294967295 can be",
           threads);
  return refuse(k, err, what);
}
