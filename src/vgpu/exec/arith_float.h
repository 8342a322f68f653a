// Floating point of one lane, as the GPU does it. Everything here is branch-free where the compiler
// can vectorize it.
//
// The policies that are NVIDIA's choice rather than IEEE's are here and nowhere else;
// docs/semantics.md says how each was measured.
#ifndef WG_VGPU_ARITH_FLOAT_H
#define WG_VGPU_ARITH_FLOAT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// AWAY: nearest, ties away from zero
typedef enum { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_AWAY } Rounding;

static inline uint32_t f32_bits(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return u;
}
static inline float f32_from_bits(uint32_t u) {
  float x;
  memcpy(&x, &u, 4);
  return x;
}
static inline uint64_t f64_bits(double x) {
  uint64_t u;
  memcpy(&u, &x, 8);
  return u;
}
static inline double f64_from_bits(uint64_t u) {
  double x;
  memcpy(&x, &u, 8);
  return x;
}

// --- policy: NaN ---
#define F32_NAN_BITS 0x7fffffffu
#define F16_NAN_BITS 0x7fffu
#define BF16_NAN_BITS 0x7fffu
#define F64_NAN_BITS 0xfff8000000000000ull  // of an invalid operation
static inline float f32_canonical(float x) { return x == x ? x : f32_from_bits(F32_NAN_BITS); }
static inline uint64_t f64_quiet(uint64_t u) { return u | 0x0008000000000000ull; }
// r = result of an operation on doubles; if NaN, it is the first NaN among x, y, z made quiet, or
// the invalid operation's. add and mul look at b before a; fma at b, c, a; div at a before b
// (measured).
static inline double f64_propagate3(double r, double x, double y, double z) {
  uint64_t u = F64_NAN_BITS;
  u = z != z ? f64_quiet(f64_bits(z)) : u;
  u = y != y ? f64_quiet(f64_bits(y)) : u;
  u = x != x ? f64_quiet(f64_bits(x)) : u;
  return r == r ? r : f64_from_bits(u);
}
static inline double f64_propagate2(double r, double x, double y) {
  return f64_propagate3(r, x, y, y);
}
static inline double f64_propagate1(double r, double x) { return f64_propagate3(r, x, x, x); }
// Conversions between f64 and the others keep the sign and the upper bits of a NaN and make it
// quiet.
static inline double f64_from_nan(uint64_t sign, uint64_t fraction) {
  return f64_from_bits(sign << 63 | 0x7ff8000000000000ull | fraction);
}
static inline uint64_t f64_nan_code(double x, unsigned fraction_bits, uint64_t quiet) {
  uint64_t u = f64_bits(x);
  return quiet | (u & 0x000fffffffffffffull) >> (52 - fraction_bits) |
         (u >> 63) << (fraction_bits == 23 ? 31 : 15);
}

// --- policy: .ftz, .sat, .relu ---
static inline float f32_flush(float x) {
  uint32_t u = f32_bits(x);
  return f32_from_bits((u & 0x7f800000u) ? u : u & 0x80000000u);
}
static inline uint16_t f16_flush(uint16_t u) { return (u & 0x7c00) ? u : u & 0x8000; }
// Clamps to [0, 1]; NaN and -0 become +0.
static inline float f32_saturate(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
static inline double f64_saturate(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }
static inline uint16_t f16_saturate(uint16_t u) {
  uint16_t r = u > 0x3c00 ? 0x3c00 : u;
  return u > 0x7c00 ? 0 : r;  // negative or NaN
}
// Negative values become +0; NaN stays the canonical NaN.
static inline uint16_t half_relu(uint16_t u, uint16_t infinity, uint16_t nan) {
  uint16_t r = u & 0x8000 ? 0 : u;
  return (u & 0x7fff) > infinity ? nan : r;
}
// The NaN that stands for an element outside of a tensor, f16 or bf16: fma.oob gives 0 if a or b is
// one (measured).
static inline bool half_is_oob(uint16_t u) { return (u & 0x7fff) == 0x7ff7; }

// --- policy: min and max. -0 is less than +0; a NaN loses against a number (with `nan`: it wins)
// ---
static inline int32_t f32_order(uint32_t u) {
  return (int32_t)(u ^ ((uint32_t)((int32_t)u >> 31) & 0x7fffffffu));
}
static inline int64_t f64_order(uint64_t u) {
  return (int64_t)(u ^ ((uint64_t)((int64_t)u >> 63) & 0x7fffffffffffffffull));
}
static inline int16_t f16_order(uint16_t u) { return (int16_t)(u & 0x8000 ? u ^ 0x7fff : u); }
static inline bool f32_is_nan(uint32_t u) { return (u & 0x7fffffffu) > 0x7f800000u; }
static inline bool f64_is_nan(uint64_t u) {
  return (u & 0x7fffffffffffffffull) > 0x7ff0000000000000ull;
}
#define DEFINE_MINMAX(F, U, NAN_BITS) \
  static inline U F##_min(U a, U b) { \
    U r = F##_order(a) < F##_order(b) ? a : b; \
    r = F##_is_nan(a) ? b : r; \
    r = F##_is_nan(b) ? a : r; \
    return F##_is_nan(r) ? NAN_BITS : r; \
  } \
  static inline U F##_max(U a, U b) { \
    U r = F##_order(a) > F##_order(b) ? a : b; \
    r = F##_is_nan(a) ? b : r; \
    r = F##_is_nan(b) ? a : r; \
    return F##_is_nan(r) ? NAN_BITS : r; \
  } \
  static inline U F##_min_nan(U a, U b) { \
    return F##_is_nan(a) || F##_is_nan(b) ? NAN_BITS : F##_order(a) < F##_order(b) ? a : b; \
  } \
  static inline U F##_max_nan(U a, U b) { \
    return F##_is_nan(a) || F##_is_nan(b) ? NAN_BITS : F##_order(a) > F##_order(b) ? a : b; \
  }
