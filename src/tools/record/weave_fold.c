// One record for many iterations of a loop: loads whose values the launch need not record, in an
// innermost loop that records nothing else.
//
// Registers hold the number of pending iterations, the last iteration's addresses and the stride,
// which follows from the first two. An iteration with another stride writes the pending ones as a
// record; so does leaving the loop. Each address is compared with the expected one, so that nothing
// has to be proved about the loop.
#include "tools/record/weave_group.h"

enum { MOST_WAYS_OUT = 3 };

typedef struct Fold {
  PtxReg *turns, *last[WG_TRACE_GROUP_UNITS], *step[WG_TRACE_GROUP_UNITS],
      *first[WG_TRACE_GROUP_UNITS];
} Fold;

static bool is_innermost(const IrCfg *cfg, uint32_t loop) {
  for (uint32_t i = 0; i < cfg->nloops; i++)
    if (cfg->loops[i].parent == loop) return false;
  return true;
}

static bool ends_thread(const PtxInstr *in) { return ptx_op_classes(in) & CLASS_RETURN; }

static bool leaves(const IrCfg *cfg, uint32_t block, uint32_t loop) {
  const IrBlock *b = &cfg->blocks[block];
  bool out = b->end > b->first && ends_thread(cfg->instrs[b->end - 1]);
  for (uint32_t i = 0; i < b->nsucc; i++) out |= !ir_in_loop(cfg, b->succ[i], loop);
  return out;
}

static bool ways_out_are_known(const IrCfg *cfg, uint32_t loop) {
  unsigned n = 0;
  const IrLoop *l = &cfg->loops[loop];
  for (uint32_t i = 0; i < l->nblocks; i++) {
    const IrBlock *b = &cfg->blocks[l->blocks[i]];
    if (!leaves(cfg, l->blocks[i], loop)) continue;
    if (b->end == b->first || cfg->instrs[b->end - 1]->op == OP_BRX_IDX || ++n > MOST_WAYS_OUT)
      return false;
  }
  return n > 0;
}

// Is everything that the loop records in the group?
static bool is_all(Recorder *t, const RecorderGroup *g, uint32_t loop) {
  const IrCfg *cfg = t->body->cfg;
  const IrLoop *l = &cfg->loops[loop];
  uint32_t n = 0;
  for (uint32_t i = 0; i < l->nblocks; i++)
    for (uint32_t k = cfg->blocks[l->blocks[i]].first; k < cfg->blocks[l->blocks[i]].end; k++) {
      if (ptx_op_classes(cfg->instrs[k]) & CLASS_CALL) return false;
      n += recorder_is_recorded(cfg->instrs[k]);
    }
  return n == g->nops;
}

bool recorder_fold_can(Recorder *t, const RecorderGroup *g) {
  const IrCfg *cfg = t->body->cfg;
  uint32_t loop = cfg->blocks[cfg->block_of[g->ops[0].instr]].loop;
  for (uint32_t k = 0; k < g->nops; k++)
    if (!g->ops[k].is_load || (g->ops[k].planes && g->ops[k].fact < 0)) return false;
  return loop != IR_NONE && is_innermost(cfg, loop) && is_all(t, g, loop) &&
         ways_out_are_known(cfg, loop);
}

