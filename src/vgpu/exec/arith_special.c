// The approximations: div.approx div.full, rcp sqrt rsqrt sin cos lg2 ex2 tanh with .approx.
//
// Results are within the error the manual states, usually much closer; special values are exact.
// All of it is plain polynomial code over 32 lanes, no library call.
#include "vgpu/exec/arith_exec.h"
#include "vgpu/exec/arith_float.h"

static inline float sin_turns(float t) {  // sin(2 pi t), |t| <= 1/4
  float s = t * t;
  // (2 pi)^11 / 11!, made slightly larger for the last term
  float p = -15.094643f + s * 3.8199525f;
  p = 42.058693f + s * p;
  p = -76.70585f + s * p;
  p = 81.60525f + s * p;
  p = -41.341702f + s * p;
  float r = t * (6.2831853f + s * p);
  // rounding must not go past 1: programs count on it
  return r > 1.0f ? 1.0f : r < -1.0f ? -1.0f : r;
}
// The GPU multiplies by 1/(2 pi) in single precision, rounding toward zero, and drops whole turns;
// so do we, which matters for large angles.
static inline float turns(float x) {
  double exact = (double)x * 0.15915494f;
  float t = (float)exact;
  t = fabs((double)t) > fabs(exact) && fabsf(t) < INFINITY ? f32_from_bits(f32_bits(t) - 1) : t;
  return t - __builtin_rintf(t);  // infinity gives NaN
}
static inline float sin_approx(float x) {
  float t = turns(x);
  t = t > 0.25f ? 0.5f - t : t < -0.25f ? -0.5f - t : t;
  float r = sin_turns(t);
  return f32_canonical(x == 0 ? x : r);
}
static inline float cos_approx(float x) {
  return f32_canonical(sin_turns(0.25f - fabsf(turns(x))));
}

// 2^k for whole k between -149 and 128, as two factors.
static inline float scale_by(float x, int32_t k) {
  int32_t half = k >> 1;
  return x * f32_from_bits((uint32_t)(half + 127) << 23) *
         f32_from_bits((uint32_t)(k - half + 127) << 23);
}
static inline float ex2_approx(float x) {
  float c = x < -160.0f ? -160.0f : x > 130.0f ? 130.0f : x;  // NaN stays
  float whole = __builtin_rintf(c), f = c - whole;
  float p = 1.5403530e-4f;
  p = 1.3333558e-3f + f * p;
  p = 9.6181291e-3f + f * p;
  p = 5.5504109e-2f + f * p;
  p = 2.4022651e-1f + f * p;
  p = 6.9314718e-1f + f * p;
  p = 1.0f + f * p;
  float safe = c == c ? whole : 0.0f;
  return f32_canonical(scale_by(p, (int32_t)safe));
}

static inline float lg2_approx(float x) {
  uint32_t u = f32_bits(x);
  bool tiny = u < 0x00800000u;
  uint32_t v = tiny ? f32_bits(x * 0x1p24f) : u;
  uint32_t offset = v - 0x3f3504f3u;  // so that the mantissa is in [sqrt(1/2), sqrt(2))
  int32_t e = (int32_t)offset >> 23;
  float m = f32_from_bits(v - ((uint32_t)e << 23));
  float s = (m - 1.0f) / (m + 1.0f), q = s * s;
  float p = 0.3205989f;  // 2/ln 2 times 1, 1/3, 1/5, 1/7, 1/9
  p = 0.4121985f + q * p;
  p = 0.5770780f + q * p;
  p = 0.9617967f + q * p;
  p = 2.8853900f + q * p;
  float r = (float)(tiny ? e - 24 : e) + s * p;
  r = u == 0x7f800000u ? x : r;
  r = x == 0 ? -INFINITY : r;
  return x >= 0 ? r : f32_from_bits(F32_NAN_BITS);
}

