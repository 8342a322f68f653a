// Registers that are written at one place, and what they hold.
#include "weave/pass.h"

typedef struct Write {
  const PtxReg *reg;
  bool here;
} Write;
static void note_write(void *user, PtxReg **r, bool is_def) {
  Write *w = user;
  w->here |= is_def && *r == w->reg;
}

const PtxInstr *constant_write(const Body *b, const PtxReg *r) {
  const PtxInstr *found = NULL;
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    Write w = {.reg = r};
    ptx_visit_regs(b->cfg->instrs[i], note_write, &w);
    if (!w.here) continue;
    if (found || b->cfg->instrs[i]->guard) return NULL;
    found = b->cfg->instrs[i];
  }
  return found;
}

bool constant_value(const Body *b, const PtxOperand *o, int64_t *value) {
  if (o->kind == OPD_REG && o->selector == SEL_NONE && !o->reg->vector) {
    const PtxInstr *in = constant_write(b, o->reg);
    if (!in || in->op != OP_MOV || in->nops != 2) return false;
    o = &in->ops[1];
  }
  if (o->kind != OPD_INT) return false;
  *value = o->imm;
  return true;
}

static bool is_extent(const Body *b, const PtxOperand *o, unsigned depth) {
  if (o->kind == OPD_SREG) return o->sreg == SREG_NTID || o->sreg == SREG_NCTAID;
  if (o->kind != OPD_REG || o->selector != SEL_NONE || o->reg->vector || !depth) return false;
  const PtxInstr *in = constant_write(b, o->reg);
  if (!in || !in->nops) return false;
  if (in->op == OP_MOV && in->nops == 2) return is_extent(b, &in->ops[1], depth - 1);
  return in->op == OP_MUL && in->nops == 3 && !ptx_has(in, MOD_HI) &&
         is_extent(b, &in->ops[1], depth - 1) && is_extent(b, &in->ops[2], depth - 1);
}

bool constant_is_extent(const Body *b, const PtxOperand *o) { return is_extent(b, o, 4); }
