// Decides whether the threads of a launch access disjoint bytes: evaluates the terms of
// weave_disjoint.c with the dimensions and parameters of the launch.
//
// A value is affine in the thread's coordinates: the sum of stride[i] * coordinate[i], a number
// from low to high, any multiple of `modulus` (0: none), and `step` times the iteration of a loop
// (0: none). The top value can be any number: a multiple of 1.
#include "tools/racecheck/host_enumerate.h"

// Coordinates beyond those of the thread: unknown numbers that are the same for all threads that
// may access memory at the same time (SAME).
enum { OF_THREAD = 6, SAME = 4, COORDINATES = OF_THREAD + SAME, MOST_TERMS = 1500, MOST_LOOPS = 3 };
typedef struct Value {
  int64_t stride[COORDINATES], low, high, modulus, step;
  uint32_t loop;
} Value;
typedef struct Launch {
  const RaceKernel *kernel;
  const SessionParams *params;
  int64_t extent[OF_THREAD], grid[3];
  uint32_t same_loops;  // RaceGroup
  bool in_block;        // only threads of one block are compared
  bool folds_steps;     // steps of loops are taken as multiples, too
  // loops whose counters are taken as ranges, all others as multiples; by number modulo MOST_LOOPS
  unsigned bounded;
  Value *values;  // by term
} Launch;

static const Value top = {.modulus = 1};
static const int64_t too_large = (int64_t)1 << 58;

static int64_t gcd(int64_t a, int64_t b) {
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  while (b) {
    int64_t t = a % b;
    a = b;
    b = t;
  }
  return a;
}

static bool is_large(int64_t n) { return n > too_large || n < -too_large; }
static Value checked(Value v) {
  bool large = is_large(v.low) || is_large(v.high) || is_large(v.modulus) || is_large(v.step);
  for (unsigned i = 0; i < COORDINATES; i++) large |= is_large(v.stride[i]);
  return large ? top : v;
}
static Value constant(int64_t n) { return is_large(n) ? top : (Value){.low = n, .high = n}; }

static bool is_uniform(const Value *v) {
  for (unsigned i = 0; i < COORDINATES; i++)
    if (v->stride[i]) return false;
  return !v->modulus && !v->step;
}
static bool is_constant(const Value *v) { return is_uniform(v) && v->low == v->high; }

static bool has_same(const Value *v) {
  for (unsigned i = OF_THREAD; i < COORDINATES; i++)
    if (v->stride[i]) return true;
  return false;
}

// Replaces the step by a multiple: any number of iterations is allowed.
static Value fold_step(Value v) {
  v.modulus = gcd(v.modulus, v.step);
  v.step = 0;
  return v;
}

static Value add(Value a, Value b, int64_t sign) {
  if (a.step && b.step && a.loop != b.loop) b = fold_step(b);
  if (b.step) {
    a.step += sign * b.step;
    a.loop = b.loop;
  }
  for (unsigned i = 0; i < COORDINATES; i++) a.stride[i] += sign * b.stride[i];
  a.low += sign > 0 ? b.low : -b.high;
  a.high += sign > 0 ? b.high : -b.low;
  a.modulus = gcd(a.modulus, b.modulus);
  return checked(a);
}

static bool product(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_mul_overflow(a, b, out) && !is_large(*out);
}

static Value scale(Value v, int64_t n) {
  bool fits = product(v.low, n, &v.low) && product(v.high, n, &v.high) &&
              product(v.modulus, n < 0 ? -n : n, &v.modulus) && product(v.step, n, &v.step);
  for (unsigned i = 0; i < COORDINATES && fits; i++) fits = product(v.stride[i], n, &v.stride[i]);
  if (v.low > v.high) {
    int64_t t = v.low;
    v.low = v.high;
    v.high = t;
  }
  return fits ? v : top;
}

