// Instructions that lanes of a warp execute together: bar.warp.sync, and those that exchange values
// (shfl, vote, match, redux, elect) with a mask.
//
// A lane must be in its own mask: one test, unless the mask is all ones. Other named lanes must
// come: no test is needed if the warp is known to be converged. Otherwise the mask is compared with
// the active lanes, and the rest is out of line. A shuffle must not read from a lane that has ended
// or never existed; this is tested where some lanes may have left.
#include "tools/synccheck/internal.h"

static const PtxOperand *mask_of(const PtxInstr *in) {
  switch (ptx_op_order(in->op)) {
    case ORDER_WARP: return &in->ops[0];
    case ORDER_LANES: return ptx_has(in, MOD_SYNC) && in->nops ? &in->ops[in->nops - 1] : NULL;
    default: return NULL;
  }
}

bool synccheck_is_warp_meeting(const PtxInstr *in) { return mask_of(in) != NULL; }

static bool is_everybody(const Sync *s, const PtxOperand *o) {
  int64_t mask;
  return constant_value(s->body, o, &mask) && (uint32_t)mask == ~0u;
}

// The mask is the active mask: it names no other lane.
static bool is_whoever_is_here(const Sync *s, const PtxOperand *mask, uint32_t at) {
  const IrCfg *c = s->body->cfg;
  if (mask->kind != OPD_REG) return false;
  for (uint32_t i = at; i-- > c->blocks[c->block_of[at]].first;) {
    const PtxInstr *in = c->instrs[i];
    if (in->nops && in->ops[0].kind == OPD_REG && in->ops[0].reg == mask->reg)
      return in->op == OP_ACTIVEMASK && !in->guard;
    if (in->op == OP_CALL) return false;
  }
  return false;
}

static bool is_apart(const Sync *s, uint32_t i) {
  return !s->warp || s->body->cfg->instrs[i]->guard ||
         s->warp->block_divergent[s->body->cfg->block_of[i]];
}

static bool asks_who_is_here(const Sync *s, uint32_t i) {
  const PtxInstr *in = s->body->cfg->instrs[i];
  const PtxOperand *mask = mask_of(in);
  return mask && is_apart(s, i) && !is_whoever_is_here(s, mask, i);
}

bool synccheck_plan_warp(Sync *s) {
  bool asks = false;
  for (uint32_t i = 0; i < s->body->cfg->ninstrs; i++) {
    asks |= asks_who_is_here(s, i);
    s->shuffles |= s->body->cfg->instrs[i]->op == OP_SHFL;
  }
  return asks;
}

static void test_named(Sync *s, uint32_t i, const PtxInstr *in, const PtxOperand *mask) {
  Body *b = s->body;
  Code *c = body_before(b, i);
  PtxReg *own = body_temp(b, TYPE_B32, 0), *bad = body_temp(b, TYPE_PRED, 0),
         *lanes = body_temp(b, TYPE_B32, 2);
  PtxReg *value = body_temp(b, TYPE_B64, 0), *high = body_temp(b, TYPE_B64, 1);
  EMIT(c, "mov.u32", opd_reg(own), opd_sreg(SREG_LANEMASK_EQ, SEL_NONE));
  EMIT(c, "and.b32", opd_reg(own), opd_reg(own), *mask);
  if (in->guard) EMIT(c, "setp.eq.and.u32", opd_reg(bad), opd_reg(own), opd_imm(0), opd_guard(in));
  else EMIT(c, "setp.eq.u32", opd_reg(bad), opd_reg(own), opd_imm(0));
  Code *cold = body_cold(b);
  PtxLabel *rare = body_label(b), *back = body_label(b);
  code_branch(c, bad, false, rare);
  code_label(c, back);
  cold->near = in;
  code_label(cold, rare);
  EMIT(cold, "activemask.b32", opd_reg(lanes));
  EMIT(cold, "cvt.u64.u32", opd_reg(high), opd_reg(lanes));
  EMIT(cold, "shl.b64", opd_reg(high), opd_reg(high), opd_imm(32));
  EMIT(cold, "mov.b32", opd_reg(lanes), *mask);
  EMIT(cold, "cvt.u64.u32", opd_reg(value), opd_reg(lanes));
  EMIT(cold, "or.b64", opd_reg(value), opd_reg(value), opd_reg(high));
  code_report(cold, &(CodeReport){.site = program_site(b->program, b, in),
                                  .kind = opd_imm(KIND_BARRIER_MISMATCH),
                                  .size = opd_imm(WG_SYNC_NOT_NAMED),
                                  .address = opd_imm(0),
                                  .value = opd_reg(value),
                                  .extra = opd_imm(0)});
  EMIT(cold, "bra", opd_label(back));
}

// Another instruction with the same opcode and qualifiers counts as the same meeting.
static uint32_t signature(const PtxInstr *in) {
  uint32_t h = (uint32_t)in->op;
  for (unsigned i = 0; i < in->nmods; i++) h = h * 31 + (uint32_t)in->mods[i];
  return h;
}

