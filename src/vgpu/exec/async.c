// Asynchronous copies and mbarrier. A copy is done at once, which is one of the orders the memory
// model allows: the waits for it (commit, wait_group) have nothing left to do, and it completes at
// its mbarrier in the same step.
#include <inttypes.h>

#include "vgpu/exec/mbarrier.h"

#define memory_bind_address VGPU_NAME(memory_bind_address)

typedef struct AsyncDesc {
  MemAt dst, src, bar;
  uint32_t size_slot, mask_slot;
  uint32_t fixed_size;
  uint32_t negate;
  uint8_t state_width;
  bool has_source_size, has_ignore, has_bar, has_mask, has_byte_mask;
} AsyncDesc;

static const AsyncDesc *async_desc(const Inst *in) { return (const AsyncDesc *)in->slots; }

// --- mbarrier ---
typedef enum {
  MB_INIT,
  MB_INVAL,
  MB_EXPECT,
  MB_COMPLETE,
  MB_ARRIVE,
  MB_DROP,
  MB_TEST,
  MB_TRY
} MbarrierOp;

static const Inst *exec_mbarrier(Warp *w, const Inst *in) {
  const AsyncDesc *d = async_desc(in);
  bool expect_tx = in->flag[1] & 1, no_complete = in->flag[1] & 2, parity = in->flag[1] & 4;
  uint32_t done = 0;
  w->mem_pc = in;
  FOR_LANES(i, w->exec) {
    Mbarrier *m = (Mbarrier *)pointer_at(w, in, &d->bar, i, 8, 8);
    if (!m) return NULL;
    Mbarrier before = *m;
    uint32_t n = in->b ? REG(w, uint32_t, in->b)[i] : 1;
    switch ((MbarrierOp)in->flag[0]) {
      case MB_INIT: *m = (Mbarrier){.pending = n, .expected = n}; break;
      case MB_INVAL: *m = (Mbarrier){0}; break;
      case MB_EXPECT: m->tx += n; break;
      case MB_COMPLETE:
        m->tx -= n;
        mbarrier_settle(m);
        break;
      case MB_ARRIVE:
      case MB_DROP: {
        uint32_t arrivals = expect_tx ? 1 : n;
        if (expect_tx) m->tx += n;
        if (m->pending < arrivals)
          return vgpu_fault(w, in, VGPU_TRAP, i, 0,
                            "mbarrier: %u arrivals, but only %u are pending", arrivals,
                            (unsigned)m->pending);
        m->pending -= arrivals;
        if (in->flag[0] == MB_DROP) m->expected -= arrivals;
        if (!no_complete) mbarrier_settle(m);
        break;
      }
      default: {  // test_wait, try_wait: is the named phase over?
        uint64_t state = d->state_width == 8 ? REG(w, uint64_t, in->c)[i]
                                             : REG(w, uint32_t, in->c)[i];
        unsigned phase;
        if (parity) phase = state & 1;
        else {
          Mbarrier s;
          memcpy(&s, &state, 8);
          phase = s.phase;
        }
        done |= (uint32_t)(m->phase != phase) << i;
        break;
      }
    }
    if (in->flag[2]) memcpy(REG(w, uint64_t, in->d) + i, &before, 8);
  }
  if (in->flag[0] >= MB_TEST) {
    pred_write(w, in->d, w->exec, done);
    if (done != w->exec) {  // others must run before it can become true
      w->polls++;
      if (in->flag[0] == MB_TRY && w->exec == w->active) return vgpu_yield(w, in + 1);
      vgpu_poll(w);
      return in + 1;
    }
  }
  return in + 1;
}

static const Inst *exec_pending_count(Warp *w, const Inst *in) {
  const uint64_t *a = REG(w, uint64_t, in->a);
  ELEMENTWISE(w, uint32_t, in->d, i, a[i] & 0xfffff);
  return in + 1;
}

static bool bind_mbarrier(Binder *b, MbarrierOp op) {
  const PtxInstr *in = b->in;
  AsyncDesc *d = bind_alloc(b, sizeof *d);
  bool has_dst = op >= MB_ARRIVE, wait = op >= MB_TEST;
  unsigned o = has_dst && in->ops[0].kind != OPD_ADDR ? 1 : 0;
  bool returns = o == 1 && !wait && in->ops[0].kind != OPD_SINK;
  uint32_t dst = wait      ? bind_dst(b, &in->ops[0], TYPE_PRED)
                 : returns ? bind_dst(b, &in->ops[0], TYPE_B64)
                           : 0;
  if (!memory_bind_address(b, &in->ops[o], in->space, &d->bar.desc, &d->bar.slot)) return false;
  uint32_t count = 0, state = 0;
  if (wait) {
    bool parity = ptx_has(in, MOD_PARITY);
    state = bind_src(b, &in->ops[o + 1], parity ? TYPE_U32 : TYPE_B64);
    d->state_width = (uint8_t)bind_width(b, &in->ops[o + 1], parity ? TYPE_U32 : TYPE_B64);
  } else if (o + 1 < in->nops) count = bind_src(b, &in->ops[o + 1], TYPE_U32);
  Inst *i = bind_emit(b, exec_mbarrier);
  i->d = dst;
  i->b = count;
  i->c = state;
  i->slots = (uint32_t *)d;
  i->flag[0] = op;
  i->flag[1] = (uint8_t)(ptx_has(in, MOD_EXPECT_TX) | ptx_has(in, MOD_NOCOMPLETE) << 1 |
                         ptx_has(in, MOD_PARITY) << 2);
  i->flag[2] = returns;
  return true;
}