static Value multiply(Value a, Value b) {
  if (is_constant(&b)) return scale(a, b.low);
  if (is_constant(&a)) return scale(b, a.low);
  if (!is_uniform(&a) || !is_uniform(&b)) return top;
  int64_t p[4];
  if (!product(a.low, b.low, &p[0]) || !product(a.low, b.high, &p[1]) ||
      !product(a.high, b.low, &p[2]) || !product(a.high, b.high, &p[3]))
    return top;
  return (Value){.low = MIN(MIN(p[0], p[1]), MIN(p[2], p[3])),
                 .high = MAX(MAX(p[0], p[1]), MAX(p[2], p[3]))};
}

// Bounds over all threads; false: there are none.
static bool range(const Launch *l, const Value *v, int64_t *low, int64_t *high) {
  *low = v->low;
  *high = v->high;
  if (has_same(v)) return false;
  for (unsigned i = 0; i < OF_THREAD; i++) {
    int64_t most;
    if (!product(v->stride[i], l->extent[i] - 1, &most)) return false;
    if (most > 0) *high += most;
    else *low += most;
  }
  return !v->modulus && !v->step && !is_large(*low) && !is_large(*high);
}

// A constant below a power of two, and a multiple of that power: their OR is their sum.
static Value bitwise_or(Value a, Value b) {
  if (is_constant(&a) && is_constant(&b)) return constant(a.low | b.low);
  if (!is_constant(&b)) {
    Value t = a;
    a = b;
    b = t;
  }
  if (!is_constant(&b) || b.low < 0) return top;
  int64_t power = 1;
  while (power <= b.low) power *= 2;
  bool multiple = a.low == a.high && a.low % power == 0 && a.modulus % power == 0 &&
                  a.step % power == 0;
  for (unsigned i = 0; i < COORDINATES; i++) multiple &= a.stride[i] % power == 0;
  return multiple ? add(a, b, 1) : top;
}

static Value bitwise_and(Value a, Value b) {
  if (is_constant(&a) && is_constant(&b)) return constant(a.low & b.low);
  const Value *mask = is_constant(&b) ? &b : is_constant(&a) ? &a : NULL;
  return mask && mask->low >= 0 ? (Value){.high = mask->low} : top;
}

static Value join(Value a, Value b) {
  if (memcmp(a.stride, b.stride, sizeof a.stride)) return top;
  if (a.step != b.step || (a.step && a.loop != b.loop)) {
    a = fold_step(a);
    b = fold_step(b);
  }
  int64_t apart = gcd(gcd(a.modulus, b.modulus), b.low - a.low);
  if (a.modulus | b.modulus && a.high - a.low == b.high - b.low && apart > a.high - a.low) {
    a.modulus = apart;
    return a;
  }
  a.low = MIN(a.low, b.low);
  a.high = MAX(a.high, b.high);
  a.modulus = gcd(a.modulus, b.modulus);
  return a;
}

static Value parameter(const Launch *l, const RaceTerm *t) {
  const void *at = NULL;
  if (l->params->pointers)
    at = l->params->pointers[t->a] ? (const char *)l->params->pointers[t->a] + t->b : NULL;
  else if (l->params->buffer && (uint64_t)t->imm + t->bytes <= l->params->buffer_bytes)
    at = (const char *)l->params->buffer + t->imm;
  if (!at) return top;
  int32_t word;
  int64_t wide;
  if (t->bytes == 8) {
    memcpy(&wide, at, 8);
    return constant(wide);
  }
  memcpy(&word, at, 4);
  return constant(word);
}

static Value extended(const Launch *l, Value v, bool is_signed) {
  int64_t low, high;
  if (v.modulus || v.step || has_same(&v)) return v;  // assumes that it does not overflow
  if (!range(l, &v, &low, &high)) return top;
  return is_signed                      ? (low < INT32_MIN || high > INT32_MAX ? top : v)
         : low < 0 || high > UINT32_MAX ? top
                                        : v;
}

// The most iterations of a loop.
static Value iterations(const Launch *l, const RaceTerm *t) {
  const Value *d = &l->values[t->a];
  int64_t low, high, step = t->imm < 0 ? -t->imm : t->imm;
  if (!range(l, d, &low, &high)) return top;
  // distances from 0, on the side where the counter begins
  int64_t away = t->imm < 0 ? high : -low, least = t->imm < 0 ? low : -high;
  if (t->bytes == RACE_UNTIL) return least < 0 ? top : constant(away / step + 1);
  if (away < 0) return constant(1);
  return constant(t->bytes == RACE_BELOW ? (away + step - 1) / step + 1 : away / step + 2);
}

