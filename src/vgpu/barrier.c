// Barriers of a block and of a cluster, and the small control instructions.
//
// A block barrier counts threads. With no thread count it waits for every thread of the block that
// has not exited. With a count, a warp counts as 32 when all its living lanes have come, since the
// count is a multiple of the warp size.
#include <time.h>

#include "vgpu/core.h"

static uint32_t count_arrived(const Block *b, const Barrier *bar) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < b->nwarps; i++) {
    uint32_t a = bar->arrived[i];
    n += a && !(b->warps[i].live & ~a) ? LANES : (uint32_t)__builtin_popcount(a);
  }
  return n;
}

static bool complete(const Block *b, const Barrier *bar) {
  if (bar->expected) return count_arrived(b, bar) >= bar->expected;
  for (uint32_t i = 0; i < b->nwarps; i++)
    if (b->warps[i].live & ~bar->arrived[i]) return false;
  return true;
}

static void release(Block *b, uint32_t id) {
  b->releases++;
  Barrier *bar = &b->barriers[id];
  for (uint32_t i = 0; i < b->nwarps; i++) {
    Warp *w = &b->warps[i];
    if (bar->arrived[i])
      for (uint32_t k = 0; k < w->nfrags; k++) {
        Fragment *f = &w->frags[k];
        if (f->state != FRAG_BARRIER || f->barrier != id) continue;
        f->state = FRAG_READY;
        f->resumed = true;
        f->result = f->needed == RED_POPC ? bar->popc : f->needed == RED_AND ? bar->and_ : bar->or_;
      }
    if (bar->arrived[i]) w->shared_store_waits = true;
    bar->arrived[i] = 0;
  }
  b->active_barriers &= ~(1u << id);
  bar->expected = bar->popc = bar->or_ = 0;
  bar->and_ = 1;
}

void barrier_lanes_exited(Block *b) {
  FOR_LANES(id, b->active_barriers)
    if (complete(b, &b->barriers[id])) release(b, id);
}

bool block_release_stuck(Block *b) {
  for (uint32_t i = 0; i < b->nwarps; i++) {
    Warp *w = &b->warps[i];
    for (uint32_t k = 0; k < w->nfrags; k++)
      if (w->frags[k].state == FRAG_WARP_SYNC) {
        w->frags[k].state = FRAG_READY;
        w->frags[k].resumed = true;
        return true;
      }
  }
  return false;
}

enum { KIND_SYNC, KIND_ARRIVE, KIND_RED };

// bar.sync/arrive/red a{, b}{, p}: a = barrier slot, b = thread count slot, c = predicate slot, d =
// result.
static const Inst *exec_barrier(Warp *w, const Inst *in) {
  const BarrierDesc *desc = in->ptr;
  Fragment *f = &w->frags[w->current];
  unsigned first = (unsigned)__builtin_ctz(w->exec);
  if (f->resumed) {
    f->resumed = false;
    if (desc->red == RED_POPC) ELEMENTWISE(w, uint32_t, in->d, i, f->result);
    else if (desc->red) pred_write(w, in->d, w->exec, f->result ? FULL_MASK : 0);
    return in + 1;
  }
  uint32_t id = REG(w, uint32_t, in->a)[first];
  uint32_t count = desc->has_count ? REG(w, uint32_t, in->b)[first] : 0;
  if (id >= NUM_BARRIERS)
    return vgpu_fault(w, in, VGPU_TRAP, first, 0, "barrier %u does not exist (there are %u)", id,
                      NUM_BARRIERS);
  if (count % LANES)
    return vgpu_fault(w, in, VGPU_TRAP, first, 0, "barrier thread count %u is not a multiple of %u",
                      count, LANES);
  Block *b = w->block;
  Barrier *bar = &b->barriers[id];
  if (!(b->active_barriers >> id & 1)) {
    b->active_barriers |= 1u << id;
    bar->and_ = 1;
    bar->popc = bar->or_ = 0;
    bar->expected = count;
  }
  bar->arrived[w->index] |= w->exec;
  if (desc->red) {
    uint32_t p = (PRED(w, in->c) ^ (desc->negate ? FULL_MASK : 0)) & w->exec;
    bar->popc += (uint32_t)__builtin_popcount(p);
    bar->and_ &= p == w->exec;
    bar->or_ |= p != 0;
  }
  if (desc->kind == KIND_ARRIVE) {
    if (complete(b, bar)) release(b, id);
    return in + 1;
  }
  // lanes whose guard is false go on without waiting
  uint32_t waiting = w->exec, passing = w->active & ~w->exec;
  f->pc = in;
  f->mask = waiting;
  f->state = FRAG_BARRIER;
  f->barrier = id;
  f->needed = desc->red;  // which of the results it wants
  if (passing) {
    CHECK(w->nfrags < LANES);
    w->frags[w->nfrags++] = (Fragment){
        .mask = passing, .state = FRAG_READY, .pc = in + 1, .frame = w->frame};
  }
  if (complete(b, bar)) release(b, id);
  return NULL;
}