// Writes the pending iterations as a record, for lanes that have some. Lanes with another number of
// iterations or another stride write records of their own.
static void put_pending(Recorder *t, Code *c, const RecorderGroup *g, const Fold *f) {
  Body *b = t->body;
  PtxReg *other = body_reg(b, TYPE_PRED), *lanes = body_temp(b, TYPE_B32, 0),
         *leader = body_temp(b, TYPE_B32, 1), *before = body_temp(b, TYPE_B32, 2),
         *wide = body_temp(b, TYPE_B64, 0);
  PtxReg *theirs = body_temp(b, TYPE_B32, 3), *several = body_temp(b, TYPE_PRED, 0),
         *differs = body_temp(b, TYPE_PRED, 1);
  PtxLabel *again = body_label(b), *over = body_label(b);
  RecorderGroupInput in = {.turns = f->turns};
  code_label(c, again);
  EMIT(c, "activemask.b32", opd_reg(lanes));
  EMIT(c, "brev.b32", opd_reg(leader), opd_reg(lanes));
  EMIT(c, "clz.b32", opd_reg(leader), opd_reg(leader));
  EMIT(c, "shfl.sync.idx.b32", opd_reg(theirs), opd_reg(f->turns), opd_reg(leader), opd_imm(31),
       opd_reg(lanes));
  EMIT(c, "setp.ne.u32", opd_reg(other), opd_reg(f->turns), opd_reg(theirs));
  EMIT(c, "setp.gt.u32", opd_reg(several), opd_reg(f->turns), opd_imm(1));
  for (uint32_t u = 0; u < g->nunits; u++) {
    EMIT(c, "cvt.u32.u64", opd_reg(before), opd_reg(f->step[u]));
    EMIT(c, "shfl.sync.idx.b32", opd_reg(theirs), opd_reg(before), opd_reg(leader), opd_imm(31),
         opd_reg(lanes));
    EMIT(c, "setp.ne.and.u32", opd_reg(differs), opd_reg(before), opd_reg(theirs),
         opd_reg(several));
    EMIT(c, "or.pred", opd_reg(other), opd_reg(other), opd_reg(differs));
  }
  code_branch(c, other, false, over);
  EMIT(c, "sub.s32", opd_reg(before), opd_reg(f->turns), opd_imm(1));
  EMIT(c, "cvt.u64.u32", opd_reg(wide), opd_reg(before));
  for (uint32_t u = 0; u < g->nunits; u++) {
    EMIT(c, "mul.lo.s64", opd_reg(f->first[u]), opd_reg(wide), opd_reg(f->step[u]));
    EMIT(c, "sub.s64", opd_reg(f->first[u]), opd_reg(f->last[u]), opd_reg(f->first[u]));
    in.address[u] = f->first[u];
    in.step[u] = f->step[u];
  }
  recorder_group_emit(t, c, g, &in);
  code_label(c, over);
  code_branch(c, other, false, again);
}

// For lanes with pending iterations that pass the guard, if there is one.
static void put_on_way_out(Recorder *t, Code *c, const RecorderGroup *g, const Fold *f,
                           PtxReg *guard, bool negated) {
  Body *b = t->body;
  PtxReg *none = body_temp(b, TYPE_PRED, 0);
  PtxLabel *over = body_label(b);
  if (guard) code_branch(c, guard, !negated, over);
  EMIT(c, "setp.eq.u32", opd_reg(none), opd_reg(f->turns), opd_imm(0));
  code_branch(c, none, false, over);
  put_pending(t, c, g, f);
  EMIT(c, "mov.u32", opd_reg(f->turns), opd_imm(0));
  code_label(c, over);
}

static void put_on_ways_out(Recorder *t, const RecorderGroup *g, const Fold *f, uint32_t loop) {
  Body *b = t->body;
  const IrCfg *cfg = b->cfg;
  for (uint32_t i = 0; i < cfg->loops[loop].nblocks; i++) {
    uint32_t number = cfg->loops[loop].blocks[i];
    const IrBlock *block = &cfg->blocks[number];
    if (!leaves(cfg, number, loop)) continue;
    const PtxInstr *last = cfg->instrs[block->end - 1];
    bool branches = last->op == OP_BRA, ends = ends_thread(last),
         taken_leaves = ends || !ir_in_loop(cfg, block->succ[0], loop);
    bool rest_leaves = block->nsucc && !ir_in_loop(cfg, block->succ[block->nsucc - 1], loop);
    if (!branches && !ends) put_on_way_out(t, body_after(b, block->end - 1), g, f, NULL, false);
    else if (!last->guard || (taken_leaves && rest_leaves))
      put_on_way_out(t, body_before(b, block->end - 1), g, f, NULL, false);
    else
      put_on_way_out(t, body_before(b, block->end - 1), g, f, last->guard,
                     taken_leaves ? last->guard_negated : !last->guard_negated);
  }
}

