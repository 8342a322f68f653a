// Poisson's distribution as a table: probabilities for a search, and the square histogram of
// Marsaglia, Tsang and Wang (2004), whose cells all have the same size.
#include <math.h>

#include "libraries/curand/internal.h"

static double mass(double lambda, double k) {
  double e = k * log(lambda) - lambda - lgamma(k + 1);
  return e > -800 ? exp(e) : 0;
}

// Results whose probability is not 0 in double precision.
static void find_range(Poisson *p) {
  double low = floor(p->lambda), high = low;
  while (low > 0 && mass(p->lambda, low - 1) > 0) low--;
  while (mass(p->lambda, high + 1) > 0) high++;
  p->shift = (uint32_t)low;
  p->length = (uint32_t)(high - low) + 1;
}

// Cells that hold too little are filled up in ascending order, again and again, from the last one
// that holds too much: the order in which cuRAND does it decides which result a number stands for.
static void fill_histogram(Poisson *p, double *holds, bool *done) {
  uint32_t n = p->length, i = 0, j = n - 1;
  double cell = 1.0 / n;
  for (uint32_t filled = 0; filled < n - 1; filled++) {
    uint32_t passed = 0;
    while ((done[i] || holds[i] >= cell) && passed++ < n) i = (i + 1) % n;
    while (j > 0 && holds[j] <= cell) j--;
    if (passed > n || holds[j] <= cell) break;
    p->threshold[i] = holds[i] + i * cell;
    p->alias[i] = j;
    holds[j] -= cell - holds[i];
    holds[i] = cell;
    done[i] = true;
  }
}

Poisson *poisson_new(double lambda) {
  Poisson *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->lambda = lambda;
  find_range(p);
  p->mass = calloc(p->length, sizeof *p->mass);
  p->threshold = calloc(p->length, sizeof *p->threshold);
  p->alias = calloc(p->length, sizeof *p->alias);
  double *holds = calloc(p->length, sizeof *holds);
  bool *done = calloc(p->length, sizeof *done), complete = p->mass && p->threshold && p->alias;
  if (complete && holds && done) {
    for (uint32_t i = 0; i < p->length; i++) {
      holds[i] = mass(lambda, p->shift + i);
      p->mass[i] = holds[i] + (i ? p->mass[i - 1] : 0);
      p->threshold[i] = (i + 1.0) / p->length;
      p->alias[i] = i;
    }
    fill_histogram(p, holds, done);
  }
  complete = complete && holds && done;
  free(holds);
  free(done);
  if (complete) return p;
  poisson_free(p);
  return NULL;
}

void poisson_free(Poisson *p) {
  if (!p) return;
  free(p->mass);
  free(p->threshold);
  free(p->alias);
  free(p);
}

uint32_t poisson_by_histogram(const Poisson *p, double u) {
  uint32_t j = MIN_OF((uint32_t)(p->length * u), p->length - 1);
  return p->shift + (u < p->threshold[j] ? j : p->alias[j]);
}

uint32_t poisson_by_search(const Poisson *p, double u) {
  uint32_t low = 0, high = p->length - 1;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (u <= p->mass[middle]) high = middle;
    else low = middle + 1;
  }
  return p->shift + low;
}