static inline bool bf16_is_nan(uint16_t u) { return (u & 0x7fff) > 0x7f80; }
static inline bool f16_is_nan(uint16_t u) { return (u & 0x7fff) > 0x7c00; }
#define bf16_order f16_order
DEFINE_MINMAX(f32, uint32_t, F32_NAN_BITS)
DEFINE_MINMAX(f64, uint64_t, f64_quiet(b))
DEFINE_MINMAX(f16, uint16_t, F16_NAN_BITS)
DEFINE_MINMAX(bf16, uint16_t, BF16_NAN_BITS)
#undef DEFINE_MINMAX

// abs and neg make a NaN canonical; those of f64 make it quiet and keep its sign.
static inline uint32_t f32_change_sign(uint32_t u, uint32_t r) {
  return f32_is_nan(u) ? F32_NAN_BITS : r;
}
static inline uint64_t f64_change_sign(uint64_t u, uint64_t r) {
  return f64_is_nan(u) ? f64_quiet(u) : r;
}
static inline uint16_t f16_change_sign(uint16_t u, uint16_t r) {
  return f16_is_nan(u) ? F16_NAN_BITS : r;
}
static inline uint16_t bf16_change_sign(uint16_t u, uint16_t r) {
  return bf16_is_nan(u) ? BF16_NAN_BITS : r;
}

// --- half precision, nearest ---
static inline float f32_from_f16(uint16_t h) {
  uint32_t u = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
  // moves the exponent; subnormals become normal
  uint32_t finite = f32_bits(f32_from_bits(u) * 0x1p112f);
  return f32_from_bits(((h & 0x7c00) == 0x7c00 ? u | 0x7f800000u : finite) | sign);
}
static inline float f32_from_f16_flush(uint16_t h) { return f32_from_f16(f16_flush(h)); }
static inline float f32_from_bf16(uint16_t h) { return f32_from_bits((uint32_t)h << 16); }

static inline uint16_t f16_from_f32(float x) {
  uint32_t u = f32_bits(x), sign = u >> 16 & 0x8000;
  u &= 0x7fffffffu;
  // the addition rounds to a multiple of 2^-24
  uint32_t tiny = f32_bits(f32_from_bits(u) + 0.5f) - 0x3f000000u;
  uint32_t normal = (u + 0xc8000fffu + (u >> 13 & 1)) >> 13;
  uint32_t r = u < 0x38800000u ? tiny : normal;
  r = u >= 0x477ff000u ? 0x7c00u : r;
  return (uint16_t)(u > 0x7f800000u ? F16_NAN_BITS : r | sign);
}
// .ftz flushes what is tiny after rounding to 11 bits with no limit on the exponent (measured).
static inline uint16_t f16_from_f32_flush(float x) {
  uint16_t r = f16_from_f32(x);
  return fabsf(x) < 0x1.ffep-15f ? r & 0x8000 : r;
}
static inline uint16_t bf16_from_f32(float x) {
  uint32_t u = f32_bits(x);
  uint32_t r = (u + 0x7fffu + (u >> 16 & 1)) >> 16;
  return (uint16_t)(f32_is_nan(u) ? BF16_NAN_BITS : r);
}

