// The mbarrier object: 64 bits of our own layout: pending arrivals, expected arrivals, bytes still
// to come, phase.
#ifndef WG_VGPU_EXEC_MBARRIER_H
#define WG_VGPU_EXEC_MBARRIER_H

#include "vgpu/exec/memory.h"

// One of several addresses of an instruction: how it is accessed, and its address slot.
typedef struct MemAt {
  MemDesc desc;
  uint32_t slot;
} MemAt;
// memory_pointer reads the address slot from in->a.
static inline char *pointer_at(Warp *w, const Inst *in, const MemAt *m, unsigned lane,
                               unsigned bytes, unsigned align) {
  Inst view = *in;
  view.a = m->slot;
  return VGPU_NAME(memory_pointer)(w, &view, &m->desc, lane, bytes, align);
}

typedef struct Mbarrier {
  uint64_t pending : 20, expected : 20, phase : 1;
  int64_t tx : 23;
} Mbarrier;
_Static_assert(sizeof(Mbarrier) == 8, "an mbarrier object has 64 bits");

static inline void mbarrier_settle(Mbarrier *m) {
  if (m->pending || m->tx) return;
  m->phase ^= 1;
  m->pending = m->expected;
}

#endif
