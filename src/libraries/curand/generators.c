// The sequences: XORWOW (Marsaglia 2003), MRG32k3a (L'Ecuyer 1999), Philox4x32-10 (Salmon et al.
// 2011), with the seeds and the distances between threads that cuRAND's device functions have.
#include "libraries/curand/internal.h"

uint64_t generator_threads(const Generator *g) {
  if (g->type == RNG_PHILOX) return 65536;
  return g->type == RNG_MRG32K3A && !g->legacy ? 81920 : 4096;
}

// --- XORWOW: a linear map of 160 bits, and a counter ---

enum { BITS = 160, WORDS = 5 };
typedef struct Map {
  uint32_t column[BITS][WORDS];  // where each bit goes
} Map;

uint32_t xorwow_next(ThreadState *s) {
  uint32_t *v = s->xorwow.v, t = v[0] ^ v[0] >> 2;
  v[0] = v[1];
  v[1] = v[2];
  v[2] = v[3];
  v[3] = v[4];
  v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1;
  s->xorwow.d += 362437;
  return v[4] + s->xorwow.d;
}

static void map_apply(const Map *m, uint32_t *v) {
  uint32_t out[WORDS] = {0};
  for (unsigned i = 0; i < BITS; i++)
    if (v[i / 32] >> i % 32 & 1)
      for (unsigned w = 0; w < WORDS; w++) out[w] ^= m->column[i][w];
  memcpy(v, out, sizeof out);
}

static void map_square(Map *m) {
  Map once = *m;
  for (unsigned i = 0; i < BITS; i++) map_apply(&once, m->column[i]);
}

static void map_of_one_step(Map *m) {
  for (unsigned i = 0; i < BITS; i++) {
    ThreadState s = {0};
    s.xorwow.v[i / 32] = 1u << i % 32;
    xorwow_next(&s);
    memcpy(m->column[i], s.xorwow.v, sizeof s.xorwow.v);
  }
}

static void xorwow_skip(ThreadState *states, uint64_t n, uint64_t threads) {
  Map m;
  map_of_one_step(&m);
  for (uint64_t i = 0; i < threads; i++) states[i].xorwow.d += (uint32_t)(362437 * n);
  for (; n; n >>= 1) {
    for (uint64_t i = 0; n & 1 && i < threads; i++) map_apply(&m, states[i].xorwow.v);
    map_square(&m);
  }
}

static ThreadState xorwow_of_seed(uint64_t seed) {
  uint32_t t0 = 1099087573u * ((uint32_t)seed ^ 0xaad26b49u),
           t1 = 2591861531u * ((uint32_t)(seed >> 32) ^ 0xf7dcefddu);
  return (ThreadState){.xorwow = {.d = 6615241u + t1 + t0,
                                  .v = {123456789u + t0, 362436069u ^ t0, 521288629u + t1,
                                        88675123u ^ t1, 5783321u + t0}}};
}

static void xorwow_seed(Generator *g) {
  if (g->seeded) {  // each thread has a seed of its own
    for (uint64_t i = 0; i < generator_threads(g); i++)
      g->states[i] = xorwow_of_seed(g->seed + i * 3133713);
    return;
  }
  ThreadState s = xorwow_of_seed(g->seed);
  Map apart;  // threads are 2^67 steps apart; the counter does not move with them
  map_of_one_step(&apart);
  for (int i = 0; i < 67; i++) map_square(&apart);
  for (uint64_t i = 0; i < generator_threads(g); i++) {
    g->states[i] = s;
    map_apply(&apart, s.xorwow.v);
  }
}

// --- MRG32k3a: two linear maps of three numbers ---

#define M1 4294967087ull
#define M2 4294944443ull

uint32_t mrg_next(ThreadState *s) {
  uint32_t *a = s->mrg.s1, *b = s->mrg.s2;
  uint64_t p1 = (1403580ull * a[1] + 810728ull * (M1 - a[0])) % M1,
           p2 = (527612ull * b[2] + 1370589ull * (M2 - b[0])) % M2;
  a[0] = a[1];
  a[1] = a[2];
  a[2] = (uint32_t)p1;
  b[0] = b[1];
  b[1] = b[2];
  b[2] = (uint32_t)p2;
  return (uint32_t)(p1 <= p2 ? p1 + M1 - p2 : p1 - p2);
}

typedef struct Matrix {
  uint64_t x[3][3];
} Matrix;
static const Matrix step1 = {{{0, 1, 0}, {0, 0, 1}, {M1 - 810728, 1403580, 0}}},
                    step2 = {{{0, 1, 0}, {0, 0, 1}, {M2 - 1370589, 0, 527612}}};

