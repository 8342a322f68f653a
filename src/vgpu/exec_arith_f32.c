// Single precision: add sub mul fma mad div rcp sqrt (IEEE), abs neg min max copysign; and the f32x2 forms.
//
// Nearest rounding, with and without .ftz, has its own functions. Directed rounding is one function for each operation
// with the mode in flag[0]; .ftz and .sat are then further Insts around it.
#include "vgpu/arith_exec.h"
#include "vgpu/arith_float.h"

#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#define NEAREST_2(name, EXPR) \
  EXEC_2(name##_rn, float, float, float, f32_canonical(EXPR)) \
  EXEC_2(name##_rn_ftz, float, float, float, ({ \
           float x_ = f32_flush(a), y_ = f32_flush(b); \
           float a = x_, b = y_; \
           f32_flush(f32_canonical(EXPR)); \
         }))
NEAREST_2(add, a + b)
NEAREST_2(sub, a - b)
NEAREST_2(mul, a * b)
NEAREST_2(div, a / b)
EXEC_3(fma_rn, float, float, float, float, f32_canonical(FMA(a, b, c)))
EXEC_3(fma_rn_ftz, float, float, float, float, f32_flush(f32_canonical(FMA(f32_flush(a), f32_flush(b), f32_flush(c)))))
EXEC_1(rcp_rn, float, float, f32_canonical(1.0f / a))
EXEC_1(sqrt_rn, float, float, f32_canonical(__builtin_sqrtf(a)))
EXEC_1(flush, float, float, f32_flush(a))
EXEC_1(saturate, float, float, f32_saturate(a))

// Directed rounding. No operand is a constant expression here: nothing can be computed in advance in another mode.
#define DIRECTED(name, EXPR) \
  EXEC(name) { \
    uint64_t old = rounding_enter(in->flag[0]); \
    const float *a_ = REG(w, float, in->a), *b_ = REG(w, float, in->b), *c_ = REG(w, float, in->c); \
    ELEMENTWISE(w, float, in->d, i, ({ \
                  float a = a_[i], b = b_[i], c = c_[i]; \
                  (void)b, (void)c; \
                  f32_canonical(EXPR); \
                })); \
    rounding_leave(old); \
    return in + 1; \
  }
DIRECTED(add_directed, a + b)
DIRECTED(sub_directed, a - b)
DIRECTED(mul_directed, a * b)
DIRECTED(fma_directed, FMA(a, b, c))
DIRECTED(div_directed, a / b)
DIRECTED(rcp_directed, b / a)              // b is 1
DIRECTED(sqrt_directed, __builtin_sqrtf(a))

// --- sign and order: bit operations ---
EXEC_1(abs_f32, uint32_t, uint32_t, a & 0x7fffffffu)
EXEC_1(neg_f32, uint32_t, uint32_t, a ^ 0x80000000u)
EXEC_1(abs_ftz_f32, uint32_t, float, f32_bits(f32_flush(a)) & 0x7fffffffu)
EXEC_1(neg_ftz_f32, uint32_t, float, f32_bits(f32_flush(a)) ^ 0x80000000u)
EXEC_2(copysign_f32, uint32_t, uint32_t, uint32_t, (a & 0x80000000u) | (b & 0x7fffffffu))
EXEC_2(min_plain, uint32_t, uint32_t, uint32_t, f32_min(a, b))
EXEC_2(max_plain, uint32_t, uint32_t, uint32_t, f32_max(a, b))
EXEC_2(min_nan, uint32_t, uint32_t, uint32_t, f32_min_nan(a, b))
EXEC_2(max_nan, uint32_t, uint32_t, uint32_t, f32_max_nan(a, b))
// .xorsign.abs: magnitudes are compared, the sign is the product's. A NaN result is canonical all the same.
#define XORSIGN(op) ({ uint32_t r_ = op(a & 0x7fffffffu, b & 0x7fffffffu); f32_is_nan(r_) ? F32_NAN_BITS : r_ | ((a ^ b) & 0x80000000u); })
EXEC_2(min_xorsign, uint32_t, uint32_t, uint32_t, XORSIGN(f32_min))
EXEC_2(max_xorsign, uint32_t, uint32_t, uint32_t, XORSIGN(f32_max))
EXEC_2(min_nan_xorsign, uint32_t, uint32_t, uint32_t, XORSIGN(f32_min_nan))
EXEC_2(max_nan_xorsign, uint32_t, uint32_t, uint32_t, XORSIGN(f32_max_nan))
static ExecFn *const minmax_fns[2][2][2] = {      // [max][.NaN][.xorsign.abs]
  {{min_plain, min_xorsign}, {min_nan, min_nan_xorsign}}, {{max_plain, max_xorsign}, {max_nan, max_nan_xorsign}}};

