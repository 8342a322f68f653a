// Integer operations of one lane, as the GPU does them.
#ifndef WG_VGPU_ARITH_INT_H
#define WG_VGPU_ARITH_INT_H

#include <stdint.h>

// --- division by zero: quotient and remainder are all ones; INT_MIN / -1 wraps ---
#define DEFINE_DIVIDE(U, S, ut, st) \
  static inline ut div_##U(ut a, ut b) { return b ? (ut)(a / b) : (ut)-1; } \
  static inline ut rem_##U(ut a, ut b) { return b ? (ut)(a % b) : (ut)-1; } \
  static inline st div_##S(st a, st b) { \
    return b == 0 ? (st)-1 : b == -1 ? (st)(0 - (ut)a) : (st)(a / b); \
  } \
  static inline st rem_##S(st a, st b) { return b == 0 ? (st)-1 : b == -1 ? 0 : (st)(a % b); }
DEFINE_DIVIDE(u16, s16, uint16_t, int16_t)
DEFINE_DIVIDE(u32, s32, uint32_t, int32_t)
DEFINE_DIVIDE(u64, s64, uint64_t, int64_t)
#undef DEFINE_DIVIDE

// --- the high half of a product ---
static inline uint16_t mulhi_u16(uint16_t a, uint16_t b) {
  return (uint16_t)((uint32_t)a * b >> 16);
}
static inline int16_t mulhi_s16(int16_t a, int16_t b) { return (int16_t)((int32_t)a * b >> 16); }
static inline uint32_t mulhi_u32(uint32_t a, uint32_t b) {
  return (uint32_t)((uint64_t)a * b >> 32);
}
static inline int32_t mulhi_s32(int32_t a, int32_t b) { return (int32_t)((int64_t)a * b >> 32); }
static inline uint64_t mulhi_u64(uint64_t a, uint64_t b) {
  return (uint64_t)((unsigned __int128)a * b >> 64);
}
static inline int64_t mulhi_s64(int64_t a, int64_t b) { return (int64_t)((__int128)a * b >> 64); }

