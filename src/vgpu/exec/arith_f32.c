// Single precision: add sub mul fma mad div rcp sqrt (IEEE), abs neg min max copysign; and the
// f32x2 forms.
//
// Nearest rounding has its own functions, with and without .ftz. Directed rounding is one function
// for each operation with the mode in flag[0] and .ftz in flag[1]. .sat is a further Inst.
#include "vgpu/exec/arith_exec.h"
#include "vgpu/exec/arith_float.h"

#define FMA(a, b, c) __builtin_fmaf(a, b, c)
static inline bool any_least_normal(const float *t) {
  uint32_t any = 0;
  for (int i = 0; i < LANES; i++) any |= (f32_bits(t[i]) & 0x7fffffffu) == 0x00800000u;
  return any;
}
// The results of all lanes are in t: flushes those that are tiny although they look normal, and
// stores.
#define STORE_FLUSHED(TINY) \
  do { \
    if (__builtin_expect(any_least_normal(t), 0)) \
      for (int i = 0; i < LANES; i++) \
        if ((f32_bits(t[i]) & 0x7fffffffu) == 0x00800000u && \
            TINY(f32_flush(a_[i]), f32_flush(b_[i]), f32_flush(c_[i]), in->flag[0])) \
          t[i] = t[i] < 0 ? -0.0f : 0.0f; \
    ELEMENTWISE(w, float, in->d, i, t[i]); \
  } while (0)
#define SOURCES \
  const float *a_ = REG(w, float, in->a), *b_ = REG(w, float, in->b), *c_ = REG(w, float, in->c)
#define COMPUTE(EXPR) \
  ({ \
    (void)b, (void)c; \
    f32_canonical(EXPR); \
  })
#define OPERATION(name, EXPR, TINY) \
  EXEC(name##_rn) { \
    SOURCES; \
    ELEMENTWISE(w, float, in->d, i, ({ \
                  float a = a_[i], b = b_[i], c = c_[i]; \
                  COMPUTE(EXPR); \
                })); \
    return in + 1; \
  } \
  EXEC(name##_rn_ftz) { \
    SOURCES; \
    float t[LANES]; \
    for (int i = 0; i < LANES; i++) \
      t[i] = ({ \
        float a = f32_flush(a_[i]), b = f32_flush(b_[i]), c = f32_flush(c_[i]); \
        f32_flush(COMPUTE(EXPR)); \
      }); \
    STORE_FLUSHED(TINY); \
    return in + 1; \
  } \
  EXEC(name##_directed) { \
    uint64_t old = rounding_enter(in->flag[0]); \
    SOURCES; \
    if (!in->flag[1]) { \
      ELEMENTWISE(w, float, in->d, i, ({ \
                    float a = a_[i], b = b_[i], c = c_[i]; \
                    COMPUTE(EXPR); \
                  })); \
      rounding_leave(old); \
      return in + 1; \
    } \
    float t[LANES]; \
    float *stored = t; \
    __asm__("" : "+r"(stored) : : "memory"); /* t is in memory before the mode changes back */ \
    for (int i = 0; i < LANES; i++) \
      stored[i] = ({ \
        float a = f32_flush(a_[i]), b = f32_flush(b_[i]), c = f32_flush(c_[i]); \
        f32_flush(COMPUTE(EXPR)); \
      }); \
    rounding_leave(old); \
    STORE_FLUSHED(TINY); \
    return in + 1; \
  }
OPERATION(add, a + b, f32_tiny_sum)
OPERATION(sub, a - b, f32_tiny_sum)
OPERATION(mul, a *b, f32_tiny_product)
OPERATION(fma, FMA(a, b, c), f32_tiny_fma)
OPERATION(div, a / b, f32_tiny_quotient)  // rcp is 1 / x
OPERATION(sqrt, __builtin_sqrtf(a), f32_tiny_sum)
EXEC_1(flush, float, float, f32_flush(a))
EXEC_1(saturate, float, float, f32_saturate(a))

// --- sign and order: bit operations ---
EXEC_1(abs_f32, uint32_t, uint32_t, f32_change_sign(a, a & 0x7fffffffu))
EXEC_1(neg_f32, uint32_t, uint32_t, f32_change_sign(a, a ^ 0x80000000u))
EXEC_1(abs_ftz_f32, uint32_t, uint32_t,
       f32_change_sign(a, f32_bits(f32_flush(f32_from_bits(a))) & 0x7fffffffu))
EXEC_1(neg_ftz_f32, uint32_t, uint32_t,
       f32_change_sign(a, f32_bits(f32_flush(f32_from_bits(a))) ^ 0x80000000u))
