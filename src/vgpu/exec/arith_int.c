// Integer arithmetic: add sub mul mad mul24 mad24 sad div rem abs neg min max.
#include "vgpu/exec/arith_exec.h"
#include "vgpu/exec/arith_int.h"

#define UNSIGNED_TYPES(X) \
  X(u16, uint16_t, uint32_t) X(u32, uint32_t, uint32_t) X(u64, uint64_t, uint64_t)
#define SIGNED_TYPES(X) \
  X(s16, int16_t, uint16_t) X(s32, int32_t, uint32_t) X(s64, int64_t, uint64_t)

// Sign does not matter: computed in an unsigned type at least as wide as int, so that nothing
// overflows.
#define DEFINE(n, T, M) \
  EXEC_2(add_##n, T, T, T, (M)a + b) \
  EXEC_2(sub_##n, T, T, T, (M)a - b) \
  EXEC_2(mul_lo_##n, T, T, T, (M)a *b) \
  EXEC_3(mad_lo_##n, T, T, T, T, (M)a *b + c) \
  EXEC_1(neg_##n, T, T, 0 - (M)a) \
  EXEC_2(min_##n, T, T, T, a < b ? a : b) \
  EXEC_2(max_##n, T, T, T, a > b ? a : b) \
  EXEC_2(div_op_##n, T, T, T, div_##n(a, b)) \
  EXEC_2(rem_op_##n, T, T, T, rem_##n(a, b)) \
  EXEC_2(mul_hi_##n, T, T, T, mulhi_##n(a, b)) \
  EXEC_3(mad_hi_##n, T, T, T, T, (M)mulhi_##n(a, b) + c) \
  EXEC_3(sad_##n, T, T, T, T, (M)c + (a < b ? b - a : a - b))
UNSIGNED_TYPES(DEFINE)
#undef DEFINE
#define DEFINE(n, T, M) \
  EXEC_1(abs_##n, T, T, a < 0 ? (M)0 - (M)a : (M)a) \
  EXEC_2(min_##n, T, T, T, a < b ? a : b) \
  EXEC_2(max_##n, T, T, T, a > b ? a : b) \
  EXEC_2(div_op_##n, T, T, T, div_##n(a, b)) \
  EXEC_2(rem_op_##n, T, T, T, rem_##n(a, b)) \
  EXEC_2(mul_hi_##n, T, T, T, mulhi_##n(a, b)) \
  EXEC_3(mad_hi_##n, T, T, T, T, (M)mulhi_##n(a, b) + (M)c) \
  EXEC_3(sad_##n, T, T, T, T, (M)c + (a < b ? (M)b - (M)a : (M)a - (M)b))
SIGNED_TYPES(DEFINE)
#undef DEFINE

#define DEFINE_WIDE(n, T, W) \
  EXEC_2(mul_wide_##n, W, T, T, (W)a *b) \
  EXEC_3(mad_wide_##n, W, T, T, W, (W)a *b + c)
DEFINE_WIDE(u16, uint16_t, uint32_t)
DEFINE_WIDE(u32, uint32_t, uint64_t)
EXEC_2(mul_wide_s16, int32_t, int16_t, int16_t, (int32_t)a *b)
EXEC_2(mul_wide_s32, int64_t, int32_t, int32_t, (int64_t)a *b)
EXEC_3(mad_wide_s16, uint32_t, int16_t, int16_t, uint32_t, (uint32_t)((int32_t)a *b) + c)
EXEC_3(mad_wide_s32, uint64_t, int32_t, int32_t, uint64_t, (uint64_t)((int64_t)a *b) + c)

EXEC_2(add_sat_s32, int32_t, int32_t, int32_t, saturate_s32((int64_t)a + b))
EXEC_2(sub_sat_s32, int32_t, int32_t, int32_t, saturate_s32((int64_t)a - b))
EXEC_3(mad_hi_sat_s32, int32_t, int32_t, int32_t, int32_t,
       saturate_s32((int64_t)mulhi_s32(a, b) + c))
EXEC_2(min_relu_s32, int32_t, int32_t, int32_t, ({
         int32_t m = a < b ? a : b;
         m < 0 ? 0 : m;
       }))
EXEC_2(max_relu_s32, int32_t, int32_t, int32_t, ({
         int32_t m = a > b ? a : b;
         m < 0 ? 0 : m;
       }))

EXEC_2(mul24_lo_u32, uint32_t, uint32_t, uint32_t, (uint32_t)mul24_u32(a, b))
EXEC_2(mul24_hi_u32, uint32_t, uint32_t, uint32_t, (uint32_t)(mul24_u32(a, b) >> 16))
EXEC_2(mul24_lo_s32, uint32_t, int32_t, int32_t, (uint32_t)mul24_s32(a, b))
EXEC_2(mul24_hi_s32, uint32_t, int32_t, int32_t, (uint32_t)(mul24_s32(a, b) >> 16))
EXEC_3(mad24_lo_u32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)mul24_u32(a, b) + c)
EXEC_3(mad24_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)(mul24_u32(a, b) >> 16) + c)
EXEC_3(mad24_lo_s32, uint32_t, int32_t, int32_t, uint32_t, (uint32_t)mul24_s32(a, b) + c)
EXEC_3(mad24_hi_s32, uint32_t, int32_t, int32_t, uint32_t, (uint32_t)(mul24_s32(a, b) >> 16) + c)
EXEC_3(mad24_hi_sat_s32, int32_t, int32_t, int32_t, int32_t,
       saturate_s32((mul24_s32(a, b) >> 16) + c))

// Two 16-bit values in a register: a slot of 32 registers is 64 of them, and lane i owns elements
// 2i and 2i+1.
#define HALVES(T, EXPR) \
  ({ \
    T h_[2]; \
    for (int k_ = 0; k_ < 2; k_++) { \
      T x = (T)(a >> (16 * k_)), y = (T)(b >> (16 * k_)); \
      (void)y; \
      h_[k_] = (T)(EXPR); \
    } \
    (uint32_t)(uint16_t) h_[0] | (uint32_t)(uint16_t)h_[1] << 16; \
  })
EXEC_2(add_16x2, uint32_t, uint32_t, uint32_t, HALVES(uint16_t, x + y))
EXEC_2(sub_16x2, uint32_t, uint32_t, uint32_t, HALVES(uint16_t, x - y))
EXEC_2(min_u16x2, uint32_t, uint32_t, uint32_t, HALVES(uint16_t, x < y ? x : y))
EXEC_2(max_u16x2, uint32_t, uint32_t, uint32_t, HALVES(uint16_t, x > y ? x : y))
EXEC_2(min_s16x2, uint32_t, uint32_t, uint32_t, HALVES(int16_t, x < y ? x : y))
EXEC_2(max_s16x2, uint32_t, uint32_t, uint32_t, HALVES(int16_t, x > y ? x : y))
EXEC_2(min_relu_s16x2, uint32_t, uint32_t, uint32_t,
       HALVES(int16_t, (x < y ? x : y) < 0 ? 0
                       : x < y             ? x
                                           : y))
EXEC_2(max_relu_s16x2, uint32_t, uint32_t, uint32_t,
       HALVES(int16_t, (x > y ? x : y) < 0 ? 0
                       : x > y             ? x
                                           : y))
EXEC_1(neg_s16x2, uint32_t, uint32_t, ({
         uint32_t b = 0;
         HALVES(uint16_t, 0 - x + y);
       }))
EXEC_1(abs_s16x2, uint32_t, uint32_t, ({
         uint32_t b = 0;
         HALVES(int16_t, x < 0 ? 0 - x : x + y);
       }))

// Tables: [signed][width].
#define BOTH(op) \
  { \
    {op##_u16, op##_u32, op##_u64}, { op##_s16, op##_s32, op##_s64 } \
  }
#define SAME(op) \
  { \
    {op##_u16, op##_u32, op##_u64}, { op##_u16, op##_u32, op##_u64 } \
  }
typedef ExecFn *const ByType[2][3];
static ByType add_fns = SAME(add), sub_fns = SAME(sub), mul_lo_fns = SAME(mul_lo),
              mad_lo_fns = SAME(mad_lo), neg_fns = SAME(neg);
static ByType min_fns = BOTH(min), max_fns = BOTH(max), div_fns = BOTH(div_op),
              rem_fns = BOTH(rem_op), sad_fns = BOTH(sad);
static ByType mul_hi_fns = BOTH(mul_hi), mad_hi_fns = BOTH(mad_hi);
static ByType abs_fns = {{NULL, NULL, NULL}, {abs_s16, abs_s32, abs_s64}};
static ByType mul_wide_fns = {{mul_wide_u16, mul_wide_u32, NULL},
                              {mul_wide_s16, mul_wide_s32, NULL}};
static ByType mad_wide_fns = {{mad_wide_u16, mad_wide_u32, NULL},
                              {mad_wide_s16, mad_wide_s32, NULL}};

static ExecFn *choose(ByType fns, PtxType t) {
  int w = width_index(t);
  return w < 0 ? NULL : fns[type_is_signed(t)][w];
}

static ExecFn *choose_packed(const PtxInstr *in, PtxType t) {
  bool is_signed = t == TYPE_S16X2, relu = ptx_has(in, MOD_RELU);
  switch (in->op) {
    case OP_ADD: return add_16x2;
    case OP_SUB: return sub_16x2;
    case OP_NEG: return neg_s16x2;
    case OP_ABS: return abs_s16x2;
    case OP_MIN: return relu ? min_relu_s16x2 : is_signed ? min_s16x2 : min_u16x2;
    case OP_MAX: return relu ? max_relu_s16x2 : is_signed ? max_s16x2 : max_u16x2;
    default: return NULL;
  }
}

static ExecFn *choose_mul24(const PtxInstr *in, PtxType t) {
  bool hi = ptx_has(in, MOD_HI), is_signed = type_is_signed(t);
  if (in->op == OP_MUL24)
    return is_signed ? (hi ? mul24_hi_s32 : mul24_lo_s32) : (hi ? mul24_hi_u32 : mul24_lo_u32);
  if (ptx_has(in, MOD_SAT)) return mad24_hi_sat_s32;
  return is_signed ? (hi ? mad24_hi_s32 : mad24_lo_s32) : (hi ? mad24_hi_u32 : mad24_lo_u32);
}

// mul.wide, mad.wide: the result, and the addend, are twice as wide.
static bool bind_wide(Binder *b, PtxType t) {
  const PtxInstr *in = b->in;
  bool mad = in->op == OP_MAD;
  ExecFn *fn = choose(mad ? mad_wide_fns : mul_wide_fns, t);
  if (!fn) return bind_unsupported(b, "no wide product of this type");
  PtxType wide = ptx_type_size(t) == 2 ? (type_is_signed(t) ? TYPE_S32 : TYPE_U32)
                                       : (type_is_signed(t) ? TYPE_S64 : TYPE_U64);
  uint32_t x = bind_src(b, &in->ops[1], t), y = bind_src(b, &in->ops[2], t);
  uint32_t z = mad ? bind_src(b, &in->ops[3], wide) : 0;
  emit(b, fn, bind_dst(b, &in->ops[0], wide), x, y, z);
  return true;
}

bool VGPU_NAME(arith_bind_int)(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType t = main_type(in);
  bool sat = ptx_has(in, MOD_SAT), relu = ptx_has(in, MOD_RELU), hi = ptx_has(in, MOD_HI);
  if (ptx_has(in, MOD_WIDE)) return bind_wide(b, t);
  if (t == TYPE_U16X2 || t == TYPE_S16X2) return emit_simple(b, choose_packed(in, t));
  switch (in->op) {
    case OP_ADD: return emit_simple(b, sat ? add_sat_s32 : choose(add_fns, t));
    case OP_SUB: return emit_simple(b, sat ? sub_sat_s32 : choose(sub_fns, t));
    case OP_MUL: return emit_simple(b, choose(hi ? mul_hi_fns : mul_lo_fns, t));
    case OP_MAD:
      return emit_simple(b, sat ? mad_hi_sat_s32 : choose(hi ? mad_hi_fns : mad_lo_fns, t));
    case OP_MUL24:
    case OP_MAD24: return emit_simple(b, choose_mul24(in, t));
    case OP_SAD: return emit_simple(b, choose(sad_fns, t));
    case OP_DIV: return emit_simple(b, choose(div_fns, t));
    case OP_REM: return emit_simple(b, choose(rem_fns, t));
    case OP_ABS: return emit_simple(b, choose(abs_fns, t));
    case OP_NEG: return emit_simple(b, choose(neg_fns, t));
    case OP_MIN: return emit_simple(b, relu ? min_relu_s32 : choose(min_fns, t));
    case OP_MAX: return emit_simple(b, relu ? max_relu_s32 : choose(max_fns, t));
    default: return bind_unsupported(b, "not an integer instruction");
  }
}
