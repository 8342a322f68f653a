// Steps of functions of CUDA's library whose exceptions never come out: the function asks for the argument that makes them, and answers otherwise.
#include "instrument/fpcheck.h"

static bool is_reg(const PtxOperand *o, const PtxReg *r) { return o->kind == OPD_REG && o->reg == r; }

// The instruction that reads what this one makes, together with another register.
static const PtxInstr *reader_of_both(const FpCheck *k, const PtxInstr *in, PtxOp op, const PtxReg *other) {
  const PtxReg *d = in->ops[0].reg;
  for (uint32_t n = 0; n < k->flow->reads.n[d->id]; n++) {
    const PtxInstr *reader = k->body->cfg->instrs[k->flow->reads.instr[k->flow->reads.start[d->id] + n]];
    if (reader->op != op || reader->nops != 3) continue;
    if ((is_reg(&reader->ops[1], d) && is_reg(&reader->ops[2], other)) || (is_reg(&reader->ops[1], other) && is_reg(&reader->ops[2], d))) return reader;
  }
  return NULL;
}

// x + x == x ? x + x : …: x is 0, infinite, or not a number; a sum that overflows is not taken. cbrt, rcbrt.
static bool is_only_chosen(const FpCheck *k, const PtxReg *r) {
  for (uint32_t n = 0; n < k->flow->reads.n[r->id]; n++) {
    PtxOp op = k->body->cfg->instrs[k->flow->reads.instr[k->flow->reads.start[r->id] + n]]->op;
    if (op != OP_SETP && op != OP_SELP && op != OP_MOV) return false;
  }
  return true;
}
static bool is_own_sum(const FpCheck *k, const PtxInstr *in) {
  if (in->op != OP_ADD || in->nops != 3 || in->ops[1].kind != OPD_REG || !is_reg(&in->ops[2], in->ops[1].reg)) return false;
  const PtxInstr *asks = reader_of_both(k, in, OP_SETP, in->ops[1].reg);
  return asks && ptx_has(asks, MOD_EQ) && is_only_chosen(k, in->ops[0].reg);
}

// x - n * c, n = x / c rounded by adding and subtracting 1.5 * 2^52: exponentials. It is NaN if x is infinite.
static bool is_rounded(const FpFlow *f, const PtxOperand *o) {
  const PtxInstr *def = fp_def(f, o);
  return def && def->op == OP_ADD && def->nops == 3 && fp_is_constant(f, &def->ops[2], UINT64_MAX, 0xc338000000000000);
}
static bool is_remainder(const FpFlow *f, const PtxInstr *in) {
  if (in->types[0] != TYPE_F64) return false;
  return (in->op == OP_FMA && is_rounded(f, &in->ops[1])) || (in->op == OP_SUB && is_rounded(f, &in->ops[2]));
}

// d * rsqrt(d), then made more precise: the library's square root. It answers 0 for 0 and NaN for negative numbers itself. No program asks for this instruction, with .ftz, but in PTX.
static bool is_root(const FpCheck *k, const PtxInstr *in) {
  return in->op == OP_RSQRT && in->types[0] == TYPE_F64 && ptx_has(in, MOD_FTZ) && in->ops[1].kind == OPD_REG && reader_of_both(k, in, OP_MUL, in->ops[1].reg);
}

// 1 - d * y * y, y = rsqrt(d): its reciprocal, made more precise for numbers other than 0 and infinity.
static bool is_root_error(const FpFlow *f, const PtxInstr *in) {
  const PtxInstr *minus = in->op == OP_FMA && in->types[0] == TYPE_F64 ? fp_def(f, &in->ops[2]) : NULL, *square = minus && minus->op == OP_NEG ? fp_def(f, &minus->ops[1]) : NULL;
  const PtxInstr *root = square && square->op == OP_MUL && square->ops[1].kind == OPD_REG && is_reg(&square->ops[2], square->ops[1].reg) ? fp_def(f, &square->ops[1]) : NULL;
  return root && root->op == OP_RSQRT && ptx_has(root, MOD_FTZ);
}

bool fp_is_step(const FpCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  if (in->nops < 2 || in->ops[0].kind != OPD_REG || in->ops[0].reg->id >= k->flow->nregs) return false;
  return is_own_sum(k, in) || is_remainder(k->flow, in) || is_root(k, in) || is_root_error(k->flow, in);
}
