// Finds uses in which a bad bit decides something: branches, guarded instructions, addresses, and
// arguments of barriers and shuffles.
#include "tools/initcheck/internal.h"

// Reports if the shadow is not zero; from then on the register counts as good, so that one mistake
// is one finding.
static void report_if_bad(InitCheck *k, uint32_t i, PtxReg *shadow, unsigned what) {
  Body *b = k->body;
  PtxInstr *in = b->cfg->instrs[i];
  Code *hot = body_before(b, i), *cold = body_cold(b);
  PtxReg *bad = body_temp(b, TYPE_PRED, 0);
  PtxLabel *slow = body_label(b), *back = body_label(b);
  bool wide = shadow->type == TYPE_B64;
  if (what == WG_INIT_BRANCH || !in->guard) {
    if (wide) EMIT(hot, "setp.ne.u64", opd_reg(bad), opd_reg(shadow), opd_imm(0));
    else EMIT(hot, "setp.ne.u32", opd_reg(bad), opd_reg(shadow), opd_imm(0));
  } else {
    PtxOperand guard = opd_guard(in);
    if (wide) EMIT(hot, "setp.ne.and.u64", opd_reg(bad), opd_reg(shadow), opd_imm(0), guard);
    else EMIT(hot, "setp.ne.and.u32", opd_reg(bad), opd_reg(shadow), opd_imm(0), guard);
  }
  code_branch(hot, bad, false, slow);
  code_label(hot, back);
  cold->near = in;
  code_label(cold, slow);
  PtxReg *origin = body_temp(b, TYPE_B64, 0);
  init_origin(k, cold, origin);
  code_report(cold, &(CodeReport){.site = program_site(b->program, b, in),
                                  .kind = opd_imm(KIND_UNINIT_USE),
                                  .size = opd_imm(0),
                                  .address = opd_reg(k->origin_address),
                                  .value = opd_imm(what),
                                  .extra = opd_reg(origin)});
  init_clear(cold, shadow);
  EMIT(cold, "bra", opd_label(back));
}

static void use_operand(const PtxOperand *o, unsigned what, InitUse *f, void *user) {
  if (o->kind == OPD_REG) f(user, o->reg, what);
}

void init_each_use(const PtxInstr *in, InitUse *f, void *user) {
  if (in->guard && init_is_decision(in)) f(user, in->guard, WG_INIT_BRANCH);
  for (unsigned o = 0; o < in->nops; o++)
    if (in->ops[o].kind == OPD_ADDR && in->space != SPACE_PARAM)
      use_operand(&in->ops[o].list[0], WG_INIT_ADDRESS, f, user);
  switch (in->op) {
    case OP_BRX_IDX: use_operand(&in->ops[0], WG_INIT_BRANCH, f, user); return;
    case OP_CALL:
      if (in->nops > 1) use_operand(&in->ops[1], WG_INIT_BRANCH, f, user);
      return;
    case OP_SHFL:
      for (unsigned o = 2; o < in->nops; o++) use_operand(&in->ops[o], WG_INIT_WARP, f, user);
      return;
    case OP_VOTE:
    case OP_MATCH:
    case OP_REDUX:
      if (in->nops > 2) use_operand(&in->ops[2], WG_INIT_WARP, f, user);
      return;
    case OP_BAR:
    case OP_BARRIER:
    case OP_BAR_WARP_SYNC:
      for (unsigned o = 0; o < in->nops; o++)
        if (!ptx_has(in, MOD_RED)) use_operand(&in->ops[o], WG_INIT_WARP, f, user);
      return;
    default: return;
  }
}

typedef struct Uses {
  InitCheck *k;
  uint32_t instr;
} Uses;
static void report_use(void *user, PtxReg *r, unsigned what) {
  const Uses *u = user;
  if (init_shadow(u->k, r)) report_if_bad(u->k, u->instr, init_shadow(u->k, r), what);
}

void init_uses(InitCheck *k, uint32_t i) {
  init_each_use(k->body->cfg->instrs[i], report_use, &(Uses){k, i});
}
