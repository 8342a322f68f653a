// The effect of an instruction on floating-point values, from opcode and modifiers alone.
#include "tools/fpcheck/internal.h"

FpType fp_type(PtxType t) {
  switch (t) {
    case TYPE_F16: return (FpType){WG_FP_F16, 0};
    case TYPE_F16X2: return (FpType){WG_FP_F16, 1};
    case TYPE_BF16: return (FpType){WG_FP_BF16, 0};
    case TYPE_BF16X2: return (FpType){WG_FP_BF16, 1};
    case TYPE_F32:
    case TYPE_TF32: return (FpType){WG_FP_F32, 0};
    case TYPE_F32X2: return (FpType){WG_FP_F32, 1};
    case TYPE_F64: return (FpType){WG_FP_F64, 0};
    default: return (FpType){WG_FP_NONE, 0};
  }
}

typedef struct FpOpRow {
  PtxOp op;
  WgFpOp what;
  uint8_t operands;
} FpOpRow;
static const FpOpRow rows[] = {
    {OP_ADD, WG_FP_ADD, 2}, {OP_SUB, WG_FP_SUB, 2},   {OP_MUL, WG_FP_MUL, 2},
    {OP_FMA, WG_FP_FMA, 3}, {OP_MAD, WG_FP_FMA, 3},   {OP_DIV, WG_FP_DIV, 2},
    {OP_RCP, WG_FP_RCP, 1}, {OP_SQRT, WG_FP_SQRT, 1}, {OP_RSQRT, WG_FP_RSQRT, 1},
    {OP_SIN, WG_FP_SIN, 1}, {OP_COS, WG_FP_COS, 1},   {OP_LG2, WG_FP_LG2, 1},
    {OP_EX2, WG_FP_EX2, 1}, {OP_TANH, WG_FP_TANH, 1},
};

// The exceptions of ops.def as --fp names them.
static unsigned kinds_of(PtxOp op) {
  unsigned e = ptx_op_exceptions(op);
  return (e & EXCEPTION_NAN ? WG_FP_NAN : 0u) | (e & EXCEPTION_INF ? WG_FP_INF : 0u) |
         (e & EXCEPTION_DIV0 ? WG_FP_DIV0 : 0u) | (e & EXCEPTION_SUBNORMAL ? WG_FP_SUBNORMAL : 0u);
}

static bool narrows(PtxType to, PtxType from) {
  FpType t = fp_type(to), f = fp_type(from);
  if (!t.format) return false;
  if (!f.format)
    return t.format == WG_FP_F16 &&
           (ptx_type_kind(from) == KIND_SIGNED || ptx_type_kind(from) == KIND_UNSIGNED) &&
           ptx_type_size(from) > 1;
  if (to == TYPE_TF32) return true;  // rounding up can carry into the exponent
  return t.format != f.format && !(t.format == WG_FP_F64) &&
         !(t.format == WG_FP_F32 && f.format != WG_FP_F64);
}

static bool conversion(const PtxInstr *in, FpOperation *out) {
  if (in->ntypes != 2 || in->nops < 2) return false;
  PtxType to = in->types[0], from = in->types[1];
  FpType source = fp_type(from);
  bool fp8 = to == TYPE_E4M3X2 || to == TYPE_E5M2X2;
  bool saturates = ptx_has(in, MOD_SATFINITE);
  if (!fp8 && (!narrows(to, from) || ptx_has(in, MOD_SAT))) return false;
  if (fp8 && (!source.format || in->ops[1].kind == OPD_VECTOR)) return false;
  out->op = saturates ? WG_FP_SATURATE : WG_FP_CONVERT;
  out->result = fp_type(to);
  out->n = fp_type(to).packed || fp8 ? (source.packed ? 1 : 2) : 1;
  out->halves_from_two = out->n == 2;
  if (out->n >= in->nops) return false;
  for (unsigned i = 0; i < out->n; i++) out->types[i] = source;
  out->kinds = saturates ? WG_FP_INF : source.format ? WG_FP_INF | WG_FP_SUBNORMAL : WG_FP_INF;
  if (saturates) out->result = source;  // the value before the conversion is tested
  return true;
}

bool fp_operation(const PtxInstr *in, FpOperation *out) {
  *out = (FpOperation){0};
  if (in->nops < 2) return false;
  for (unsigned i = 0; i < FP_OPERANDS && i + 1 < in->nops; i++) out->operands[i] = &in->ops[i + 1];
  out->ftz = ptx_has(in, MOD_FTZ);
  if (in->op == OP_CVT) {
    if (!conversion(in, out)) return false;
  } else {
    const FpOpRow *row = NULL;
    for (size_t i = 0; i < ARRAY_LEN(rows) && !row; i++)
      if (rows[i].op == in->op) row = &rows[i];
    if (!row || !in->ntypes || !fp_type(in->types[0]).format || ptx_has(in, MOD_SAT) ||
        row->operands >= in->nops)
      return false;
    out->op = row->what;
    out->result = fp_type(in->types[0]);
    out->n = row->operands;
    // add.f32.f16: the addend, which is last, has the first type; the other operands have the
    // second
    for (unsigned i = 0; i < out->n; i++)
      out->types[i] = in->ntypes > 1 && i + 1 < out->n ? fp_type(in->types[1]) : out->result;
    out->kinds = kinds_of(in->op);
  }
  if (out->ftz && out->result.format == WG_FP_F32) out->kinds &= ~(unsigned)WG_FP_SUBNORMAL;
  return true;
}

bool fp_is_matrix(const PtxInstr *in, FpType *result, FpType *a, FpType *b, FpType *c) {
  if (in->op != OP_MMA && in->op != OP_WMMA_MMA) return false;
  if (in->nops < 4) return false;
  PtxType d = in->types[0], at = TYPE_F16, bt = TYPE_F16, ct;
  if (in->ntypes >= 4) {
    at = in->types[1];
    bt = in->types[2];
    ct = in->types[3];
  } else if (in->ntypes == 2) ct = in->types[1];  // wmma on halves names d and c only
  else return false;
  *result = fp_type(d);
  *a = fp_type(at);
  *b = fp_type(bt);
  *c = fp_type(ct);
  if (!result->format) return false;
  // Fragments of halves hold pairs.
  FpType *all[] = {result, a, b, c};
  for (size_t i = 0; i < ARRAY_LEN(all); i++)
    if (all[i]->format == WG_FP_F16 || all[i]->format == WG_FP_BF16) all[i]->packed = 1;
  return true;
}

bool fp_operand_infinite(const PtxOperand *o) {
  if (o->kind != OPD_FLOAT) return false;
  uint64_t bits = (uint64_t)o->imm;
  return o->is_double ? (bits & 0x7fffffffffffffffull) == 0x7ff0000000000000ull
                      : (bits & 0x7fffffffu) == 0x7f800000u;
}
