// Numbers of each distribution from the draws of a generator.
#include <math.h>

#include "libraries/curand/internal.h"

#define TWO_POW32_INV 2.3283064e-10f
#define TWO_POW32_INV_2PI 1.46291807e-09f  // 2 pi / 2^32
#define TWO_POW53_INV 1.1102230246251565e-16
#define MRG_NORM 2.3283065498378288e-10  // 1 / (2^32 - 209)
#define MRG_BITS_NORM 1.000000048662

typedef struct Source {
  Generator *g;
  uint32_t block[4];  // Philox
  bool has_block;
  unsigned blocks, used;  // blocks in a thread's turn, and how many of them are used up
} Source;

static uint64_t thread_of(const Source *s) { return s->g->next; }

static void next_thread(Source *s) { s->g->next = (s->g->next + 1) % generator_threads(s->g); }

// Philox hands out the four numbers of a block, or for doubles those of two, before the next thread
// has its turn.
static uint32_t philox_draw(Source *s) {
  Generator *g = s->g;
  if (!s->has_block) philox_block(g, g->next, g->states[g->next].philox.counter, s->block);
  s->has_block = true;
  uint32_t x = s->block[g->within++];
  if (g->within == 4) {
    g->within = 0;
    g->states[g->next].philox.counter++;
    s->has_block = false;
    if (++s->used == s->blocks) {
      s->used = 0;
      next_thread(s);
    }
  }
  return x;
}

static uint32_t draw(Source *s) {
  ThreadState *t = &s->g->states[thread_of(s)];
  switch (s->g->type) {
    case RNG_XORWOW: return xorwow_next(t);
    case RNG_MRG32K3A: return mrg_next(t);
    default: return philox_draw(s);
  }
}

// Ends an item's draws: the next item is another thread's.
static void end_item(Source *s) {
  if (s->g->type != RNG_PHILOX) next_thread(s);
}

static float uniform(const Source *s, uint32_t x) {
  if (s->g->type == RNG_MRG32K3A) return (float)((double)x * MRG_NORM);
  return (float)x * TWO_POW32_INV + TWO_POW32_INV / 2.0f;
}

static double uniform_double(Source *s) {
  uint32_t x = draw(s);
  if (s->g->type == RNG_MRG32K3A) return (double)x * MRG_NORM;
  uint64_t z = (uint64_t)x ^ (uint64_t)draw(s) << 21;
  return (double)z * TWO_POW53_INV + TWO_POW53_INV / 2.0;
}

// Two numbers by the method of Box and Muller.
static void normal_pair_of(const Source *s, uint32_t x, uint32_t y, float out[2]) {
  float u, v;
  if (s->g->type == RNG_MRG32K3A) {
    u = (float)((double)x * MRG_NORM);
    v = (float)((double)y * MRG_NORM) * 6.2831855f;
  } else {
    u = (float)x * TWO_POW32_INV + TWO_POW32_INV / 2;
    v = (float)y * TWO_POW32_INV_2PI + TWO_POW32_INV_2PI / 2;
  }
  float r = sqrtf(-2.0f * logf(u));
  out[0] = sinf(v) * r;
  out[1] = cosf(v) * r;
}

static void normal_pair(Source *s, float out[2]) {
  uint32_t x = draw(s), y = draw(s);
  normal_pair_of(s, x, y, out);
}

static void normal_pair_double(Source *s, double out[2]) {
  double u = uniform_double(s), v = uniform_double(s) * 2.0;
  double r = sqrt(-2.0 * log(u));
  out[0] = sin(v * 3.1415926535897932) * r;
  out[1] = cos(v * 3.1415926535897932) * r;
}

