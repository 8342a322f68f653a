// --fp-flow: where an existing exception goes. Results that carry one on are tested with the births
// (probe.c). Here are the instructions that can make one vanish: their operands are tested. The
// instructions that store one are in tools/fpcheck/weave_stores.c.
#include "tools/fpcheck/internal.h"

static bool is_float(const PtxInstr *in) { return in->ntypes && fp_type(in->types[0]).format; }

// Which operands: first … end.
static bool may_vanish(const PtxInstr *in, unsigned *first, unsigned *end) {
  *first = 1;
  *end = in->nops;
  switch (in->op) {
    case OP_MIN:
    case OP_MAX: return is_float(in);
    case OP_DIV: *first = 2; return is_float(in);
    case OP_RCP:
    case OP_RSQRT:
    case OP_EX2:
    case OP_TANH: return is_float(in);
    case OP_SELP: *end = 3; return true;
    case OP_CVT:
      *end = 2;
      return in->ntypes == 2 && fp_type(in->types[1]).format &&
             (!fp_type(in->types[0]).format || ptx_has(in, MOD_SAT) || ptx_has(in, MOD_SATFINITE));
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_FMA: return is_float(in) && (ptx_has(in, MOD_SAT) || ptx_has(in, MOD_RELU));
    default: return false;
  }
}

static void take(FpCheck *k, FpOperation *o, PtxOperand *v) {
  for (unsigned i = 0; v->kind == OPD_VECTOR && i < v->nlist; i++) take(k, o, &v->list[i]);
  if (v->kind != OPD_REG || v->selector != SEL_NONE || o->n == FP_OPERANDS ||
      v->reg->id >= k->flow->nregs)
    return;
  FpType t = k->flow->type[v->reg->id];
  if (!t.format) return;
  o->types[o->n] = t;
  o->operands[o->n++] = v;
}

bool fp_check_flow(FpCheck *k, uint32_t i) {
  PtxInstr *in = k->body->cfg->instrs[i];
  unsigned first, end;
  FpItem item = {.kind = FP_ITEM_FLOW, .instr = i};
  if (!may_vanish(in, &first, &end)) return false;
  item.operation.op = WG_FP_VANISHES;
  FpOperation *o = &item.operation;
  for (unsigned n = first; n < end && n < in->nops; n++) take(k, o, &in->ops[n]);
  if (!o->n) return false;
  if (in->ops[0].kind != OPD_REG) return false;
  item.result = in->ops[0];
  o->result = k->flow->type[in->ops[0].reg->id];
  if (in->op == OP_CVT) o->result = (FpType){0, 0};
  if (in->guard) {
    item.conditions[0].reg = in->guard;
    item.conditions[0].negated = in->guard_negated;
    item.nconditions = 1;
  }
  fp_save_overwritten(k, i, o);
  for (unsigned n = 0; n < o->n; n++)
    fp_test_value(k, fp_after(k, i), o->types[n], *o->operands[n], false,
                  (FpCondition){in->guard, in->guard_negated});
  fp_add_item(k, item);
  return true;
}