static inline float tanh_approx(float x) {
  float t = fabsf(x), q = x * x;
  // near zero the odd series, else 1 - 2 / (e^2x + 1)
  float small = x +
                x * q * (-0.33333333f + q * (0.13333333f + q * (-0.05396825f + q * 0.02186949f)));
  float large = 1.0f - 2.0f / (ex2_approx(t * 2.8853901f) + 1.0f);
  large = x < 0 ? -large : large;
  return f32_canonical(t < 0.5f ? small : large);
}

static inline float rcp_approx(float x) { return f32_canonical(1.0f / x); }
static inline float sqrt_approx(float x) { return f32_canonical(__builtin_sqrtf(x)); }
static inline float rsqrt_approx(float x) { return f32_canonical(1.0f / __builtin_sqrtf(x)); }
static inline float div_full(float a, float b) { return f32_canonical(a / b); }
// A divisor beyond 2^126 has a reciprocal that is flushed: the quotient is zero (NaN for an
// infinite dividend).
static inline float div_approx(float a, float b) {
  float r = a / b;
  float flushed = a * f32_from_bits((f32_bits(b) & 0x80000000u));
  return f32_canonical(fabsf(b) > 0x1p126f && fabsf(b) < INFINITY ? flushed : r);
}

// Below the least half the result is zero, never rounded up to it (measured for ex2).
#define HALF_VALUE(x) \
  ({ \
    float v_ = (x); \
    fabsf(v_) < 0x1p-24f ? 0.0f * v_ : v_; \
  })
