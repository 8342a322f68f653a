// Results that are read on only one way out of their block; on the other they are overwritten. exp
// of doubles sets its result to infinity for all large arguments, and computes those that are not
// too large after a branch. Such a result is tested before the branch, for the lanes that go where
// it is read.
#include "tools/fpcheck/internal.h"

bool fp_is_live(FpCheck *k, uint32_t block, const PtxReg *r) {
  if (!k->live) k->live = ir_liveness_build(k->body->cfg);
  return k->live->live_in[block][r->id / 64] >> r->id % 64 & 1;
}

// Whether the operands that the test reads are still in their registers: those of the instruction
// itself and, if it is a selection, of all results that it decides about.
static bool operands_last(const FpCheck *k, const FpDeferred *f, uint32_t first, uint32_t i,
                          uint32_t until) {
  for (uint32_t at = first; at <= i; at++) {
    const PtxInstr *in = k->body->cfg->instrs[at];
    if (at != i && f->owner[at] != i + 1) continue;
    for (unsigned o = 1; o < in->nops; o++)
      if (!fp_lasts(k->flow, &in->ops[o], at, until)) return false;
  }
  return true;
}

bool fp_is_late(FpCheck *k, const FpDeferred *f, uint32_t block, uint32_t i, FpCondition *way) {
  const IrCfg *cfg = k->body->cfg;
  const IrBlock *b = &cfg->blocks[block];
  const PtxInstr *in = cfg->instrs[i], *last = cfg->instrs[b->end - 1];
  if (b->nsucc != 2 || !last->guard || i + 1 == b->end || k->flow->depth[i] ||
      k->flow->depth[b->end - 1])
    return false;
  if (in->guard || f->owner[i] || !in->nops || in->ops[0].kind != OPD_REG ||
      in->ops[0].reg->id >= k->flow->nregs || fp_is_fixed(k->flow, &in->ops[0]))
    return false;
  const PtxReg *d = in->ops[0].reg;
  bool taken = fp_is_live(k, b->succ[0], d), on = fp_is_live(k, b->succ[1], d);
  if (taken == on || fp_is_named(&k->flow->reads, d, i, b->end) ||
      fp_is_named(&k->flow->writes, d, i + 1, b->end))
    return false;
  *way = (FpCondition){.reg = last->guard,
                       .negated = taken ? last->guard_negated : !last->guard_negated};
  return operands_last(k, f, b->first, i, b->end - 1);
}