// --- pairs: a slot of 64-bit registers is 64 floats ---
#define PAIRS(name, EXPR) \
  EXEC(name) { \
    uint64_t old = rounding_enter(in->flag[0]); \
    const float *a_ = REG(w, float, in->a), *b_ = REG(w, float, in->b), *c_ = REG(w, float, in->c); \
    bool ftz = in->flag[1]; \
    float t[2 * LANES]; \
    for (int i = 0; i < 2 * LANES; i++) { \
      float a = ftz ? f32_flush(a_[i]) : a_[i], b = ftz ? f32_flush(b_[i]) : b_[i], c = ftz ? f32_flush(c_[i]) : c_[i]; \
      (void)c; \
      float r = f32_canonical(EXPR); \
      t[i] = ftz ? f32_flush(r) : r; \
    } \
    float *d = REG(w, float, in->d); \
    for (int i = 0; i < 2 * LANES; i++) d[i] = w->exec >> (i / 2) & 1 ? t[i] : d[i]; \
    rounding_leave(old); \
    return in + 1; \
  }
PAIRS(add_pairs, a + b)
PAIRS(sub_pairs, a - b)
PAIRS(mul_pairs, a * b)
PAIRS(fma_pairs, FMA(a, b, c))

static Rounding rounding_of(const PtxInstr *in) {
  return ptx_has(in, MOD_RZ) ? ROUND_ZERO : ptx_has(in, MOD_RM) ? ROUND_DOWN : ptx_has(in, MOD_RP) ? ROUND_UP : ROUND_NEAREST;
}

typedef struct Operation { ExecFn *nearest, *nearest_ftz, *directed, *pairs; } Operation;
static bool find_operation(PtxOp op, Operation *out) {
  switch (op) {
  case OP_ADD: *out = (Operation){add_rn, add_rn_ftz, add_directed, add_pairs}; return true;
  case OP_SUB: *out = (Operation){sub_rn, sub_rn_ftz, sub_directed, sub_pairs}; return true;
  case OP_MUL: *out = (Operation){mul_rn, mul_rn_ftz, mul_directed, mul_pairs}; return true;
  case OP_MAD: case OP_FMA: *out = (Operation){fma_rn, fma_rn_ftz, fma_directed, fma_pairs}; return true;
  case OP_DIV: *out = (Operation){div_rn, div_rn_ftz, div_directed, NULL}; return true;
  case OP_RCP: *out = (Operation){rcp_rn, NULL, rcp_directed, NULL}; return true;
  case OP_SQRT: *out = (Operation){sqrt_rn, NULL, sqrt_directed, NULL}; return true;
  default: return false;
  }
}

static uint32_t emit_flush(Binder *b, uint32_t slot) {
  uint32_t flushed = bind_scratch(b, 4);
  emit(b, flush, flushed, slot, 0, 0);
  return flushed;
}

static bool bind_arithmetic(Binder *b, const Operation *op) {
  const PtxInstr *in = b->in;
  bool ftz = ptx_has(in, MOD_FTZ), sat = ptx_has(in, MOD_SAT);
  Rounding mode = rounding_of(in);
  uint32_t s[3] = {0};
  for (unsigned k = 1; k < in->nops && k <= 3; k++) s[k - 1] = bind_src(b, &in->ops[k], TYPE_F32);
  if (in->op == OP_RCP) s[1] = bind_constant(b, f32_bits(1.0f), 4);
  uint32_t d = bind_dst(b, &in->ops[0], TYPE_F32);
  bool fused_ftz = ftz && mode == ROUND_NEAREST && op->nearest_ftz;
  bool around = ftz && !fused_ftz;
  unsigned sources = in->op == OP_RCP || in->op == OP_SQRT ? 1 : in->nops - 1;
  for (unsigned k = 0; around && k < sources; k++) s[k] = emit_flush(b, s[k]);
  if (sources < 3) s[2] = s[0];              // the directed functions load all three
  if (sources < 2 && in->op != OP_RCP) s[1] = s[0];
  ExecFn *fn = mode != ROUND_NEAREST ? op->directed : fused_ftz ? op->nearest_ftz : op->nearest;
  uint32_t result = around || sat ? bind_scratch(b, 4) : d;
  emit(b, fn, result, s[0], s[1], s[2])->flag[0] = (uint8_t)mode;
  if (around) {
    uint32_t flushed = sat ? bind_scratch(b, 4) : d;
    emit(b, flush, flushed, result, 0, 0);
    result = flushed;
  }
  if (sat) emit(b, saturate, d, result, 0, 0);
  return true;
}

