// Rehearses one block for all: executes the steps of weave_rehearsal.c for every thread of a block,
// from barrier to barrier, and records which thread accesses which bytes of shared memory. If no
// two threads race here, none do on the device, and nothing needs a check there.
//
// Everything that may happen is assumed to happen. An access whose guard is not known is made. A
// branch that depends on data is followed both ways, up to the reconvergence point. A thread that
// may end goes on. If an address or a number of iterations is not known, the rehearsal fails.
#include "tools/racecheck/host.h"

// Limits on steps: for one question, and for all questions; limit on failed questions of one
// kernel.
enum { MOST_AT_ONCE = 1 << 24, MOST_IN_ALL = 1 << 28, MOST_FAILURES = 4 };
enum { MOST_THREADS = 1024, MOST_NESTED = 6 };
static uint32_t spent;

// object: a variable of shared memory, plus 1; bits: the offset in it. 0: a number
typedef struct Value {
  uint64_t bits;
  uint8_t object;
  bool known;
} Value;

// A copy that was not waited for; group: how many groups were committed before
typedef struct Copy {
  uint32_t first, cells, group;
} Copy;
typedef enum { FAILED, ENDED, AT_BARRIER, ARRIVED } State;
typedef struct Thread {
  uint16_t number;  // from 1 on
  uint32_t index[3], next, groups;
  int64_t barrier;
  State state;
  Value *regs;
  VEC(Copy) copies;
} Thread;

// The threads that access `unit` bytes in this interval: a thread's number, SEVERAL, 0: none. copy:
// the thread that issued a pending copy, in any interval.
enum { SEVERAL = UINT16_MAX };
typedef struct Cell {
  uint32_t interval;
  uint16_t writer, reader, strong_writer, strong_reader, copy;
} Cell;

typedef struct Rehearsal {
  const RaceRehearsal *r;
  const SessionLaunch *launch;
  uint64_t params[RACE_MOST_PARAMS];
  bool given[RACE_MOST_PARAMS];
  Thread *threads;
  uint32_t nthreads, ncells, interval, left;  // left: steps
  Cell *cells;
} Rehearsal;

// --- values ---

static const Value unknown;
static uint64_t cut(uint64_t n, unsigned bits) { return bits < 64 ? n & ((1ull << bits) - 1) : n; }
static int64_t extend(uint64_t n, unsigned bits) {
  return bits < 64 ? (int64_t)(n << (64 - bits)) >> (64 - bits) : (int64_t)n;
}
static Value number(uint64_t n, unsigned bits) { return (Value){cut(n, bits), 0, true}; }

static Value fetch(const Rehearsal *h, const Thread *t, const RaceOperand *o, unsigned bits) {
  switch ((RaceOperandKind)o->kind) {
    case RACE_OPD_REGISTER: {
      Value v = t->regs[o->n];
      if (o->negated) v.bits ^= 1;
      return v;
    }
    case RACE_OPD_NUMBER: return number((uint64_t)o->imm, bits);
    case RACE_OPD_PARAMETER: return h->given[o->n] ? number(h->params[o->n], 64) : unknown;
    case RACE_OPD_VARIABLE: return (Value){(uint64_t)o->imm, (uint8_t)(o->n + 1), true};
    case RACE_OPD_THREAD: return number(t->index[o->n], 32);
    case RACE_OPD_BLOCK_DIM: return number(h->launch->block[o->n], 32);
    case RACE_OPD_GRID_DIM: return number(h->launch->grid[o->n], 32);
    case RACE_OPD_LANE: return number((t->number - 1u) & 31, 32);
    default: return unknown;
  }
}

