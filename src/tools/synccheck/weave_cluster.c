// The barrier of the cluster: every thread alternately arrives and waits. A register tells which
// came last.
#include "tools/synccheck/internal.h"

static void test_turn(Sync *s, uint32_t i, PtxReg *arrived) {
  Body *b = s->body;
  const PtxInstr *in = b->cfg->instrs[i];
  bool waits = ptx_has(in, MOD_WAIT);
  Code *c = body_before(b, i);
  PtxReg *bad = body_temp(b, TYPE_PRED, 0);
  PtxOperand guard = opd_guard(in);
  if (in->guard) EMIT(c, "setp.ne.and.u32", opd_reg(bad), opd_reg(arrived), opd_imm(waits), guard);
  else EMIT(c, "setp.ne.u32", opd_reg(bad), opd_reg(arrived), opd_imm(waits));
  code_guard(c, bad, false);
  code_report(c, &(CodeReport){.site = program_site(b->program, b, in),
                               .kind = opd_imm(KIND_BARRIER_MISUSE),
                               .size = opd_imm(WG_SYNC_CLUSTER),
                               .address = opd_imm(0),
                               .value = opd_imm(!waits),
                               .extra = opd_imm(0)});
  code_guard(c, in->guard, in->guard_negated);
  EMIT(c, "mov.u32", opd_reg(arrived), opd_imm(!waits));
  code_guard(c, NULL, false);
}

// Only in kernels that call nothing that could arrive or wait for them.
void synccheck_weave_cluster(Sync *s) {
  Body *b = s->body;
  PtxReg *arrived = NULL;
  if (!s->is_kernel) return;
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++)
    if (synccheck_calls_program(b->cfg->instrs[i])) return;
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    if (ptx_op_order(b->cfg->instrs[i]->op) != ORDER_CLUSTER) continue;
    if (!arrived) {
      arrived = body_reg(b, TYPE_B32);
      EMIT(body_entry(b), "mov.u32", opd_reg(arrived), opd_imm(0));
    }
    test_turn(s, i, arrived);
  }
}