static const Inst *exec_warp_barrier(Warp *w, const Inst *in) {
  uint32_t needed = 0;
  const uint32_t *mask = REG(w, uint32_t, in->a);
  FOR_LANES(i, w->exec) needed |= mask[i];
  return vgpu_warp_converged(w, in, needed) ? in + 1 : NULL;
}

// --- clusters: arrive counts threads; wait lasts until the phase the thread arrived in is over ---
static void cluster_advance(Cluster *c) {
  if (c->alive && c->arrived >= c->alive) {
    c->arrived = 0;
    c->generation++;
  }
}

static const Inst *exec_cluster_arrive(Warp *w, const Inst *in) {
  Cluster *c = w->block->cluster;
  FOR_LANES(i, w->exec) w->cluster_phase[i] = c->generation + 1;
  c->arrived += (uint32_t)__builtin_popcount(w->exec);
  cluster_advance(c);
  return in + 1;
}

static const Inst *exec_cluster_wait(Warp *w, const Inst *in) {
  Cluster *c = w->block->cluster;
  cluster_advance(c);
  bool over = true;
  FOR_LANES(i, w->exec) over &= (int32_t)(c->generation - w->cluster_phase[i]) >= 0;
  if (over) return in + 1;
  w->polls++;
  return vgpu_yield(w, in);
}

static bool bind_barrier(Binder *b) {
  const PtxInstr *in = b->in;
  BarrierDesc *d = bind_alloc(b, sizeof *d);
  d->kind = ptx_has(in, MOD_ARRIVE) ? KIND_ARRIVE : ptx_has(in, MOD_RED) ? KIND_RED : KIND_SYNC;
  uint32_t dst = 0, pred = 0, negate = 0;
  unsigned o = 0, last = in->nops;
  if (d->kind == KIND_RED) {
    d->red = ptx_has(in, MOD_POPC) ? RED_POPC : ptx_has(in, MOD_AND) ? RED_AND : RED_OR;
    dst = bind_dst(b, &in->ops[0], d->red == RED_POPC ? TYPE_U32 : TYPE_PRED);
    pred = bind_pred(b, &in->ops[in->nops - 1], &negate);
    d->negate = negate != 0;
    o = 1;
    last--;
  }
  uint32_t id = bind_src(b, &in->ops[o], TYPE_U32), count = 0;
  if (o + 1 < last) {
    d->has_count = true;
    count = bind_src(b, &in->ops[o + 1], TYPE_U32);
  }
  Inst *i = bind_emit(b, exec_barrier);
  i->ptr = d;
  i->a = id;
  i->b = count;
  i->c = pred;
  i->d = dst;
  return true;
}

bool bind_control(Binder *b) {
  const PtxInstr *in = b->in;
  switch (in->op) {
    case OP_RET: bind_emit(b, exec_return); return true;
    case OP_EXIT: bind_emit(b, exec_exit); return true;
    case OP_TRAP: bind_emit(b, exec_trap); return true;
    case OP_NANOSLEEP: bind_emit(b, exec_yield_hint); return true;
    // launches run in order here
    case OP_BRKPT:
    case OP_PMEVENT:
    case OP_SETMAXNREG:
    case OP_GRIDDEPCONTROL: bind_emit(b, exec_nop); return true;
    case OP_BAR_WARP_SYNC: {
      uint32_t mask = bind_src(b, &in->ops[0], TYPE_B32);
      bind_emit(b, exec_warp_barrier)->a = mask;
      return true;
    }
    case OP_BARRIER_CLUSTER:
      bind_emit(b, ptx_has(in, MOD_WAIT) ? exec_cluster_wait : exec_cluster_arrive);
      return true;
    case OP_BAR:
    case OP_BARRIER: return bind_barrier(b);
    default: return bind_unsupported(b, "not executed by the virtual device");
  }
}