EXEC_2(copysign_f32, uint32_t, uint32_t, uint32_t, (a & 0x80000000u) | (b & 0x7fffffffu))
EXEC_2(min_plain, uint32_t, uint32_t, uint32_t, f32_min(a, b))
EXEC_2(max_plain, uint32_t, uint32_t, uint32_t, f32_max(a, b))
EXEC_2(min_nan, uint32_t, uint32_t, uint32_t, f32_min_nan(a, b))
EXEC_2(max_nan, uint32_t, uint32_t, uint32_t, f32_max_nan(a, b))
// .xorsign.abs: magnitudes are compared, the sign is the product's. A NaN result is canonical all
// the same.
#define XORSIGN(op) \
  ({ \
    uint32_t r_ = op(a & 0x7fffffffu, b & 0x7fffffffu); \
    f32_is_nan(r_) ? F32_NAN_BITS : r_ | ((a ^ b) & 0x80000000u); \
  })
EXEC_2(min_xorsign, uint32_t, uint32_t, uint32_t, XORSIGN(f32_min))
EXEC_2(max_xorsign, uint32_t, uint32_t, uint32_t, XORSIGN(f32_max))
EXEC_2(min_nan_xorsign, uint32_t, uint32_t, uint32_t, XORSIGN(f32_min_nan))
EXEC_2(max_nan_xorsign, uint32_t, uint32_t, uint32_t, XORSIGN(f32_max_nan))
static ExecFn *const minmax_fns[2][2][2] = {  // [max][.NaN][.xorsign.abs]
    {{min_plain, min_xorsign}, {min_nan, min_nan_xorsign}},
    {{max_plain, max_xorsign}, {max_nan, max_nan_xorsign}}};

// --- pairs: a slot of 64-bit registers is 64 floats ---
#define PAIRS(name, EXPR) \
  EXEC(name) { \
    uint64_t old = rounding_enter(in->flag[0]); \
    const float *a_ = REG(w, float, in->a), *b_ = REG(w, float, in->b), \
                *c_ = REG(w, float, in->c); \
    bool ftz = in->flag[1]; \
    float t[2 * LANES]; \
    for (int i = 0; i < 2 * LANES; i++) { \
      float a = ftz ? f32_flush(a_[i]) : a_[i], b = ftz ? f32_flush(b_[i]) : b_[i], \
            c = ftz ? f32_flush(c_[i]) : c_[i]; \
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
PAIRS(mul_pairs, a *b)
PAIRS(fma_pairs, FMA(a, b, c))

static Rounding rounding_of(const PtxInstr *in) {
  return ptx_has(in, MOD_RZ)   ? ROUND_ZERO
         : ptx_has(in, MOD_RM) ? ROUND_DOWN
         : ptx_has(in, MOD_RP) ? ROUND_UP
                               : ROUND_NEAREST;
}

typedef struct Operation {
  ExecFn *nearest, *nearest_ftz, *directed, *pairs;
} Operation;
static bool find_operation(PtxOp op, Operation *out) {
#define OPERATION_FNS(name, pairs) \
  (Operation) { name##_rn, name##_rn_ftz, name##_directed, pairs }
  switch (op) {
    case OP_ADD: *out = OPERATION_FNS(add, add_pairs); return true;
    case OP_SUB: *out = OPERATION_FNS(sub, sub_pairs); return true;
    case OP_MUL: *out = OPERATION_FNS(mul, mul_pairs); return true;
    case OP_MAD:
    case OP_FMA: *out = OPERATION_FNS(fma, fma_pairs); return true;
    case OP_DIV:
    case OP_RCP: *out = OPERATION_FNS(div, NULL); return true;
    case OP_SQRT: *out = OPERATION_FNS(sqrt, NULL); return true;
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
  unsigned sources = in->nops - 1u;
  uint32_t s[3] = {0};
  for (unsigned k = 0; k < sources && k < 3; k++) s[k] = bind_src(b, &in->ops[k + 1], TYPE_F32);
  if (in->op == OP_RCP) {
    s[1] = s[0];
    s[0] = bind_constant(b, f32_bits(1.0f), 4);
    sources = 2;
  }
  for (unsigned k = sources; k < 3; k++) s[k] = s[0];  // all three are loaded
  uint32_t d = bind_dst(b, &in->ops[0], TYPE_F32), result = sat ? bind_scratch(b, 4) : d;
  Inst *i = emit(b,
                 mode != ROUND_NEAREST ? op->directed
                 : ftz                 ? op->nearest_ftz
                                       : op->nearest,
                 result, s[0], s[1], s[2]);
  i->flag[0] = (uint8_t)mode;
  i->flag[1] = ftz;
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

// add, sub, fma with a f16 or bf16 first operands: they widen exactly, then it is the f32
// operation.
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
    case OP_MIN:
    case OP_MAX: return bind_minmax(b);
    default: break;
  }
  Operation op;
  if (!find_operation(in->op, &op))
    return bind_unsupported(b, "not a single-precision instruction");
  if (main_type(in) == TYPE_F32X2) return bind_pairs(b, &op);
  if (in->ntypes == 2 && in->types[0] == TYPE_F32 && in->types[1] != TYPE_F32)
    return bind_mixed(b, &op);
  return bind_arithmetic(b, &op);
}