// --- cp.async: 4, 8 or 16 bytes per lane, the rest of a short source filled with zeros ---
static const Inst *exec_cp_async(Warp *w, const Inst *in) {
  const AsyncDesc *d = async_desc(in);
  w->mem_pc = in;
  FOR_LANES(i, w->exec) {
    uint32_t n = d->fixed_size;
    if (d->has_source_size) n = MIN(n, REG(w, uint32_t, d->size_slot)[i]);
    if (d->has_ignore && ((PRED(w, d->size_slot) ^ d->negate) >> i & 1)) n = 0;
    char *to = pointer_at(w, in, &d->dst, i, d->fixed_size, d->fixed_size);
    if (!to) return NULL;
    char data[16] = {0};
    if (n) {
      char *from = pointer_at(w, in, &d->src, i, n, d->fixed_size);
      if (!from) return NULL;
      memcpy(data, from, n);
    }
    memcpy(to, data, d->fixed_size);
  }
  return in + 1;
}

static bool bind_cp_async(Binder *b) {
  const PtxInstr *in = b->in;
  AsyncDesc *d = bind_alloc(b, sizeof *d);
  if (!memory_bind_address(b, &in->ops[0], SPACE_SHARED, &d->dst.desc, &d->dst.slot)) return false;
  if (!memory_bind_address(b, &in->ops[1], SPACE_GLOBAL, &d->src.desc, &d->src.slot)) return false;
  d->fixed_size = (uint32_t)in->ops[2].imm;
  unsigned extra = in->nops - (ptx_has(in, MOD_L2_CACHE_HINT) ? 1 : 0);
  if (extra > 3) {
    const PtxOperand *o = &in->ops[3];
    if (o->kind == OPD_REG && ptx_type_kind(o->reg->type) == KIND_PRED) {
      d->has_ignore = true;
      d->size_slot = bind_pred(b, o, &d->negate);
    } else {
      d->has_source_size = true;
      d->size_slot = bind_src(b, o, TYPE_U32);
    }
  }
  bind_emit(b, exec_cp_async)->slots = (uint32_t *)d;
  return true;
}

// cp.async.mbarrier.arrive: the copies are done, so it arrives now. Without .noinc it first raises
// the pending count.
static const Inst *exec_cp_arrive(Warp *w, const Inst *in) {
  const AsyncDesc *d = async_desc(in);
  w->mem_pc = in;
  FOR_LANES(i, w->exec) {
    Mbarrier *m = (Mbarrier *)pointer_at(w, in, &d->bar, i, 8, 8);
    if (!m) return NULL;
    if (!in->flag[0]) continue;
    if (!m->pending)
      return vgpu_fault(w, in, VGPU_TRAP, i, 0, "mbarrier: an arrival, but none is pending");
    m->pending--;
    mbarrier_settle(m);
  }
  return in + 1;
}

static bool bind_cp_arrive(Binder *b) {
  AsyncDesc *d = bind_alloc(b, sizeof *d);
  if (!memory_bind_address(b, &b->in->ops[0], b->in->space, &d->bar.desc, &d->bar.slot))
    return false;
  Inst *i = bind_emit(b, exec_cp_arrive);
  i->slots = (uint32_t *)d;
  i->flag[0] = ptx_has(b->in, MOD_NOINC);
  return true;
}