// s + error is the exact value and s its nearest float: returns the float with an odd last bit next
// to the exact value (or s when it is exact). Rounding that to at most 22 bits gives what rounding
// the exact value would.
static inline float f32_to_odd(float s, float error) {
  uint32_t u = f32_bits(s);
  uint32_t opposite = (f32_bits(s) ^ f32_bits(error)) >> 31;
  uint32_t odd = (u - opposite) | 1;
  return f32_from_bits(error != 0 && error == error && fabsf(s) <= 0x1.fffffep127f ? odd : u);
}
// The rounding error of s = a + b.
static inline float f32_sum_error(float a, float b, float s) {
  float bb = s - a;
  return (a - (s - bb)) + (b - bb);
}
static inline float f16_fma_odd(uint16_t a, uint16_t b, uint16_t c) {
  float product = f32_from_f16(a) * f32_from_f16(b), addend = f32_from_f16(c);  // exact
  float s = product + addend;
  return f32_to_odd(s, f32_sum_error(product, addend, s));
}
static inline uint16_t f16_fma(uint16_t a, uint16_t b, uint16_t c) {
  return f16_from_f32(f16_fma_odd(a, b, c));
}
static inline uint16_t f16_fma_flush(uint16_t a, uint16_t b, uint16_t c) {
  return f16_from_f32_flush(f16_fma_odd(a, b, c));
}
// d + error is exact: to float with an odd last bit, then to bf16.
static inline uint16_t bf16_from_sum(double s, double error) {
  uint64_t u = f64_bits(s);
  uint64_t opposite = (u ^ f64_bits(error)) >> 63;
  uint64_t odd = (u - opposite) | 1;
  double d = f64_from_bits(error != 0 && error == error && fabs(s) <= 0x1.fffffffffffffp1023 ? odd
                                                                                             : u);
  float f = (float)d;
  return bf16_from_f32(f32_to_odd(f, (float)(d - (double)f)));
}
static inline uint16_t bf16_fma(uint16_t a, uint16_t b, uint16_t c) {
  double product = (double)f32_from_bf16(a) * (double)f32_from_bf16(b),
         addend = (double)f32_from_bf16(c);
  double s = product + addend, bb = s - product;
  return bf16_from_sum(s, (product - (s - bb)) + (addend - bb));
}

// --- policy: which results .ftz flushes ---
// Those that are below the least normal number after rounding to 24 bits with no limit on the
// exponent (measured). If ordinary rounding gives the least normal number, these tell whether it
// must still be flushed. The operands are flushed already; sums of floats are exact there.
static inline double f32_tiny_limit(Rounding r) {
  return r == ROUND_NEAREST ? 0x1.ffffffp-127 : 0x1.fffffep-127;
}
// m + error is the exact magnitude.
static inline bool f32_is_tiny(double m, double error, Rounding r) {
  double limit = f32_tiny_limit(r);
  return m < limit || (m == limit && (r == ROUND_NEAREST ? error < 0 : error <= 0));
}
static inline bool f32_tiny_sum(float a, float b, float c, Rounding r) { return false; }
static inline bool f32_tiny_product(float a, float b, float c, Rounding r) {
  return f32_is_tiny(fabs((double)a * b), 0, r);
}
static inline bool f32_tiny_quotient(float a, float b, float c, Rounding r) {
  double limit = fabs((double)b) * f32_tiny_limit(r);
  return r == ROUND_NEAREST ? fabs((double)a) < limit : fabs((double)a) <= limit;
}
static inline bool f32_tiny_fma(float a, float b, float c, Rounding r) {
  double p = (double)a * b, s = p + c, bb = s - p, error = (p - (s - bb)) + (c - bb);
  return f32_is_tiny(fabs(s), s < 0 ? -error : error, r);
}

// --- directed rounding ---
// Between enter and leave, floating-point instructions round as `r` says. The operands must be
// loaded after enter and the results stored before leave: both are compiler barriers for memory.
#if defined(__aarch64__)
static inline uint64_t rounding_enter(Rounding r) {
  static const uint8_t mode[] = {0, 3, 2, 1};
  uint64_t old, set;
  __asm__ volatile("mrs %0, fpcr" : "=r"(old)::"memory");
  set = (old & ~(3ull << 22)) | (uint64_t)mode[r & 3] << 22;
  __asm__ volatile("msr fpcr, %0" ::"r"(set) : "memory");
  return old;
}
static inline void rounding_leave(uint64_t old) {
  __asm__ volatile("msr fpcr, %0" ::"r"(old) : "memory");
}
#elif defined(__x86_64__)
static inline uint64_t rounding_enter(Rounding r) {
  static const uint8_t mode[] = {0, 3, 1, 2};
  uint32_t old, set;
  __asm__ volatile("stmxcsr %0" : "=m"(old)::"memory");
  set = (old & ~(3u << 13)) | (uint32_t)mode[r & 3] << 13;
  __asm__ volatile("ldmxcsr %0" ::"m"(set) : "memory");
  return old;
}
static inline void rounding_leave(uint64_t old) {
  uint32_t set = (uint32_t)old;
  __asm__ volatile("ldmxcsr %0" ::"m"(set) : "memory");
}
#else
#include <fenv.h>
static inline uint64_t rounding_enter(Rounding r) {
  static const int mode[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  int old = fegetround();
  fesetround(mode[r & 3]);
  __asm__ volatile("" ::: "memory");
  return (uint64_t)old;
}
static inline void rounding_leave(uint64_t old) {
  __asm__ volatile("" ::: "memory");
  fesetround((int)old);
}
#endif

#endif
