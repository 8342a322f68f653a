// Sobol's quasirandom sequences with 32 and 64 bits, in the order of Gray codes. The initial
// direction numbers are the first of Joe and Kuo's search criterion D(6) (SIAM J. Sci. Comput. 30,
// 2008); the rest follows from the primitive polynomial of each dimension.
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

// NVIDIA's tables: numbers of 20000 dimensions, 32 or 64 of each, and the words that scramble
// results.
typedef Status (*TableFunction)(void *out, int set);

static const void *vectors_of(const Generator *g) {
  TableFunction f = (TableFunction)toolkit_curand_function(
      is_wide(g) ? "curandGetDirectionVectors64" : "curandGetDirectionVectors32");
  const void *table = NULL;
  int set = 101 + (is_scrambled(g) ? 1 : 0) + (is_wide(g) ? 2 : 0);
  return f && f(&table, set) == SUCCESS ? table : NULL;
}

static const void *constants_of(const Generator *g) {
  typedef Status (*ConstantsFunction)(const void **out);
  ConstantsFunction f = (ConstantsFunction)toolkit_curand_function(
      is_wide(g) ? "curandGetScrambleConstants64" : "curandGetScrambleConstants32");
  const void *table = NULL;
  return f && f(&table) == SUCCESS ? table : NULL;
}

bool sobol_has_tables(const Generator *g) {
  return vectors_of(g) && (!is_scrambled(g) || constants_of(g));
}

// The directions of a dimension; returns the word that scrambles its points.
static uint64_t dimension(const Generator *g, uint64_t d, uint64_t v[64]) {
  int bits = is_wide(g) ? 64 : 32;
  if (d < SOBOL_DIMENSIONS && !is_scrambled(g)) {
    directions(&polynomials[d], bits, v);
    return 0;
  }
  const void *vectors = vectors_of(g), *constants = is_scrambled(g) ? constants_of(g) : NULL;
  for (int i = 0; i < bits; i++)
    v[i] = is_wide(g) ? ((const uint64_t(*)[64])vectors)[d][i]
                      : ((const uint32_t(*)[32])vectors)[d][i];
  if (!constants) return 0;
  return is_wide(g) ? ((const uint64_t *)constants)[d] : ((const uint32_t *)constants)[d];
}

void sobol_fill(const Request *r) {
  Generator *g = r->generator;
  uint64_t each = r->n / g->dimensions;
  for (uint64_t d = 0; d < g->dimensions; d++) {
    uint64_t v[64], scramble = dimension(g, d, v);
    for (uint64_t i = 0; i < each; i++)
      word_store(r, d * each + i, point(v, g->next + i) ^ scramble);
  }
  g->next += each;
}
