// Finds sides of branches so short that a compiler predicates their instructions: then no branch is
// left, and no warp diverges. Our code in such a side would keep the branch alive, so the block
// with the branch counts the side's executions.
#include "weave/execution_counts.h"

enum { MOST_INSTRUCTIONS = 6 };

static bool is_cheap(const PtxInstr *in) {
  switch (in->op) {
    case OP_DIV:
    case OP_REM:
    case OP_SQRT:
    case OP_RSQRT:
    case OP_RCP:
    case OP_SIN:
    case OP_COS:
    case OP_LG2:
    case OP_EX2:
    case OP_TANH: return false;
    default: return ptx_op_is_arith(in->op) && !in->guard;
  }
}

// Follows blocks with one predecessor and one successor; returns the block they lead to. IR_NONE:
// they hold more than a short side may have.
static uint32_t end_of_side(const IrCfg *cfg, uint32_t block) {
  uint32_t n = 0;
  for (uint32_t steps = 0; steps < MOST_INSTRUCTIONS; steps++) {
    const IrBlock *b = &cfg->blocks[block];
    if (b->npred != 1) return block;
    if (b->nsucc != 1 || b->first == b->end) return IR_NONE;
    for (uint32_t i = b->first; i < b->end; i++) {
      const PtxInstr *in = cfg->instrs[i];
      bool leaves = i + 1 == b->end && in->op == OP_BRA && !in->guard;
      if (!leaves && (!is_cheap(in) || ++n > MOST_INSTRUCTIONS)) return IR_NONE;
    }
    block = b->succ[0];
  }
  return IR_NONE;
}

static bool has_short_sides(const IrCfg *cfg, uint32_t block) {
  const IrBlock *b = &cfg->blocks[block];
  const PtxInstr *last = b->end > b->first ? cfg->instrs[b->end - 1] : NULL;
  if (b->rpo == IR_NONE || !last || last->op != OP_BRA || !last->guard || b->nsucc != 2)
    return false;
  for (uint32_t i = b->first; i < b->end; i++)
    if (cfg->instrs[i]->op == OP_CALL || !cfg->instrs[i]->ptx_line) return false;
  uint32_t join = end_of_side(cfg, b->succ[0]);
  return join != IR_NONE && b->succ[0] != b->succ[1] && end_of_side(cfg, b->succ[1]) == join;
}

void short_sides_find(Counting *w) {
  IrCfg *cfg = w->body->cfg;
  w->sides = ARENA_ARRAY(&cfg->arena, ShortSide, cfg->nblocks);
  for (uint32_t i = 0; i < cfg->nblocks; i++) w->sides[i].of = IR_NONE;
  for (uint32_t i = 0; i < cfg->nblocks; i++) {
    if (!has_short_sides(cfg, i)) continue;
    w->sides[i].has_sides = true;
    for (uint32_t s = 0; s < 2; s++)
      for (uint32_t at = cfg->blocks[i].succ[s], join = end_of_side(cfg, at); at != join;
           at = cfg->blocks[at].succ[0]) {
        w->sides[at].of = i;
        w->sides[at].first = cfg->blocks[i].succ[s];
      }
  }
}

// --- their executions ---

// Counts a full warp: the number of threads that take the side, and the warp if there are any.
static void count_side(Counting *w, Code *c, uint32_t side, PtxReg *lanes) {
  Body *b = w->body;
  PtxReg *mine = body_temp(b, TYPE_PRED, 0), *n = body_temp(b, TYPE_B32, 1);
  uint32_t counters = w->entry[side];
  EMIT(c, "popc.b32", opd_reg(n), opd_reg(lanes));
  PtxReg *threads = count_lanes_choose(w, c, side, counters + BLOCK_THREADS, mine);
  code_guard(c, mine, false);
  EMIT(c, "add.u32", opd_reg(threads), opd_reg(threads), opd_reg(n));
  code_guard(c, NULL, false);
  PtxReg *warps = count_lanes_register(w, side, counters + BLOCK_WARPS);  // in the same lane
  EMIT(c, "setp.ne.and.u32", opd_reg(mine), opd_reg(lanes), opd_imm(0), opd_reg(mine));
  code_guard(c, mine, false);
  EMIT(c, "add.u32", opd_reg(warps), opd_reg(warps), opd_imm(1));
  code_guard(c, NULL, false);
}

// Counts a warp with missing lanes, out of line: straight to memory.
static void count_side_of_some(Counting *w, Code *cold, uint32_t side, PtxReg *guard,
                               bool negated) {
  Body *b = w->body;
  PtxReg *lanes = body_temp(b, TYPE_B32, 0), *below = body_temp(b, TYPE_B32, 1),
         *leads = body_temp(b, TYPE_PRED, 0), *n = body_temp(b, TYPE_B64, 0);
  code_guard(cold, guard, negated);
  code_elect(cold, lanes, leads, w->lower);
  code_guard(cold, NULL, false);
  EMIT(cold, "popc.b32", opd_reg(below), opd_reg(lanes));
  EMIT(cold, "cvt.u64.u32", opd_reg(n), opd_reg(below));
  code_guard(cold, leads, false);
  count_add_to_memory(w, cold, w->entry[side] + BLOCK_THREADS, opd_reg(n));
  count_add_to_memory(w, cold, w->entry[side] + BLOCK_WARPS, opd_imm(1));
  code_guard(cold, NULL, false);
}

void short_sides_count(Counting *w, uint32_t block, PtxReg *lanes) {
  Body *b = w->body;
  const IrBlock *at = &b->cfg->blocks[block];
  uint32_t i = at->end - 1;
  const PtxInstr *in = b->cfg->instrs[i];
  Code *c = body_before(b, i), *cold = body_cold(b);
  PtxReg *fewer = body_temp(b, TYPE_PRED, 1), *taken = body_temp(b, TYPE_B32, 0);
  PtxLabel *out = body_label(b), *back = body_label(b);
  code_guard(c, NULL, false);
  EMIT(c, "setp.ne.u32", opd_reg(fewer), opd_reg(lanes), opd_imm(-1));
  code_branch(c, fewer, false, out);
  EMIT(c, "vote.sync.ballot.b32", opd_reg(taken), opd_guard(in), opd_imm(-1));
  bool sides[2];
  for (uint32_t s = 0; s < 2; s++) sides[s] = w->sides[at->succ[s]].of == block;
  if (sides[0]) count_side(w, c, at->succ[0], taken);
  if (sides[1]) {
    EMIT(c, "not.b32", opd_reg(taken), opd_reg(taken));
    count_side(w, c, at->succ[1], taken);
  }
  code_label(c, back);
  cold->near = in;
  code_guard(cold, NULL, false);
  code_label(cold, out);
  for (uint32_t s = 0; s < 2; s++)
    if (sides[s])
      count_side_of_some(w, cold, at->succ[s], in->guard, in->guard_negated != (s == 1));
  EMIT(cold, "bra", opd_label(back));
}