// All threads execute the loop in lockstep: its iteration is one of the SAME numbers. false: they
// do not, or there are too many such loops.
static bool add_common_iteration(const Launch *l, const RaceTerm *t, int64_t by, Value *v) {
  if (t->loop > 31 || !(l->same_loops >> t->loop & 1) || !(t->bytes & RACE_EVERY_TURN))
    return false;
  int which = __builtin_popcount(l->same_loops & ((1u << t->loop) - 1));
  if (which < SAME) v->stride[OF_THREAD + which] += by;
  return which < SAME;
}

static Value bounded_counter(const Launch *l, const RaceTerm *t) {
  const Value *count = &l->values[t->b];
  Value v = l->values[t->a];
  if (add_common_iteration(l, t, t->imm, &v)) return checked(v);
  if (is_constant(count) && l->bounded >> t->loop % MOST_LOOPS & 1) {
    int64_t last = MAX(count->low - 1 - (t->bytes & RACE_FEWER), 0), by;
    if (!product(last, t->imm, &by)) return top;
    if (by > 0) v.high += by;
    else v.low += by;
  } else v.modulus = gcd(v.modulus, t->imm);
  return checked(v);
}

static Value unbounded_counter(const Launch *l, const RaceTerm *t) {
  const Value *by = &l->values[t->b];
  Value v = l->values[t->a];
  if (!is_constant(by)) return top;
  if (add_common_iteration(l, t, by->low, &v)) return checked(v);
  if (v.step) v = fold_step(v);
  v.step = by->low;
  v.loop = t->loop;
  return checked(v);
}

static Value evaluate(const Launch *l, const RaceTerm *t) {
  Value a = l->values[t->a], b = l->values[t->b];
  switch ((RaceTermOp)t->op) {
    case RACE_ANYTHING: return top;
    case RACE_NUMBER: return constant(t->imm);
    case RACE_PARAMETER: return parameter(l, t);
    case RACE_COORDINATE: {
      Value v = {0};
      if (l->in_block && t->imm >= 3) return top;
      if (l->extent[t->imm] > 1) v.stride[t->imm] = 1;
      return v;
    }
    case RACE_EXTENT: return constant(t->imm < 3 ? l->extent[t->imm] : l->grid[t->imm - 3]);
    case RACE_ADD: return add(a, b, 1);
    case RACE_SUBTRACT: return add(a, b, -1);
    case RACE_MULTIPLY: return multiply(a, b);
    case RACE_AND: return bitwise_and(a, b);
    case RACE_OR: return bitwise_or(a, b);
    case RACE_SHIFT_RIGHT:
      return is_uniform(&a) && a.low >= 0 && is_constant(&b) && b.low >= 0 && b.low < 63
                 ? (Value){.low = a.low >> b.low, .high = a.high >> b.low}
                 : top;
    case RACE_LEAST:
      return is_uniform(&a) && is_uniform(&b)
                 ? (Value){.low = MIN(a.low, b.low), .high = MIN(a.high, b.high)}
                 : top;
    case RACE_MOST:
      return is_uniform(&a) && is_uniform(&b)
                 ? (Value){.low = MAX(a.low, b.low), .high = MAX(a.high, b.high)}
                 : top;
    case RACE_SIGN_EXTENDED: return extended(l, a, true);
    case RACE_ZERO_EXTENDED: return extended(l, a, false);
    case RACE_MERGE: return join(a, b);
    case RACE_COUNT: return iterations(l, t);
    case RACE_STEPS: return bounded_counter(l, t);
    case RACE_STRIDES: return unbounded_counter(l, t);
  }
  return top;
}

// --- threads ---

