// Conversions between float and the 16-bit formats, round to nearest even. NaNs become the GPU's
// one NaN, 0x7fff.
#ifndef WG_VGPU_HALF_H
#define WG_VGPU_HALF_H

#include <stdint.h>
#include <string.h>

static inline float half_float_from_bits(uint32_t u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}
static inline uint32_t half_float_bits(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}

static inline float half_to_float(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
  if (rest >= 0x7c00) return half_float_from_bits(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  if (rest >= 0x400) return half_float_from_bits(sign | (rest + 0x1c000) << 13);
  float f = (float)rest * 0x1p-24f;  // zero and subnormals are exact
  return half_float_from_bits(half_float_bits(f) | sign);
}

static inline uint16_t half_from_float(float f) {
  uint32_t u = half_float_bits(f), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
  if (a > 0x7f800000) return 0x7fff;
  if (a >= 0x477ff000) return (uint16_t)(sign | 0x7c00);  // rounds to infinity
  if (a < 0x38800000) {  // subnormal or zero: let the FPU round at 2^-24
    float t = half_float_from_bits(a) + 0.5f;
    return (uint16_t)(sign | (half_float_bits(t) - 0x3f000000));
  }
  a += 0xfff + (a >> 13 & 1);
  return (uint16_t)(sign | (a - 0x38000000) >> 13);
}

static inline float bfloat_to_float(uint16_t h) { return half_float_from_bits((uint32_t)h << 16); }

static inline uint16_t bfloat_from_float(float f) {
  uint32_t u = half_float_bits(f);
  if ((u & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

#endif