static Matrix matrix_product(const Matrix *a, const Matrix *b, uint64_t m) {
  Matrix c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      uint64_t sum = 0;
      for (int k = 0; k < 3; k++) sum = (sum + a->x[i][k] * b->x[k][j] % m) % m;
      c.x[i][j] = sum;
    }
  return c;
}

static void matrix_apply(const Matrix *a, uint32_t *v, uint64_t m) {
  uint32_t out[3];
  for (int i = 0; i < 3; i++) {
    uint64_t sum = 0;
    for (int k = 0; k < 3; k++) sum = (sum + a->x[i][k] * v[k] % m) % m;
    out[i] = (uint32_t)sum;
  }
  memcpy(v, out, sizeof out);
}

static void mrg_skip(ThreadState *states, uint64_t n, uint64_t threads) {
  Matrix a = step1, b = step2;
  for (; n; n >>= 1) {
    for (uint64_t i = 0; n & 1 && i < threads; i++) {
      matrix_apply(&a, states[i].mrg.s1, M1);
      matrix_apply(&b, states[i].mrg.s2, M2);
    }
    a = matrix_product(&a, &a, M1);
    b = matrix_product(&b, &b, M2);
  }
}

static void mrg_seed(Generator *g) {
  ThreadState s = {.mrg = {{12345, 12345, 12345}, {12345, 12345, 12345}}};
  uint64_t x1 = (uint32_t)g->seed ^ 0x55555555u, x2 = (uint32_t)(g->seed >> 32) ^ 0xAAAAAAAAu;
  for (int i = 0; g->seed && i < 3; i++) {
    s.mrg.s1[i] = (uint32_t)((i == 1 ? x2 : x1) * 12345 % M1);
    s.mrg.s2[i] = (uint32_t)((i == 1 ? x1 : x2) * 12345 % M2);
  }
  Matrix a = step1, b = step2;  // threads are 2^76 steps apart
  for (int i = 0; i < 76; i++) {
    a = matrix_product(&a, &a, M1);
    b = matrix_product(&b, &b, M2);
  }
  for (uint64_t i = 0; i < generator_threads(g); i++) {
    g->states[i] = s;
    matrix_apply(&a, s.mrg.s1, M1);
    matrix_apply(&b, s.mrg.s2, M2);
  }
}

// --- Philox: the number of the thread is part of the counter ---

void philox_block(const Generator *g, uint64_t thread, uint64_t counter, uint32_t c[4]) {
  uint32_t k0 = (uint32_t)g->seed, k1 = (uint32_t)(g->seed >> 32);
  c[0] = (uint32_t)counter;
  c[1] = (uint32_t)(counter >> 32);
  c[2] = (uint32_t)thread;
  c[3] = 0;
  for (int i = 0; i < 10; i++) {
    uint64_t p0 = 0xD2511F53ull * c[0], p1 = 0xCD9E8D57ull * c[2];
    uint32_t c1 = c[1], c3 = c[3];
    c[0] = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c[1] = (uint32_t)p1;
    c[2] = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c[3] = (uint32_t)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

// --- all of them ---

static bool prepare_stream(Generator *g) {
  generator_free_states(g);
  g->next = 0;
  g->ready = g->type == RNG_MT19937 ? mt19937_prepare(g) : mtgp32_prepare(g);
  return g->ready;
}

void generator_free_states(Generator *g) {
  if (g->type == RNG_MT19937) mt19937_free(g);
  if (g->type == RNG_MTGP32) mtgp32_free(g);
  g->stream_state = NULL;
  free(g->states);
  free(g->pairs);
  g->states = NULL;
  g->pairs = NULL;
}

bool generator_prepare(Generator *g) {
  uint64_t threads = generator_threads(g);
  if (g->ready) return true;
  if (is_stream(g)) return prepare_stream(g);
  if (is_sobol(g)) {
    g->next = g->offset;
    g->ready = true;
    return true;
  }
  generator_free_states(g);
  g->states = calloc(threads, sizeof *g->states);
  g->pairs = calloc(threads, sizeof *g->pairs);
  if (!g->states || !g->pairs) return false;
  if (g->type == RNG_PHILOX) {
    uint64_t block = g->offset / 4, turn = block / threads;
    g->next = block % threads;
    g->within = (uint32_t)(g->offset % 4);
    for (uint64_t i = 0; i < threads; i++) g->states[i].philox.counter = turn + (i < g->next);
    g->ready = true;
    return true;
  }
  void (*skip)(ThreadState *, uint64_t, uint64_t) = g->type == RNG_XORWOW ? xorwow_skip : mrg_skip;
  if (g->type == RNG_XORWOW) xorwow_seed(g);
  else mrg_seed(g);
  g->next = g->offset % threads;
  if (g->offset / threads) skip(g->states, g->offset / threads, threads);
  if (g->next) skip(g->states, 1, g->next);
  g->ready = true;
  return true;
}
