// Numbers of each distribution from single words: Sobol's sequences, MT19937, MTGP32.
#include <math.h>

#include "libraries/curand/internal.h"

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

// Turns the highest bits of a point into a number between 0 and 1, both excluded.
double word_unit(const Generator *g, uint64_t x, bool is_double) {
  if (is_wide(g) && is_double) return (double)(x >> 11) * 0x1p-53 + 0x1p-54;
  if (is_wide(g)) x >>= 32;
  if (is_double) return (double)x * 0x1p-32 + 0x1p-33;
  return (float)(uint32_t)x * 2.3283064e-10f + 2.3283064e-10f / 2.0f;
}

// cuRAND adds a whole step to 32-bit points in double, not half a step: 1 is a possible result.
static double uniform(const Generator *g, uint64_t x, bool is_double) {
  if (!is_wide(g) && g->type != RNG_MT19937 && is_double) return (double)x * 0x1p-32 + 0x1p-32;
  if (g->type == RNG_MT19937) return (double)(uint32_t)x * 0x1p-32 + 0x1p-33;
  return word_unit(g, x, is_double);
}

double word_normal(const Generator *g, uint64_t x, bool is_double) {
  uint64_t top = is_wide(g) ? 0x8000000000000000u : 0x80000000u;
  bool upper = x > top;
  if (upper) x = 2 * top - 1 - x;
  double z = 1.41421356237309505 * inverse_erfc(2 * word_unit(g, x, is_double));
  return upper ? z : -z;
}

// cuRAND has a method for each generator: the square histogram up to a lambda, above it a search or
// normal numbers, which MT19937 rounds to single precision.
static uint32_t poisson(const Request *r, uint64_t word) {
  const Generator *g = r->generator;
  bool searched = is_sobol(g) || g->type == RNG_MTGP32;
  if (r->mean >= POISSON_IS_NORMAL && g->type == RNG_MT19937) {
    float deviation = sqrtf((float)r->mean), normal = (float)word_normal(g, word, false);
    return (uint32_t)(deviation * normal + (float)r->mean + 0.5f);
  }
  if (r->mean >= POISSON_IS_NORMAL && is_wide(g))
    return poisson_of_normal(r->mean, word_normal(g, word, false));
  double most = is_wide(g) ? 0 : is_sobol(g) ? 10 : 32, u = uniform(g, word, true);
  if (searched && r->mean >= most) return poisson_by_search(g->poisson, u);
  return poisson_by_histogram(g->poisson, u);
}

void word_store(const Request *r, uint64_t at, uint64_t word) {
  const Generator *g = r->generator;
  switch (r->kind) {
    case KIND_LONG_BITS: ((uint64_t *)r->out)[at] = word; return;
    case KIND_BITS: ((uint32_t *)r->out)[at] = (uint32_t)word; return;
    case KIND_POISSON: ((uint32_t *)r->out)[at] = poisson(r, word); return;
    default: break;
  }
  bool wide = is_double(r->kind);
  double value = r->kind < KIND_NORMAL ? uniform(g, word, wide)
                                       : r->mean + word_normal(g, word, wide) * r->deviation;
  if (is_log(r->kind)) value = exp(value);
  if (wide) ((double *)r->out)[at] = value;
  else ((float *)r->out)[at] = (float)value;
}
