// Marks that code sets by moves into registers with known names: wg_benign_race of
// include/warpgrind.h; and wg_barrier_orders, by which the barrier of OpenCL C keeps its flags
// (src/opencl/library/barrier.cl) and shuffles of its library order nothing.
#include "tools/racecheck/internal.h"

static bool is_move_to(const PtxInstr *in, const char *name) {
  return in->op == OP_MOV && in->nops == 2 && in->ops[0].kind == OPD_REG &&
         code_is_named(in->ops[0].reg, name);
}

unsigned race_barrier_memory(const RaceCheck *k, uint32_t i) {
  int64_t flags;
  const PtxInstr *before = i ? k->body->cfg->instrs[i - 1] : NULL;
  if (!before || !is_move_to(before, "wg_barrier_orders") ||
      !constant_value(k->body, &before->ops[1], &flags))
    return RACE_ORDERS_ALL;
  return (unsigned)flags & RACE_ORDERS_ALL;
}

bool race_says(const RaceCheck *k, uint32_t i) {
  return i && is_move_to(k->body->cfg->instrs[i], "wg_benign_race_n") &&
         is_move_to(k->body->cfg->instrs[i - 1], "wg_benign_race_p");
}

void race_said(RaceCheck *k, uint32_t i) {
  if (!race_says(k, i)) return;
  Body *b = k->body;
  PtxReg *p = k->body->cfg->instrs[i - 1]->ops[0].reg, *n = k->body->cfg->instrs[i]->ops[0].reg;
  Code *c = body_after(b, i);
  PtxReg *at = body_temp(b, TYPE_B64, 0), *range = body_temp(b, TYPE_B64, 1),
         *entries = body_temp(b, TYPE_B64, 2), *size = body_temp(b, TYPE_B64, 3);
  PtxReg *inside = body_temp(b, TYPE_PRED, 0), *nothing = body_temp(b, TYPE_B32, 0),
         *stride = body_temp(b, TYPE_B32, 1);
  PtxLabel *over = body_label(b), *global = body_label(b);
  int64_t pairs = b->program->plan->tool_options[TOOL_RACECHECK] & RACE_FULL;
  EMIT(c, "setp.eq.u64", opd_reg(inside), opd_reg(k->me), opd_imm(0));
  code_branch(c, inside, false, over);
  EMIT(c, "mov.b64", opd_reg(at), opd_reg(p));
  EMIT(c, "isspacep.shared", opd_reg(inside), opd_reg(at));
  code_branch(c, inside, true, global);
  EMIT(c, "cvta.to.shared.u64", opd_reg(at), opd_reg(at));
  RACE_LOAD(k, c, stride, shared_stride);
  EMIT(c, "shr.u32", opd_reg(stride), opd_reg(stride), opd_imm(2));
  EMIT(c, "cvt.u64.u32", opd_reg(size), opd_reg(stride));
  EMIT(c, "add.u64", opd_reg(range), opd_reg(at), opd_reg(n));
  EMIT(c, "setp.gt.u64", opd_reg(inside), opd_reg(range), opd_reg(size));
  code_branch(c, inside, false, over);
  const PtxOperand shared[] = {opd_reg(k->shared_at), opd_reg(at), opd_reg(n), opd_imm(1)};
  code_call_value(c, probe_function(b->program, b->unit, "wg_race_benign"), nothing, shared, 4);
  EMIT(c, "bra", opd_label(over));
  code_label(c, global);
  record_load(c, range, offsetof(WgLaunch, memory));
  const PtxOperand find[] = {opd_reg(range), opd_reg(at)};
  code_call_value(c, probe_function(b->program, b->unit, "wg_init_find"), range, find, 2);
  EMIT(c, "setp.eq.u64", opd_reg(inside), opd_reg(range), opd_imm(0));
  code_branch(c, inside, false, over);
  EMIT(c, "ld.global.u64", opd_reg(entries),
       opd_at(c, opd_reg(range), offsetof(WgMemoryRange, tools.race)));
  EMIT(c, "setp.eq.u64", opd_reg(inside), opd_reg(entries), opd_imm(0));
  code_branch(c, inside, false, over);
  EMIT(c, "ld.global.u64", opd_reg(size), opd_at(c, opd_reg(range), offsetof(WgMemoryRange, base)));
  EMIT(c, "sub.s64", opd_reg(at), opd_reg(at), opd_reg(size));
  const PtxOperand args[] = {opd_reg(entries), opd_reg(at), opd_reg(n), opd_imm(pairs)};
  code_call_value(c, probe_function(b->program, b->unit, "wg_race_benign"), nothing, args, 4);
  code_label(c, over);
}
