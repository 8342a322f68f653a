// Intermediate steps of functions of CUDA's library whose exceptions never come out: the function
// tests for the argument that causes one, and returns something else.
#include "tools/fpcheck/internal.h"

static bool is_reg(const PtxOperand *o, const PtxReg *r) {
  return o->kind == OPD_REG && o->reg == r;
}

static const PtxInstr *reader_at(const FpCheck *k, const PtxReg *r, uint32_t n) {
  return k->body->cfg->instrs[k->flow->reads.instr[k->flow->reads.start[r->id] + n]];
}

// The instruction that reads this one's result together with another register.
static const PtxInstr *reader_of_both(const FpCheck *k, const PtxInstr *in, PtxOp op,
                                      const PtxReg *other) {
  const PtxReg *d = in->ops[0].reg;
  for (uint32_t n = 0; n < k->flow->reads.n[d->id]; n++) {
    const PtxInstr *reader = reader_at(k, d, n);
    if (reader->op != op || reader->nops != 3) continue;
    if ((is_reg(&reader->ops[1], d) && is_reg(&reader->ops[2], other)) ||
        (is_reg(&reader->ops[1], other) && is_reg(&reader->ops[2], d)))
      return reader;
  }
  return NULL;
}

// x + x == x ? x + x : …  The sum is taken only if x is 0, infinite, or NaN; a sum that overflows
// is not taken. cbrt, rcbrt.
static bool is_only_chosen(const FpCheck *k, const PtxReg *r) {
  for (uint32_t n = 0; n < k->flow->reads.n[r->id]; n++) {
    PtxOp op = reader_at(k, r, n)->op;
    if (op != OP_SETP && op != OP_SELP && op != OP_MOV) return false;
  }
  return true;
}
static bool is_own_sum(const FpCheck *k, const PtxInstr *in) {
  if (in->op != OP_ADD || in->nops != 3 || in->ops[1].kind != OPD_REG ||
      !is_reg(&in->ops[2], in->ops[1].reg))
    return false;
  const PtxInstr *asks = reader_of_both(k, in, OP_SETP, in->ops[1].reg);
  return asks && ptx_has(asks, MOD_EQ) && is_only_chosen(k, in->ops[0].reg);
}

// x - n * c, where n = x / c is rounded by adding and subtracting 1.5 * 2^52: exponentials. It is
// NaN if x is infinite.
static bool is_rounded(const FpFlow *f, const PtxOperand *o) {
  const PtxInstr *def = fp_def(f, o);
  return def && def->op == OP_ADD && def->nops == 3 &&
         fp_is_constant(f, &def->ops[2], UINT64_MAX, 0xc338000000000000);
}
static bool is_remainder(const FpFlow *f, const PtxInstr *in) {
  if (in->types[0] != TYPE_F64) return false;
  return (in->op == OP_FMA && is_rounded(f, &in->ops[1])) ||
         (in->op == OP_SUB && is_rounded(f, &in->ops[2]));
}
// For a huge x the remainder is not small; the library then does not use the polynomial.
static bool is_polynomial_of_remainder(const FpFlow *f, const PtxInstr *in) {
  const PtxInstr *of = in->op == OP_FMA && in->types[0] == TYPE_F64 ? fp_def(f, &in->ops[2]) : NULL;
  return of && is_remainder(f, of);
}

// d * rsqrt(d), then refined: the library's square root. It handles 0 and negative numbers
// separately and returns 0 and NaN. A program gets this instruction with .ftz only by writing PTX.
static bool is_root(const FpCheck *k, const PtxInstr *in) {
  return in->op == OP_RSQRT && in->types[0] == TYPE_F64 && ptx_has(in, MOD_FTZ) &&
         in->ops[1].kind == OPD_REG && reader_of_both(k, in, OP_MUL, in->ops[1].reg);
}

// 1 - d * y * y, where y = rsqrt(d): the library's reciprocal square root, refined for numbers
// other than 0 and infinity.
static bool is_root_error(const FpFlow *f, const PtxInstr *in) {
  const PtxInstr *minus = in->op == OP_FMA && in->types[0] == TYPE_F64 ? fp_def(f, &in->ops[2])
                                                                       : NULL,
                 *square = minus && minus->op == OP_NEG ? fp_def(f, &minus->ops[1]) : NULL;
  const PtxInstr *root = square && square->op == OP_MUL && square->ops[1].kind == OPD_REG &&
                                 is_reg(&square->ops[2], square->ops[1].reg)
                             ? fp_def(f, &square->ops[1])
                             : NULL;
  return root && root->op == OP_RSQRT && ptx_has(root, MOD_FTZ);
}