// The factor if the value is a multiple of the thread's index along the axis, over the whole grid;
// 0: it is not. Coordinates with only one value are ignored.
static int64_t stride_along(const Launch *l, const int64_t *stride, int axis) {
  int64_t thread = stride[axis], block = stride[3 + axis];
  if (l->extent[axis] == 1) return block;
  if (l->extent[3 + axis] == 1) return thread;
  return block == thread * l->extent[axis] ? thread : 0;
}

// How many indices >= 0 have s * index + low < 0.
static int64_t count_below(const Value *less, int64_t s) {
  return less->low >= 0 ? 0 : (s - 1 - less->low) / s;
}

// The number of threads along the axis that make the access, by the limits on their index.
static int64_t threads_reaching(const Launch *l, const RaceReach *r, int axis) {
  int64_t most = l->extent[axis] * l->extent[3 + axis];
  for (unsigned i = 0; i < r->nlimits; i++) {
    Value less = add(l->values[r->limits[i].less], l->values[r->limits[i].than], -1);  // < 0
    int64_t s = stride_along(l, less.stride, axis), others = 0;
    for (int k = 0; k < 3; k++)
      if (k != axis) others |= less.stride[k] | less.stride[3 + k];
    if (s <= 0 || others || less.modulus || less.step || has_same(&less) || r->limits[i].later)
      continue;
    most = MIN(most, count_below(&less, s));
  }
  return most;
}

// The same for the values of one coordinate.
static int64_t coordinates_reaching(const Launch *l, const RaceReach *r, int coordinate) {
  int64_t most = l->extent[coordinate];
  for (unsigned i = 0; i < r->nlimits; i++) {
    Value less = add(l->values[r->limits[i].less], l->values[r->limits[i].than], -1);
    int64_t s = less.stride[coordinate], others = less.modulus | less.step;
    for (int k = 0; k < COORDINATES; k++) others |= k == coordinate ? 0 : less.stride[k];
    if (s > 0 && !others && !r->limits[i].later) most = MIN(most, count_below(&less, s));
  }
  return most;
}

// The limit of a loop that continues where the threads along the axis end, jointly with these. 0:
// unknown
static int64_t joined_limit(const Launch *l, const RaceReach *r, int axis, bool blocks_too,
                            int64_t threads) {
  int64_t most = 0;
  for (unsigned i = 0; i < r->nlimits; i++) {
    Value less = add(l->values[r->limits[i].less], l->values[r->limits[i].than], -1);
    int64_t s = blocks_too ? stride_along(l, less.stride, axis) : less.stride[axis],
            others = less.modulus | (blocks_too ? 0 : less.stride[3 + axis]);
    for (int k = 0; k < 3; k++)
      if (k != axis) others |= less.stride[k] | less.stride[3 + k];
    if (s <= 0 || others || has_same(&less) || less.step != s * threads) continue;
    int64_t limit = r->limits[i].later ? MAX(count_below(&less, s), threads)
                                       : count_below(&less, s);
    most = most ? MIN(most, limit) : limit;
  }
  return most;
}

typedef struct Side {
  int64_t stride, extent;
} Side;

// Sorted by size, each stride is larger than the extent of all smaller ones together.
static bool are_separate(Side *c, unsigned n, int64_t reach, int64_t modulus) {
  for (unsigned i = 0; i < n; i++) {
    unsigned least = i;
    for (unsigned k = i; k < n; k++) {
      c[k].stride = c[k].stride < 0 ? -c[k].stride : c[k].stride;
      if (c[k].stride < c[least].stride) least = k;
    }
    Side s = c[least];
    c[least] = c[i];
    if (s.extent <= 1) continue;
    int64_t more;
    if (s.stride < reach || !product(s.stride, s.extent - 1, &more)) return false;
    reach += more;
  }
  return !modulus || reach <= modulus;
}

static int64_t distance(int64_t from, int64_t to, int64_t modulus) {
  int64_t d = to - from;
  if (!modulus) return d;
  d %= modulus;
  return d < -modulus / 2 ? d + modulus : d > modulus / 2 ? d - modulus : d;
}

