// Finds the barriers that all threads of a block reach for any data.
//
// A value is the same in all threads of a block if it is computed from parameters, constants and
// values common to the block. A branch on any other value makes threads diverge; until they
// reconverge, values written there differ. Threads that leave early are treated separately: `if (i
// >= n) return;` removes them from later barriers, and the rest stays together.
#include "tools/synccheck/internal.h"

bool synccheck_is_block_barrier(const PtxInstr *in) {
  if (ptx_op_order(in->op) != ORDER_BLOCK || ptx_has(in, MOD_ARRIVE)) return false;
  return ptx_has(in, MOD_RED) ? in->nops == 3 : in->nops == 1;
}

typedef struct Look {
  const IrCfg *c;
  Together *t;
  bool strict, changed;
  bool *apart;
  uint32_t *work, room;
} Look;

static bool same_everywhere(const Look *l, const PtxOperand *o) {
  switch (o->kind) {
    case OPD_INT:
    case OPD_FLOAT:
    case OPD_FUNC:
    case OPD_SINK: return true;
    case OPD_REG: return !l->t->varying[o->reg->id];
    case OPD_VAR: return o->var->space != SPACE_LOCAL;
    case OPD_SREG:
      switch (o->sreg) {
        case SREG_CTAID:
        case SREG_NCTAID:
        case SREG_NTID:
        case SREG_GRIDID:
        case SREG_NSMID:
        case SREG_SMID:
        case SREG_NWARPID:
        case SREG_CLUSTERID:
        case SREG_NCLUSTERID:
        case SREG_CLUSTER_CTAID:
        case SREG_CLUSTER_NCTAID:
        case SREG_CLUSTER_CTARANK:
        case SREG_CLUSTER_NCTARANK:
        case SREG_TOTAL_SMEM_SIZE:
        case SREG_DYNAMIC_SMEM_SIZE:
        case SREG_ENVREG1:
        case SREG_ENVREG2: return true;
        default: return false;
      }
    case OPD_ADDR:
    case OPD_VECTOR:
    case OPD_PAIR:
      for (unsigned i = 0; i < o->nlist; i++)
        if (!same_everywhere(l, &o->list[i])) return false;
      return true;
    default: return false;
  }
}

