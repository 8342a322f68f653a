// a / b, and some blocks later  b == 0 ? c : …  where the other side uses the quotient: atan2f and
// asin of the library do this, and programmers, too. If quotient and selection are in one block,
// tools/fpcheck/weave_defer.c knows which side is taken. Here only this is known: if the divisor is
// zero, the quotient is not used.
#include "tools/fpcheck/internal.h"

static const PtxOperand *divisor_of(const FpOperation *o) {
  return o->op == WG_FP_DIV                           ? o->operands[1]
         : o->op == WG_FP_RCP || o->op == WG_FP_RSQRT ? o->operands[0]
                                                      : NULL;
}

static bool is_zero(const PtxOperand *o) { return o->kind == OPD_FLOAT && o->imm == 0; }
static bool is_same(const PtxOperand *a, const PtxOperand *b) {
  return a->kind == OPD_REG && b->kind == OPD_REG && a->reg == b->reg;
}

// 1: the predicate says that the divisor is zero, 2: that it is not, 0: neither.
static unsigned asks(const PtxInstr *in, const PtxOperand *divisor) {
  if (in->op != OP_SETP || in->guard || in->nops != 3 || in->ops[0].kind != OPD_REG ||
      !fp_type(in->types[0]).format)
    return 0;
  if (!(is_same(&in->ops[1], divisor) && is_zero(&in->ops[2])) &&
      !(is_same(&in->ops[2], divisor) && is_zero(&in->ops[1])))
    return 0;
  return ptx_has(in, MOD_EQ) ? 1 : ptx_has(in, MOD_NE) || ptx_has(in, MOD_NEU) ? 2 : 0;
}

static bool is_the_one(const FpFlow *f, const PtxReg *r, const void *wanted) {
  (void)f;
  return r == wanted;
}

static bool is_made_of(const FpCheck *k, const PtxOperand *o, const PtxReg *from) {
  FpSearch search = {.is_it = is_the_one, .wanted = from};
  return o->kind == OPD_REG && fp_made_of(k->flow, k->body->cfg, o->reg, &search);
}

bool fp_asks_for_zero(const FpCheck *k, uint32_t i, const FpOperation *o) {
  const IrCfg *cfg = k->body->cfg;
  const PtxOperand *divisor = divisor_of(o);
  bool plain = (o->result.format == WG_FP_F32 || o->result.format == WG_FP_F64) &&
               !o->result.packed;
  if (!divisor || divisor->kind != OPD_REG || !plain || !fp_is_fixed(k->flow, divisor))
    return false;
  const FpIndex *reads = &k->flow->reads;
  for (uint32_t a = 0; a < reads->n[divisor->reg->id]; a++) {
    const PtxInstr *question = cfg->instrs[reads->instr[reads->start[divisor->reg->id] + a]];
    unsigned says = asks(question, divisor);
    const PtxReg *predicate = says ? question->ops[0].reg : NULL;
    for (uint32_t s = 0; says && s < reads->n[predicate->id]; s++) {
      const PtxInstr *in = cfg->instrs[reads->instr[reads->start[predicate->id] + s]];
      if (in->op != OP_SELP || in->nops != 4 || !is_same(&in->ops[3], &question->ops[0]) ||
          !fp_is_fixed(k->flow, &in->ops[3]))
        continue;
      unsigned if_zero = (says == 1) != in->ops[3].negated ? 1 : 2;
      const PtxReg *quotient = cfg->instrs[i]->ops[0].reg;
      if (is_made_of(k, &in->ops[3 - if_zero], quotient) &&
          !is_made_of(k, &in->ops[if_zero], quotient))
        return true;
    }
  }
  return false;
}
