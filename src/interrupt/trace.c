// Which variable a register points to, in code that is not optimised: such code keeps values in
// local memory, where the analysis of provenance does not follow them.
#include "interrupt/stops.h"

enum { MOST_STEPS = 32 };

static bool same_place(const PtxOperand *a, const PtxOperand *b) {
  if (a->kind != OPD_ADDR || b->kind != OPD_ADDR || a->nlist != 1 || b->nlist != 1 ||
      a->imm != b->imm || a->list[0].kind != b->list[0].kind)
    return false;
  if (a->list[0].kind == OPD_REG) return a->list[0].reg == b->list[0].reg;
  return a->list[0].kind == OPD_VAR && a->list[0].var == b->list[0].var;
}

// The value of the only store to the place that this load reads; NULL: there are several, or none
static const PtxOperand *stored_value(const IrCfg *c, const PtxInstr *load) {
  const PtxOperand *found = NULL;
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    const PtxInstr *in = c->instrs[i];
    if (in->op != OP_ST || in->nops != 2 || !same_place(&in->ops[0], &load->ops[1])) continue;
    if (found) return NULL;
    found = &in->ops[1];
  }
  return found;
}

const PtxVar *trace_variable(const IrCfg *c, const IrDefs *defs, const PtxReg *r) {
  for (unsigned step = 0; step < MOST_STEPS; step++) {
    const PtxInstr *in = ir_single_def(defs, r);
    if (!in || in->nops != 2) return NULL;
    const PtxOperand *from = &in->ops[1];
    if (in->op == OP_LD) from = stored_value(c, in);
    else if (in->op != OP_MOV && in->op != OP_CVTA) return NULL;
    if (!from) return NULL;
    if (from->kind == OPD_VAR) return from->imm ? NULL : from->var;
    if (from->kind != OPD_REG) return NULL;
    r = from->reg;
  }
  return NULL;
}