static Value compare(const RaceStep *s, Value a, Value b, Value with) {
  if (!a.known || !b.known || a.object != b.object) return unknown;
  bool is_signed = s->flags & RACE_STEP_SIGNED || a.object, less, is, same = a.bits == b.bits;
  less = is_signed ? extend(a.bits, s->bits) < extend(b.bits, s->bits) : a.bits < b.bits;
  switch ((RaceCompare)s->compare) {
    case RACE_EQ: is = same; break;
    case RACE_NE: is = !same; break;
    case RACE_LT: is = less; break;
    case RACE_LE: is = less || same; break;
    case RACE_GT: is = !less && !same; break;
    default: is = !less; break;
  }
  if (!(s->flags & (RACE_STEP_HAS_AND | RACE_STEP_HAS_OR | RACE_STEP_HAS_XOR)))
    return number(is, 1);
  if (s->flags & RACE_STEP_HAS_AND && !is) return number(0, 1);
  if (s->flags & RACE_STEP_HAS_OR && is) return number(1, 1);
  if (!with.known) return unknown;
  return number(s->flags & RACE_STEP_HAS_XOR ? is ^ with.bits : with.bits, 1);
}

static Value product(const RaceStep *s, uint64_t a, uint64_t b) {
  bool is_signed = s->flags & RACE_STEP_SIGNED;
  unsigned __int128 all = is_signed ? (unsigned __int128)((__int128)extend(a, s->bits) *
                                                          extend(b, s->bits))
                                    : (unsigned __int128)a * b;
  if (s->flags & RACE_STEP_WIDE) return number((uint64_t)all, 2u * s->bits);
  if (s->flags & RACE_STEP_HIGH) return number((uint64_t)(all >> s->bits), s->bits);
  return number((uint64_t)all, s->bits);
}

static Value quotient(const RaceStep *s, uint64_t a, uint64_t b) {
  bool rest = s->op == RACE_DO_REMAINDER;
  if (!b) return unknown;
  if (!(s->flags & RACE_STEP_SIGNED)) return number(rest ? a % b : a / b, s->bits);
  int64_t x = extend(a, s->bits), y = extend(b, s->bits);
  if (y == -1) return number(rest ? 0 : 0 - (uint64_t)x, s->bits);
  return number((uint64_t)(rest ? x % y : x / y), s->bits);
}

static Value shifted(const RaceStep *s, uint64_t a, uint64_t by) {
  if (s->op == RACE_DO_SHIFT_LEFT) return number(by < s->bits ? a << by : 0, s->bits);
  if (!(s->flags & RACE_STEP_SIGNED)) return number(by < s->bits ? a >> by : 0, s->bits);
  return number((uint64_t)(extend(a, s->bits) >> MIN(by, s->bits - 1u)), s->bits);
}

static Value field(const RaceStep *s, uint64_t a, uint64_t from, uint64_t len) {
  if (s->flags & RACE_STEP_SIGNED || from >= s->bits || len > s->bits) return unknown;
  return number(len ? cut(a >> from, (unsigned)len) : 0, s->bits);
}

static uint64_t looked_up(uint64_t a, uint64_t b, uint64_t c, uint64_t table) {
  uint64_t out = 0;
  for (unsigned i = 0; i < 8; i++)
    if (table >> i & 1) out |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return out;
}

static Value of_numbers(const RaceStep *s, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  unsigned bits = s->bits;
  bool is_signed = s->flags & RACE_STEP_SIGNED,
       less = is_signed ? extend(a, bits) < extend(b, bits) : a < b;
  switch ((RaceStepOp)s->op) {
    case RACE_DO_ADD: return number(a + b, bits);
    case RACE_DO_SUBTRACT: return number(a - b, bits);
    case RACE_DO_MULTIPLY: return product(s, a, b);
    case RACE_DO_MULTIPLY_ADD:
      return number(product(s, a, b).bits + c, s->flags & RACE_STEP_WIDE ? 2 * bits : bits);
    case RACE_DO_DIVIDE:
    case RACE_DO_REMAINDER: return quotient(s, a, b);
    case RACE_DO_LEAST: return number(less ? a : b, bits);
    case RACE_DO_MOST: return number(less ? b : a, bits);
    case RACE_DO_NEGATE: return number(0 - a, bits);
    case RACE_DO_AND: return number(a & b, bits);
    case RACE_DO_OR: return number(a | b, bits);
    case RACE_DO_XOR: return number(a ^ b, bits);
    case RACE_DO_NOT: return number(~a, bits);
    case RACE_DO_SHIFT_LEFT:
    case RACE_DO_SHIFT_RIGHT: return shifted(s, a, b);
    case RACE_DO_FIELD: return field(s, a, b & 255, c & 255);
    case RACE_DO_TABLE: return number(looked_up(a, b, c, d), bits);
    default: return unknown;
  }
}