static bool gives_the_same(const Look *l, const PtxInstr *in) {
  if (in->guard && l->t->varying[in->guard->id]) return false;
  if (synccheck_is_block_barrier(in)) return true;  // bar.red: one answer for the block
  if (in->op == OP_LD) {
    bool parameter = in->space == SPACE_PARAM && in->nops > 1 && in->ops[1].kind == OPD_ADDR &&
                     ir_is_kernel_param(l->c->func, &in->ops[1].list[0]);
    if (!parameter && in->space != SPACE_CONST) return false;
  } else if (in->op != OP_CVTA && in->op != OP_ISSPACEP && !ptx_op_is_arith(in->op)) return false;
  if (ptx_has(in, MOD_CC) || in->op == OP_ADDC || in->op == OP_SUBC || in->op == OP_MADC)
    return false;
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

// Blocks that threads may reach on the other ways out of `from`, after a barrier (1) or before
// one (0), and not through `from` again.
static void others_come(const IrCfg *c, const bool *has, uint32_t from, uint32_t not_to,
                        bool *seen[2], uint32_t *work) {
  uint32_t n = 0, room = 2 * c->nblocks;
  for (uint32_t i = 0; i < c->blocks[from].nsucc; i++) {
    uint32_t to = c->blocks[from].succ[i];
    if (to != not_to && to != from && !seen[0][to]) {
      seen[0][to] = true;
      work[n++] = to * 2;
    }
  }
  while (n) {
    uint32_t at = work[--n], block = at / 2, behind = (at & 1) | has[block];
    for (uint32_t i = 0; i < c->blocks[block].nsucc; i++) {
      uint32_t to = c->blocks[block].succ[i];
      if (to == from || seen[behind][to] || n >= room) continue;
      seen[behind][to] = true;
      work[n++] = to * 2 + behind;
    }
  }
}

// Threads that go from one block to the other reach no further barrier, and execute nothing that
// others do after a barrier they have missed, except `harmless` blocks.
static bool gone_for_good(const IrCfg *c, const bool *has, const bool *before, const bool *harmless,
                          uint32_t from, uint32_t to) {
  enum { MOST_BLOCKS = 1 << 14 };
  if (!before[from] || before[to]) return false;
  if (harmless[to]) return true;
  if (c->nblocks > MOST_BLOCKS) return false;
  Arena a = {0};
  bool *seen[2] = {ARENA_ARRAY(&a, bool, c->nblocks + 1), ARENA_ARRAY(&a, bool, c->nblocks + 1)},
       *own = ARENA_ARRAY(&a, bool, c->nblocks + 1), joins = false;
  uint32_t *work = ARENA_ARRAY(&a, uint32_t, 2 * c->nblocks + 2), n = 0;
  others_come(c, has, from, to, seen, work);
  own[to] = true;
  work[n++] = to;
  while (n && !joins) {
    uint32_t block = work[--n];
    joins = seen[1][block] && !harmless[block];
    for (uint32_t i = 0; i < c->blocks[block].nsucc; i++) {
      uint32_t next = c->blocks[block].succ[i];
      if (!own[next]) {
        own[next] = true;
        work[n++] = next;
      }
    }
  }
  arena_free(&a);
  return !joins;
}

bool synccheck_leaves_quietly(const Sync *s, uint32_t from, uint32_t to) {
  return gone_for_good(s->body->cfg, s->t.has_barrier, s->t.reaches, s->t.quiet, from, to);
}

bool synccheck_leaves_early(const Sync *s, uint32_t from, uint32_t to) {
  return gone_for_good(s->body->cfg, s->t.has_barrier, s->t.reaches, s->t.only_ends, from, to);
}

bool synccheck_leaves_warp(const Sync *s, uint32_t from, uint32_t to) {
  return !s->t.reaches[to] &&
         gone_for_good(s->body->cfg, s->t.has_meeting, s->t.meets, s->t.only_ends, from, to);
}

static void split(Look *l, uint32_t block) {
  const IrBlock *b = &l->c->blocks[block];
  const PtxInstr *last = b->first < b->end ? l->c->instrs[b->end - 1] : NULL;
  if (!last) return;
  bool branches = (last->op == OP_BRA && last->guard && l->t->varying[last->guard->id]) ||
                  (last->op == OP_BRX_IDX && (l->t->varying[last->ops[0].reg->id] ||
                                              (last->guard && l->t->varying[last->guard->id])));
  if (!branches) return;
  if (!l->strict && b->nsucc == 2)
    for (uint32_t i = 0; i < 2; i++)
      if (gone_for_good(l->c, l->t->has_barrier, l->t->reaches, l->t->only_ends, block, b->succ[i]))
        return;
  for (uint32_t i = 0; i < b->nsucc; i++) spread(l, b->succ[i], b->ipdom);
}

// Strictly, the lanes that remain after a guarded exit are divergent too.
static void split_at_exit(Look *l, uint32_t block) {
  const IrBlock *b = &l->c->blocks[block];
  const PtxInstr *last = b->first < b->end ? l->c->instrs[b->end - 1] : NULL;
  if (!l->strict || !last || (last->op != OP_RET && last->op != OP_EXIT) || !last->guard ||
      !l->t->varying[last->guard->id])
    return;
  for (uint32_t i = 0; i < b->nsucc; i++) spread(l, b->succ[i], IR_NONE);
}

static void settle(Look *l) {
  do {
    l->changed = false;
    for (uint32_t i = 0; i < l->c->norder; i++) {
      uint32_t block = l->c->order[i];
      const IrBlock *b = &l->c->blocks[block];
      for (uint32_t k = b->first; k < b->end; k++)
        if (l->apart[block] || !gives_the_same(l, l->c->instrs[k]))
          ptx_visit_regs(l->c->instrs[k], lower, l);
      split(l, block);
      split_at_exit(l, block);
    }
  } while (l->changed);
}

// A call of a function of the program may reach a barrier; printf and the like do not.
bool synccheck_calls_program(const PtxInstr *in) {
  return in->op == OP_CALL && (in->ops[1].kind != OPD_FUNC || program_callee(in));
}

static bool has_barrier(const IrCfg *c, const IrBlock *b) {
  for (uint32_t i = b->first; i < b->end; i++)
    if (synccheck_calls_program(c->instrs[i]) || synccheck_is_block_barrier(c->instrs[i]))
      return true;
  return false;
}

static bool has_meeting(const IrCfg *c, const IrBlock *b) {
  for (uint32_t i = b->first; i < b->end; i++)
    if (synccheck_calls_program(c->instrs[i]) || synccheck_is_warp_meeting(c->instrs[i]))
      return true;
  return false;
}

// before: one of the blocks in `has` can be reached from here, or is this block.
static void spread_ways(const IrCfg *c, const bool *has, bool *before) {
  memcpy(before, has, c->nblocks * sizeof *has);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = c->norder; i-- > 0;) {
      uint32_t b = c->order[i];
      for (uint32_t k = 0; k < c->blocks[b].nsucc && !before[b]; k++)
        if (before[c->blocks[b].succ[k]]) before[b] = changed = true;
    }
  }
}

