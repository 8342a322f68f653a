// Raw records of known patterns, as kernels write them, for bench/trace and bench/encode.
#ifndef BENCH_PATTERNS_H
#define BENCH_PATTERNS_H

#include <math.h>
#include <time.h>

#include "base/base.h"
#include "group_records.h"

static const uint64_t A = 0x7f1000000000, B = 0x7f2000000000, C = 0x7f3000000000;

static uint64_t mix(uint64_t z) {
  z = (z + 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}
static uint32_t bits(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }
static inline double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A pattern makes the k-th operation of a warp; 0: the warp has ended. Sizes: n elements, w warps,
// m operations of a warp.
typedef struct Shape { uint64_t warps; uint32_t steps; uint64_t n, width; } Shape;
typedef int Make(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op);

static void all_lanes(WarpOp *op, uint32_t site, int load) {
  op->site = site;
  op->lanes = UINT32_MAX;
  op->has_address = 1;
  op->planes = 1;
  op->values = 1;
  op->same = load;
}

static float start(uint64_t i, uint64_t j, uint64_t n) {
  return (float)(i * j) / (float)n;
}  // as PolyBench fills its matrices
static float irregular(uint64_t i) { return (float)(mix(i) >> 40) / (float)(1 << 24); }

static int saxpy(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  (void)s;
  if (k == 3) return 0;
  all_lanes(op, k, k < 2);
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t i = warp * 32 + l;
    op->address[l] = (k == 0 ? A : B) + 4 * i;
    op->value[0][l] = bits(k == 0   ? irregular(i)
                           : k == 1 ? irregular(~i)
                                    : 2.5f * irregular(i) + irregular(~i));
  }
  return 1;
}

// Blocks of 32 x 8 threads; s->width columns.
static int matmul(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  uint64_t n = s->width, j = warp / 8 % (n / 32) * 32, i = (warp / 8 / (n / 32) * 8 + warp % 8) % n;
  if (k == 2 * n + 1) return 0;
  int load = k < 2 * n;
  all_lanes(op, load ? k % 2 : 2, load);
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t kk = k / 2;
    if (!load) {
      op->address[l] = C + 4 * (i * n + j + l);
      op->value[0][l] = bits(irregular(i * n + j + l) * (float)n);
    } else if (k % 2 == 0) {
      op->address[l] = A + 4 * (i * n + kk);
      op->value[0][l] = bits(start(i, kk, n));
    } else {
      op->address[l] = B + 4 * (kk * n + j + l);
      op->value[0][l] = bits(start(kk, j + l + 1, n));
    }
  }
  return 1;
}

static int stencil(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  uint64_t n = s->width, j = 1 + warp / 8 % (n / 32) * 32,
           i = 1 + warp / 8 / (n / 32) * 8 + warp % 8;
  if (k == 10) return 0;
  all_lanes(op, k, k < 9);
  if (j + 32 >= n) op->lanes = 0x3FFFFFFF;
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t y = i + k / 3 - 1, x = j + l + k % 3 - 1;
    if (k == 9) {
      op->address[l] = B + 4 * (i * n + j + l);
      op->value[0][l] = bits(irregular(i * n + j + l) * 9);
    } else {
      op->address[l] = A + 4 * (y * n + x);
      op->value[0][l] = bits(irregular(y * n + x));
    }
  }
  return 1;
}

// Each thread goes along a row: lanes are far apart (atax, mvt).
static int rows(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  uint64_t n = s->width;
  if (k == 4 * n) return 0;
  uint64_t j = k / 4;
  all_lanes(op, k % 4, k % 4 != 3);
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t i = warp * 32 + l;
    switch (k % 4) {
      case 0:
        op->address[l] = A + 4 * (i * n + j);
        op->value[0][l] = bits(start(i, j, n));
        break;
      case 1:
        op->address[l] = B + 4 * j;
        op->value[0][l] = bits((float)j * 3.14159f);
        break;
      case 2:
        op->address[l] = C + 4 * i;
        op->value[0][l] = bits((float)(i * j) * 0.37f);
        break;
      default:
        op->address[l] = C + 4 * i;
        op->value[0][l] = bits((float)(i * (j + 1)) * 0.37f);
        break;
    }
  }
  return 1;
}

