// cvt between integers, f16, bf16, f32 and f64. The narrow packed formats are in
// arith_cvt_small.c.
//
// A conversion is a chain of Insts, mostly of length one: bring the source to its natural width,
// round or flush it, convert, clamp, and widen to the destination register.
#include "vgpu/exec/arith_exec.h"
#include "vgpu/exec/arith_float.h"
#include "vgpu/exec/arith_small.h"
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

// --- integers: take the low bits of a register as a type, and write it sign- or zero-extended to
// another width ---
#define RESIZE_TO(from, F, S, sbits) \
  EXEC_1(resize_##from##_##sbits##_16, uint16_t, S, (F)a) \
  EXEC_1(resize_##from##_##sbits##_32, uint32_t, S, (F)a) \
  EXEC_1(resize_##from##_##sbits##_64, uint64_t, S, (F)a)
#define RESIZE_FNS(from, sbits) \
  { resize_##from##_##sbits##_16, resize_##from##_##sbits##_32, resize_##from##_##sbits##_64 }
RESIZE_TO(u8, uint8_t, uint16_t, 16)
RESIZE_TO(s8, int8_t, uint16_t, 16)
RESIZE_TO(u16, uint16_t, uint16_t, 16)
RESIZE_TO(s16, int16_t, uint16_t, 16)
RESIZE_TO(u8, uint8_t, uint32_t, 32)
RESIZE_TO(s8, int8_t, uint32_t, 32)
RESIZE_TO(u16, uint16_t, uint32_t, 32)
RESIZE_TO(s16, int16_t, uint32_t, 32)
RESIZE_TO(u32, uint32_t, uint32_t, 32)
RESIZE_TO(s32, int32_t, uint32_t, 32)
RESIZE_TO(u8, uint8_t, uint64_t, 64)
RESIZE_TO(s8, int8_t, uint64_t, 64)
RESIZE_TO(u16, uint16_t, uint64_t, 64)
RESIZE_TO(s16, int16_t, uint64_t, 64)
RESIZE_TO(u32, uint32_t, uint64_t, 64)
RESIZE_TO(s32, int32_t, uint64_t, 64)
RESIZE_TO(u64, uint64_t, uint64_t, 64)
// [register width][signed][log2 bytes of the type][destination width]
static ExecFn *const resize_fns[3][2][4][3] = {
    {{RESIZE_FNS(u8, 16), RESIZE_FNS(u16, 16)}, {RESIZE_FNS(s8, 16), RESIZE_FNS(s16, 16)}},
    {{RESIZE_FNS(u8, 32), RESIZE_FNS(u16, 32), RESIZE_FNS(u32, 32)},
     {RESIZE_FNS(s8, 32), RESIZE_FNS(s16, 32), RESIZE_FNS(s32, 32)}},
    {{RESIZE_FNS(u8, 64), RESIZE_FNS(u16, 64), RESIZE_FNS(u32, 64), RESIZE_FNS(u64, 64)},
     {RESIZE_FNS(s8, 64), RESIZE_FNS(s16, 64), RESIZE_FNS(s32, 64), RESIZE_FNS(u64, 64)}}};

static unsigned log2_bytes(unsigned bytes) {
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}
static unsigned natural_bytes(PtxType t) { return MAX(ptx_type_size(t), 2u); }

// A value on its way: where it is, its type, the width of its register, and the Inst that made it
// (until the next one).
typedef struct Value {
  uint32_t slot;
  PtxType type;
  unsigned bytes;
  Inst *maker;
} Value;

static void emit_resize(Binder *b, uint32_t d, unsigned d_bytes, uint32_t s, unsigned s_bytes,
                        PtxType as) {
  bool is_signed = type_is_signed(as);
  emit(b,
       resize_fns[log2_bytes(s_bytes) - 1][is_signed][log2_bytes(ptx_type_size(as))]
                 [log2_bytes(d_bytes) - 1],
       d, s, 0, 0);
}

// Into a scratch register of `bytes`, extended by its own type.
static Value resized(Binder *b, Value v, unsigned bytes) {
  if (v.bytes == bytes && ptx_type_size(v.type) == bytes) return v;
  Value r = {bind_scratch(b, bytes), v.type, bytes, NULL};
  emit_resize(b, r.slot, bytes, v.slot, v.bytes, v.type);
  return r;
}

// --- clamping, 64 bits ---
EXEC(clamp_s64) {
  const int64_t *a = REG(w, int64_t, in->a), *limits = in->ptr;
  int64_t low = limits[0], high = limits[1];
  ELEMENTWISE(w, int64_t, in->d, i, a[i] < low ? low : a[i] > high ? high : a[i]);
  return in + 1;
}
EXEC(clamp_u64) {
  const uint64_t *a = REG(w, uint64_t, in->a);
  uint64_t high = *(const uint64_t *)in->ptr;
  ELEMENTWISE(w, uint64_t, in->d, i, a[i] > high ? high : a[i]);
  return in + 1;
}
// Clamps a 64-bit integer (signed or not, as v.type says) to the range of t.
static Value clamped(Binder *b, Value v, PtxType t) {
  unsigned bits = 8 * ptx_type_size(t);
  uint64_t high = type_is_signed(t) ? (1ull << (bits - 1)) - 1
                  : bits == 64      ? ~0ull
                                    : (1ull << bits) - 1;
  bool from_signed = type_is_signed(v.type);
  if (from_signed && high > INT64_MAX) high = INT64_MAX;
  int64_t *limits = bind_alloc(b, 2 * sizeof *limits);
  Value r = {bind_scratch(b, 8), type_is_signed(t) ? TYPE_S64 : TYPE_U64, 8, NULL};
  if (from_signed) {
    limits[0] = type_is_signed(t) ? (bits == 64 ? INT64_MIN : -(int64_t)(1ull << (bits - 1))) : 0;
    limits[1] = (int64_t)high;
  } else {
    limits[0] = (int64_t)high;
  }
  emit(b, from_signed ? clamp_s64 : clamp_u64, r.slot, v.slot, 0, 0)->ptr = limits;
  return r;
}

static bool int_to_int(Binder *b, Value v, PtxType td, uint32_t d, unsigned d_bytes) {
  PtxType ts = v.type;
  if (ptx_has(b->in, MOD_SAT)) {
    Value wide = resized(b, v, 8);
    wide.type = type_is_signed(ts) ? TYPE_S64 : TYPE_U64;
    wide = clamped(b, wide, td);
    emit_resize(b, d, d_bytes, wide.slot, 8, td);
    return true;
  }
  if (ptx_type_size(td) <= ptx_type_size(ts)) {
    emit_resize(b, d, d_bytes, v.slot, v.bytes, td);
  } else if (natural_bytes(td) == d_bytes && ptx_type_size(td) > 1) {
    emit_resize(b, d, d_bytes, v.slot, v.bytes, ts);
  } else {
    Value middle = resized(b, v, natural_bytes(td));
    emit_resize(b, d, d_bytes, middle.slot, middle.bytes, td);
  }
  return true;
}

// --- integers to floats ---
// 64 bits to float go through a double that keeps "something was cut off" in its last bit: clang's
// own way rounds twice.
static inline float float_of_u64(uint64_t v) {
  return (float)(v >> 53 ? (double)(v >> 11 | ((v & 2047) != 0)) * 2048.0 : (double)v);
}
static inline float float_of_s64(int64_t v) {
  uint64_t m = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  double d = m >> 53 ? (double)(m >> 11 | ((m & 2047) != 0)) * 2048.0 : (double)m;
  return (float)(v < 0 ? -d : d);
}
static inline float float_of_u32(uint32_t v) { return (float)v; }
static inline float float_of_s32(int32_t v) { return (float)v; }
#define INT_TO_FLOAT(from, S) \
  EXEC_1(f32_from_##from, float, S, float_of_##from(a)) \
  EXEC_1(f64_from_##from, double, S, (double)a) \
  EXEC(f32_from_##from##_directed) { \
    uint64_t old = rounding_enter(in->flag[0]); \
    const S *a = REG(w, S, in->a); \
    ELEMENTWISE(w, float, in->d, i, float_of_##from(a[i])); \
    rounding_leave(old); \
    return in + 1; \
  }
INT_TO_FLOAT(s32, int32_t)
INT_TO_FLOAT(u32, uint32_t)
INT_TO_FLOAT(s64, int64_t)
INT_TO_FLOAT(u64, uint64_t)
#define INT_TO_DOUBLE(from, S) \
  EXEC(f64_from_##from##_directed) { \
    uint64_t old = rounding_enter(in->flag[0]); \
    const S *a = REG(w, S, in->a); \
    ELEMENTWISE(w, double, in->d, i, (double)a[i]); \
    rounding_leave(old); \
    return in + 1; \
  }
INT_TO_DOUBLE(s64, int64_t)
INT_TO_DOUBLE(u64, uint64_t)
#define HALF_FROM_INT(name, S, FORMAT, TO_DOUBLE) \
  EXEC(name) { \
    const S *a = REG(w, S, in->a); \
    Rounding r = in->flag[0]; \
    ELEMENTWISE(w, uint16_t, in->d, i, small_encode(&FORMAT, TO_DOUBLE(a[i]), r, false)); \
    return in + 1; \
  }
HALF_FROM_INT(f16_from_s64, int64_t, format_f16, f64_odd_from_s64)
HALF_FROM_INT(f16_from_u64, uint64_t, format_f16, f64_odd_from_u64)
HALF_FROM_INT(bf16_from_s64, int64_t, format_bf16, f64_odd_from_s64)
HALF_FROM_INT(bf16_from_u64, uint64_t, format_bf16, f64_odd_from_u64)

// --- floats to integers: the value is whole already ---
// --- policy: values past the range are clamped. NaN: a f64 gives the sign bit of the integer
// alone, whatever its size; the narrower floats give that in 64 bits and 0 in fewer ---
#define NAN_TO_INT32 0
#define NAN_F64_TO_INT32 0x80000000u
#define NAN_TO_INT64 0x8000000000000000ull
#define FLOAT_TO_INT(name, F, D, LOW, HIGH, MIN_VALUE, MAX_VALUE, NAN_VALUE) \
  EXEC_1(name, D, F, ({ \
           F x_ = a > (LOW) ? a : (LOW); \
           x_ = x_ < (HIGH) ? x_ : 0; \
           D r_ = (D)x_; \
           r_ = a >= (HIGH) ? (MAX_VALUE) : r_; \
           r_ = a < (LOW) ? (MIN_VALUE) : r_; \
           a == a ? r_ : (D)(NAN_VALUE); \
         }))
#if defined(__aarch64__)  // the instruction does exactly that
#define FCVT(name, D, convert, store) \
  EXEC(name) { \
    const float *a = REG(w, float, in->a); \
    D t[LANES]; \
    for (int i = 0; i < LANES; i += 4) store(t + i, convert(vld1q_f32(a + i))); \
    ELEMENTWISE(w, D, in->d, i, t[i]); \
    return in + 1; \
  }
FCVT(s32_from_f32, int32_t, vcvtq_s32_f32, vst1q_s32)
FCVT(u32_from_f32, uint32_t, vcvtq_u32_f32, vst1q_u32)
#else
FLOAT_TO_INT(s32_from_f32, float, int32_t, -0x1p31f, 0x1p31f, INT32_MIN, INT32_MAX, NAN_TO_INT32)
FLOAT_TO_INT(u32_from_f32, float, uint32_t, 0.0f, 0x1p32f, 0, UINT32_MAX, NAN_TO_INT32)
#endif
FLOAT_TO_INT(s64_from_f32, float, int64_t, -0x1p63f, 0x1p63f, INT64_MIN, INT64_MAX, NAN_TO_INT64)
FLOAT_TO_INT(u64_from_f32, float, uint64_t, 0.0f, 0x1p64f, 0, UINT64_MAX, NAN_TO_INT64)
FLOAT_TO_INT(s32_from_f64, double, int32_t, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX, NAN_F64_TO_INT32)
FLOAT_TO_INT(u32_from_f64, double, uint32_t, 0.0, 0x1p32, 0, UINT32_MAX, NAN_F64_TO_INT32)
// Narrow types: the low half of a 32-bit result, shortened afterwards.
FLOAT_TO_INT(u8_from_f32, float, uint32_t, 0.0f, 0x1p8f, 0, UINT8_MAX, 0)
FLOAT_TO_INT(s8_from_f32, float, int32_t, -0x1p7f, 0x1p7f, INT8_MIN, INT8_MAX, 0)
FLOAT_TO_INT(u16_from_f32, float, uint32_t, 0.0f, 0x1p16f, 0, UINT16_MAX, 0)
FLOAT_TO_INT(s16_from_f32, float, int32_t, -0x1p15f, 0x1p15f, INT16_MIN, INT16_MAX, 0)
FLOAT_TO_INT(u8_from_f64, double, uint32_t, 0.0, 0x1p8, 0, UINT8_MAX, 0x80)
FLOAT_TO_INT(s8_from_f64, double, int32_t, -0x1p7, 0x1p7, INT8_MIN, INT8_MAX, 0x80)
FLOAT_TO_INT(u16_from_f64, double, uint32_t, 0.0, 0x1p16, 0, UINT16_MAX, 0x8000)
FLOAT_TO_INT(s16_from_f64, double, int32_t, -0x1p15, 0x1p15, INT16_MIN, INT16_MAX, 0x8000)
FLOAT_TO_INT(s64_from_f64, double, int64_t, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX, NAN_TO_INT64)
FLOAT_TO_INT(u64_from_f64, double, uint64_t, 0.0, 0x1p64, 0, UINT64_MAX, NAN_TO_INT64)

// --- floats to floats ---
EXEC_1(flush_f32, float, float, f32_flush(f32_canonical(a)))
EXEC_1(canonical_f32, float, float, f32_canonical(a))
EXEC_1(canonical_f16, uint16_t, uint16_t, f16_is_nan(a) ? F16_NAN_BITS : a)
EXEC_1(copy_b16, uint16_t, uint16_t, a)
EXEC_1(copy_b32, uint32_t, uint32_t, a)
EXEC_1(copy_b64, uint64_t, uint64_t, a)
EXEC_1(saturate_f32, float, float, f32_saturate(a))
EXEC_1(saturate_f64, double, double, f64_saturate(a))
EXEC_1(saturate_f16, uint16_t, uint16_t, f16_saturate(a))
#define ROUND_WHOLE(name, fn) \
  EXEC_1(round_##name##_f32, float, float, f32_canonical(__builtin_##fn##f(a))) \
  EXEC_1(round_##name##_f64, double, double, f64_propagate1(__builtin_##fn(a), a))
ROUND_WHOLE(nearest, rint)
ROUND_WHOLE(zero, trunc)
ROUND_WHOLE(down, floor)
ROUND_WHOLE(up, ceil)
static ExecFn *const round_fns[2][4] = {
    {round_nearest_f32, round_zero_f32, round_down_f32, round_up_f32},
    {round_nearest_f64, round_zero_f64, round_down_f64, round_up_f64}};
// f64 keeps a NaN's sign and upper bits; f16 to f32 makes it canonical; bf16 to f32 is a shift.
EXEC_1(f64_from_f32, double, float, ({
         uint32_t u = f32_bits(a);
         f32_is_nan(u) ? f64_from_nan(u >> 31, (uint64_t)(u & 0x7fffff) << 29) : (double)a;
       }))
EXEC_1(f64_from_f16, double, uint16_t,
       f16_is_nan(a) ? f64_from_nan(a >> 15, (uint64_t)(a & 0x3ff) << 42) : (double)f32_from_f16(a))
EXEC_1(f64_from_bf16, double, uint16_t,
       bf16_is_nan(a) ? f64_from_nan(a >> 15, (uint64_t)(a & 0x7f) << 45)
                      : (double)f32_from_bf16(a))
static inline float f32_of_f64(double x) {
  return x == x ? (float)x : f32_from_bits((uint32_t)f64_nan_code(x, 23, 0x7fc00000));
}
EXEC_1(f32_from_f64_rn, float, double, f32_of_f64(a))
// flag[1]: .ftz, of what is tiny after rounding to 24 bits.
EXEC(f32_from_f64) {
  uint64_t old = rounding_enter(in->flag[0]);
  const double *a = REG(w, double, in->a);
  bool ftz = in->flag[1];
  Rounding mode = in->flag[0];
  ELEMENTWISE(w, float, in->d, i, ({
                double x = a[i];
                float r = f32_of_f64(x);
                bool tiny = (f32_bits(r) & 0x7fffffffu) < 0x00800000u ||
                            ((f32_bits(r) & 0x7fffffffu) == 0x00800000u &&
                             f32_is_tiny(fabs(x), 0, mode));
                ftz &&tiny ? f32_from_bits(f32_bits(r) & 0x80000000u) : r;
              }));
  rounding_leave(old);
  return in + 1;
}
EXEC_1(widen_f16, float, uint16_t, f32_canonical(f32_from_f16(a)))
EXEC_1(widen_bf16, float, uint16_t, f32_from_bf16(a))
EXEC_1(narrow_f16, uint16_t, float, f16_from_f32(a))
EXEC_1(narrow_bf16, uint16_t, float, bf16_from_f32(a))
// Any rounding; flag[1]: satfinite, flag[2]: relu.
#define NARROW(name, F, FORMAT, NAN_CODE) \
  EXEC(name) { \
    const F *a = REG(w, F, in->a); \
    Rounding r = in->flag[0]; \
    bool satfinite = in->flag[1], relu = in->flag[2]; \
    ELEMENTWISE(w, uint16_t, in->d, i, ({ \
                  uint16_t x = (uint16_t)(a[i] == a[i] ? small_encode(&FORMAT, a[i], r, satfinite) \
                                                       : (NAN_CODE)); \
                  relu ? half_relu(x, (uint16_t)FORMAT.infinity, (uint16_t)FORMAT.nan) : x; \
                })); \
    return in + 1; \
  }
NARROW(f16_from_f32_any, float, format_f16, F16_NAN_BITS)
NARROW(f16_from_f64_any, double, format_f16, f64_nan_code(a[i], 10, 0x7e00))
NARROW(bf16_from_f32_any, float, format_bf16, BF16_NAN_BITS)
NARROW(bf16_from_f64_any, double, format_bf16, f64_nan_code(a[i], 7, 0x7fc0))

static Rounding float_rounding(const PtxInstr *in) {
  return ptx_has(in, MOD_RZ)   ? ROUND_ZERO
         : ptx_has(in, MOD_RM) ? ROUND_DOWN
         : ptx_has(in, MOD_RP) ? ROUND_UP
                               : ROUND_NEAREST;
}
// Which integer rounding, if any.
static int whole_rounding(const PtxInstr *in) {
  return ptx_has(in, MOD_RNI)   ? ROUND_NEAREST
         : ptx_has(in, MOD_RZI) ? ROUND_ZERO
         : ptx_has(in, MOD_RMI) ? ROUND_DOWN
         : ptx_has(in, MOD_RPI) ? ROUND_UP
                                : -1;
}
static bool is_half(PtxType t) { return t == TYPE_F16 || t == TYPE_BF16; }

// One step into a scratch register.
static Value step(Binder *b, ExecFn *fn, Value v, PtxType t) {
  Value r = {bind_scratch(b, natural_bytes(t)), t, natural_bytes(t), NULL};
  r.maker = emit(b, fn, r.slot, v.slot, 0, 0);
  return r;
}

static ExecFn *int_to_float_fn(PtxType to, bool is_signed, bool wide, bool directed) {
  static ExecFn *const fns[2][2][2][2] = {
      // [f64][wide][signed][directed]
      {{{f32_from_u32, f32_from_u32_directed}, {f32_from_s32, f32_from_s32_directed}},
       {{f32_from_u64, f32_from_u64_directed}, {f32_from_s64, f32_from_s64_directed}}},
      {{{f64_from_u32, f64_from_u32}, {f64_from_s32, f64_from_s32}},
       {{f64_from_u64, f64_from_u64_directed}, {f64_from_s64, f64_from_s64_directed}}}};
  if (to == TYPE_F16) return is_signed ? f16_from_s64 : f16_from_u64;
  if (to == TYPE_BF16) return is_signed ? bf16_from_s64 : bf16_from_u64;
  return fns[to == TYPE_F64][wide][is_signed][directed];
}

static Value int_to_float(Binder *b, Value v, PtxType td) {
  Rounding r = float_rounding(b->in);
  bool wide = is_half(td) || ptx_type_size(v.type) == 8;
  v = resized(b, v, wide ? 8 : 4);
  Value out = {bind_scratch(b, natural_bytes(td)), td, natural_bytes(td), NULL};
  ExecFn *fn = int_to_float_fn(td, type_is_signed(v.type), wide, r != ROUND_NEAREST);
  out.maker = emit(b, fn, out.slot, v.slot, 0, 0);
  out.maker->flag[0] = (uint8_t)r;
  return out;
}

static Value float_to_float(Binder *b, Value v, PtxType td) {
  const PtxInstr *in = b->in;
  Rounding r = float_rounding(in);
  int whole = whole_rounding(in);
  bool satfinite = ptx_has(in, MOD_SATFINITE), relu = ptx_has(in, MOD_RELU);
  bool ftz = ptx_has(in, MOD_FTZ);
  if (v.type == td && whole < 0) {
    bool changes = ftz || ptx_has(in, MOD_SAT);
    return step(b,
                td == TYPE_F16    ? canonical_f16
                : td == TYPE_BF16 ? copy_b16
                : td == TYPE_F64  ? copy_b64
                : changes         ? canonical_f32
                                  : copy_b32,
                v, td);
  }
  if (is_half(v.type) && td == TYPE_F64)
    return step(b, v.type == TYPE_F16 ? f64_from_f16 : f64_from_bf16, v, td);
  if (is_half(v.type)) v = step(b, v.type == TYPE_F16 ? widen_f16 : widen_bf16, v, TYPE_F32);
  if (whole >= 0) v = step(b, round_fns[v.type == TYPE_F64][whole], v, v.type);
  if (v.type == td) return v;
  if (td == TYPE_F64) return step(b, f64_from_f32, v, td);
  ExecFn *fn;
  if (td == TYPE_F32) fn = r == ROUND_NEAREST && !ftz ? f32_from_f64_rn : f32_from_f64;
  else if (v.type == TYPE_F32 && r == ROUND_NEAREST && !satfinite && !relu)
    fn = td == TYPE_F16 ? narrow_f16 : narrow_bf16;
  else if (td == TYPE_F16) fn = v.type == TYPE_F32 ? f16_from_f32_any : f16_from_f64_any;
  else fn = v.type == TYPE_F32 ? bf16_from_f32_any : bf16_from_f64_any;
  Inst *i;
  Value out = {bind_scratch(b, natural_bytes(td)), td, natural_bytes(td), NULL};
  out.maker = i = emit(b, fn, out.slot, v.slot, 0, 0);
  i->flag[0] = (uint8_t)r;
  i->flag[1] = td == TYPE_F32 ? ftz : satfinite;
  i->flag[2] = relu;
  return out;
}

static bool float_to_int(Binder *b, Value v, PtxType td, uint32_t d, unsigned d_bytes) {
  static ExecFn *const fns[2][4][2] = {// [f64][log2 bytes][signed]
                                       {{u8_from_f32, s8_from_f32},
                                        {u16_from_f32, s16_from_f32},
                                        {u32_from_f32, s32_from_f32},
                                        {u64_from_f32, s64_from_f32}},
                                       {{u8_from_f64, s8_from_f64},
                                        {u16_from_f64, s16_from_f64},
                                        {u32_from_f64, s32_from_f64},
                                        {u64_from_f64, s64_from_f64}}};
  int whole = whole_rounding(b->in);
  if (is_half(v.type)) v = step(b, v.type == TYPE_F16 ? widen_f16 : widen_bf16, v, TYPE_F32);
  if (whole > ROUND_ZERO || whole == ROUND_NEAREST)
    v = step(b, round_fns[v.type == TYPE_F64][whole], v, v.type);
  unsigned bytes = ptx_type_size(td);
  bool is_signed = type_is_signed(td), narrow = bytes < 4;
  ExecFn *fn = fns[v.type == TYPE_F64][log2_bytes(bytes)][is_signed];
  if (!narrow && d_bytes == bytes) {
    emit(b, fn, d, v.slot, 0, 0);
    return true;
  }
  Value r = step(b, fn, v, narrow ? (is_signed ? TYPE_S32 : TYPE_U32) : td);
  emit_resize(b, d, d_bytes, r.slot, r.bytes, td);
  return true;
}

// The last Inst emitted wrote a scratch register: it writes the destination instead, if that is as
// wide.
static bool finish(Binder *b, Value v, uint32_t d, unsigned d_bytes) {
  if (v.maker && v.bytes == d_bytes) {
    v.maker->d = d;
    return true;
  }
  emit_resize(b, d, d_bytes, v.slot, v.bytes,
              v.bytes == 2   ? TYPE_U16
              : v.bytes == 4 ? TYPE_U32
                             : TYPE_U64);
  return true;
}

bool VGPU_NAME(arith_bind_cvt)(Binder *b) {
  const PtxInstr *in = b->in;
  if (in->ntypes != 2) return bind_unsupported(b, "a conversion between two types was expected");
  PtxType td = in->types[0], ts = in->types[1];
  bool to_float = type_is_float(td), from_float = type_is_float(ts);
  Value v = {bind_src(b, &in->ops[1], ts), ts, bind_width(b, &in->ops[1], ts), NULL};
  uint32_t d = bind_dst(b, &in->ops[0], td);
  unsigned d_bytes = bind_width(b, &in->ops[0], td);
  if (!from_float && !to_float) return int_to_int(b, v, td, d, d_bytes);
  if (from_float && v.bytes > natural_bytes(ts)) {
    Value r = {bind_scratch(b, natural_bytes(ts)), ts, natural_bytes(ts), NULL};
    emit_resize(b, r.slot, r.bytes, v.slot, v.bytes, r.bytes == 2 ? TYPE_U16 : TYPE_U32);
    v = r;
  }
  bool ftz = ptx_has(in, MOD_FTZ);
  // to f16 it flushes nothing (measured)
  if (ftz && ts == TYPE_F32 && !is_half(td)) v = step(b, flush_f32, v, ts);
  if (!to_float) return float_to_int(b, v, td, d, d_bytes);
  v = from_float ? float_to_float(b, v, td) : int_to_float(b, v, td);
  if (ftz && td == TYPE_F32 && from_float && ts != TYPE_F64) { v = step(b, flush_f32, v, td); }
  if (ptx_has(in, MOD_SAT) && td == TYPE_BF16) return bind_unsupported(b, "no saturation to bf16");
  if (ptx_has(in, MOD_SAT))
    v = step(b,
             td == TYPE_F64   ? saturate_f64
             : td == TYPE_F16 ? saturate_f16
                              : saturate_f32,
             v, td);
  return finish(b, v, d, d_bytes);
}
