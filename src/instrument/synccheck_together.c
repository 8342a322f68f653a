// Which barriers all threads of a block come to, whatever the data is.
//
// A value is the same in all threads of a block if it is computed from parameters, constants and what the block has in common. A branch on
// anything else sends threads different ways; up to where the ways meet again they are apart, and what is written there differs.
// Threads that leave early are another matter: `if (i >= n) return;` takes them out of the barriers to come, and the rest stays together.
#include "instrument/synccheck.h"

bool synccheck_is_block_barrier(const PtxInstr *in) {
  if ((in->op != OP_BAR && in->op != OP_BARRIER) || ptx_has(in, MOD_ARRIVE)) return false;
  return ptx_has(in, MOD_RED) ? in->nops == 3 : in->nops == 1;
}

typedef struct Look { const IrCfg *c; Together *t; bool strict, changed; bool *apart; uint32_t *work, room; } Look;

static bool same_everywhere(const Look *l, const PtxOperand *o) {
  switch (o->kind) {
    case OPD_INT: case OPD_FLOAT: case OPD_FUNC: case OPD_SINK: return true;
    case OPD_REG: return !l->t->varying[o->reg->id];
    case OPD_VAR: return o->var->space != SPACE_LOCAL;
    case OPD_SREG:
      switch (o->sreg) {
        case SREG_CTAID: case SREG_NCTAID: case SREG_NTID: case SREG_GRIDID: case SREG_NSMID: case SREG_SMID: case SREG_NWARPID:
        case SREG_CLUSTERID: case SREG_NCLUSTERID: case SREG_CLUSTER_CTAID: case SREG_CLUSTER_NCTAID: case SREG_CLUSTER_CTARANK: case SREG_CLUSTER_NCTARANK:
        case SREG_TOTAL_SMEM_SIZE: case SREG_DYNAMIC_SMEM_SIZE: case SREG_ENVREG1: case SREG_ENVREG2: return true;
        default: return false;
      }
    case OPD_ADDR: case OPD_VECTOR: case OPD_PAIR:
      for (unsigned i = 0; i < o->nlist; i++)
        if (!same_everywhere(l, &o->list[i])) return false;
      return true;
    default: return false;
  }
}

static bool gives_the_same(const Look *l, const PtxInstr *in) {
  if (in->guard && l->t->varying[in->guard->id]) return false;
  if (synccheck_is_block_barrier(in)) return true;             // bar.red: one answer for the block
  if (in->op == OP_LD) {
    bool parameter = in->space == SPACE_PARAM && in->nops > 1 && in->ops[1].kind == OPD_ADDR && ir_is_kernel_param(l->c->func, &in->ops[1].list[0]);
    if (!parameter && in->space != SPACE_CONST) return false;
  } else if (in->op != OP_CVTA && in->op != OP_ISSPACEP && ptx_op_family(in->op) != FAMILY_ARITH) return false;
  if (ptx_has(in, MOD_CC) || in->op == OP_ADDC || in->op == OP_SUBC || in->op == OP_MADC) return false;
  for (unsigned i = 1; i < in->nops; i++)
    if (!same_everywhere(l, &in->ops[i])) return false;
  return true;
}

static void lower(void *ctx, PtxReg **reg, bool is_def) {
  Look *l = ctx;
  if (!is_def || l->t->varying[(*reg)->id]) return;
  l->t->varying[(*reg)->id] = l->changed = true;
}

static void spread(Look *l, uint32_t from, uint32_t join) {
  uint32_t n = 0;
  if (from != join && !l->apart[from]) l->work[n++] = from;
  while (n) {
    uint32_t block = l->work[--n];
    if (l->apart[block]) continue;
    l->apart[block] = l->changed = true;
    for (uint32_t i = 0; i < l->c->blocks[block].nsucc; i++) {
      uint32_t to = l->c->blocks[block].succ[i];
      if (to != join && !l->apart[to] && n < l->room) l->work[n++] = to;
    }
  }
}

static bool gone_for_good(const Together *t, uint32_t from, uint32_t to) {
  return t->reaches[from] && !t->reaches[to] && (t->only_ends[to] || !t->reached[to]);
}

bool synccheck_leaves_early(const Sync *s, uint32_t from, uint32_t to) { return gone_for_good(&s->t, from, to); }

bool synccheck_leaves_warp(const Sync *s, uint32_t from, uint32_t to) {
  const Together *t = &s->t;
  return (t->meets[from] || t->reaches[from]) && !t->meets[to] && !t->reaches[to] && (t->only_ends[to] || (!t->met[to] && !t->reached[to]));
}

static void split(Look *l, uint32_t block) {
  const IrBlock *b = &l->c->blocks[block];
  const PtxInstr *last = b->first < b->end ? l->c->instrs[b->end - 1] : NULL;
  if (!last) return;
  bool branches = (last->op == OP_BRA && last->guard && l->t->varying[last->guard->id]) ||
                  (last->op == OP_BRX_IDX && (l->t->varying[last->ops[0].reg->id] || (last->guard && l->t->varying[last->guard->id])));
  if (!branches) return;
  if (!l->strict && b->nsucc == 2)
    for (uint32_t i = 0; i < 2; i++)
      if (gone_for_good(l->t, block, b->succ[i])) return;
  for (uint32_t i = 0; i < b->nsucc; i++) spread(l, b->succ[i], b->ipdom);
}

