// Sobol's quasirandom sequences with 32 and 64 bits, in the order of Gray codes. The initial
// direction numbers are the first of Joe and Kuo's search criterion D(6) (SIAM J. Sci. Comput. 30,
// 2008); the rest follows from the primitive polynomial of each dimension.
#include <math.h>

#include "libraries/curand/internal.h"

typedef struct Polynomial {
  unsigned degree, coefficients;  // without the first and the last
  unsigned numbers[7];
} Polynomial;
static const Polynomial polynomials[] = {{0, 0, {0}},  // of dimension 1, which has none
                                         {1, 0, {1}},
                                         {2, 1, {1, 3}},
                                         {3, 1, {1, 3, 1}},
                                         {3, 2, {1, 1, 1}},
                                         {4, 1, {1, 1, 3, 3}},
                                         {4, 4, {1, 3, 5, 13}},
                                         {5, 2, {1, 1, 5, 5, 17}},
                                         {5, 4, {1, 1, 5, 5, 5}},
                                         {5, 7, {1, 1, 7, 11, 19}},
                                         {5, 11, {1, 1, 5, 1, 1}},
                                         {5, 13, {1, 1, 1, 3, 11}},
                                         {5, 14, {1, 3, 5, 5, 31}},
                                         {6, 1, {1, 3, 3, 9, 7, 49}},
                                         {6, 13, {1, 1, 1, 15, 21, 21}},
                                         {6, 16, {1, 3, 1, 13, 27, 49}},
                                         {6, 19, {1, 1, 1, 15, 7, 5}},
                                         {6, 22, {1, 3, 1, 15, 13, 25}},
                                         {6, 25, {1, 1, 5, 5, 19, 61}},
                                         {7, 1, {1, 3, 7, 11, 23, 15, 103}},
                                         {7, 4, {1, 3, 7, 13, 13, 15, 69}}};
_Static_assert(sizeof polynomials / sizeof *polynomials == SOBOL_DIMENSIONS, "one of each");

// Bits of a number in each direction, the highest bit first.
static void directions(const Polynomial *p, int bits, uint64_t *v) {
  for (int i = 0; i < bits; i++) {
    if (!p->degree || i < (int)p->degree) {
      v[i] = (uint64_t)(p->degree ? p->numbers[i] : 1) << (bits - 1 - i);
      continue;
    }
    int s = (int)p->degree;
    v[i] = v[i - s] ^ v[i - s] >> s;
    for (int k = 1; k < s; k++)
      if (p->coefficients >> (s - 1 - k) & 1) v[i] ^= v[i - k];
  }
}

static uint64_t point(const uint64_t *v, uint64_t n) {
  uint64_t x = 0;
  for (uint64_t gray = n ^ n >> 1; gray; gray >>= 1, v++)
    if (gray & 1) x ^= *v;
  return x;
}

// z where erfc(z) = y, for y from 0 to 1: a first approximation (Winitzki), then Halley's method.
static double inverse_erfc(double y) {
  double logarithm = log(y * (2 - y)), t = 2 / (3.14159265358979323846 * 0.147) + logarithm / 2,
         z = sqrt(sqrt(t * t - logarithm / 0.147) - t);
  for (int i = 0; i < 3; i++) {
    double error = erfc(z) - y;
    z += error / (1.12837916709551257 * exp(-z * z) - z * error);
  }
  return z;
}

// A point as a number between 0 and 1, never one of them: bits of its highest places.
static double unit(const Generator *g, uint64_t x, bool is_double) {
  if (g->type == RNG_SOBOL64 && is_double) return (double)(x >> 11) * 0x1p-53 + 0x1p-54;
  if (g->type == RNG_SOBOL64) x >>= 32;
  if (is_double) return (double)x * 0x1p-32 + 0x1p-33;
  return (float)(uint32_t)x * 2.3283064e-10f + 2.3283064e-10f / 2.0f;
}

// cuRAND adds a whole place to 32-bit points in double, not half of one: 1 is among them.
static double uniform(const Generator *g, uint64_t x, bool is_double) {
  if (g->type == RNG_SOBOL32 && is_double) return (double)x * 0x1p-32 + 0x1p-32;
  return unit(g, x, is_double);
}

static double normal(const Generator *g, uint64_t x, bool is_double) {
  uint64_t top = g->type == RNG_SOBOL64 ? 0x8000000000000000u : 0x80000000u;
  bool upper = x > top;
  if (upper) x = 2 * top - 1 - x;
  double z = 1.41421356237309505 * inverse_erfc(2 * unit(g, x, is_double));
  return upper ? z : -z;
}

void sobol_fill(const Request *r) {
  Generator *g = r->generator;
  bool is_double = r->kind == KIND_UNIFORM_DOUBLE || r->kind == KIND_NORMAL_DOUBLE ||
                   r->kind == KIND_LOG_NORMAL_DOUBLE;
  bool logs = r->kind == KIND_LOG_NORMAL || r->kind == KIND_LOG_NORMAL_DOUBLE;
  uint64_t each = r->n / g->dimensions;
  for (uint64_t d = 0; d < g->dimensions; d++) {
    uint64_t v[64];
    directions(&polynomials[d], g->type == RNG_SOBOL64 ? 64 : 32, v);
    for (uint64_t i = 0; i < each; i++) {
      uint64_t x = point(v, g->next + i), at = d * each + i;
      if (r->kind == KIND_LONG_BITS) {
        ((uint64_t *)r->out)[at] = x;
        continue;
      }
      if (r->kind == KIND_BITS) {
        ((uint32_t *)r->out)[at] = (uint32_t)x;
        continue;
      }
      double value = r->kind < KIND_NORMAL ? uniform(g, x, is_double)
                                           : r->mean + normal(g, x, is_double) * r->deviation;
      if (logs) value = exp(value);
      if (is_double) ((double *)r->out)[at] = value;
      else ((float *)r->out)[at] = (float)value;
    }
  }
  g->next += each;
}