// out[i] = table[index[i]]: everything random.
static int gather(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  if (k == 3) return 0;
  all_lanes(op, k, k < 2);
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t i = warp * 32 + l, index = mix(i) % s->n;
    op->address[l] = k == 0 ? B + 4 * i : k == 1 ? A + 4 * index : C + 4 * i;
    op->value[0][l] = k == 0 ? (uint32_t)index : (uint32_t)mix(~index);
  }
  return 1;
}

// Nothing but loads of random values from random places, 64 for each thread.
static int hashed(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  if (k == 64) return 0;
  all_lanes(op, k % 4, 1);
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t index = mix((warp * 64 + k) * 32 + l) % s->n;
    op->address[l] = A + 4 * index;
    op->value[0][l] = (uint32_t)mix(~index);
  }
  return 1;
}

// Lanes leave a loop one after the other.
static int divergent(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  if (k >= 96) return 0;
  uint32_t lanes = 0;
  for (uint64_t l = 0; l < 32; l++) lanes |= (uint32_t)(mix(warp * 32 + l) % 96 > k) << l;
  if (!lanes) lanes = 1;
  all_lanes(op, k % 2, k % 2 == 0);
  op->lanes = lanes;
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t i = (warp * 32 + l + k * 1024) % s->n;
    op->address[l] = A + 4 * i;
    op->value[0][l] = bits(irregular(i + k % 2));
  }
  return 1;
}

static uint32_t bins[1 << 16];
static int histogram(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  (void)s;
  if (k == 16) return 0;
  all_lanes(op, k % 2, k % 2 == 0);
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t i = (warp * 8 + k / 2) * 32 + l, bin = mix(i) % ARRAY_LEN(bins);
    op->address[l] = k % 2 ? B + 4 * bin : A + 4 * i;
    op->value[0][l] = k % 2 ? 1 : (uint32_t)bin;
    if (k % 2) op->old[0][l] = bins[bin]++;
  }
  if (k % 2) op->values = 2;
  return 1;
}

// Records as kernels on a GPU write them: several operations share a record, and loops that only
// load are folded. A pattern makes the k-th record of a warp, a group, or one operation (nops 0).
typedef int MakeGroup(const Shape *s, uint64_t warp, uint32_t k, Group *g);

static WarpOp *add_to_group(Group *g, uint64_t warp, uint32_t site, uint32_t unit, int32_t distance,
                            int load, int values) {
  WarpOp *o = &g->ops[g->nops];
  g->unit[g->nops] = unit;
  g->distance[g->nops++] = distance;
  *o = (WarpOp){.site = site,
                .warp = warp,
                .launch = 1,
                .lanes = UINT32_MAX,
                .has_address = 1,
                .planes = 1,
                .values = values,
                .same = load};
  return o;
}

// c[i] = 0.5 * c[i] + 1, as tests/record/programs/sustained.cu, of random numbers.
static int update(const Shape *s, uint64_t warp, uint32_t k, Group *g) {
  if (k == 16) return 0;
  g->nops = 0;
  g->nunits = g->turns = 1;
  g->units[0].step = 0;
  WarpOp *from = add_to_group(g, warp, 0, 0, 0, 1, 1), *to = add_to_group(g, warp, 1, 0, 0, 0, 1);
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t i = (k * s->warps + warp) * 32 + l;
    g->units[0].address[l] = A + 4 * i;
    from->value[0][l] = bits(irregular(i));
    to->value[0][l] = bits(0.5f * irregular(i) + 1);
  }
  return 1;
}

// The same with values that are the same everywhere, as tests/record/programs/sustained.cu has
// them.
static int steady(const Shape *s, uint64_t warp, uint32_t k, Group *g) {
  if (!update(s, warp, k, g)) return 0;
  for (unsigned l = 0; l < 32; l++) {
    g->ops[0].value[0][l] = bits(1.5f);
    g->ops[1].value[0][l] = bits(1.75f);
  }
  return 1;
}

// out[i] = table[index[i]] in one record.
static int gathered(const Shape *s, uint64_t warp, uint32_t k, Group *g) {
  if (k) return 0;
  g->nops = 0;
  g->nunits = 3;
  g->turns = 1;
  WarpOp *op[3];
  for (uint32_t u = 0; u < 3; u++) {
    g->units[u].step = 0;
    op[u] = add_to_group(g, warp, u, u, 0, u < 2, 1);
  }
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t i = warp * 32 + l, index = mix(i) % s->n;
    g->units[0].address[l] = B + 4 * i;
    g->units[1].address[l] = A + 4 * index;
    g->units[2].address[l] = C + 4 * i;
    op[0]->value[0][l] = (uint32_t)index;
    op[1]->value[0][l] = op[2]->value[0][l] = (uint32_t)mix(~index);
  }
  return 1;
}