static bool bind_pairs(Binder *b, const Operation *op) {
  const PtxInstr *in = b->in;
  if (!op->pairs) return bind_unsupported(b, "no f32x2 form");
  uint32_t s[3] = {0};
  for (unsigned k = 1; k < in->nops && k <= 3; k++) s[k - 1] = bind_src(b, &in->ops[k], TYPE_F32X2);
  if (in->nops < 4) s[2] = s[0];
  Inst *i = emit(b, op->pairs, bind_dst(b, &in->ops[0], TYPE_F32X2), s[0], s[1], s[2]);
  i->flag[0] = (uint8_t)rounding_of(in);
  i->flag[1] = ptx_has(in, MOD_FTZ);
  return true;
}

// min and max, of two or (newer ISA) three operands.
static bool bind_minmax(Binder *b) {
  const PtxInstr *in = b->in;
  bool xorsign = ptx_has(in, MOD_XORSIGN), nan = ptx_has(in, MOD_NAN), is_max = in->op == OP_MAX;
  unsigned sources = in->nops - 1u;
  uint32_t s[3];
  for (unsigned k = 0; k < sources; k++) s[k] = bind_src(b, &in->ops[k + 1], TYPE_F32);
  uint32_t d = bind_dst(b, &in->ops[0], TYPE_F32);
  if (ptx_has(in, MOD_FTZ))
    for (unsigned k = 0; k < sources; k++) s[k] = emit_flush(b, s[k]);
  // a three-operand min with .abs only
  if (sources == 3) {
    if (ptx_has(in, MOD_ABS))
      for (unsigned k = 0; k < 3; k++) {
        uint32_t magnitude = bind_scratch(b, 4);
        emit(b, abs_f32, magnitude, s[k], 0, 0);
        s[k] = magnitude;
      }
    uint32_t first = bind_scratch(b, 4);
    emit(b, minmax_fns[is_max][nan][0], first, s[0], s[1], 0);
    emit(b, minmax_fns[is_max][nan][0], d, first, s[2], 0);
    return true;
  }
  emit(b, minmax_fns[is_max][nan][xorsign], d, s[0], s[1], 0);
  return true;
}

// add, sub, fma with a f16 or bf16 first operands: they widen exactly, then it is the f32 operation.
EXEC_1(widen_f16, float, uint16_t, f32_from_f16(a))
EXEC_1(widen_bf16, float, uint16_t, f32_from_bf16(a))
static bool bind_mixed(Binder *b, const Operation *op) {
  const PtxInstr *in = b->in;
  PtxType narrow = in->types[1];
  unsigned narrow_sources = in->op == OP_FMA ? 2 : 1;
  uint32_t s[3] = {0};
  for (unsigned k = 0; k < in->nops - 1u && k < 3; k++) {
    if (k < narrow_sources) {
      uint32_t raw = bind_src(b, &in->ops[k + 1], narrow);
      s[k] = bind_scratch(b, 4);
      emit(b, narrow == TYPE_F16 ? widen_f16 : widen_bf16, s[k], raw, 0, 0);
    } else {
      s[k] = bind_src(b, &in->ops[k + 1], TYPE_F32);
    }
  }
  if (in->nops < 4) s[2] = s[0];
  bool sat = ptx_has(in, MOD_SAT);
  uint32_t d = bind_dst(b, &in->ops[0], TYPE_F32), result = sat ? bind_scratch(b, 4) : d;
  emit(b, op->directed, result, s[0], s[1], s[2])->flag[0] = (uint8_t)rounding_of(in);
  if (sat) emit(b, saturate, d, result, 0, 0);
  return true;
}

bool VGPU_NAME(arith_bind_f32)(Binder *b) {
  const PtxInstr *in = b->in;
  bool ftz = ptx_has(in, MOD_FTZ);
  switch (in->op) {
  case OP_ABS: return emit_simple(b, ftz ? abs_ftz_f32 : abs_f32);
  case OP_NEG: return emit_simple(b, ftz ? neg_ftz_f32 : neg_f32);
  case OP_COPYSIGN: return emit_simple(b, copysign_f32);
  case OP_MIN: case OP_MAX: return bind_minmax(b);
  default: break;
  }
  Operation op;
  if (!find_operation(in->op, &op)) return bind_unsupported(b, "not a single-precision instruction");
  if (main_type(in) == TYPE_F32X2) return bind_pairs(b, &op);
  if (in->ntypes == 2 && in->types[0] == TYPE_F32 && in->types[1] != TYPE_F32) return bind_mixed(b, &op);
  return bind_arithmetic(b, &op);
}