// x * 2^23, 2^24 or 2^54 for x below the smallest normal number, or for -x: logarithms. A product
// that overflows is negative, and the logarithm returns NaN.
static bool asks_for_small(const FpFlow *f, const PtxInstr *selection, const PtxReg *x) {
  const PtxInstr *asks = selection->op == OP_SELP && selection->nops == 4
                             ? fp_def(f, &selection->ops[3])
                             : NULL;
  if (!asks || asks->op != OP_SETP || asks->nops != 3 || !is_reg(&asks->ops[1], x)) return false;
  return ptx_has(asks, MOD_LT)
             ? fp_is_constant(f, &asks->ops[2], 0x00800000, UINT64_MAX)
             : ptx_has(asks, MOD_GT) && fp_is_constant(f, &asks->ops[2], 0x80800000, UINT64_MAX);
}
static bool takes_apart(const PtxInstr *reader) {
  return reader->op == OP_MOV && reader->ops[0].kind == OPD_VECTOR;
}
static bool is_scale(const FpFlow *f, const PtxOperand *o) {
  static const uint64_t scales[][2] = {
      {0x4b000000, 0x4350000000000000}, {0xcb000000, 0xc350000000000000}, {0x4b800000, UINT64_MAX}};
  for (size_t i = 0; i < ARRAY_LEN(scales); i++)
    if (fp_is_constant(f, o, scales[i][0], scales[i][1])) return true;
  return false;
}
static bool is_scaled_up(const FpCheck *k, const PtxInstr *in) {
  if (in->op != OP_MUL || in->nops != 3 || in->ops[1].kind != OPD_REG ||
      !is_scale(k->flow, &in->ops[2]))
    return false;
  bool wide = in->types[0] == TYPE_F64;
  for (uint32_t n = 0; n < k->flow->reads.n[in->ops[0].reg->id]; n++) {
    const PtxInstr *reader = reader_at(k, in->ops[0].reg, n);
    if (wide ? takes_apart(reader) && is_reg(&in->ops[0], in->ops[1].reg)
             : asks_for_small(k->flow, reader, in->ops[1].reg))
      return true;
  }
  return false;
}

// x * log2(e) + 1.5 * 2^52: exponentials of doubles. It overflows only where they return 0 or
// infinity.
static bool is_rounded_exponent(const FpFlow *f, const PtxInstr *in) {
  return in->op == OP_FMA && in->types[0] == TYPE_F64 &&
         fp_is_constant(f, &in->ops[3], UINT64_MAX, 0x4338000000000000);
}

// The polynomial of erff, whose coefficients are chosen by |x| >= 1.003. Its value p is small, or
// goes into 2^-p.
static bool is_erf(const FpFlow *f, const PtxInstr *in) {
  static const uint64_t coefficients[] = {0xbaae005b, 0x3c09919f, 0xbd24d99a,
                                          0x3e235519, 0x3f69b4f9, 0x3f210a14};
  const PtxInstr *chosen = in->op == OP_FMA && in->types[0] == TYPE_F32 ? fp_def(f, &in->ops[3])
                                                                        : NULL;
  for (size_t i = 0; chosen && chosen->op == OP_SELP && i < ARRAY_LEN(coefficients); i++)
    if (fp_is_constant(f, &chosen->ops[1], coefficients[i], UINT64_MAX)) return true;
  return false;
}

bool fp_is_step(const FpCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  if (in->nops < 2 || in->ops[0].kind != OPD_REG || in->ops[0].reg->id >= k->flow->nregs)
    return false;
  return is_own_sum(k, in) || is_remainder(k->flow, in) ||
         is_polynomial_of_remainder(k->flow, in) || is_root(k, in) || is_root_error(k->flow, in) ||
         is_scaled_up(k, in) || is_rounded_exponent(k->flow, in) || is_erf(k->flow, in);
}

// x * log2(e) or x * log2(10), as the exponent of a power of 2. For -inf the power is 0:
// expf(-FLT_MAX), the mask in many a softmax.
static bool goes_into_power(const FpCheck *k, const PtxReg *r, bool through_sums) {
  uint32_t n = k->flow->reads.n[r->id];
  for (uint32_t i = 0; i < n; i++) {
    const PtxInstr *reader = reader_at(k, r, i);
    bool sum = through_sums && reader->op == OP_FMA && reader->ops[0].kind == OPD_REG &&
               is_reg(&reader->ops[3], r) && !is_reg(&reader->ops[1], r);
    bool whole = reader->op == OP_CVT && (ptx_has(reader, MOD_RNI) || ptx_has(reader, MOD_RZI)) &&
                 reader->types[0] == TYPE_F32;
    if (reader->op != OP_EX2 && !whole && !(sum && goes_into_power(k, reader->ops[0].reg, false)))
      return false;
  }
  return n;
}
bool fp_is_exponent(const FpCheck *k, const PtxInstr *in) {
  static const uint64_t logarithms[] = {0x3fb8aa3b, 0xbfb8aa3b, 0x40549a78, 0xc0549a78};
  if ((in->op != OP_MUL && in->op != OP_FMA) || in->types[0] != TYPE_F32 ||
      in->ops[0].kind != OPD_REG)
    return false;
  bool is_scaled = false;
  for (size_t i = 0; i < ARRAY_LEN(logarithms); i++)
    is_scaled |= fp_is_constant(k->flow, &in->ops[2], logarithms[i], UINT64_MAX);
  return is_scaled && goes_into_power(k, in->ops[0].reg, true);
}