typedef struct Reached {
  Value first;
  bool any;
  int64_t modulus, rows, low, high, widest, most[3], coordinate[OF_THREAD];
} Reached;

static Value address_of(const Launch *l, const RaceReach *r) {
  return l->folds_steps ? fold_step(l->values[r->address]) : l->values[r->address];
}

static unsigned count_strides(const Value *v) {
  unsigned n = 0;
  for (unsigned i = 0; i < OF_THREAD; i++) n += v->stride[i] != 0;
  return n;
}

// Along each axis both have the same strides, or only one thread makes this access.
static bool moves_like(const Launch *l, const RaceReach *r, const Value *v, const Value *first) {
  for (int axis = 0; axis < 3; axis++)
    if ((v->stride[axis] != first->stride[axis] ||
         v->stride[3 + axis] != first->stride[3 + axis]) &&
        threads_reaching(l, r, axis) > 1)
      return false;
  return v->step == first->step &&
         !memcmp(&v->stride[OF_THREAD], &first->stride[OF_THREAD], SAME * sizeof v->stride[0]);
}

// pass 0: chooses the access that the others are compared with; 1: finds the modulus, and the
// distances between the places that one thread accesses; 2: finds extents and limits
static bool add_reaches(const Launch *l, const RaceReaches *f, Reached *all, int pass) {
  for (uint32_t i = 0; i < f->n; i++) {
    const RaceReach *r = &f->list[i];
    Value v = address_of(l, r);
    if (!pass) {
      if (!all->any || count_strides(&v) > count_strides(&all->first)) all->first = v;
      all->any = true;
      continue;
    }
    if (!moves_like(l, r, &v, &all->first)) return false;
    if (pass == 1) {
      all->modulus = gcd(all->modulus, v.modulus);
      all->rows = gcd(all->rows, v.low - all->first.low);
      continue;
    }
    int64_t at = distance(all->first.low, v.low, all->modulus);
    all->low = MIN(all->low, at);
    all->high = MAX(all->high, at + v.high - v.low + (int64_t)r->bytes);
    all->widest = MAX(all->widest, v.high - v.low + (int64_t)r->bytes);
    for (int axis = 0; axis < 3; axis++)
      all->most[axis] = MAX(all->most[axis], threads_reaching(l, r, axis));
    for (int k = 0; k < OF_THREAD; k++)
      all->coordinate[k] = MAX(all->coordinate[k], coordinates_reaching(l, r, k));
  }
  return true;
}

// The loop continues where the threads along the axis end, so that both together are one index,
// which every access limits. Returns the largest limit; 0: the loop is not like that.
typedef struct JoinedIndex {
  int axis;
  bool blocks_too;
  int64_t stride, threads, step;
} JoinedIndex;
static int64_t largest_joined_limit(const Launch *l, const RaceReaches *const *lists, uint32_t n,
                                    const JoinedIndex *j) {
  int64_t most = 0;
  if (j->stride <= 0 || !j->step || j->step != j->stride * j->threads) return 0;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < lists[i]->n; k++) {
      int64_t limit = joined_limit(l, &lists[i]->list[k], j->axis, j->blocks_too, j->threads);
      if (!limit) return 0;
      most = MAX(most, limit);
    }
  return most;
}

// The loop continues where the blocks along an axis end, and no stride is larger: it needs no
// limit.
static bool continues_beyond_grid(const Launch *l, const Value *v) {
  for (int axis = 0; axis < 3; axis++) {
    int64_t s = v->stride[3 + axis], more;
    bool largest = s > 0 && product(s, l->extent[3 + axis], &more) && more == v->step;
    for (int k = 0; k < OF_THREAD && largest; k++)
      largest = v->stride[k] < s + (k == 3 + axis) && v->stride[k] > -s;
    if (largest) return true;
  }
  return false;
}