static void fill_normals(Source *s, const Request *r) {
  bool wide = is_double(r->kind), logs = is_log(r->kind);
  for (uint64_t i = 0; i < r->n; i += 2) {
    float f[2];
    double d[2];
    if (wide) normal_pair_double(s, d);
    else normal_pair(s, f);
    end_item(s);
    for (uint64_t k = 0; k < 2 && i + k < r->n; k++) {
      if (wide) {
        double x = r->mean + d[k] * r->deviation;
        ((double *)r->out)[i + k] = logs ? exp(x) : x;
      } else {
        float x = (float)r->mean + f[k] * (float)r->deviation;
        ((float *)r->out)[i + k] = logs ? expf(x) : x;
      }
    }
  }
}

static uint32_t bits(Source *s) {
  uint32_t x = draw(s);
  return s->g->type == RNG_MRG32K3A ? (uint32_t)((double)x * MRG_BITS_NORM) : x;
}

// From normal numbers, where lambda is large. A thread makes two of them at once and keeps the
// second for its next turn.
static void fill_poisson_of_normals(Source *s, const Request *r) {
  for (uint64_t i = 0; i < r->n; i++) {
    ThreadPair *pair = &s->g->pairs[thread_of(s)];
    if (!pair->kept) normal_pair(s, pair->numbers);
    ((uint32_t *)r->out)[i] = poisson_of_normal(r->mean, pair->numbers[pair->kept]);
    pair->kept = !pair->kept;
    end_item(s);
  }
}

// Philox: each result takes one draw, and computes its normal number from that draw and its
// neighbour.
static void fill_poisson_of_philox(Source *s, const Request *r) {
  for (uint64_t i = 0; i < r->n; i++) {
    Generator *g = s->g;
    uint32_t within = g->within, block[4];
    philox_block(g, g->next, g->states[g->next].philox.counter, block);
    float numbers[2];
    normal_pair_of(s, block[within & ~1u], block[within | 1], numbers);
    ((uint32_t *)r->out)[i] = poisson_of_normal(r->mean, numbers[within & 1]);
    philox_draw(s);
  }
}

static void fill_from_threads(const Request *r) {
  Source s = {.g = r->generator, .blocks = is_double(r->kind) ? 2 : 1};
  if (r->kind >= KIND_NORMAL) {
    fill_normals(&s, r);
    return;
  }
  if (r->kind == KIND_POISSON && r->mean >= POISSON_IS_NORMAL) {
    if (s.g->type == RNG_PHILOX) fill_poisson_of_philox(&s, r);
    else fill_poisson_of_normals(&s, r);
    return;
  }
  for (uint64_t i = 0; i < r->n; i++) {
    switch (r->kind) {
      case KIND_UNIFORM: ((float *)r->out)[i] = uniform(&s, draw(&s)); break;
      case KIND_UNIFORM_DOUBLE: ((double *)r->out)[i] = uniform_double(&s); break;
      case KIND_POISSON:
        ((uint32_t *)r->out)[i] = poisson_by_histogram(s.g->poisson,
                                                       (double)bits(&s) * 0x1p-32 + 0x1p-32);
        break;
      default: ((uint32_t *)r->out)[i] = bits(&s); break;
    }
    end_item(&s);
  }
}

static void fill_from_stream(const Request *r) {
  Generator *g = r->generator;
  for (uint64_t i = 0; i < r->n; i++, g->next++)
    word_store(r, i, g->type == RNG_MT19937 ? mt19937_word(g, g->next) : mtgp32_word(g, g->next));
}

void distribution_fill(void *request) {
  const Request *r = request;
  Generator *g = r->generator;
  pthread_mutex_lock(&g->lock);
  if (r->kind == KIND_POISSON && (!g->poisson || g->poisson->lambda != r->mean)) {
    poisson_free(g->poisson);
    g->poisson = poisson_new(r->mean);
  }
  if (r->kind == KIND_POISSON && !g->poisson) memset(r->out, 0, r->n * sizeof(uint32_t));
  else if (is_sobol(g)) sobol_fill(r);
  else if (is_stream(g)) fill_from_stream(r);
  else fill_from_threads(r);
  pthread_mutex_unlock(&g->lock);
}
