// Sums of products as tensor cores make them (measured on an H200, docs/semantics.md): up to 16 products and the
// accumulator are aligned to the largest exponent among them, each is cut to 25 bits after that exponent's, the sum is
// exact, and the result is cut to a float. A product's exponent is the sum of its factors', before normalizing.
#ifndef WG_VGPU_MMA_ALIGNED_H
#define WG_VGPU_MMA_ALIGNED_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "ptx/ptx.h"
#include "vgpu/mma_values.h"

enum { MMA_KEPT_BITS = 25, MMA_CHUNK = 16, MMA_EXPONENT_OF_ZERO = -1000, MMA_LEAST_EXPONENT = -300, MMA_F32_LEAST = -126 };

static inline bool mma_is_fp8(PtxType t) { return t == TYPE_E4M3 || t == TYPE_E5M2; }
// The types whose f32 sums were measured.
static inline bool mma_has_aligned_sum(PtxType a, PtxType b) {
  return (a == b && (a == TYPE_F16 || a == TYPE_BF16 || a == TYPE_TF32)) || (mma_is_fp8(a) && mma_is_fp8(b));
}
// The exponent of subnormals; 8-bit floats are computed as f16.
static inline int mma_least_exponent(PtxType t) { return t == TYPE_BF16 || t == TYPE_TF32 ? MMA_F32_LEAST : -14; }

// The exponent that a value of a type is aligned by.
static inline int mma_exponent(double x, int least) {
  uint64_t u;
  memcpy(&u, &x, 8);
  int e = (int)(u >> 52 & 2047) - 1023;
  return e == -1023 ? MMA_EXPONENT_OF_ZERO : e < least ? least : e;
}

static inline double mma_power_of_2(int e) {
  uint64_t u = (uint64_t)(e + 1023) << 52;
  double x;
  memcpy(&x, &u, 8);
  return x;
}

// To float, toward zero; 2^128 and more become infinite.
static inline float mma_cut_to_float(double v) {
  float f = (float)v;
  if (fabs((double)f) > fabs(v) && fabs(v) < 0x1p128) f = half_float_from_bits(half_float_bits(f) - 1);
  return f;
}

// Adds to sum[8] the products of one row of A with eight columns of B, for the `count` indexes along k in `order`.
static inline void mma_add_aligned(const double *a, const int *ea, const double *b, const int (*eb)[8], const uint8_t *order, unsigned count, double *sum) {
  int top[8];
  double scale[8], total[8];
  for (int j = 0; j < 8; j++) {
    top[j] = mma_exponent(sum[j], MMA_F32_LEAST);
    if (top[j] < MMA_LEAST_EXPONENT) top[j] = MMA_LEAST_EXPONENT;
  }
  for (unsigned n = 0; n < count; n++)
    for (int j = 0; j < 8; j++) {
      int e = ea[order[n]] + eb[order[n]][j];
      top[j] = e > top[j] ? e : top[j];
    }
  for (int j = 0; j < 8; j++) {
    scale[j] = mma_power_of_2(MMA_KEPT_BITS - top[j]);
    total[j] = (int32_t)(sum[j] * scale[j]);
  }
  for (unsigned n = 0; n < count; n++)
    for (int j = 0; j < 8; j++) total[j] += (int32_t)(a[order[n]] * b[order[n] * 8 + j] * scale[j]);      // below 2^27
  for (int j = 0; j < 8; j++) sum[j] = mma_cut_to_float(total[j] * mma_power_of_2(top[j] - MMA_KEPT_BITS));
}

// Replaces infinities and NaNs by 0 and says whether there were any.
static inline bool mma_clear_specials(double *x, unsigned rows, unsigned stride, unsigned columns) {
  bool any = false;
  for (unsigned i = 0; i < rows; i++)
    for (unsigned k = 0; k < columns; k++) {
      double *v = &x[i * stride + k];
      bool special = *v - *v != 0;
      any |= special;
      *v = special ? 0 : *v;
    }
  return any;
}

// 8-bit floats: the first two of each four k, then the others, are products of f16 that start from 0; the accumulator is
// added to their sum as floats are.
static inline void mma_multiply_finite(const double *a, const double *b, PtxType ta, PtxType tb, unsigned k, double *tile) {
  bool fp8 = mma_is_fp8(ta);
  uint8_t order[MMA_ROW];
  for (unsigned q = 0; q < k; q++) order[fp8 ? q / 4 * 2 + q % 2 + (q % 4 >= 2 ? k / 2 : 0) : q] = (uint8_t)q;
  int eb[MMA_ROW][8];
  for (unsigned q = 0; q < k; q++)
    for (int j = 0; j < 8; j++) eb[q][j] = mma_exponent(b[q * 8 + j], mma_least_exponent(tb));
  for (int i = 0; i < 8; i++) {
    const double *row = a + i * MMA_ROW;
    int ea[MMA_ROW];
    double sum[8] = {0};
    for (unsigned q = 0; q < k; q++) ea[q] = mma_exponent(row[q], mma_least_exponent(ta));
    if (!fp8) memcpy(sum, tile + i * 8, sizeof sum);
    for (unsigned q = 0; q < k; q += MMA_CHUNK)
      mma_add_aligned(row, ea, b, (const int(*)[8])eb, order + q, k - q < MMA_CHUNK ? k - q : MMA_CHUNK, sum);
    for (int j = 0; j < 8; j++) tile[i * 8 + j] = fp8 ? (float)sum[j] + (float)tile[i * 8 + j] : sum[j];
  }
}

// The tile becomes tile + a*b, where tile holds floats. Sums with an infinity or a NaN are what IEEE 754 says.
static inline void mma_multiply_aligned(const double *a, const double *b, PtxType ta, PtxType tb, unsigned k, double *tile) {
  double fa[8 * MMA_ROW], fb[8 * MMA_ROW], ft[64];
  memcpy(fb, b, (size_t)k * 8 * sizeof *b);
  memcpy(ft, tile, sizeof ft);
  for (int i = 0; i < 8; i++) memcpy(fa + i * MMA_ROW, a + i * MMA_ROW, (size_t)k * sizeof *a);
  bool special = mma_clear_specials(fa, 8, MMA_ROW, k);
  special |= mma_clear_specials(fb, k, 8, 8);
  special |= mma_clear_specials(ft, 8, 8, 8);
  mma_multiply_finite(fa, fb, ta, tb, k, ft);
  for (int i = 0; special && i < 64; i++) {
    double sum = tile[i];
    for (unsigned q = 0; q < k; q++) sum += a[i / 8 * MMA_ROW + q] * b[q * 8 + i % 8];
    if (sum - sum != 0) ft[i] = sum;
  }
  memcpy(tile, ft, sizeof ft);
}

#endif