static inline int32_t saturate_s32(int64_t x) {
  return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

// --- 24-bit multiplication ---
static inline uint64_t mul24_u32(uint32_t a, uint32_t b) {
  return (uint64_t)(a & 0xffffff) * (b & 0xffffff);
}
static inline int64_t mul24_s32(int32_t a, int32_t b) {
  return (int64_t)((int32_t)((uint32_t)a << 8) >> 8) * ((int32_t)((uint32_t)b << 8) >> 8);
}

// --- bit fields: position and length are the low byte of their operands in the 32-bit forms, all
// of it in the 64-bit forms ---
static inline uint64_t low_bits64(uint32_t n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }
static inline uint32_t low_bits32(uint32_t n) { return n >= 32 ? ~0u : (1u << n) - 1; }

static inline uint64_t bfe_u64(uint64_t a, uint32_t pos, uint32_t len) {
  return (pos >= 64 ? 0 : a >> pos) & low_bits64(len);
}
static inline uint32_t bfe_u32(uint32_t a, uint32_t pos, uint32_t len) {
  pos &= 255;
  len &= 255;
  return (pos >= 32 ? 0 : a >> pos) & low_bits32(len);
}
// The sign bit is the field's last bit, or the value's when the field reaches past its end.
static inline int64_t bfe_s64(int64_t a, uint32_t pos, uint32_t len) {
  if (len == 0) return 0;
  if (pos > 63) pos = 63;
  if (len > 64) len = 64;
  uint32_t end = pos + len > 64 ? 64 : pos + len;
  return (int64_t)((uint64_t)a << (64 - end)) >> (64 - (end - pos));
}
static inline int32_t bfe_s32(int32_t a, uint32_t pos, uint32_t len) {
  pos &= 255;
  len &= 255;
  if (len == 0) return 0;
  if (pos > 31) pos = 31;
  uint32_t end = pos + len > 32 ? 32 : pos + len;
  return (int32_t)((uint32_t)a << (32 - end)) >> (32 - (end - pos));
}
static inline uint64_t bfi_b64(uint64_t field, uint64_t into, uint32_t pos, uint32_t len) {
  uint64_t mask = pos >= 64 ? 0 : low_bits64(len) << pos;
  return (into & ~mask) | ((pos >= 64 ? 0 : field << pos) & mask);
}
static inline uint32_t bfi_b32(uint32_t field, uint32_t into, uint32_t pos, uint32_t len) {
  pos &= 255;
  len &= 255;
  uint32_t mask = pos >= 32 ? 0 : low_bits32(len) << pos;
  return (into & ~mask) | ((pos >= 32 ? 0 : field << pos) & mask);
}
static inline uint32_t bmsk_b32(uint32_t pos, uint32_t len) {
  return pos >= 32 ? 0 : low_bits32(len) << pos;
}
static inline uint32_t szext_u32(uint32_t a, uint32_t bits) { return a & low_bits32(bits); }
static inline int32_t szext_s32(int32_t a, uint32_t bits) {
  return bits == 0 ? 0 : bits >= 32 ? a : (int32_t)((uint32_t)a << (32 - bits)) >> (32 - bits);
}

static inline uint32_t brev_b32(uint32_t x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}
static inline uint64_t brev_b64(uint64_t x) {
  return (uint64_t)brev_b32((uint32_t)x) << 32 | brev_b32((uint32_t)(x >> 32));
}
static inline uint32_t clz_b32(uint32_t x) { return x ? (uint32_t)__builtin_clz(x) : 32; }
static inline uint32_t clz_b64(uint64_t x) { return x ? (uint32_t)__builtin_clzll(x) : 64; }
// Position of the most significant bit that is not a copy of the sign; all ones if there is none.
static inline uint32_t bfind_u32(uint32_t x) { return x ? 31 - (uint32_t)__builtin_clz(x) : ~0u; }
static inline uint32_t bfind_u64(uint64_t x) { return x ? 63 - (uint32_t)__builtin_clzll(x) : ~0u; }
static inline uint32_t bfind_s32(int32_t x) { return bfind_u32((uint32_t)(x ^ x >> 31)); }
static inline uint32_t bfind_s64(int64_t x) { return bfind_u64((uint64_t)(x ^ x >> 63)); }
static inline uint32_t shiftamt32(uint32_t pos) { return pos == ~0u ? pos : 31 - pos; }
static inline uint32_t shiftamt64(uint32_t pos) { return pos == ~0u ? pos : 63 - pos; }

// The n-th set bit counted from `base` upward (n > 0) or downward (n < 0). The least n gives 0
// (measured).
static inline uint32_t fns_b32(uint32_t mask, uint32_t base, int32_t n) {
  if (n == INT32_MIN) return 0;
  if (base > 31) return ~0u;
  if (n == 0) return mask >> base & 1 ? base : ~0u;
  int32_t count = n > 0 ? n : -n, step = n > 0 ? 1 : -1;
  for (int32_t pos = (int32_t)base; pos >= 0 && pos < 32; pos += step)
    if (mask >> pos & 1 && --count == 0) return (uint32_t)pos;
  return ~0u;
}

// --- dot products of bytes ---
static inline int32_t byte_of(uint32_t x, unsigned k, int is_signed) {
  uint32_t v = x >> (8 * k) & 255;
  return is_signed ? (int8_t)v : (int32_t)v;
}
static inline int32_t half_of(uint32_t x, unsigned k, int is_signed) {
  uint32_t v = x >> (16 * k) & 65535;
  return is_signed ? (int16_t)v : (int32_t)v;
}
static inline uint32_t dp4a_lane(uint32_t a, uint32_t b, uint32_t c, int sa, int sb) {
  for (unsigned k = 0; k < 4; k++) c += (uint32_t)(byte_of(a, k, sa) * byte_of(b, k, sb));
  return c;
}
static inline uint32_t dp2a_lane(uint32_t a, uint32_t b, uint32_t c, int sa, int sb,
                                 unsigned first) {
  for (unsigned k = 0; k < 2; k++) c += (uint32_t)(half_of(a, k, sa) * byte_of(b, first + k, sb));
  return c;
}

// --- byte permutation: selector nibbles; bit 3 of a nibble replicates the byte's sign ---
static inline uint32_t prmt_lane(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = (uint64_t)b << 32 | a;
  uint32_t r = 0;
  for (unsigned k = 0; k < 4; k++) {
    uint32_t s = selector >> (4 * k);
    uint32_t v = (uint32_t)(bytes >> (8 * (s & 7))) & 255;
    if (s & 8) v = v & 128 ? 255 : 0;
    r |= v << (8 * k);
  }
  return r;
}

#endif
