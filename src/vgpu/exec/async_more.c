// st.async, red.async, cp.reduce.async.bulk, st.bulk. As in async.c they are performed at
// once, and complete on their mbarrier in the same step.
#include "vgpu/exec/mbarrier.h"

#define memory_bind_address VGPU_NAME(memory_bind_address)

typedef struct MoreDesc {
  MemAt dst, src, bar;
  uint32_t size_slot;
  uint32_t value[4];
  uint8_t count, size, width[4], size_width;
  bool has_bar, reduce;
  AtomicStep step;
} MoreDesc;

// The copy or reduction is over: its bytes count as arrived.
static bool tell_barrier(Warp *w, const Inst *in, const MoreDesc *d, unsigned lane,
                         uint32_t bytes) {
  if (!d->has_bar) return true;
  Mbarrier *m = (Mbarrier *)pointer_at(w, in, &d->bar, lane, 8, 8);
  if (!m) return false;
  m->tx -= bytes;
  mbarrier_settle(m);
  return true;
}

// st.async and red.async: a value of each lane to the shared memory of a block of the cluster.
static const Inst *exec_store_async(Warp *w, const Inst *in) {
  const MoreDesc *d = in->ptr;
  unsigned bytes = d->size * d->count;
  w->mem_pc = in;
  FOR_LANES(l, w->exec) {
    char *p = pointer_at(w, in, &d->dst, l, bytes, bytes);
    if (!p) return NULL;
    for (unsigned e = 0; e < d->count; e++) {
      const char *r = w->regs + d->value[e] + (size_t)l * d->width[e];
      uint64_t v = 0;
      memcpy(&v, r, MIN(d->width[e], 8u));
      if (d->reduce) VGPU_NAME(atomic_step)(&d->step, p, v);
      else memcpy(p + e * d->size, &v, d->size);
    }
    if (!tell_barrier(w, in, d, l, bytes)) return NULL;
  }
  return in + 1;
}

// cp.reduce.async.bulk: element after element of a run of bytes.
static const Inst *exec_bulk_reduce(Warp *w, const Inst *in) {
  const MoreDesc *d = in->ptr;
  w->mem_pc = in;
  FOR_LANES(l, w->exec) {
    uint32_t n = REG(w, uint32_t, d->size_slot)[l];
    if (n % 16)
      return vgpu_fault(w, in, VGPU_MISALIGNED, l, n,
                        "bulk reduction of %u bytes, which is no multiple of 16", n);
    char *from = n ? pointer_at(w, in, &d->src, l, n, 16) : NULL,
         *to = n ? pointer_at(w, in, &d->dst, l, n, 16) : NULL;
    if (n && (!from || !to)) return NULL;
    for (uint32_t at = 0; at < n; at += d->step.size) {
      uint64_t v = 0;
      memcpy(&v, from + at, d->step.size);
      VGPU_NAME(atomic_step)(&d->step, to + at, v);
    }
    if (!tell_barrier(w, in, d, l, n)) return NULL;
  }
  return in + 1;
}

// st.bulk [a], size, 0
static const Inst *exec_store_bulk(Warp *w, const Inst *in) {
  const MoreDesc *d = in->ptr;
  w->mem_pc = in;
  FOR_LANES(l, w->exec) {
    uint64_t n = d->size_width == 8 ? REG(w, uint64_t, d->size_slot)[l]
                                    : REG(w, uint32_t, d->size_slot)[l];
    if (n % 8 || n > UINT32_MAX)
      return vgpu_fault(w, in, VGPU_MISALIGNED, l, n,
                        "bulk store of %llu bytes, which is no multiple of 8",
                        (unsigned long long)n);
    if (!n) continue;
    char *p = pointer_at(w, in, &d->dst, l, (unsigned)n, 8);
    if (!p) return NULL;
    memset(p, 0, n);
  }
  return in + 1;
}

static bool bind_store_async(Binder *b, MoreDesc *d) {
  const PtxInstr *in = b->in;
  PtxType t = in->types[in->ntypes - 1];
  const PtxOperand *value = &in->ops[1];
  PtxSpace space = in->space == SPACE_NONE || in->space == SPACE_GENERIC ? SPACE_SHARED : in->space;
  d->reduce = in->op == OP_RED_ASYNC;
  d->size = (uint8_t)ptx_type_size(t);
  d->count = value->kind == OPD_VECTOR ? value->nlist : 1;
  if (d->count > 4 || d->size > 8 || (d->reduce && d->count != 1))
    return bind_unsupported(b, "vector of this length");
  if (d->reduce && !VGPU_NAME(atomic_find_step)(in, t, &d->step))
    return bind_unsupported(b, "reduction");
  for (unsigned e = 0; e < d->count; e++) {
    const PtxOperand *o = value->kind == OPD_VECTOR ? &value->list[e] : value;
    d->value[e] = bind_src(b, o, t);
    d->width[e] = (uint8_t)bind_width(b, o, t);
  }
  if (!memory_bind_address(b, &in->ops[0], space, &d->dst.desc, &d->dst.slot)) return false;
  d->has_bar = in->nops > 2;
  if (d->has_bar && !memory_bind_address(b, &in->ops[2], SPACE_SHARED, &d->bar.desc, &d->bar.slot))
    return false;
  bind_emit(b, exec_store_async)->ptr = d;
  return true;
}

static bool bind_bulk_reduce(Binder *b, MoreDesc *d) {
  const PtxInstr *in = b->in;
  PtxSpace spaces[2];
  bulk_spaces(in, spaces);
  if (!VGPU_NAME(atomic_find_step)(in, in->types[in->ntypes - 1], &d->step))
    return bind_unsupported(b, "reduction");
  if (!memory_bind_address(b, &in->ops[0], spaces[0], &d->dst.desc, &d->dst.slot)) return false;
  if (!memory_bind_address(b, &in->ops[1], spaces[1], &d->src.desc, &d->src.slot)) return false;
  d->size_slot = bind_src(b, &in->ops[2], TYPE_U32);
  d->has_bar = ptx_has(in, MOD_COMPLETE_TX_BYTES);
  if (d->has_bar && !memory_bind_address(b, &in->ops[3], SPACE_SHARED, &d->bar.desc, &d->bar.slot))
    return false;
  bind_emit(b, exec_bulk_reduce)->ptr = d;
  return true;
}

bool VGPU_NAME(bind_async_more)(Binder *b) {
  const PtxInstr *in = b->in;
  MoreDesc *d = bind_alloc(b, sizeof *d);
  switch (in->op) {
    case OP_ST_ASYNC:
    case OP_RED_ASYNC: return bind_store_async(b, d);
    case OP_CP_REDUCE_ASYNC_BULK: return bind_bulk_reduce(b, d);
    case OP_ST_BULK:
      if (!memory_bind_address(b, &in->ops[0], in->space, &d->dst.desc, &d->dst.slot)) return false;
      d->size_slot = bind_src(b, &in->ops[1], TYPE_U64);
      d->size_width = (uint8_t)bind_width(b, &in->ops[1], TYPE_U64);
      bind_emit(b, exec_store_bulk)->ptr = d;
      return true;
    default: return VGPU_NAME(bind_tensor)(b);
  }
}
