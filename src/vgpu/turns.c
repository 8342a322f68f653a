// Blocks that compiled code runs as a whole (region/block.c): prepares them for the code, and
// continues a block that the code has left.
#include "vgpu/core.h"

static const uint64_t LONGEST_NS = 20000000;  // then the engine takes the block over

static void forget_reduced(BlockTurns *t) {
  t->reduced[RED_POPC] = t->reduced[RED_OR] = 0;
  t->reduced[RED_AND] = 1;
}

static void release(BlockTurns *t, uint32_t warps) {
  t->warps[0].block->releases++;
  memcpy(t->result, t->reduced, sizeof t->result);
  forget_reduced(t);
  FOR_LANES(i, warps) t->warps[i].shared_store_waits = true;
}

void turns_prepare(Launch *l, Block *b, BlockTurns *t) {
  t->warps = b->warps;
  t->insts = l->kernel->code->insts;
  t->window = vgpu_window_base;
  t->release = release;
  t->split = warp_split_lanes;
  t->several = b->nwarps > 1;
  for (uint32_t i = 0; i < b->nwarps; i++) {
    b->warps[i].budget = WARP_BUDGET;
    b->warps[i].stores_to_wait = 0;  // the code does that
  }
}

void turns_begin(Block *b) {
  bool several = b->nwarps > 1;
  if (b->shared_end <= SHARED_BASE) return;
  for (uint32_t i = 0; i < b->nwarps; i++) b->warps[i].shared_store_waits = several;
}

static void end_warp(Block *b, Warp *w) {
  w->nfrags = 0;
  w->live = w->base_frame.lanes = 0;
  b->alive_threads -= LANES;
  b->cluster->alive -= LANES;
}

// A warp at a barrier runs the barrier once more when it is released.
static void wait_at_barrier(Block *b, Warp *w, const Inst *after, const BlockTurns *t) {
  Fragment *f = &w->frags[0];
  const BarrierDesc *desc = after[-1].ptr;
  uint32_t id = (uint32_t)after[-1].src->ops[desc->red ? 1 : 0].imm;
  Barrier *bar = &b->barriers[id];
  f->pc = after - 1;
  f->state = FRAG_BARRIER;
  f->barrier = id;
  f->needed = desc->red;
  bar->popc = t->reduced[RED_POPC];
  bar->and_ = t->reduced[RED_AND];
  bar->or_ = t->reduced[RED_OR];
  bar->expected = 0;
  b->active_barriers |= 1u << id;
  bar->arrived[w->index] = FULL_MASK;
}

// Puts the registers of a warp into their slots: the only warp that has a turn.
static const Inst *unload_warp(TurnsFn *fn, BlockTurns *t, uint32_t warp) {
  uint32_t alive = t->alive, waiting = t->waiting;
  t->at[warp] |= TURNS_UNLOAD;
  t->alive = 1u << warp;
  t->waiting = 0;
  t->turn = UINT32_MAX;
  fn(t);
  t->alive = alive;
  t->waiting = waiting;
  return t->left;
}

// Puts all warps where the engine finds them. left: the warp that is in its turn.
static void unload(Block *b, TurnsFn *fn, BlockTurns *t, uint32_t left) {
  const Inst *left_at = t->left;
  for (uint32_t i = 0; i < b->nwarps; i++) {
    Warp *w = &b->warps[i];
    if (!(t->alive >> i & 1)) {
      end_warp(b, w);
      continue;
    }
    // before a store: the others have come as far (vgpu_must_wait_before_store)
    bool waited = i != left && t->at[i] && !(t->at[i] & TURNS_BARRIER);
    if (t->several) w->stores_to_wait = STORES_TO_WAIT - waited;
    if (i != left && !t->at[i]) continue;  // it has not begun
    const Inst *at = i == left ? left_at : unload_warp(fn, t, i);
    if (t->waiting >> i & 1) wait_at_barrier(b, w, at, t);
    else w->frags[0].pc = at->fn == region_join ? at + 1 : at;
  }
}

TurnsResult turns_run(Launch *l, Block *b, TurnsFn *fn, BlockTurns *t, uint32_t *first) {
  uint64_t start = 0;
  t->alive = b->nwarps < LANES ? (1u << b->nwarps) - 1 : FULL_MASK;
  t->waiting = t->rounds = 0;
  t->turn = UINT32_MAX;
  forget_reduced(t);
  memset(t->at, 0, b->nwarps * sizeof t->at[0]);
  for (;;) {
    TurnsResult r = fn(t);
    if (r == TURNS_ENDED || r == TURNS_FAULT) return r;
    *first = 0;
    if (r == TURNS_LEFT) *first = t->turn;
    else {
      t->rounds = 0;
      uint64_t now = clock_ns();
      if (!start) start = now;
      if (!l->stop && now - start < LONGEST_NS) continue;
    }
    int32_t budget = r == TURNS_LEFT ? b->warps[t->turn].budget : WARP_BUDGET;
    unload(b, fn, t, r == TURNS_LEFT ? t->turn : UINT32_MAX);
    b->warps[*first].budget = budget;
    return TURNS_LEFT;
  }
}
