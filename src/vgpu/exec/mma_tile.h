// One 8x8 tile of a matrix product: element [row][column] of the accumulator is in lane row*4 +
// column/2, in the first or second register of the tile by the column's lowest bit (f16: in the
// lower or upper half of its one register).
#ifndef WG_VGPU_MMA_TILE_H
#define WG_VGPU_MMA_TILE_H

#include <math.h>

#include "vgpu/exec/arith_float.h"
#include "vgpu/exec/mma_values.h"
#include "vgpu/warp.h"

static inline unsigned mma_tile_registers(PtxType t) { return t == TYPE_F16 ? 1 : 2; }
#define MMA_TILE_AT(lane, j) ((lane) / 4 * 8 + (lane) % 4 * 2 + (j))

static inline void mma_read_tile(Warp *w, PtxType t, const uint32_t *slots, double *tile) {
  if (t == TYPE_F16) {
    const uint16_t *c = REG(w, uint16_t, slots[0]);
    for (int i = 0; i < 64; i++) tile[i] = mma_half(c[i]);
    return;
  }
  for (int j = 0; j < 2; j++) {
    const float *f = REG(w, float, slots[j]);
    const double *g = REG(w, double, slots[j]);
    for (int l = 0; l < LANES; l++) tile[MMA_TILE_AT(l, j)] = t == TYPE_F64 ? g[l] : (double)f[l];
  }
}

static inline float mma_finite(float v) {
  return v != v                 ? 0
         : v > 0x1.fffffep127f  ? 0x1.fffffep127f
         : v < -0x1.fffffep127f ? -0x1.fffffep127f
                                : v;
}
static inline uint16_t mma_finite_half(uint16_t h) {
  return (h & 0x7fff) > 0x7c00 ? 0 : (h & 0x7fff) == 0x7c00 ? (uint16_t)(h - 1) : h;
}

// Every NaN becomes the one NaN of the hardware.
static inline void mma_write_tile(Warp *w, PtxType t, const uint32_t *slots, const double *tile,
                                  bool satfinite) {
  if (t == TYPE_F16) {
    uint16_t h[64];
    for (int i = 0; i < 64; i++) {
      h[i] = half_from_double(tile[i]);
      if (satfinite) h[i] = mma_finite_half(h[i]);
    }
    uint32_t pair[LANES];
    memcpy(pair, h, sizeof pair);
    ELEMENTWISE(w, uint32_t, slots[0], l, pair[l]);
    return;
  }
  for (int j = 0; j < 2; j++) {
    if (t == TYPE_F64) {
      ELEMENTWISE(w, double, slots[j], l, tile[MMA_TILE_AT(l, j)]);
      continue;
    }
    uint32_t bits[LANES];
    for (int l = 0; l < LANES; l++) {
      float f = (float)tile[MMA_TILE_AT(l, j)];
      if (satfinite) f = mma_finite(f);
      bits[l] = f != f ? 0x7fffffff : half_float_bits(f);
    }
    ELEMENTWISE(w, uint32_t, slots[j], l, bits[l]);
  }
}

// Eight columns of B, k along each, to rows of eight.
static inline void mma_turn_columns(const double *columns, unsigned k, double *rows) {
  for (unsigned q = 0; q < k; q++)
    for (int j = 0; j < 8; j++) rows[q * 8 + j] = columns[j * MMA_ROW + q];
}
static inline void mma_turn_int_columns(const int32_t *columns, unsigned k, int32_t *rows) {
  for (unsigned q = 0; q < k; q++)
    for (int j = 0; j < 8; j++) rows[q * 8 + j] = columns[j * MMA_ROW + q];
}

static inline void mma_multiply_tile(const double *a, const double *b, unsigned k, bool fused,
                                     double *tile) {
  for (int i = 0; i < 8; i++) {
    double sum[8];
    for (int j = 0; j < 8; j++) sum[j] = tile[i * 8 + j];
    for (unsigned q = 0; q < k; q++) {
      double x = a[i * MMA_ROW + q];
      if (fused)
        for (int j = 0; j < 8; j++)
          sum[j] = f64_propagate3(fma(x, b[q * 8 + j], sum[j]), b[q * 8 + j], sum[j], x);
      else
        for (int j = 0; j < 8; j++) sum[j] += x * b[q * 8 + j];
    }
    for (int j = 0; j < 8; j++) tile[i * 8 + j] = sum[j];
  }
}

static inline void mma_multiply_int_tile(const int32_t *a, const int32_t *b, unsigned k,
                                         int32_t *product) {
  for (int i = 0; i < 8; i++) {
    int32_t sum[8] = {0};
    for (unsigned q = 0; q < k; q++)
      for (int j = 0; j < 8; j++) sum[j] += a[i * MMA_ROW + q] * b[q * 8 + j];
    memcpy(product + i * 8, sum, sizeof sum);
  }
}

// Blocks of 8 rows of 128 bits.
static inline void mma_multiply_bit_tile(const void *a, const void *b, bool xor_bits,
                                         int32_t *product) {
  const uint64_t *x = a, *y = b;
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      for (int q = 0; q < 2; q++) {
        uint64_t p = x[i * 2 + q], r = y[j * 2 + q];
        product[i * 8 + j] += __builtin_popcountll(xor_bits ? p ^ r : p & r);
      }
}

static inline void mma_add_int_tile(Warp *w, const int32_t (*c)[LANES], const uint32_t *slots,
                                    const int32_t *product, bool satfinite) {
  for (int j = 0; j < 2; j++) {
    int32_t *to = REG(w, int32_t, slots[j]);
    FOR_LANES(l, w->exec) {
      int64_t sum = (int64_t)c[j][l] + product[MMA_TILE_AT(l, j)];
      to[l] = !satfinite        ? (int32_t)(uint32_t)sum
              : sum > INT32_MAX ? INT32_MAX
              : sum < INT32_MIN ? INT32_MIN
                                : (int32_t)sum;
    }
  }
}

#endif