// Sums with the address of a variable. All other operations on an address give an unknown value,
// since its number is not known.
static Value of_addresses(const RaceStep *s, Value a, Value b, Value c) {
  unsigned bits = s->bits;
  switch ((RaceStepOp)s->op) {
    case RACE_DO_ADD:
      if (a.object && b.object) return unknown;
      return (Value){a.object ? a.bits + (uint64_t)extend(b.bits, bits)
                              : b.bits + (uint64_t)extend(a.bits, bits),
                     a.object ? a.object : b.object, true};
    case RACE_DO_SUBTRACT:
      if (a.object == b.object) return number(a.bits - b.bits, bits);
      if (b.object) return unknown;
      return (Value){a.bits - (uint64_t)extend(b.bits, bits), a.object, true};
    case RACE_DO_MULTIPLY_ADD: {
      if (a.object || b.object) return unknown;
      Value p = product(s, a.bits, b.bits);
      return (Value){c.bits + (uint64_t)extend(p.bits, s->flags & RACE_STEP_WIDE ? 2 * bits : bits),
                     c.object, true};
    }
    default: return unknown;
  }
}

static Value computed(const Rehearsal *h, const Thread *t, const RaceStep *s) {
  unsigned bits = s->bits;
  Value v[4];
  for (int i = 0; i < 4; i++)
    v[i] = s->operand[i].kind
               ? fetch(h, t, &s->operand[i], i == 2 && s->flags & RACE_STEP_WIDE ? 2 * bits : bits)
               : number(0, 64);
  switch ((RaceStepOp)s->op) {
    case RACE_DO_MOVE: return v[0].object || !v[0].known ? v[0] : number(v[0].bits, bits);
    case RACE_DO_CONVERT:
      if (v[0].object) return s->from_bits >= 32 && bits >= 32 ? v[0] : unknown;
      if (!v[0].known) return unknown;
      return number(s->flags & RACE_STEP_SIGNED ? (uint64_t)extend(v[0].bits, s->from_bits)
                                                : cut(v[0].bits, s->from_bits),
                    bits);
    case RACE_DO_SELECT: return v[2].known ? (v[2].bits ? v[0] : v[1]) : unknown;
    case RACE_DO_COMPARE: return compare(s, v[0], v[1], v[2]);
    case RACE_DO_AND:  // one operand may determine the result
      for (int i = 0; i < 2; i++)
        if (v[i].known && !v[i].object && !v[i].bits) return v[i];
      break;
    case RACE_DO_OR:
      for (int i = 0; i < 2 && bits == 1; i++)
        if (v[i].known && v[i].bits) return v[i];
      break;
    default: break;
  }
  bool addresses = false;
  for (int i = 0; i < 4; i++) {
    if (!v[i].known) return unknown;
    addresses |= v[i].object != 0;
  }
  return addresses ? of_addresses(s, v[0], v[1], v[2])
                   : of_numbers(s, v[0].bits, v[1].bits, v[2].bits, v[3].bits);
}

// --- memory ---

static bool is_other(uint16_t who, uint16_t me) { return who && who != me; }
static uint16_t joined(uint16_t who, uint16_t me) { return who && who != me ? SEVERAL : me; }