// How to treat the several places that one thread accesses. TOGETHER: as one range. IN_ROWS: they
// differ by rows, and only offsets in a row count. APART: as one more coordinate, as in an unrolled
// loop.
typedef enum { TOGETHER, IN_ROWS, APART } Places;
static bool are_disjoint(const Launch *l, const RaceReaches *const *lists, uint32_t n,
                         Places places) {
  Reached all = {0};
  for (int pass = 0; pass < 3; pass++) {
    for (uint32_t i = 0; i < n; i++)
      if (!add_reaches(l, lists[i], &all, pass)) return false;
    if (pass == 1 && places == IN_ROWS) all.modulus = gcd(all.modulus, all.rows);
    if (pass == 1 && (all.modulus == 1 || (places != TOGETHER && !all.rows))) return false;
  }
  Side sides[OF_THREAD + 1];
  unsigned nsides = 0;
  int64_t reach = all.high - all.low;
  if (places == APART) {
    if (all.modulus) return false;
    sides[nsides++] = (Side){all.rows, reach / all.rows + 1};
    reach = all.widest;
  }
  bool joined = !all.first.step || continues_beyond_grid(l, &all.first);
  for (int axis = 0; axis < 3; axis++) {
    const int64_t *stride = all.first.stride;
    int64_t s = stride_along(l, stride, axis), alone = s || !(stride[axis] | stride[3 + axis]);
    int64_t threads = alone ? l->extent[axis] * l->extent[3 + axis] : l->extent[axis];
    JoinedIndex index = {axis, alone, alone ? s : stride[axis], threads, all.first.step};
    int64_t most = joined ? 0 : largest_joined_limit(l, lists, n, &index);
    if (!joined && alone && !most) {
      index = (JoinedIndex){axis, false, stride[axis], l->extent[axis], all.first.step};
      most = largest_joined_limit(l, lists, n, &index);
      if (most) alone = false;
    }
    joined |= most != 0;
    if (alone) sides[nsides++] = (Side){s, most ? most : all.most[axis]};
    else {
      sides[nsides++] = (Side){stride[axis], most ? most : all.coordinate[axis]};
      sides[nsides++] = (Side){stride[3 + axis], all.coordinate[3 + axis]};
    }
  }
  return joined && are_separate(sides, nsides, reach, all.modulus);
}

static bool are_all_disjoint(Launch *l, const RaceReaches *const *lists, uint32_t n) {
  l->folds_steps = false;
  if (are_disjoint(l, lists, n, TOGETHER) || are_disjoint(l, lists, n, APART)) return true;
  l->folds_steps = true;
  return are_disjoint(l, lists, n, TOGETHER) || are_disjoint(l, lists, n, IN_ROWS);
}

// --- columns and pieces ---
//
// If all strides are multiples of one number, as in an array of structures, accesses to different
// columns never overlap; nor do accesses to disjoint ranges (pieces) of the memory. Only columns
// and pieces that are written must be disjoint by thread.

enum { MOST_REACHES = 128 };
typedef struct Column {
  const RaceReach *reach;
  int64_t from, bytes;
  uint32_t in;
} Column;

static int64_t gcd_of_strides(const Value *v) {
  int64_t all = gcd(v->modulus, v->step);
  for (unsigned i = 0; i < OF_THREAD; i++) all = gcd(all, v->stride[i]);
  return all;
}

// width: of the row that the columns repeat in; 0: pieces that do not repeat
static bool do_overlap(const Column *a, const Column *b, int64_t width) {
  if (!width) return a->from < b->from + b->bytes && b->from < a->from + a->bytes;
  int64_t d = (b->from - a->from + width) % width;
  return d < a->bytes || width - d < b->bytes;
}

static bool place_of(const Launch *l, const Value *v, int64_t width, Column *c) {
  int64_t high;
  if (width) {
    c->from = (v->low % width + width) % width;
    c->bytes = v->high - v->low + c->reach->bytes;
    return c->bytes < width;
  }
  if (!range(l, v, &c->from, &high)) return false;
  c->bytes = high - c->from + c->reach->bytes;
  return true;
}

