// Mixed radix (Cooley and Tukey) for lengths whose prime factors are small, else the method of
// Bluestein: the transform as a convolution, whose length is a power of two.
#include "libraries/cufft/fft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FACTOR = 61 };
typedef double _Complex C;

static C root(uint64_t j, uint64_t n, int sign) {
  double angle = 2 * 3.14159265358979323846 * (double)j / (double)n;
  return cos(angle) + sign * sin(angle) * _Complex_I;
}

static uint64_t smallest_factor(uint64_t n) {
  for (uint64_t p = n % 4 ? 2 : 4; p * p <= n; p++)
    if (n % p == 0) return p;
  return n;
}

typedef struct Table {
  const C *roots;  // all n of them
  uint64_t n;
} Table;

// out[0 … n) = transform of in[0], in[step], in[2 step] …; n divides the table's length.
static void transform(const Table *t, C *out, const C *in, uint64_t n, uint64_t step) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  uint64_t p = smallest_factor(n), m = n / p, apart = t->n / n;
  for (uint64_t q = 0; q < p; q++) transform(t, out + q * m, in + q * step, m, step * p);
  C part[LARGEST_FACTOR], sums[LARGEST_FACTOR];
  for (uint64_t k = 0; k < m; k++) {
    for (uint64_t q = 0; q < p; q++) part[q] = out[k + q * m] * t->roots[q * k % n * apart];
    for (uint64_t r = 0; r < p; r++) {
      C sum = part[0];
      for (uint64_t q = 1; q < p; q++) sum += part[q] * t->roots[q * r % p * (t->n / p)];
      sums[r] = sum;
    }
    for (uint64_t r = 0; r < p; r++) out[k + r * m] = sums[r];
  }
}

static uint64_t largest_prime(uint64_t n) {
  uint64_t largest = 1;
  for (uint64_t p = 2; n > 1; p++) {
    if (p * p > n) p = n;
    while (n % p == 0) {
      n /= p;
      largest = p;
    }
  }
  return largest;
}

static bool mixed_radix(C *x, uint64_t n, int sign) {
  C *roots = malloc(2 * n * sizeof *roots), *in = roots + n;
  if (!roots) return false;
  for (uint64_t j = 0; j < n; j++) roots[j] = root(j, n, sign);
  memcpy(in, x, n * sizeof *x);
  transform(&(Table){roots, n}, x, in, n, 1);
  free(roots);
  return true;
}

static bool bluestein(C *x, uint64_t n, int sign) {
  uint64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  C *a = calloc(2 * m, sizeof *a), *b = a + m;
  if (!a) return false;
  for (uint64_t j = 0; j < n; j++) {  // j squared modulo 2n: the angle stays exact
    uint64_t square = (uint64_t)((unsigned __int128)j * j % (2 * n));
    C w = root(square, 2 * n, sign);
    a[j] = x[j] * w;
    b[j] = b[(m - j) % m] = conj(w);
  }
  bool ok = mixed_radix(a, m, 1) && mixed_radix(b, m, 1);
  for (uint64_t j = 0; j < m; j++) a[j] *= b[j];
  ok = ok && mixed_radix(a, m, -1);
  for (uint64_t j = 0; ok && j < n; j++) {
    uint64_t square = (uint64_t)((unsigned __int128)j * j % (2 * n));
    x[j] = a[j] * root(square, 2 * n, sign) / (double)m;
  }
  free(a);
  return ok;
}

bool fft_line(C *x, uint64_t n, int sign) {
  if (n <= 1) return true;
  return largest_prime(n) <= LARGEST_FACTOR ? mixed_radix(x, n, sign) : bluestein(x, n, sign);
}

bool fft_box(C *x, const uint64_t *n, int rank, int sign) {
  uint64_t all = 1, inner = 1;
  bool ok = true;
  for (int d = 0; d < rank; d++) all *= n[d];
  for (int d = rank - 1; d >= 0; d--) {
    C *line = malloc(n[d] * sizeof *line);
    if (!line) return false;
    for (uint64_t i = 0; i < all / n[d] && ok; i++) {
      C *first = x + i / inner * inner * n[d] + i % inner;
      for (uint64_t k = 0; k < n[d]; k++) line[k] = first[k * inner];
      ok = fft_line(line, n[d], sign);
      for (uint64_t k = 0; k < n[d]; k++) first[k * inner] = line[k];
    }
    free(line);
    inner *= n[d];
  }
  return ok;
}