static Cell *cell_now(Rehearsal *h, uint32_t i) {
  Cell *c = &h->cells[i];
  if (c->interval != h->interval) *c = (Cell){.interval = h->interval, .copy = c->copy};
  return c;
}

// false: it races
static bool take(Rehearsal *h, uint32_t i, uint16_t me, unsigned flags) {
  Cell *c = cell_now(h, i);
  bool writes = flags & RACE_STEP_WRITES, strong = flags & RACE_STEP_STRONG;
  if (c->copy || is_other(c->writer, me)) return false;
  if (!strong && is_other(c->strong_writer, me)) return false;
  if (writes && is_other(c->reader, me)) return false;
  if (writes && !strong && is_other(c->strong_reader, me)) return false;
  uint16_t *who = strong   ? writes ? &c->strong_writer : &c->strong_reader
                  : writes ? &c->writer
                           : &c->reader;
  *who = joined(*who, me);
  return true;
}

static bool ask_for_copy(Rehearsal *h, Thread *t, uint32_t first, uint32_t cells) {
  for (uint32_t i = first; i < first + cells; i++) {
    Cell *c = cell_now(h, i);
    if (c->copy || is_other(c->writer, t->number) || is_other(c->reader, t->number) ||
        is_other(c->strong_writer, t->number) || is_other(c->strong_reader, t->number))
      return false;
    c->copy = t->number;
  }
  vec_push(&t->copies, ((Copy){first, cells, t->groups}));
  return true;
}

// Copies of groups before `group` are complete: from now on they count as writes of this thread.
static void wait_for_copies(Rehearsal *h, Thread *t, uint32_t group) {
  uint32_t kept = 0;
  for (uint32_t n = 0; n < t->copies.len; n++) {
    Copy copy = t->copies.data[n];
    if (copy.group >= group) {
      t->copies.data[kept++] = copy;
      continue;
    }
    for (uint32_t i = copy.first; i < copy.first + copy.cells; i++) {
      Cell *c = cell_now(h, i);
      c->copy = 0;
      c->writer = t->number;
    }
  }
  t->copies.len = kept;
}

// false: it races, or its address is not known
static bool access_memory(Rehearsal *h, Thread *t, const RaceStep *s) {
  const RaceRehearsal *r = h->r;
  Value base = fetch(h, t, &s->operand[0], 64);
  uint32_t lane = (t->number - 1u) & 31;
  if (s->lanes && lane >= s->lanes) return true;
  if (!base.known || !base.object) return false;
  int64_t at = (int64_t)base.bits + s->operand[2].imm;
  if (s->operand[1].kind) {
    Value apart = fetch(h, t, &s->operand[1], 32);
    if (!apart.known || apart.object || apart.bits > UINT16_MAX) return false;
    at += (int64_t)apart.bits * s->from_bits * lane;
  }
  RaceVariable v = r->variables[base.object - 1];
  int64_t size = v.size ? v.size : h->launch->shared;
  if (at < 0 || at + (int64_t)s->bytes > size || at % r->unit) return false;
  uint32_t first = (v.at + (uint32_t)at) / r->unit, cells = s->bytes / r->unit;
  if (s->op == RACE_DO_COPY) return ask_for_copy(h, t, first, cells);
  for (uint32_t i = first; i < first + cells; i++)
    if (!take(h, i, t->number, s->flags)) return false;
  return true;
}

// --- threads ---

static bool only_ends(const RaceRehearsal *r, uint32_t at) {
  for (unsigned i = 0; i < 4; i++) {
    const RaceStep *s = &r->steps[at];
    if (s->guard.kind) return false;
    if (s->op != RACE_DO_JUMP) return s->op == RACE_DO_END;
    at = s->jump;
  }
  return false;
}

static bool is_same(const Value *a, const Value *b) {
  return a->known && b->known && a->bits == b->bits && a->object == b->object;
}

static State run(Rehearsal *h, Thread *t, uint32_t until, unsigned nested);