// --- cp.async.bulk: a run of bytes; shared destinations tell an mbarrier, with .multicast in
// several blocks ---
static const Inst *exec_bulk(Warp *w, const Inst *in) {
  const AsyncDesc *d = async_desc(in);
  w->mem_pc = in;
  FOR_LANES(i, w->exec) {
    uint32_t n = REG(w, uint32_t, d->size_slot)[i];
    if (n % 16)
      return vgpu_fault(w, in, VGPU_MISALIGNED, i, n,
                        "bulk copy of %u bytes, which is no multiple of 16", n);
    uint32_t blocks = d->has_mask ? REG(w, uint16_t, d->mask_slot)[i] : 1;
    char *from = n ? pointer_at(w, in, &d->src, i, n, 16) : NULL;
    if (n && !from) return NULL;
    FOR_LANES(r, blocks) {
      char *to = n ? pointer_at(w, in, &d->dst, i, n, 16) : NULL;
      Mbarrier *m = d->has_bar ? (Mbarrier *)pointer_at(w, in, &d->bar, i, 8, 8) : NULL;
      if ((n && !to) || (d->has_bar && !m)) return NULL;
      if (d->has_mask) {  // the same offsets in block r of the cluster
        uint32_t end;
        char *other = vgpu_cluster_shared(w, r, &end);
        if (!other)
          return vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, i, r,
                            "multicast to block %u, which the cluster does not have", r);
        to = to ? other + vgpu_shared_offset(w, to) : NULL;
        m = m ? (Mbarrier *)(other + vgpu_shared_offset(w, (char *)m)) : NULL;
      }
      if (d->has_byte_mask) {
        uint32_t bytes = REG(w, uint16_t, d->mask_slot)[i];  // of each 16
        for (uint32_t k = 0; k < n; k++)
          if (bytes >> k % 16 & 1) to[k] = from[k];
      } else if (n) memmove(to, from, n);
      if (m) {
        m->tx -= n;
        mbarrier_settle(m);
      }
    }
  }
  return in + 1;
}

static bool bind_bulk(Binder *b) {
  const PtxInstr *in = b->in;
  PtxSpace spaces[2];
  bulk_spaces(in, spaces);
  AsyncDesc *d = bind_alloc(b, sizeof *d);
  if (!memory_bind_address(b, &in->ops[0], spaces[0], &d->dst.desc, &d->dst.slot)) return false;
  if (!memory_bind_address(b, &in->ops[1], spaces[1], &d->src.desc, &d->src.slot)) return false;
  d->size_slot = bind_src(b, &in->ops[2], TYPE_U32);
  unsigned o = 3;
  if (ptx_has(in, MOD_COMPLETE_TX_BYTES)) {
    d->has_bar = true;
    if (!memory_bind_address(b, &in->ops[o++], SPACE_SHARED, &d->bar.desc, &d->bar.slot))
      return false;
  }
  if (ptx_has(in, MOD_MULTICAST_CLUSTER)) {
    d->has_mask = true;
    d->mask_slot = bind_src(b, &in->ops[o], TYPE_U16);
  }
  if (ptx_has(in, MOD_CP_MASK)) {
    d->has_byte_mask = true;
    d->mask_slot = bind_src(b, &in->ops[in->nops - 1], TYPE_U16);
  }
  bind_emit(b, exec_bulk)->slots = (uint32_t *)d;
  return true;
}

bool VGPU_NAME(bind_async)(Binder *b) {
  const PtxInstr *in = b->in;
  switch (in->op) {
    case OP_CP_ASYNC: return bind_cp_async(b);
    case OP_CP_ASYNC_COMMIT_GROUP:
    case OP_CP_ASYNC_WAIT_GROUP:
    case OP_CP_ASYNC_WAIT_ALL:
    case OP_CP_ASYNC_BULK_COMMIT_GROUP:
    case OP_CP_ASYNC_BULK_WAIT_GROUP: bind_emit(b, exec_nop); return true;
    case OP_CP_ASYNC_MBARRIER_ARRIVE: return bind_cp_arrive(b);
    case OP_CP_ASYNC_BULK: return bind_bulk(b);
    case OP_MBARRIER_INIT: return bind_mbarrier(b, MB_INIT);
    case OP_MBARRIER_INVAL: return bind_mbarrier(b, MB_INVAL);
    case OP_MBARRIER_EXPECT_TX: return bind_mbarrier(b, MB_EXPECT);
    case OP_MBARRIER_COMPLETE_TX: return bind_mbarrier(b, MB_COMPLETE);
    case OP_MBARRIER_ARRIVE: return bind_mbarrier(b, MB_ARRIVE);
    case OP_MBARRIER_ARRIVE_DROP: return bind_mbarrier(b, MB_DROP);
    case OP_MBARRIER_TEST_WAIT: return bind_mbarrier(b, MB_TEST);
    case OP_MBARRIER_TRY_WAIT: return bind_mbarrier(b, MB_TRY);
    case OP_MBARRIER_PENDING_COUNT: {
      uint32_t d = bind_dst(b, &in->ops[0], TYPE_U32), a = bind_src(b, &in->ops[1], TYPE_B64);
      Inst *i = bind_emit(b, exec_pending_count);
      i->d = d;
      i->a = a;
      return true;
    }
    default: return VGPU_NAME(bind_async_more)(b);
  }
}
