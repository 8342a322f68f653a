// Narrow floating-point formats, any rounding: f16, bf16, tf32 and those of eight bits and less.
// One lane at a time.
#ifndef WG_VGPU_ARITH_SMALL_H
#define WG_VGPU_ARITH_SMALL_H

#include "vgpu/exec/arith_float.h"

typedef struct SmallFormat {
  // of normal numbers: value = 1.fraction * 2^e, e >= min_exponent
  int fraction_bits, min_exponent;
  uint32_t max_finite;  // code without sign
  uint32_t infinity;    // 0: the format has none
  uint32_t nan;         // 0: the format has none, NaN becomes max_finite
  uint32_t sign;
} SmallFormat;
static const SmallFormat format_f16 = {10, -14, 0x7bff, 0x7c00, F16_NAN_BITS, 0x8000};
static const SmallFormat format_bf16 = {7, -126, 0x7f7f, 0x7f80, BF16_NAN_BITS, 0x8000};
static const SmallFormat format_e4m3 = {3, -6, 0x7e, 0, 0x7f, 0x80};
static const SmallFormat format_e5m2 = {2, -14, 0x7b, 0x7c, 0x7f, 0x80};
static const SmallFormat format_e2m3 = {3, 0, 0x1f, 0, 0, 0x20};
static const SmallFormat format_e3m2 = {2, -2, 0x1f, 0, 0, 0x20};
static const SmallFormat format_e2m1 = {1, 0, 0x7, 0, 0, 0x8};

// Exponent of |x|: 2^e <= |x| < 2^(e+1). x is not zero, infinite or NaN.
static inline int f64_exponent(double x) {
  uint64_t u = f64_bits(x) & 0x7fffffffffffffffull;
  return u >> 52 ? (int)(u >> 52) - 1023 : 63 - __builtin_clzll(u) - 1074;
}
static inline double f64_power(int e) { return f64_from_bits((uint64_t)(e + 1023) << 52); }

// Rounds a magnitude given as whole part and "compared with one half": below, equal, above; exact:
// no fraction at all.
static inline uint64_t round_magnitude(uint64_t n, double fraction, Rounding r, bool negative) {
  if (fraction == 0) return n;
  switch (r) {
    case ROUND_NEAREST: return n + (fraction > 0.5 || (fraction == 0.5 && (n & 1)));
    case ROUND_AWAY: return n + (fraction >= 0.5);
    case ROUND_DOWN: return n + negative;
    case ROUND_UP: return n + !negative;
    default: return n;
  }
}

// The code of x. satfinite: what would be infinite is the largest number instead.
static inline uint32_t small_encode(const SmallFormat *f, double x, Rounding r, bool satfinite) {
  if (x != x) return f->nan ? f->nan : f->max_finite;
  bool negative = f64_bits(x) >> 63;
  uint32_t sign = negative ? f->sign : 0;
  double m = fabs(x);
  if (m == 0) return sign;
  bool finite_only = satfinite || !f->infinity;
  if (m == INFINITY) return sign | (finite_only ? f->max_finite : f->infinity);
  int e = f64_exponent(m);
  int unit = (e < f->min_exponent ? f->min_exponent : e) - f->fraction_bits;  // of the last place
  uint64_t n;
  double fraction;
  if (e < unit - 1) {
    n = 0;
    fraction = 0.25;
  } else {
    double scaled = m * f64_power(-unit);
    n = (uint64_t)scaled;
    fraction = scaled - (double)n;
  }
  n = round_magnitude(n, fraction, r, negative);
  // n has at most fraction_bits + 1 bits, or is the next power of two: adding carries into the
  // exponent.
  uint64_t code = e < f->min_exponent ? n
                                      : n + ((uint64_t)(e - f->min_exponent) << f->fraction_bits);
  if (code > f->max_finite) {
    bool to_max = finite_only || r == ROUND_ZERO || (r == ROUND_DOWN && !negative) ||
                  (r == ROUND_UP && negative);
    return sign | (to_max ? f->max_finite : f->infinity);
  }
  return sign | (uint32_t)code;
}

static inline float small_decode(const SmallFormat *f, uint32_t code) {
  uint32_t u = code & (f->sign - 1);
  if (f->nan && u > (f->infinity ? f->infinity : f->max_finite)) return f32_from_bits(F32_NAN_BITS);
  float sign = code & f->sign ? -1.0f : 1.0f;
  if (f->infinity && u == f->infinity) return sign * INFINITY;
  int e = (int)(u >> f->fraction_bits);
  uint32_t fraction = u & ((1u << f->fraction_bits) - 1);
  if (e) {
    fraction |= 1u << f->fraction_bits;
    e--;
  }
  return (float)(sign * (double)fraction * f64_power(f->min_exponent + e - f->fraction_bits));
}

// tf32 is a float with 10 fraction bits; the rest of the register is zero. rna (and its satfinite)
// treat NaN as bits only: integer additions do it on the GPU (measured).
static inline uint32_t tf32_encode(float x, Rounding r, bool satfinite) {
  uint32_t u = f32_bits(x), top = 0x7f800000u;
  if (f32_is_nan(u) && r != ROUND_AWAY) return F32_NAN_BITS & 0xffffe000u;
  uint32_t code;
  if ((u & top) == top || r == ROUND_ZERO) code = u & 0xffffe000u;
  else code = (r == ROUND_AWAY ? u + 0x1000 : u + 0xfff + (u >> 13 & 1)) & 0xffffe000u;
  return satfinite && (code & top) == top ? code - 0x2000 : code;
}

// ue8m0 is a power of two, 2^(code-127), no sign; 255 is NaN.
static inline uint32_t ue8m0_encode(float x, Rounding r, bool satfinite) {
  uint32_t u = f32_bits(x);
  if (f32_is_nan(u)) return 0xff;
  u &= 0x7fffffffu;
  if (u == 0x7f800000u) return satfinite ? 0xfe : 0xff;
  uint32_t e = u >> 23, fraction = u & 0x7fffffu;
  if (r == ROUND_UP) {
    if (e ? fraction != 0 : fraction > 0x400000u) e++;  // 2^-127 is code 0
  }
  return e > 0xfe ? (satfinite ? 0xfe : 0xff) : e;
}
static inline uint16_t bf16_from_ue8m0(uint32_t code) {
  return (uint16_t)(code == 0xff ? BF16_NAN_BITS : code == 0 ? 0x0040 : code << 7);
}

// Integers to double with an odd last bit when inexact, so that a second rounding is right.
static inline double f64_odd_from_u64(uint64_t v) {
  if (v >> 53 == 0) return (double)v;
  int drop = 64 - __builtin_clzll(v) - 53;
  uint64_t kept = v >> drop, lost = v & ((1ull << drop) - 1);
  return (double)(kept | (lost != 0)) * f64_power(drop);
}
static inline double f64_odd_from_s64(int64_t v) {
  return v < 0 ? -f64_odd_from_u64(0 - (uint64_t)v) : f64_odd_from_u64((uint64_t)v);
}

#endif