// Follows both ways of a branch whose condition is not known, up to the reconvergence point.
static State run_both(Rehearsal *h, Thread *t, const RaceStep *s, unsigned nested) {
  const RaceRehearsal *r = h->r;
  uint32_t here = (uint32_t)(s - r->steps);
  if (only_ends(r, s->jump) || only_ends(r, here + 1)) {
    t->next = only_ends(r, s->jump) ? here + 1 : s->jump;
    return ARRIVED;
  }
  if (s->join == UINT32_MAX || nested == MOST_NESTED) return FAILED;
  size_t bytes = r->nregs * sizeof(Value);
  Value *before = mem_alloc(bytes + 1), *after = mem_alloc(bytes + 1);
  memcpy(before, t->regs, bytes);
  t->next = s->jump;
  State first = run(h, t, s->join, nested + 1), second = FAILED;
  memcpy(after, t->regs, bytes);
  memcpy(t->regs, before, bytes);
  t->next = here + 1;
  if (first != FAILED) second = run(h, t, s->join, nested + 1);
  if (second == ENDED) memcpy(t->regs, after, bytes);
  else if (first != ENDED)
    for (uint32_t i = 0; i < r->nregs; i++)
      if (!is_same(&t->regs[i], &after[i])) t->regs[i].known = false;
  free(before);
  free(after);
  t->next = s->join;
  if (first == FAILED || second == FAILED) return FAILED;
  return first == ENDED && second == ENDED ? ENDED : ARRIVED;
}

// Barriers, waits and commits. FAILED: they depend on data
static State follow_order(Rehearsal *h, Thread *t, const RaceStep *s, unsigned nested) {
  if (nested) return FAILED;
  switch ((RaceStepOp)s->op) {
    case RACE_DO_BARRIER: t->barrier = s->operand[0].imm; return AT_BARRIER;
    case RACE_DO_COMMIT: t->groups++; break;
    case RACE_DO_WAIT: {
      uint64_t may_be_left = (uint64_t)s->operand[0].imm;
      wait_for_copies(h, t, t->groups > may_be_left ? t->groups - (uint32_t)may_be_left : 0);
      break;
    }
    default: wait_for_copies(h, t, UINT32_MAX); break;
  }
  return ARRIVED;
}

// Runs from t->next on. ARRIVED: it has reached `until`
static State run(Rehearsal *h, Thread *t, uint32_t until, unsigned nested) {
  while (t->next != until) {
    const RaceStep *s = &h->r->steps[t->next];
    if (!h->left || t->next >= h->r->nsteps) return FAILED;
    h->left--;
    Value guard = s->guard.kind ? fetch(h, t, &s->guard, 1) : number(1, 1);
    if (guard.known && !guard.bits) {
      t->next++;
      continue;
    }
    t->next++;
    State state = ARRIVED;
    switch ((RaceStepOp)s->op) {
      case RACE_DO_LOSE: t->regs[s->to] = unknown; break;
      case RACE_DO_JUMP:
        if (!guard.known) state = run_both(h, t, s, nested);
        else t->next = s->jump;
        break;
      case RACE_DO_END:
        if (guard.known) return ENDED;
        break;
      case RACE_DO_BARRIER:
      case RACE_DO_COMMIT:
      case RACE_DO_WAIT:
      case RACE_DO_WAIT_ALL: state = guard.known ? follow_order(h, t, s, nested) : FAILED; break;
      case RACE_DO_ACCESS:
      case RACE_DO_COPY: state = access_memory(h, t, s) ? ARRIVED : FAILED; break;
      default: t->regs[s->to] = guard.known ? computed(h, t, s) : unknown; break;
    }
    if (state != ARRIVED) return state;
  }
  return ARRIVED;
}

// --- the block ---

