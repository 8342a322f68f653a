// Sums of products as tensor cores make them (measured on an H200, docs/semantics.md): up to 16
// products and the accumulator are aligned to the largest exponent among them, each is truncated to
// 25 bits after that exponent's, the sum is exact, and the result is truncated to a float. A
// product's exponent is the sum of its factors', before normalizing.
#ifndef WG_VGPU_MMA_ALIGNED_H
#define WG_VGPU_MMA_ALIGNED_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "ptx/ptx.h"
#include "vgpu/exec/mma_values.h"

enum {
  MMA_KEPT_BITS = 25,
  MMA_CHUNK = 16,
  MMA_EXPONENT_OF_ZERO = -1000,
  MMA_LEAST_EXPONENT = -300,
  MMA_F32_LEAST = -126
};

static inline bool mma_is_fp8(PtxType t) { return t == TYPE_E4M3 || t == TYPE_E5M2; }
// The types whose f32 sums were measured.
static inline bool mma_has_aligned_sum(PtxType a, PtxType b) {
  return (a == b && (a == TYPE_F16 || a == TYPE_BF16 || a == TYPE_TF32)) ||
         (mma_is_fp8(a) && mma_is_fp8(b));
}
// The exponent of subnormals; 8-bit floats are computed as f16.
static inline int mma_least_exponent(PtxType t) {
  return t == TYPE_BF16 || t == TYPE_TF32 ? MMA_F32_LEAST : -14;
}

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
  return half_float_from_bits(half_float_bits(f) -
                              (fabs((double)f) > fabs(v) && fabs(v) < 0x1p128));
}

// Adds to sum[8] `count` products of one row of A with eight columns of B.
static inline void mma_add_aligned(const double *a, const int *ea, const double *b,
                                   const int (*eb)[8], unsigned count, double *sum) {
  int top[8];
  double scale[8], total[8];
  for (int j = 0; j < 8; j++) {
    top[j] = mma_exponent(sum[j], MMA_F32_LEAST);
    if (top[j] < MMA_LEAST_EXPONENT) top[j] = MMA_LEAST_EXPONENT;
  }
  for (unsigned q = 0; q < count; q++)
    for (int j = 0; j < 8; j++) {
      int e = ea[q] + eb[q][j];
      top[j] = e > top[j] ? e : top[j];
    }
  for (int j = 0; j < 8; j++) {
    scale[j] = mma_power_of_2(MMA_KEPT_BITS - top[j]);
    total[j] = (int32_t)(sum[j] * scale[j]);
  }
  for (unsigned q = 0; q < count; q++)
    // below 2^27
    for (int j = 0; j < 8; j++) total[j] += (int32_t)(a[q] * b[q * 8 + j] * scale[j]);
  for (int j = 0; j < 8; j++)
    sum[j] = mma_cut_to_float(total[j] * mma_power_of_2(top[j] - MMA_KEPT_BITS));
}

// Copies with 0 in the place of infinities and NaNs, and says whether there were any.
static inline bool mma_copy_finite(double *to, const double *from, unsigned n) {
  bool any = false;
  for (unsigned i = 0; i < n; i++) {
    bool special = from[i] - from[i] != 0;
    any |= special;
    to[i] = special ? 0 : from[i];
  }
  return any;
}

// The order of hardware along k: 8-bit floats become f16, the first two of each four for the first
// product, the others for the second.
static inline unsigned mma_k_place(bool fp8, unsigned k, unsigned q) {
  return fp8 ? q / 4 * 2 + q % 2 + (q % 4 >= 2 ? k / 2 : 0) : q;
}

// The tile becomes tile + a*b, where tile holds floats. The sums of 8-bit floats start from 0, the
// accumulator is added to them as floats are. Sums with an infinity or a NaN are what IEEE 754
// says.
static inline void mma_multiply_aligned(const double *a, const double *b, PtxType ta, PtxType tb,
                                        unsigned k, double *tile) {
  double fb[MMA_ROW * 8], ft[64];
  int eb[MMA_ROW][8];
  bool fp8 = mma_is_fp8(ta), special = mma_copy_finite(ft, tile, 64);
  int least_a = mma_least_exponent(ta), least_b = mma_least_exponent(tb);
  for (unsigned q = 0; q < k; q++) {
    unsigned at = mma_k_place(fp8, k, q);
    special |= mma_copy_finite(fb + at * 8, b + q * 8, 8);
    for (int j = 0; j < 8; j++) eb[at][j] = mma_exponent(fb[at * 8 + j], least_b);
  }
  for (int i = 0; i < 8; i++) {
    int ea[MMA_ROW];
    double row[MMA_ROW], placed[MMA_ROW], sum[8] = {0}, *fa = fp8 ? placed : row;
    special |= mma_copy_finite(row, a + i * MMA_ROW, k);
    for (unsigned q = 0; fp8 && q < k; q++) placed[mma_k_place(fp8, k, q)] = row[q];
    for (unsigned q = 0; q < k; q++) ea[q] = mma_exponent(fa[q], least_a);
    if (!fp8) memcpy(sum, ft + i * 8, sizeof sum);
    for (unsigned q = 0; q < k; q += MMA_CHUNK)
      mma_add_aligned(fa + q, ea + q, fb + q * 8, (const int(*)[8])(eb + q),
                      k - q < MMA_CHUNK ? k - q : MMA_CHUNK, sum);
    for (int j = 0; j < 8; j++) ft[i * 8 + j] = fp8 ? (float)sum[j] + (float)ft[i * 8 + j] : sum[j];
  }
  for (int i = 0; special && i < 64; i++) {
    double sum = tile[i];
    for (unsigned q = 0; q < k; q++) sum += a[i / 8 * MMA_ROW + q] * b[q * 8 + i % 8];
    if (sum - sum != 0) ft[i] = sum;
  }
  memcpy(tile, ft, sizeof ft);
}

#endif