// Counts this iteration if it continues the pending ones; then nothing else is to be done.
static void put_test(Recorder *t, Code *c, const RecorderGroup *g, const Fold *f, PtxLabel *over) {
  Body *b = t->body;
  PtxReg *fits = body_reg(b, TYPE_PRED), *second = body_temp(b, TYPE_PRED, 0),
         *moved = body_temp(b, TYPE_B64, 0), *low = body_temp(b, TYPE_B64, 1),
         *left = body_temp(b, TYPE_B32, 0);
  EMIT(c, "sub.s32", opd_reg(left), opd_reg(f->turns), opd_imm(1));
  EMIT(c, "setp.lt.u32", opd_reg(fits), opd_reg(left), opd_imm(WG_TRACE_GROUP_TURNS - 1));
  EMIT(c, "setp.eq.u32", opd_reg(second), opd_reg(f->turns), opd_imm(1));
  for (uint32_t u = 0; u < g->nunits; u++) {
    EMIT(c, "sub.s64", opd_reg(moved), opd_reg(g->units[u].address), opd_reg(f->last[u]));
    code_guard(c, second, false);
    EMIT(c, "mov.b64", opd_reg(f->step[u]), opd_reg(moved));
    code_guard(c, NULL, false);
    EMIT(c, "setp.eq.and.s64", opd_reg(fits), opd_reg(moved), opd_reg(f->step[u]), opd_reg(fits));
    EMIT(c, "add.s64", opd_reg(low), opd_reg(moved), opd_imm(1 << 30));
    EMIT(c, "setp.lt.and.u64", opd_reg(fits), opd_reg(low), opd_imm(1ll << 31), opd_reg(fits));
  }
  code_guard(c, fits, false);
  for (uint32_t u = 0; u < g->nunits; u++)
    EMIT(c, "mov.b64", opd_reg(f->last[u]), opd_reg(g->units[u].address));
  EMIT(c, "add.s32", opd_reg(f->turns), opd_reg(f->turns), opd_imm(1));
  EMIT(c, "bra", opd_label(over));
  code_guard(c, NULL, false);
}

void recorder_fold_put(Recorder *t, Code *c, RecorderGroup *g) {
  Body *b = t->body;
  const PtxInstr *last = b->cfg->instrs[g->ops[g->nops - 1].instr];
  uint32_t mask = recorder_group_mask(g),
           loop = b->cfg->blocks[b->cfg->block_of[g->ops[0].instr]].loop;
  PtxLabel *over = recorder_guard(t, c, last), *plain = body_label(b), *begin = body_label(b);
  PtxReg *facts = body_temp(b, TYPE_B32, 0), *none = body_temp(b, TYPE_PRED, 0);
  Fold f = {.turns = body_reg(b, TYPE_B32)};
  for (uint32_t u = 0; u < g->nunits; u++) {
    f.last[u] = body_reg(b, TYPE_B64);
    f.step[u] = body_reg(b, TYPE_B64);
    f.first[u] = body_reg(b, TYPE_B64);
  }
  Code *entry = body_entry(b);
  EMIT(entry, "mov.u32", opd_reg(f.turns), opd_imm(0));
  // They are always written before they are read, but ptxas and our verifier cannot prove it.
  for (uint32_t u = 0; u < g->nunits; u++) {
    EMIT(entry, "mov.u64", opd_reg(f.last[u]), opd_imm(0));
    EMIT(entry, "mov.u64", opd_reg(f.step[u]), opd_imm(0));
  }
  if (mask) {
    record_load(c, facts, t->kept + WG_TRACE_KEPT);
    EMIT(c, "and.b32", opd_reg(facts), opd_reg(facts), opd_imm(mask));
    EMIT(c, "setp.ne.u32", opd_reg(none), opd_reg(facts), opd_imm(0));
    code_branch(c, none, false, plain);
  }
  put_test(t, c, g, &f, over);
  EMIT(c, "setp.eq.u32", opd_reg(none), opd_reg(f.turns), opd_imm(0));
  code_branch(c, none, false, begin);
  put_pending(t, c, g, &f);
  code_label(c, begin);
  EMIT(c, "mov.u32", opd_reg(f.turns), opd_imm(1));
  for (uint32_t u = 0; u < g->nunits; u++)
    EMIT(c, "mov.b64", opd_reg(f.last[u]), opd_reg(g->units[u].address));
  EMIT(c, "bra", opd_label(over));
  code_label(c, plain);
  if (mask) {
    RecorderGroupInput in = {.values = true};
    for (uint32_t u = 0; u < g->nunits; u++) in.address[u] = g->units[u].address;
    recorder_group_emit(t, c, g, &in);
  }
  code_label(c, over);
  put_on_ways_out(t, g, &f, loop);
}