static void test_present(Sync *s, uint32_t i, const PtxInstr *in, const PtxOperand *mask) {
  Body *b = s->body;
  Code *c = body_before(b, i), *cold = body_cold(b);
  PtxReg *lanes = body_temp(b, TYPE_B32, 0), *few = body_temp(b, TYPE_PRED, 0),
         *number = body_temp(b, TYPE_B32, 1), *m = body_temp(b, TYPE_B32, 2),
         *absent = body_temp(b, TYPE_B32, 3);
  PtxLabel *rare = body_label(b), *back = body_label(b);
  code_guard(c, in->guard, in->guard_negated);
  EMIT(c, "activemask.b32", opd_reg(lanes));
  code_guard(c, NULL, false);
  EMIT(c, "not.b32", opd_reg(absent), opd_reg(lanes));
  EMIT(c, "and.b32", opd_reg(absent), opd_reg(absent), *mask);
  if (in->guard)
    EMIT(c, "setp.ne.and.u32", opd_reg(few), opd_reg(absent), opd_imm(0), opd_guard(in));
  else EMIT(c, "setp.ne.u32", opd_reg(few), opd_reg(absent), opd_imm(0));
  code_branch(c, few, false, rare);
  code_label(c, back);
  cold->near = in;
  code_label(cold, rare);
  EMIT(cold, "mov.b32", opd_reg(m), *mask);
  PtxOperand site = synccheck_site(s, cold, in, number);
  SYNC_CALL(s, cold, "wg_sync_warp", site, opd_reg(m), opd_imm((int32_t)signature(in)),
            opd_reg(lanes));
  EMIT(cold, "bra", opd_label(back));
}

// Computes which lane a shuffle reads, as the manual defines it, and whether that is in range. d|p:
// ops[0]; a, b, c, mask follow.
static void test_source(Sync *s, uint32_t i, const PtxInstr *in, const PtxOperand *mask) {
  Body *b = s->body;
  PtxReg *in_range = body_temp(b, TYPE_PRED, 1), *number = body_temp(b, TYPE_B32, 1);
  PtxReg *from = body_temp(b, TYPE_B32, 2), *low = body_temp(b, TYPE_B32, 3),
         *bound = body_temp(b, TYPE_B32, 4), *lane = body_temp(b, TYPE_B32, 5);
  PtxReg *offset = body_temp(b, TYPE_B32, 6);
  PtxLabel *back;
  Code *cold = synccheck_where_few(s, i, &back);
  EMIT(cold, "mov.u32", opd_reg(lane), opd_sreg(SREG_LANEID, SEL_NONE));
  EMIT(cold, "mov.b32", opd_reg(low), in->ops[3]);
  EMIT(cold, "and.b32", opd_reg(bound), opd_reg(low), opd_imm(31));
  EMIT(cold, "shr.u32", opd_reg(low), opd_reg(low), opd_imm(8));
  EMIT(cold, "and.b32", opd_reg(low), opd_reg(low), opd_imm(31));  // segment mask
  EMIT(cold, "mov.b32", opd_reg(offset), in->ops[2]);
  EMIT(cold, "and.b32", opd_reg(offset), opd_reg(offset), opd_imm(31));
  EMIT(cold, "not.b32", opd_reg(number), opd_reg(low));
  EMIT(cold, "and.b32", opd_reg(bound), opd_reg(bound), opd_reg(number));
  EMIT(cold, "and.b32", opd_reg(from), opd_reg(lane), opd_reg(low));    // first lane of the segment
  EMIT(cold, "or.b32", opd_reg(bound), opd_reg(bound), opd_reg(from));  // maxLane
  if (ptx_has(in, MOD_UP)) {
    EMIT(cold, "sub.u32", opd_reg(from), opd_reg(lane), opd_reg(offset));
    EMIT(cold, "setp.ge.s32", opd_reg(in_range), opd_reg(from), opd_reg(bound));
  } else {
    if (ptx_has(in, MOD_DOWN)) EMIT(cold, "add.u32", opd_reg(from), opd_reg(lane), opd_reg(offset));
    else if (ptx_has(in, MOD_BFLY))
      EMIT(cold, "xor.b32", opd_reg(from), opd_reg(lane), opd_reg(offset));
    else {
      EMIT(cold, "and.b32", opd_reg(offset), opd_reg(offset), opd_reg(number));
      EMIT(cold, "or.b32", opd_reg(from), opd_reg(from), opd_reg(offset));
    }
    EMIT(cold, "setp.le.s32", opd_reg(in_range), opd_reg(from), opd_reg(bound));
  }
  code_guard(cold, in_range, true);
  EMIT(cold, "bra", opd_label(back));
  code_guard(cold, NULL, false);
  EMIT(cold, "mov.b32", opd_reg(low), *mask);
  PtxOperand site = synccheck_site(s, cold, in, number);
  SYNC_CALL(s, cold, "wg_sync_source", site, opd_reg(low), opd_reg(from));
  EMIT(cold, "bra", opd_label(back));
}

void synccheck_weave_warp(Sync *s) {
  for (uint32_t i = 0; i < s->body->cfg->ninstrs; i++) {
    const PtxInstr *in = s->body->cfg->instrs[i];
    const PtxOperand *mask = mask_of(in);
    if (!mask || (mask->kind != OPD_REG && mask->kind != OPD_INT)) continue;
    if (!is_everybody(s, mask) && !is_whoever_is_here(s, mask, i)) test_named(s, i, in, mask);
    if (asks_who_is_here(s, i)) test_present(s, i, in, mask);
    if (in->op == OP_SHFL && in->nops == 5 && s->is_kernel) test_source(s, i, in, mask);
  }
}