static inline uint16_t f16_from_f32_truncated(float x) { return f16_from_f32(HALF_VALUE(x)); }
#define DEFINE_1(name) \
  EXEC_1(name##_f32, float, float, name(a)) \
  EXEC_1(name##_ftz_f32, float, float, f32_flush(name(f32_flush(a)))) \
  EXEC_1(name##_f16, uint16_t, uint16_t, f16_from_f32(HALF_VALUE(name(f32_from_f16(a))))) \
  EXEC_1(name##_bf16, uint16_t, uint16_t, bf16_from_f32(name(f32_from_bf16(a))))
#define DEFINE_1_F32(name) \
  EXEC_1(name##_f32, float, float, name(a)) \
  EXEC_1(name##_ftz_f32, float, float, f32_flush(name(f32_flush(a))))
DEFINE_1(ex2_approx)
DEFINE_1(tanh_approx)
DEFINE_1_F32(sin_approx)
DEFINE_1_F32(cos_approx)
DEFINE_1_F32(lg2_approx)
DEFINE_1_F32(rcp_approx)
DEFINE_1_F32(sqrt_approx)
DEFINE_1_F32(rsqrt_approx)
EXEC_2(div_approx_f32, float, float, float, div_approx(a, b))
EXEC_2(div_approx_ftz_f32, float, float, float, f32_flush(div_approx(f32_flush(a), f32_flush(b))))
EXEC_2(div_full_f32, float, float, float, div_full(a, b))
EXEC_2(div_full_ftz_f32, float, float, float, f32_flush(div_full(f32_flush(a), f32_flush(b))))

// Packed halves: each half as if alone.
#define PACKED(name, op, TO, FROM) \
  EXEC_1(name, uint32_t, uint32_t, \
         (uint32_t)TO(op(FROM((uint16_t)a))) | (uint32_t)TO(op(FROM((uint16_t)(a >> 16)))) << 16)
static inline float bf16_flush_value(uint16_t h) { return f32_flush(f32_from_bf16(h)); }
static inline uint16_t bf16_from_f32_flush(float x) { return bf16_from_f32(f32_flush(x)); }
PACKED(ex2_f16x2, ex2_approx, f16_from_f32_truncated, f32_from_f16)
PACKED(ex2_f16x2_ftz, ex2_approx, f16_from_f32_flush, f32_from_f16_flush)
PACKED(ex2_bf16x2, ex2_approx, bf16_from_f32_flush, bf16_flush_value)
PACKED(tanh_f16x2, tanh_approx, f16_from_f32, f32_from_f16)
PACKED(tanh_bf16x2, tanh_approx, bf16_from_f32, f32_from_bf16)
EXEC_1(ex2_bf16_ftz, uint16_t, uint16_t, bf16_from_f32_flush(ex2_approx(bf16_flush_value(a))))

// Double precision: about 20 bits; the low word of operand and result do not count, subnormals are
// zero.
static inline double f64_high_word(double x) {
  return f64_from_bits(f64_bits(x) & 0xffffffff00000000ull);
}
static inline double f64_flush(double x) {
  uint64_t u = f64_bits(x);
  return f64_from_bits((u & 0x7ff0000000000000ull) ? u : u & 0x8000000000000000ull);
}
#define F64_APPROX_NAN 0x7fffffff00000000ull
static inline double f64_approx_result(double r) {
  return r == r ? f64_high_word(f64_flush(r)) : f64_from_bits(F64_APPROX_NAN);
}
EXEC_1(rcp_approx_f64, double, double, f64_approx_result(1.0 / f64_flush(f64_high_word(a))))
EXEC_1(rsqrt_approx_ftz_f64, double, double,
       f64_approx_result(1.0 / __builtin_sqrt(f64_flush(f64_high_word(a)))))
EXEC_1(rsqrt_approx_f64, double, double, f64_propagate1(1.0 / __builtin_sqrt(a), a))

static ExecFn *find(const PtxInstr *in, PtxType t) {
  bool ftz = ptx_has(in, MOD_FTZ);
  if (t == TYPE_F32) switch (in->op) {
      case OP_DIV:
        return ptx_has(in, MOD_FULL) ? (ftz ? div_full_ftz_f32 : div_full_f32)
                                     : (ftz ? div_approx_ftz_f32 : div_approx_f32);
      case OP_RCP: return ftz ? rcp_approx_ftz_f32 : rcp_approx_f32;
      case OP_SQRT: return ftz ? sqrt_approx_ftz_f32 : sqrt_approx_f32;
      case OP_RSQRT: return ftz ? rsqrt_approx_ftz_f32 : rsqrt_approx_f32;
      case OP_SIN: return ftz ? sin_approx_ftz_f32 : sin_approx_f32;
      case OP_COS: return ftz ? cos_approx_ftz_f32 : cos_approx_f32;
      case OP_LG2: return ftz ? lg2_approx_ftz_f32 : lg2_approx_f32;
      case OP_EX2: return ftz ? ex2_approx_ftz_f32 : ex2_approx_f32;
      case OP_TANH: return ftz ? tanh_approx_ftz_f32 : tanh_approx_f32;
      default: return NULL;
    }
  if (t == TYPE_F64) switch (in->op) {
      case OP_RCP: return rcp_approx_f64;
      case OP_RSQRT: return ftz ? rsqrt_approx_ftz_f64 : rsqrt_approx_f64;
      default: return NULL;
    }
  if (in->op == OP_EX2) switch (t) {
      case TYPE_F16: return ex2_approx_f16;
      case TYPE_F16X2: return ftz ? ex2_f16x2_ftz : ex2_f16x2;
      case TYPE_BF16: return ftz ? ex2_bf16_ftz : ex2_approx_bf16;
      case TYPE_BF16X2: return ex2_bf16x2;
      default: return NULL;
    }
  if (in->op == OP_TANH) switch (t) {
      case TYPE_F16: return tanh_approx_f16;
      case TYPE_F16X2: return tanh_f16x2;
      case TYPE_BF16: return tanh_approx_bf16;
      case TYPE_BF16X2: return tanh_bf16x2;
      default: return NULL;
    }
  return NULL;
}

bool VGPU_NAME(arith_bind_special)(Binder *b) {
  return emit_simple(b, find(b->in, main_type(b->in)));
}
