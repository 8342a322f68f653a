// Functions that all threads of a block call with the same arguments, and copies that they make
// together: OpenCL's async_work_group_copy and wait_group_events. They are recognised by moves into
// registers with known names (src/opencl/library/async.cl).
#include "tools/synccheck/internal.h"

static bool is_move_to(const PtxInstr *in, const char *name) {
  return in->op == OP_MOV && in->nops == 2 && in->ops[0].kind == OPD_REG &&
         code_is_named(in->ops[0].reg, name);
}

static void report(Sync *s, Code *c, const PtxInstr *in, unsigned what) {
  code_report(c, &(CodeReport){.site = program_site(s->body->program, s->body, in),
                               .kind = opd_imm(KIND_BARRIER_MISUSE),
                               .size = opd_imm(what),
                               .address = opd_imm(0),
                               .value = opd_imm(0),
                               .extra = opd_imm(0)});
}

// Compares the n-th call of each thread with the n-th call of the first thread to arrive.
static void test_arguments(Sync *s, uint32_t i, PtxReg *calls) {
  Body *b = s->body;
  const PtxInstr *in = b->cfg->instrs[i];
  Code *c = body_after(b, i);
  EMIT(c, "add.u32", opd_reg(calls), opd_reg(calls), opd_imm(1));
  if (in->ops[1].kind == OPD_REG && !s->t.varying[in->ops[1].reg->id]) return;
  PtxOperand site = synccheck_site(s, c, in, body_temp(b, TYPE_B32, 1));
  SYNC_CALL(s, c, "wg_sync_group_call", site, opd_reg(in->ops[0].reg), opd_reg(calls));
}

static void test_event(Sync *s, uint32_t i) {
  Body *b = s->body;
  const PtxInstr *in = b->cfg->instrs[i];
  Code *c = body_after(b, i);
  PtxReg *none = body_temp(b, TYPE_PRED, 0);
  EMIT(c, "setp.eq.u64", opd_reg(none), opd_reg(in->ops[0].reg), opd_imm(0));
  code_guard(c, none, false);
  report(s, c, in, WG_SYNC_NO_EVENT);
  code_guard(c, NULL, false);
}

static void keep_copy(Sync *s, uint32_t i) {
  Body *b = s->body;
  const PtxInstr *in = b->cfg->instrs[i];
  int64_t begins;
  bool known = constant_value(b, &in->ops[1], &begins);
  EMIT(body_after(b, i), "mov.u32", opd_reg(s->copy_site),
       opd_imm(known && begins ? program_site(b->program, b, in) + 1 : 0));
}

bool synccheck_plan_group_calls(Sync *s) {
  const IrCfg *cfg = s->body->cfg;
  for (uint32_t i = 0; s->is_kernel && i < cfg->ninstrs; i++)
    if (is_move_to(cfg->instrs[i], "wg_group_copy") ||
        is_move_to(cfg->instrs[i], "wg_group_event") || is_move_to(cfg->instrs[i], "wg_group_call"))
      return true;
  return false;
}

void synccheck_weave_group_calls(Sync *s) {
  Body *b = s->body;
  if (!s->group_calls) return;
  PtxReg *calls = body_reg(b, TYPE_B32);
  s->copy_site = body_reg(b, TYPE_B32);
  EMIT(body_entry(b), "mov.u32", opd_reg(calls), opd_imm(0));
  EMIT(body_entry(b), "mov.u32", opd_reg(s->copy_site), opd_imm(0));
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    const PtxInstr *in = b->cfg->instrs[i];
    if (is_move_to(in, "wg_group_call")) test_arguments(s, i, calls);
    if (is_move_to(in, "wg_group_event")) test_event(s, i);
    if (is_move_to(in, "wg_group_copy")) keep_copy(s, i);
  }
}

// A thread ends.
void synccheck_leave_copies(Sync *s, Code *c) {
  Body *b = s->body;
  if (!s->group_calls) return;
  PtxReg *site = body_temp(b, TYPE_B32, 1), *guard = c->guard, *none = body_temp(b, TYPE_PRED, 0);
  bool negated = c->guard_negated;
  PtxLabel *over = body_label(b);
  if (guard) code_branch(c, guard, !negated, over);
  code_guard(c, NULL, false);
  EMIT(c, "setp.eq.u32", opd_reg(none), opd_reg(s->copy_site), opd_imm(0));
  code_branch(c, none, false, over);
  record_load(c, site, offsetof(WgLaunch, site_base));
  EMIT(c, "add.u32", opd_reg(site), opd_reg(site), opd_reg(s->copy_site));
  EMIT(c, "sub.u32", opd_reg(site), opd_reg(site), opd_imm(1));
  SYNC_CALL(s, c, "wg_sync_unwaited", opd_reg(site));
  code_label(c, over);
  code_guard(c, guard, negated);
}