// Returns 0 if the accesses are not in columns or pieces
static uint32_t find_columns(const Launch *l, const RaceReaches *const *lists, uint32_t n,
                             bool pieces, Column *out) {
  uint32_t all = 0;
  int64_t width = 0;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < lists[i]->n; k++, all++) {
      if (all == MOST_REACHES) return 0;
      out[all].reach = &lists[i]->list[k];
      const Value *v = &l->values[out[all].reach->address];
      if (memcmp(&v->stride[OF_THREAD], &l->values[out[0].reach->address].stride[OF_THREAD],
                 SAME * sizeof v->stride[0]))
        return 0;
      width = gcd(width, gcd_of_strides(v));
    }
  if (pieces) width = 0;
  else if (width < 2) return 0;
  for (uint32_t i = 0; i < all; i++) {
    out[i].in = i;
    if (!place_of(l, &l->values[out[i].reach->address], width, &out[i])) return 0;
    for (uint32_t k = 0; k < i; k++) {
      if (out[k].in == out[i].in || !do_overlap(&out[k], &out[i], width)) continue;
      for (uint32_t m = 0, was = out[k].in; m < i; m++)  // join the two
        if (out[m].in == was) out[m].in = i;
    }
  }
  return all;
}

static bool are_disjoint_in_columns(Launch *l, const RaceReaches *const *lists, uint32_t n,
                                    bool pieces) {
  Column columns[MOST_REACHES];
  RaceReach some[MOST_REACHES];
  uint32_t all = find_columns(l, lists, n, pieces, columns);
  for (uint32_t in = 0; in < all; in++) {
    RaceReaches one = {.list = some};
    bool written = false;
    for (uint32_t i = 0; i < all; i++) {
      if (columns[i].in != in) continue;
      some[one.n++] = *columns[i].reach;
      written |= columns[i].reach->writes;
    }
    if (written && !are_all_disjoint(l, (const RaceReaches *const[]){&one}, 1)) return false;
  }
  return all != 0;
}

// --- answers that are kept ---
// Programs launch a kernel many times, often with the same dimensions and parameters. Guarded by
// race_lock.

// loops: those whose counters occur, by number modulo MOST_LOOPS
typedef struct Question {
  bool needs[MOST_TERMS];
  unsigned loops;
  uint64_t key;
} Question;

static void mix(Question *q, const void *data, size_t bytes) {
  q->key = base_hash((uint64_t[]){q->key, base_hash(data, bytes)}, 16);
}

static bool has_operands(const RaceTerm *t) {
  switch ((RaceTermOp)t->op) {
    case RACE_ANYTHING:
    case RACE_NUMBER:
    case RACE_PARAMETER:
    case RACE_COORDINATE:
    case RACE_EXTENT: return false;
    default: return true;
  }
}

static void analyse(const Launch *l, const RaceReaches *const *lists, uint32_t n, Question *q) {
  memset(q->needs, 0, l->kernel->nterms);
  q->loops = 0;
  q->key = n;
  mix(q, l->extent, sizeof l->extent);
  mix(q, l->grid, sizeof l->grid);
  mix(q, &(uint64_t){l->same_loops | (uint64_t)l->in_block << 32}, 8);
  for (uint32_t i = 0; i < n; i++) {
    mix(q, lists[i]->list, lists[i]->n * sizeof *lists[i]->list);
    for (uint32_t k = 0; k < lists[i]->n; k++) {
      const RaceReach *r = &lists[i]->list[k];
      q->needs[r->address] = true;
      for (unsigned j = 0; j < r->nlimits; j++)
        q->needs[r->limits[j].less] = q->needs[r->limits[j].than] = true;
    }
  }
  for (uint32_t i = l->kernel->nterms; i-- > 0;) {  // operands come before their users
    const RaceTerm *t = &l->kernel->terms[i];
    if (!q->needs[i]) continue;
    if (has_operands(t)) q->needs[t->a] = q->needs[t->b] = true;
    if (t->op == RACE_STEPS) q->loops |= 1u << t->loop % MOST_LOOPS;
    mix(q, t, sizeof *t);
    Value given = t->op == RACE_PARAMETER ? parameter(l, t) : (Value){0};
    if (t->op == RACE_PARAMETER) mix(q, (int64_t[]){given.low, given.modulus}, 16);
  }
}

