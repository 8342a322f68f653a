// Shared by the files of the memory family: what an access is, and how its lanes' host pointers are
// found.
#ifndef WG_VGPU_EXEC_MEMORY_H
#define WG_VGPU_EXEC_MEMORY_H

#include "vgpu/warp.h"

typedef enum { ORDER_PLAIN, ORDER_RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQ_REL } MemOrder;

typedef struct MemDesc {
  // after resolution: GLOBAL (also const and kernel parameters), SHARED, LOCAL, GENERIC
  PtxSpace space;
  uint8_t address_width;  // of the address slot: 4 or 8
  uint8_t size;           // bytes of one element
  uint8_t count;          // elements (vector accesses): 1, 2, 4, 8
  uint8_t width[8];       // of the register slots
  uint32_t slot[8];       // register slots, UINT32_MAX: "_"
  bool sign_extend;       // loads of narrow signed types
  MemOrder order;
  bool poll;        // volatile or synchronising: may be a spin loop
  uint64_t offset;  // added to the address
} MemDesc;

static inline uint64_t address_of(Warp *w, const Inst *in, const MemDesc *d, unsigned lane) {
  uint64_t base = d->address_width == 4 ? REG(w, uint32_t, in->a)[lane]
                                        : REG(w, uint64_t, in->a)[lane];
  uint64_t a = base + d->offset;
  return d->address_width == 4 || d->space == SPACE_SHARED || d->space == SPACE_LOCAL ? (uint32_t)a
                                                                                      : a;
}

// Host pointers of the executing lanes for an access of `bytes` bytes each. False: a fault was
// reported (return NULL).
bool VGPU_NAME(memory_pointers)(Warp *w, const Inst *in, const MemDesc *d, unsigned bytes,
                                unsigned align, char **out);
// One lane. NULL: a fault was reported.
char *VGPU_NAME(memory_pointer)(Warp *w, const Inst *in, const MemDesc *d, unsigned lane,
                                unsigned bytes, unsigned align);
// Binds the address operand [base+offset] of an access: fills space, address_width, offset; returns
// the address slot. space: as the instruction says (SPACE_NONE or GENERIC: generic). False: error
// set.
bool VGPU_NAME(memory_bind_address)(Binder *b, const PtxOperand *o, PtxSpace space, MemDesc *d,
                                    uint32_t *slot);
static inline const MemDesc *mem_desc(const Inst *in) { return (const MemDesc *)in->slots; }

// Destination and source space of a bulk copy: its first two state-space modifiers.
static inline void bulk_spaces(const PtxInstr *in, PtxSpace out[2]) {
  unsigned n = 0;
  out[0] = out[1] = SPACE_GENERIC;
  for (unsigned m = 0; m < in->nmods && n < 2; m++) {
    if (in->mods[m] == MOD_GLOBAL) out[n++] = SPACE_GLOBAL;
    if (in->mods[m] == MOD_SHARED_CTA || in->mods[m] == MOD_SHARED_CLUSTER ||
        in->mods[m] == MOD_SHARED)
      out[n++] = SPACE_SHARED;
  }
}

BindFn VGPU_NAME(bind_load), VGPU_NAME(bind_store);  // access.c
BindFn VGPU_NAME(bind_atomic);                       // atomic.c: atom, red
BindFn VGPU_NAME(bind_async);       // async.c: cp.async, bulk copies, mbarrier, st.async, red.async
BindFn VGPU_NAME(bind_async_more);  // async_more.c: asynchronous stores and reductions
BindFn VGPU_NAME(bind_tensor);      // tensor.c: copies by tensor map
BindFn VGPU_NAME(bind_matrix_move);  // matrix.c: ldmatrix, stmatrix
BindFn VGPU_NAME(bind_stack);        // stack.c: alloca, stacksave, stackrestore

// One step of a reduction elsewhere than in atom and red: *p = *p op value, atomically.
typedef struct AtomicStep {
  PtxType type;
  uint8_t op, size;
  bool flush;
} AtomicStep;
// false: no such operation
bool VGPU_NAME(atomic_find_step)(const PtxInstr *in, PtxType t, AtomicStep *s);
void VGPU_NAME(atomic_step)(const AtomicStep *s, char *p, uint64_t value);

#endif
