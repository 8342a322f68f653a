// Infinities that functions of CUDA's library return on purpose at poles: constants that they put
// into a register before they compare, and numbers made from bits. tools/fpcheck/weave_library.c
// recognises those of selections.
#include "tools/fpcheck/internal.h"

static bool is_reg(const PtxOperand *o, const PtxReg *r) {
  return o->kind == OPD_REG && o->reg == r;
}
static bool is_int(const PtxOperand *o, int64_t value) {
  return o->kind == OPD_INT && o->imm == value;
}

// rcbrt, for x = 0 or infinite: x with its exponent bits flipped. Returns the instruction that
// flips them; NULL: the operand is not of this form.
static const PtxInstr *is_turned(const FpFlow *f, const PtxOperand *o, int64_t exponent) {
  const PtxInstr *def = fp_def(f, o);
  return def && def->op == OP_XOR && def->nops == 3 && is_int(&def->ops[2], exponent) ? def : NULL;
}

static bool is_rcbrt_of_zero(const FpFlow *f, const PtxInstr *in, FpOperation *out) {
  if (in->op != OP_MOV || in->nops != 2 || in->guard || in->ops[0].kind != OPD_REG) return false;
  const PtxOperand *from = &in->ops[1];
  bool wide = from->kind == OPD_VECTOR && from->nlist == 2;
  const PtxInstr *turned = wide ? is_turned(f, &from->list[1], 0x7ff00000)
                                : is_turned(f, from, 0x7f800000);
  FpType t = f->type[in->ops[0].reg->id];
  if (!turned || t.packed || t.format != (wide ? WG_FP_F64 : WG_FP_F32)) return false;
  *out = (FpOperation){.op = WG_FP_ANSWER, .result = t, .kinds = WG_FP_INF};
  const PtxInstr *bits = fp_def(f, &turned->ops[1]);
  if (bits && bits->op == OP_MOV && bits->nops == 2 && bits->ops[1].kind == OPD_REG &&
      fp_is_fixed(f, &bits->ops[1])) {
    out->operands[0] = &bits->ops[1];
    out->types[0] = t;
    out->n = 1;
  }
  return true;
}

// logb: x == 0 ? -inf : an exponent made of leading zeros.
bool fp_is_logb_answer(const FpFlow *f, const PtxInstr *in, unsigned k, PtxOperand **x) {
  const PtxInstr *number = fp_def(f, &in->ops[3 - k]),
                 *sum = number && number->op == OP_CVT ? fp_def(f, &number->ops[1]) : NULL,
                 *zeros = sum && sum->op == OP_SUB ? fp_def(f, &sum->ops[2]) : NULL;
  const PtxInstr *asks = fp_def(f, &in->ops[3]);
  if (!zeros || zeros->op != OP_CLZ || !asks || asks->op != OP_SETP || asks->nops != 3 ||
      asks->ops[1].kind != OPD_REG || !fp_is_constant(f, &asks->ops[2], 0, 0))
    return false;
  if (fp_is_fixed(f, &asks->ops[1])) *x = &asks->ops[1];
  return fp_is_infinity(f, &in->ops[k]);
}

bool fp_is_pole(const FpFlow *f, const PtxInstr *in, FpOperation *out) {
  return is_rcbrt_of_zero(f, in, out);
}

// --- after a comparison --- The comparison for equality that leads out of a block.
static const PtxInstr *asked_behind(const FpCheck *k, uint32_t block) {
  const IrCfg *cfg = k->body->cfg;
  const PtxInstr *last = cfg->instrs[cfg->blocks[block].end - 1];
  if (!last->guard || last->guard_negated || cfg->blocks[block].nsucc != 2) return NULL;
  const PtxOperand guard = {.kind = OPD_REG, .reg = last->guard};
  const PtxInstr *asks = fp_def(k->flow, &guard);
  return asks && asks->op == OP_SETP && asks->nops == 3 && ptx_has(asks, MOD_EQ) &&
                 asks->ops[1].kind == OPD_REG
             ? asks
             : NULL;
}

// Finds x if |x| is among the values written into this register (functions go on with the same
// register). NULL: it is not known.
static PtxOperand *argument_of(const FpCheck *k, const PtxOperand *o) {
  const FpIndex *w = &k->flow->writes;
  for (uint32_t n = 0; n < w->n[o->reg->id]; n++) {
    PtxInstr *in = k->body->cfg->instrs[w->instr[w->start[o->reg->id] + n]];
    if (in->op == OP_ABS && in->ops[1].kind == OPD_REG && fp_is_fixed(k->flow, &in->ops[1]))
      return &in->ops[1];
  }
  return NULL;
}

// lgamma: |x| == floor(|x|), for negative x. Without the absolute value the comparison is the
// program's own.
static bool is_whole(const FpFlow *f, const PtxInstr *asks) {
  const PtxInstr *def = fp_def(f, &asks->ops[2]);
  return def && def->op == OP_CVT && def->nops == 2 &&
         (ptx_has(def, MOD_RMI) || ptx_has(def, MOD_RZI)) && is_reg(&def->ops[1], asks->ops[1].reg);
}

// logb: after |x| == inf ? inf, |x| == 0 ? -inf.
static bool is_logb_of_zero(const FpCheck *k, uint32_t block, const PtxInstr *asks,
                            const PtxReg *d) {
  const IrCfg *cfg = k->body->cfg;
  const IrBlock *b = &cfg->blocks[block];
  const PtxInstr *before = b->npred == 1 ? asked_behind(k, b->pred[0]) : NULL;
  if (!before || !fp_is_constant(k->flow, &asks->ops[2], 0, 0) ||
      !is_reg(&asks->ops[1], before->ops[1].reg) || !fp_is_infinity(k->flow, &before->ops[2]))
    return false;
  for (uint32_t i = cfg->blocks[b->pred[0]].first; i < cfg->blocks[b->pred[0]].end; i++)
    if (cfg->instrs[i]->op == OP_MOV && is_reg(&cfg->instrs[i]->ops[0], d) &&
        fp_is_infinity(k->flow, &cfg->instrs[i]->ops[1]))
      return true;
  return false;
}

bool fp_is_pole_in(const FpCheck *k, uint32_t block, const PtxInstr *in, FpOperation *out) {
  FpType t = fp_type(in->types[0]);
  const PtxInstr *asks = fp_operand_infinite(&in->ops[1]) && t.format ? asked_behind(k, block)
                                                                      : NULL;
  if (!asks || asks->ops[1].reg->id >= k->flow->nregs) return false;
  PtxOperand *argument = argument_of(k, &asks->ops[1]);
  if (!(argument && is_whole(k->flow, asks)) && !is_logb_of_zero(k, block, asks, in->ops[0].reg))
    return false;
  *out = (FpOperation){.op = WG_FP_ANSWER,
                       .result = t,
                       .kinds = WG_FP_INF,
                       .operands = {argument},
                       .types = {t},
                       .n = argument ? 1 : 0};
  return true;
}