// matmul, its loop unrolled four times, of matrices that only the host has written: all turns are
// one record, the result another.
static int folded(const Shape *s, uint64_t warp, uint32_t k, Group *g) {
  uint64_t n = s->width, j = warp / 8 % (n / 32) * 32, i = (warp / 8 / (n / 32) * 8 + warp % 8) % n;
  if (k == 2) return 0;
  g->nops = 0;
  g->turns = (uint32_t)n / 4;
  g->nunits = 2;
  for (int32_t u = 0; u < 4 && !k; u++) {
    add_to_group(g, warp, (uint32_t)(2 * u), 0, 4 * u, 1, 0);
    add_to_group(g, warp, (uint32_t)(2 * u + 1), 1, (int32_t)n * 4 * u, 1, 0);
  }
  g->units[0].step = 16;
  g->units[1].step = (int64_t)n * 16;
  for (uint64_t l = 0; l < 32; l++) {
    g->units[0].address[l] = A + 4 * i * n;
    g->units[1].address[l] = B + 4 * (j + l);
    g->ops[0].address[l] = C + 4 * (i * n + j + l);
    g->ops[0].value[0][l] = bits(irregular(i * n + j + l) * (float)n);
  }
  if (k) {
    g->ops[0].site = 8;
    g->ops[0].values = 1;
    g->ops[0].same = 0;
    g->ops[0].lanes = UINT32_MAX;
    g->ops[0].has_address = g->ops[0].planes = 1;
  }
  return 1;
}

typedef struct Pattern {
  const char *name;
  Make *make;
  unsigned per_warp;
  unsigned kinds;
  MakeGroup *group;
} Pattern;  // kinds: two bits of each site: 1 load, 2 store, 3 atomic
static const Pattern patterns[] = {{"saxpy", saxpy, 3, 0x25},
                                   {"matmul", matmul, 0, 0x25},
                                   {"stencil", stencil, 10, 0x95555},
                                   {"rows", rows, 0, 0x95},
                                   {"gather", gather, 3, 0x25},
                                   {"hashed", hashed, 64, 0x55},
                                   {"divergent", divergent, 48, 0x9},
                                   {"histogram", histogram, 16, 0xD},
                                   {"update", NULL, 32, 0x9, update},
                                   {"steady", NULL, 32, 0x9, steady},
                                   {"gathered", NULL, 3, 0x25, gathered},
                                   {"folded", NULL, 0, 0x25555, folded}};

// Writes the next record of a warp; returns its number of operations, 0: the warp has ended.
static inline uint64_t make_record(const Pattern *p, const Shape *s, WarpOp *op, uint32_t k,
                                   Out *out) {
  if (!p->group) {
    if (!p->make(s, op->warp, k, op)) return 0;
    record_write(out, op);
    return (unsigned)__builtin_popcount(op->lanes);
  }
  static Group g;
  if (!p->group(s, op->warp, k, &g)) return 0;
  WarpOp *first = &g.ops[0];
  first->warp = op->warp;
  first->launch = op->launch;
  first->time = op->time;
  first->wide = 1;
  op->address[0] = g.nops ? g.units[0].address[0] : first->address[0];
  op->lanes = UINT32_MAX;
  if (g.nops) write_group(out, &g, true);
  else record_write(out, first);
  return g.nops ? 32ull * g.nops * g.turns : 32;
}

static inline const Pattern *pattern_named(const char *name) {
  for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
    if (strcmp(name, patterns[i].name) == 0) return &patterns[i];
  return NULL;
}

static inline Shape shape_of(const Pattern *p, double operations) {
  Shape s = {.n = 1 << 24, .width = 512};
  if (p->make == stencil) s.width = (uint64_t)sqrt(operations / 10) / 32 * 32 + 32;
  if (p->make == saxpy || p->make == gather || p->group == gathered)
    s.n = MAX((uint64_t)(operations / 6), 1u << 16);
  s.steps = p->per_warp       ? p->per_warp
            : p->make == rows ? (unsigned)s.width * 4
                              : (unsigned)s.width * 2 + 1;
  s.warps = (uint64_t)(operations / 32 / s.steps) + 1;
  return s;
}
#endif