// Runs all threads to the next barrier; false: a race, or not known. *more: some threads wait there
static bool run_interval(Rehearsal *h, bool *more) {
  int64_t barrier = -1;
  *more = false;
  h->interval++;
  for (uint32_t i = 0; i < h->nthreads; i++) {
    Thread *t = &h->threads[i];
    if (t->state == ENDED) continue;
    t->state = run(h, t, UINT32_MAX, 0);
    if (t->state == FAILED) return false;
    if (t->state != AT_BARRIER) continue;
    if (*more && t->barrier != barrier) return false;
    barrier = t->barrier;
    *more = true;
  }
  return true;
}

static bool run_block(Rehearsal *h) {
  const uint32_t *block = h->launch->block;
  uint32_t n = 0, nregs = h->r->nregs;
  h->threads = mem_alloc(h->nthreads * sizeof *h->threads);
  h->cells = mem_alloc((h->ncells + 1) * sizeof *h->cells);
  Value *regs = mem_alloc((size_t)h->nthreads * nregs * sizeof *regs + 1);
  for (uint32_t z = 0; z < block[2]; z++)
    for (uint32_t y = 0; y < block[1]; y++)
      for (uint32_t x = 0; x < block[0]; x++, n++)
        h->threads[n] = (Thread){.number = (uint16_t)(n + 1),
                                 .index = {x, y, z},
                                 .state = AT_BARRIER,
                                 .regs = regs + (size_t)n * nregs};
  bool more = true, good = true;
  while (good && more) good = run_interval(h, &more);
  for (uint32_t i = 0; i < h->nthreads; i++) vec_free(&h->threads[i].copies);
  free(h->threads);
  free(h->cells);
  free(regs);
  return good;
}

static void read_params(Rehearsal *h, const SessionParams *params) {
  for (uint32_t i = 0; i < h->r->nparams; i++) {
    const RaceParam *p = &h->r->params[i];
    const char *at = NULL;
    if (params->pointers) {
      at = params->pointers[p->param];
      if (at) at += p->at;
    } else if (params->buffer && (uint64_t)p->buffer_at + p->bytes <= params->buffer_bytes)
      at = (const char *)params->buffer + p->buffer_at;
    h->given[i] = at != NULL;
    if (at) memcpy(&h->params[i], at, p->bytes);
  }
}

// --- answers that are kept, by what they depend on. Guarded by race_lock ---

static uint64_t key_of(const Rehearsal *h) {
  const SessionLaunch *l = h->launch;
  uint64_t parts[] = {h->r->hash,
                      base_hash(l->block, sizeof l->block),
                      h->r->uses_grid ? base_hash(l->grid, sizeof l->grid) : 0,
                      l->shared,
                      base_hash(h->params, h->r->nparams * sizeof h->params[0]),
                      base_hash(h->given, h->r->nparams * sizeof h->given[0])};
  return base_hash(parts, sizeof parts);
}

bool race_rehearse(const RaceRehearsal *r, const SessionLaunch *l, const SessionParams *params) {
  enum { KEPT = 1 << 16, NO = 1, YES };
  static U64Map answers, failures;  // failures: by RaceRehearsal.hash
  Rehearsal h = {.r = r, .launch = l, .left = MOST_AT_ONCE};
  uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
  read_params(&h, params);
  uint64_t key = key_of(&h);
  uintptr_t answer = (uintptr_t)u64map_get(&answers, key),
            failed = (uintptr_t)u64map_get(&failures, r->hash);
  if (answer) return answer == YES;
  if (failed >= MOST_FAILURES || spent > MOST_IN_ALL || !threads || threads > MOST_THREADS ||
      l->cluster[0] * l->cluster[1] * l->cluster[2] > 1)
    return false;
  h.nthreads = (uint32_t)threads;
  h.ncells = (r->bytes + l->shared) / r->unit + 1;
  bool good = run_block(&h);
  spent += MOST_AT_ONCE - h.left;
  if (!good) u64map_put(&failures, r->hash, (void *)(failed + 1));
  if (answers.len >= KEPT) u64map_free(&answers);
  u64map_put(&answers, key, (void *)(uintptr_t)(good ? YES : NO));
  return good;
}
