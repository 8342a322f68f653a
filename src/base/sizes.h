// Sums and products of sizes that come from a file: UINT64_MAX where they do not fit.
#ifndef WG_BASE_SIZES_H
#define WG_BASE_SIZES_H

#include <stdint.h>

static inline uint64_t size_add(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }
static inline uint64_t size_multiply(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif
