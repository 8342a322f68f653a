// Values of matrix fragments: blocks of registers to double or int32, and the rounding of results.
#ifndef WG_VGPU_MMA_VALUES_H
#define WG_VGPU_MMA_VALUES_H

#include "ptx/ptx.h"
#include "vgpu/exec/half.h"

#define MMA_ROW 64  // elements between rows of an unpacked matrix

// Written without branches, so that a loop over it is vectorized.
static inline float mma_half(uint16_t h) {
  uint32_t rest = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
  float scaled = half_float_from_bits(rest) * 0x1p112f;  // exact, subnormals too
  uint32_t bits = rest >= 0x0f800000 ? rest | 0x7f800000 : half_float_bits(scaled);
  return half_float_from_bits(bits | sign);
}

// A 6- or 4-bit float: exponent and mantissa bits; no NaN, no infinity.
static inline double mma_small_float(unsigned v, unsigned ebits, unsigned mbits) {
  unsigned mantissa = v & ((1u << mbits) - 1), exponent = v >> mbits & ((1u << ebits) - 1),
           sign = v >> (ebits + mbits) & 1;
  int bias = (1 << (ebits - 1)) - 1;
  double r;
  if (exponent) r = __builtin_ldexp(1 + (double)mantissa / (1 << mbits), (int)exponent - bias);
  else r = __builtin_ldexp((double)mantissa / (1 << mbits), 1 - bias);
  return sign ? -r : r;
}

static inline void mma_block_to_double(PtxType t, const void *block, double *out) {
  switch (t) {
    case TYPE_F16:
      for (int r = 0; r < 8; r++)
        for (int k = 0; k < 8; k++)
          out[r * MMA_ROW + k] = mma_half(((const uint16_t *)block)[r * 8 + k]);
      break;
    case TYPE_BF16:
      for (int r = 0; r < 8; r++)
        for (int k = 0; k < 8; k++)
          out[r * MMA_ROW + k] = bfloat_to_float(((const uint16_t *)block)[r * 8 + k]);
      break;
    case TYPE_TF32:
    case TYPE_F32:  // the low 13 bits of a tf32 do not take part
      for (int r = 0; r < 8; r++)
        for (int k = 0; k < 4; k++)
          out[r * MMA_ROW + k] = half_float_from_bits(((const uint32_t *)block)[r * 4 + k] &
                                                      0xffffe000);
      break;
    case TYPE_F64:
      for (int r = 0; r < 8; r++)
        memcpy(out + r * MMA_ROW, (const double *)block + r * 4, 4 * sizeof(double));
      break;
    case TYPE_E5M2:  // the upper half of an f16
      for (int r = 0; r < 8; r++)
        for (int k = 0; k < 16; k++)
          out[r * MMA_ROW + k] = mma_half((uint16_t)(((const uint8_t *)block)[r * 16 + k] << 8));
      break;
    case TYPE_E4M3:  // an f16 with a smaller exponent; all ones is its only NaN
      for (int r = 0; r < 8; r++)
        for (int k = 0; k < 16; k++) {
          uint32_t v = ((const uint8_t *)block)[r * 16 + k];
          float f = mma_half((uint16_t)((v & 0x80) << 8 | (v & 0x7f) << 7)) * 256;
          out[r * MMA_ROW + k] = (v & 0x7f) == 0x7f ? __builtin_nanf("") : f;
        }
      break;
    default:
      for (int r = 0; r < 8; r++)
        for (int k = 0; k < 16; k++) {
          unsigned v = ((const uint8_t *)block)[r * 16 + k];
          double x;
          switch (t) {
            case TYPE_E2M3: x = mma_small_float(v, 2, 3); break;
            case TYPE_E3M2: x = mma_small_float(v, 3, 2); break;
            // e2m1: the four bits in the middle of the byte
            default: x = mma_small_float(v >> 2, 2, 1); break;
          }
          out[r * MMA_ROW + k] = x;
        }
      break;
  }
}

static inline void mma_block_to_int(PtxType t, const void *block, int32_t *out) {
  const uint8_t *p = block;
  for (int r = 0; r < 8; r++) {
    int32_t *row = out + r * MMA_ROW;
    switch (t) {
      case TYPE_S8:
        for (int k = 0; k < 16; k++) row[k] = (int8_t)p[r * 16 + k];
        break;
      case TYPE_U8:
        for (int k = 0; k < 16; k++) row[k] = p[r * 16 + k];
        break;
      default:
        for (int k = 0; k < 32; k++) {
          int v = p[r * 16 + k / 2] >> k % 2 * 4 & 15;
          row[k] = t == TYPE_S4 && v > 7 ? v - 16 : v;
        }
        break;
    }
  }
}

// double to f16 with one rounding: to float toward odd first, which keeps enough of what is lost.
static inline uint16_t half_from_double(double v) {
  float f = (float)v;
  if (f != 0 && (double)f != v && f - f == 0) {
    uint32_t u = half_float_bits(f);
    bool too_far = f > 0 ? (double)f > v : (double)f < v;
    if (too_far) u--;
    f = half_float_from_bits(u | 1);
  }
  return half_from_float(f);
}

#endif