static bool prove(Launch *l, const RaceReaches *const *lists, uint32_t n, const Question *q) {
  for (uint32_t i = 0; i < l->kernel->nterms; i++)
    if (q->needs[i]) l->values[i] = evaluate(l, &l->kernel->terms[i]);
  return are_all_disjoint(l, lists, n) || are_disjoint_in_columns(l, lists, n, false) ||
         are_disjoint_in_columns(l, lists, n, true);
}

// The same by enumeration, for groups where threads of one block are compared.
static bool count_threads(Launch *l, const RaceReaches *reaches, const Question *q) {
  static RaceConstant constants[MOST_TERMS];
  RaceEnumeration e = {.kernel = l->kernel,
                       .reaches = reaches,
                       .needs = q->needs,
                       .constants = constants,
                       .extent = {l->extent[0], l->extent[1], l->extent[2]}};
  uint32_t same_loops = l->same_loops;
  l->same_loops = 0;  // all counters are ranges, so that the iterations are known
  l->bounded = ~0u;
  for (uint32_t i = 0; i < l->kernel->nterms; i++) {
    if (!q->needs[i]) continue;
    const RaceTerm *t = &l->kernel->terms[i];
    const Value *v = &l->values[i], *count = &l->values[t->b];
    l->values[i] = evaluate(l, t);
    constants[i] = (RaceConstant){v->low, is_constant(v) && t->op != RACE_COUNT};
    if (t->op != RACE_STEPS || t->loop >= ARRAY_LEN(e.turns)) continue;
    if (!is_constant(count) || count->low < 1 || count->low > UINT16_MAX) return false;
    e.turns[t->loop] = MAX(e.turns[t->loop], (uint32_t)count->low);
    if (same_loops >> t->loop & 1 && t->bytes & RACE_EVERY_TURN) e.lockstep |= 1u << t->loop;
    else {
      same_loops &= ~(1u << t->loop);
      e.lockstep &= ~(1u << t->loop);
    }
  }
  return race_enumerate(&e);
}

static bool are_known_disjoint(Launch *l, const SessionLaunch *launch,
                               const RaceReaches *const *lists, uint32_t n) {
  enum { KEPT = 1 << 16 };
  static Value values[MOST_TERMS];
  static Question q;
  static U64Map answers;  // by key: 1 no, 2 yes
  if (!l->kernel->nterms || l->kernel->nterms > MOST_TERMS) return false;
  for (uint32_t i = 0; i < n; i++)
    if (!lists[i]->n) return false;
  l->values = values;
  for (int axis = 0; axis < 3; axis++) {
    l->extent[axis] = launch->block[axis];
    l->grid[axis] = launch->grid[axis];
    l->extent[3 + axis] = l->in_block ? 1 : launch->grid[axis];
  }
  analyse(l, lists, n, &q);
  uintptr_t known = (uintptr_t)u64map_get(&answers, q.key);
  if (known) return known == 2;
  bool apart = false;
  for (unsigned k = 0; k < 1u << MOST_LOOPS && !apart; k++) {
    l->bounded = ~k;
    apart = !(k & ~q.loops) && prove(l, lists, n, &q);
  }
  if (!apart && l->in_block && n == 1) apart = count_threads(l, lists[0], &q);
  if (answers.len >= KEPT) u64map_free(&answers);
  u64map_put(&answers, q.key, (void *)(uintptr_t)(apart ? 2 : 1));
  return apart;
}

bool race_disjoint(const RaceKernel *kernel, const SessionLaunch *launch,
                   const SessionParams *params, const RaceReaches *const *lists, uint32_t n) {
  Launch l = {.kernel = kernel, .params = params};
  return are_known_disjoint(&l, launch, lists, n);
}

bool race_group_disjoint(const RaceKernel *kernel, const SessionLaunch *launch,
                         const SessionParams *params, const RaceGroup *g) {
  Launch l = {.kernel = kernel, .params = params, .in_block = true, .same_loops = g->same_loops};
  return are_known_disjoint(&l, launch, (const RaceReaches *const[]){&g->reaches}, 1);
}