// In the strict sense a guarded exit leaves the rest apart as well.
static void split_at_exit(Look *l, uint32_t block) {
  const IrBlock *b = &l->c->blocks[block];
  const PtxInstr *last = b->first < b->end ? l->c->instrs[b->end - 1] : NULL;
  if (!l->strict || !last || (last->op != OP_RET && last->op != OP_EXIT) || !last->guard || !l->t->varying[last->guard->id]) return;
  for (uint32_t i = 0; i < b->nsucc; i++) spread(l, b->succ[i], IR_NONE);
}

static void settle(Look *l) {
  do {
    l->changed = false;
    for (uint32_t i = 0; i < l->c->norder; i++) {
      uint32_t block = l->c->order[i];
      const IrBlock *b = &l->c->blocks[block];
      for (uint32_t k = b->first; k < b->end; k++)
        if (l->apart[block] || !gives_the_same(l, l->c->instrs[k])) ptx_visit_regs(l->c->instrs[k], lower, l);
      split(l, block);
      split_at_exit(l, block);
    }
  } while (l->changed);
}

// A call of something of the program may come to a barrier; printf and its like do not.
bool synccheck_calls_program(const PtxInstr *in) {
  return in->op == OP_CALL && (in->ops[1].kind != OPD_FUNC || program_callee(in));
}

static bool has_barrier(const IrCfg *c, const IrBlock *b) {
  for (uint32_t i = b->first; i < b->end; i++)
    if (synccheck_calls_program(c->instrs[i]) || synccheck_is_block_barrier(c->instrs[i])) return true;
  return false;
}

static bool has_meeting(const IrCfg *c, const IrBlock *b) {
  for (uint32_t i = b->first; i < b->end; i++)
    if (synccheck_calls_program(c->instrs[i]) || synccheck_is_warp_meeting(c->instrs[i])) return true;
  return false;
}

// before: one of those blocks may come at or behind it. behind: it may come behind one.
static void spread_ways(const IrCfg *c, const bool *has, bool *before, bool *behind) {
  memcpy(before, has, c->nblocks * sizeof *has);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = c->norder; i-- > 0;) {
      uint32_t b = c->order[i];
      for (uint32_t k = 0; k < c->blocks[b].nsucc && !before[b]; k++)
        if (before[c->blocks[b].succ[k]]) before[b] = changed = true;
    }
    for (uint32_t i = 0; i < c->norder; i++) {
      uint32_t b = c->order[i];
      for (uint32_t k = 0; k < c->blocks[b].nsucc; k++) {
        uint32_t to = c->blocks[b].succ[k];
        if ((behind[b] || has[b]) && !behind[to]) behind[to] = changed = true;
      }
    }
  }
}

static void find_ways(const IrCfg *c, Together *t) {
  bool *has = ARENA_ARRAY((Arena *)&c->arena, bool, c->nblocks + 1);
  for (uint32_t i = 0; i < c->nblocks; i++) {
    const IrBlock *b = &c->blocks[i];
    t->only_ends[i] = b->nsucc == 0;
    for (uint32_t k = b->first; k < b->end; k++) t->only_ends[i] &= c->instrs[k]->op == OP_RET || c->instrs[k]->op == OP_EXIT;
    has[i] = has_barrier(c, b);
  }
  spread_ways(c, has, t->reaches, t->reached);
  for (uint32_t i = 0; i < c->nblocks; i++) has[i] = has_meeting(c, &c->blocks[i]);
  spread_ways(c, has, t->meets, t->met);
}

void synccheck_together(const IrCfg *c, bool is_kernel, Together *t) {
  Arena *a = (Arena *)&c->arena;
  t->varying = ARENA_ARRAY(a, bool, c->func->nregs + 1);
  t->apart = ARENA_ARRAY(a, bool, c->nblocks + 1);
  t->apart_strict = ARENA_ARRAY(a, bool, c->nblocks + 1);
  t->reaches = ARENA_ARRAY(a, bool, c->nblocks + 1);
  t->reached = ARENA_ARRAY(a, bool, c->nblocks + 1);
  t->meets = ARENA_ARRAY(a, bool, c->nblocks + 1);
  t->met = ARENA_ARRAY(a, bool, c->nblocks + 1);
  t->only_ends = ARENA_ARRAY(a, bool, c->nblocks + 1);
  find_ways(c, t);
  if (!is_kernel) {                        // who calls it is not known
    for (uint32_t i = 0; i < c->nblocks; i++) t->apart[i] = t->apart_strict[i] = true;
    return;
  }
  uint32_t room = 1;
  for (uint32_t i = 0; i < c->nblocks; i++) room += c->blocks[i].nsucc;
  uint32_t *work = ARENA_ARRAY(a, uint32_t, room);
  settle(&(Look){.c = c, .t = t, .apart = t->apart, .work = work, .room = room});
  bool *loose = t->varying;
  t->varying = ARENA_ARRAY(a, bool, c->func->nregs + 1);
  settle(&(Look){.c = c, .t = t, .apart = t->apart_strict, .strict = true, .work = work, .room = room});
  t->varying = loose;
}
