// Marks that the program sets with include/warpgrind.h: moves into registers with known names.
#include "tools/initcheck/internal.h"

static const struct {
  const char *last, *address;
  unsigned what;
} sayings[] = {
    {"wg_mark_initialized_n", "wg_mark_initialized_p", WG_INIT_MARK_GOOD},
    {"wg_mark_uninitialized_n", "wg_mark_uninitialized_p", WG_INIT_MARK_UNWRITTEN},
    {"wg_is_initialized_r", "wg_is_initialized_p", WG_INIT_MARK_ASK},
};

// The kind of mark that this move completes; -1: none.
static int saying_of(const PtxInstr *in) {
  if (in->op != OP_MOV || in->nops != 2 || in->ops[0].kind != OPD_REG) return -1;
  for (unsigned i = 0; i < ARRAY_LEN(sayings); i++)
    if (code_is_named(in->ops[0].reg, sayings[i].last)) return (int)i;
  return -1;
}

bool init_says(const InitCheck *k, uint32_t i) { return saying_of(k->body->cfg->instrs[i]) >= 0; }

bool init_says_anything(const PtxFunc *f) {
  for (uint32_t i = 0; i < f->nstmts; i++)
    if (f->stmts[i].kind == STMT_INSTR && saying_of(f->stmts[i].instr) >= 0) return true;
  return false;
}

bool init_unmarks(const PtxFunc *f) {
  for (uint32_t i = 0; i < f->nstmts; i++)
    if (f->stmts[i].kind == STMT_INSTR && saying_of(f->stmts[i].instr) == WG_INIT_MARK_UNWRITTEN)
      return true;
  return false;
}

static PtxReg *moved_before(const InitCheck *k, uint32_t i, const char *name) {
  for (uint32_t back = 1; back <= 2 && back <= i; back++) {
    const PtxInstr *in = k->body->cfg->instrs[i - back];
    if (in->op == OP_MOV && in->ops[0].kind == OPD_REG && code_is_named(in->ops[0].reg, name))
      return in->ops[0].reg;
  }
  return NULL;
}

void init_said(InitCheck *k, uint32_t i) {
  Body *b = k->body;
  const PtxInstr *in = b->cfg->instrs[i];
  int n = saying_of(in);
  if (n < 0) return;
  PtxReg *address = moved_before(k, i, sayings[n].address), *last = in->ops[0].reg;
  PtxReg *bytes = sayings[n].what == WG_INIT_MARK_ASK ? moved_before(k, i, "wg_is_initialized_n")
                                                      : last;
  if (!address || !bytes) return;
  Code *c = body_after(b, i);
  PtxReg *table = body_temp(b, TYPE_B64, 0), *shadow = body_temp(b, TYPE_B64, 1),
         *p = body_temp(b, TYPE_B64, 2), *inside = body_temp(b, TYPE_PRED, 0);
  PtxReg *other = body_temp(b, TYPE_PRED, 1), *result = body_temp(b, TYPE_B32, 0),
         *end = body_temp(b, TYPE_B64, 3);
  PtxLabel *over = body_label(b), *go = body_label(b);
  record_load(c, table, offsetof(WgLaunch, init_memory));
  EMIT(c, "mov.b64", opd_reg(shadow), opd_imm(0));
  EMIT(c, "mov.b64", opd_reg(p), opd_reg(address));
  EMIT(c, "isspacep.global", opd_reg(inside), opd_reg(p));
  code_branch(c, inside, false, go);
  if (k->shared_at) {
    EMIT(c, "isspacep.shared", opd_reg(inside), opd_reg(p));
    EMIT(c, "cvta.to.shared.u64", opd_reg(p), opd_reg(p));
    EMIT(c, "add.u64", opd_reg(end), opd_reg(p), opd_reg(bytes));
    EMIT(c, "setp.le.and.u64", opd_reg(other), opd_reg(end), opd_reg(k->shared_bytes),
         opd_reg(inside));
    EMIT(c, "mov.b64", opd_reg(shadow), opd_reg(k->shared_at));
    code_branch(c, other, false, go);
  }
  EMIT(c, "bra", opd_label(over));
  code_label(c, go);
  const PtxOperand args[] = {opd_reg(table), opd_reg(shadow), opd_reg(p), opd_reg(bytes),
                             opd_imm(sayings[n].what)};
  code_call_value(c, probe_function(b->program, b->unit, "wg_init_said"), result, args, 5);
  if (sayings[n].what == WG_INIT_MARK_ASK) EMIT(c, "mov.b32", opd_reg(last), opd_reg(result));
  code_label(c, over);
}
