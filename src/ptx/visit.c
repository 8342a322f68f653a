// Which registers an instruction reads and writes, and where the labels of a function are.
#include "ptx/parse.h"

static void visit_operand(PtxOperand *o, bool is_def, PtxRegVisitor *f, void *ctx) {
  switch (o->kind) {
    case OPD_REG: f(ctx, &o->reg, is_def); break;
    case OPD_ADDR:  // the instruction reads the registers of an address, even if it stores there
      for (unsigned i = 0; i < o->nlist; i++) visit_operand(&o->list[i], false, f, ctx);
      break;
    case OPD_VECTOR:
    case OPD_PAIR:
    case OPD_LIST:
      for (unsigned i = 0; i < o->nlist; i++) visit_operand(&o->list[i], is_def, f, ctx);
      break;
    default: break;
  }
}

// A component of a vector register (%v.x) keeps the others, so writing it also reads the register.
static void visit_kept_components(PtxOperand *o, PtxRegVisitor *f, void *ctx) {
  if (o->kind == OPD_REG && o->selector) f(ctx, &o->reg, false);
  if (o->kind == OPD_VECTOR || o->kind == OPD_PAIR)
    for (unsigned i = 0; i < o->nlist; i++) visit_kept_components(&o->list[i], f, ctx);
}

static unsigned count_defs(const PtxInstr *in) {
  if ((in->op == OP_BAR || in->op == OP_BARRIER) && ptx_has(in, MOD_RED)) return 1;
  return ptx_op_defs(in->op);
}

void ptx_visit_regs(PtxInstr *in, PtxRegVisitor *f, void *ctx) {
  if (in->guard) f(ctx, &in->guard, false);
  unsigned defs = count_defs(in);
  // Uses first, then definitions: an analysis that walks backwards sees them in the order it needs
  // by reversing.
  for (unsigned i = defs; i < in->nops; i++) visit_operand(&in->ops[i], false, f, ctx);
  // wgmma adds to its accumulators: the first operand is both.
  if (in->op == OP_WGMMA_MMA_ASYNC && in->nops) visit_operand(&in->ops[0], false, f, ctx);
  for (unsigned i = 0; i < defs && i < in->nops; i++) {
    visit_kept_components(&in->ops[i], f, ctx);
    visit_operand(&in->ops[i], true, f, ctx);
  }
}

void ptx_number_labels(PtxFunc *f) {
  for (uint32_t i = 0; i < f->nstmts; i++)
    if (f->stmts[i].kind == STMT_LABEL) f->stmts[i].label->stmt = i;
}