// The block depends on no other threads, nor others on it: it computes and writes results to global
// memory.
static bool is_quiet(const IrCfg *c, const IrBlock *b) {
  for (uint32_t i = b->first; i < b->end; i++) {
    const PtxInstr *in = c->instrs[i];
    unsigned classes = ptx_op_classes(in);
    if (in->op == OP_LD &&
        (in->space == SPACE_PARAM || in->space == SPACE_CONST || in->space == SPACE_LOCAL))
      continue;
    if (classes & (CLASS_LOAD | CLASS_ATOMIC | CLASS_SYNC | CLASS_CALL | CLASS_WARP | CLASS_TENSOR |
                   CLASS_TEXTURE | CLASS_SURFACE | CLASS_ASYNC | CLASS_MEMFENCE))
      return false;
    if (classes & CLASS_STORE && in->space != SPACE_GLOBAL && in->space != SPACE_LOCAL)
      return false;
  }
  return true;
}

static void find_ways(const IrCfg *c, Together *t) {
  bool *loud = ARENA_ARRAY((Arena *)&c->arena, bool, c->nblocks + 1),
       *before = ARENA_ARRAY((Arena *)&c->arena, bool, c->nblocks + 1);
  for (uint32_t i = 0; i < c->nblocks; i++) {
    const IrBlock *b = &c->blocks[i];
    t->only_ends[i] = b->nsucc == 0;
    for (uint32_t k = b->first; k < b->end; k++)
      t->only_ends[i] &= c->instrs[k]->op == OP_RET || c->instrs[k]->op == OP_EXIT;
    t->has_barrier[i] = has_barrier(c, b);
    t->has_meeting[i] = has_meeting(c, b);
    loud[i] = !is_quiet(c, b);
  }
  spread_ways(c, t->has_barrier, t->reaches);
  spread_ways(c, t->has_meeting, t->meets);
  spread_ways(c, loud, before);
  for (uint32_t i = 0; i < c->nblocks; i++) t->quiet[i] = !before[i];
}

void synccheck_together(const IrCfg *c, bool is_kernel, Together *t) {
  Arena *a = (Arena *)&c->arena;
  t->varying = ARENA_ARRAY(a, bool, c->func->nregs + 1);
  t->apart = ARENA_ARRAY(a, bool, c->nblocks + 1);
  t->apart_strict = ARENA_ARRAY(a, bool, c->nblocks + 1);
  t->reaches = ARENA_ARRAY(a, bool, c->nblocks + 1);
  t->has_barrier = ARENA_ARRAY(a, bool, c->nblocks + 1);
  t->meets = ARENA_ARRAY(a, bool, c->nblocks + 1);
  t->has_meeting = ARENA_ARRAY(a, bool, c->nblocks + 1);
  t->only_ends = ARENA_ARRAY(a, bool, c->nblocks + 1);
  t->quiet = ARENA_ARRAY(a, bool, c->nblocks + 1);
  find_ways(c, t);
  if (!is_kernel) {  // the callers are not known
    for (uint32_t i = 0; i < c->nblocks; i++) t->apart[i] = t->apart_strict[i] = true;
    return;
  }
  uint32_t room = 1;
  for (uint32_t i = 0; i < c->nblocks; i++) room += c->blocks[i].nsucc;
  uint32_t *work = ARENA_ARRAY(a, uint32_t, room);
  settle(&(Look){.c = c, .t = t, .apart = t->apart, .work = work, .room = room});
  bool *loose = t->varying;
  t->varying = ARENA_ARRAY(a, bool, c->func->nregs + 1);
  settle(&(Look){
      .c = c, .t = t, .apart = t->apart_strict, .strict = true, .work = work, .room = room});
  t->varying = loose;
}
