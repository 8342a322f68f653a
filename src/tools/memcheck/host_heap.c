// The table of what malloc in device code has handed out (heap_abi.h): one for each device, in its
// memory. It is made for the first kernel of a module that calls malloc or free; from then on every
// launch gets it.
#include "tools/memcheck/host.h"

static uint32_t heap_for_launch(ToolDevice *d, const SessionKernel *k) {
  MemcheckDevice *m = d->state;
  pthread_mutex_lock(&session_lock);
  if (!m->heap && k->piece->code.uses_heap && !m->heap_failed) {
    uint64_t unit = 1ull << WG_HEAP_SHIFT, at = d->ops->alloc(d->user, sizeof(WgHeap) + unit);
    m->heap_memory = at;
    m->heap = (uint32_t)((at + unit - 1) / unit);
    m->heap_failed = !at;
    if (!at)
      session_note(SEVERITY_WARNING,
                   "device %d has no memory for what its heap holds: memory of malloc in kernels "
                   "is not checked",
                   d->ordinal);
  }
  pthread_mutex_unlock(&session_lock);
  return m->heap;
}

// A captured launch gets it when its graph is launched.
void heap_facts(ToolDevice *d, ToolLaunch *l) {
  if (l->refreshed || !session_launch_captured()) l->record->heap = heap_for_launch(d, l->kernel);
}

void heap_close(ToolDevice *d, bool alive) {
  const MemcheckDevice *m = d->state;
  if (alive && m->heap_memory) d->ops->free(d->user, m->heap_memory);
}
