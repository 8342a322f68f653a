// Decides by enumeration whether the threads of a block access only bytes of their own: computes
// the addresses of all threads, one by one, if host_disjoint.c finds no rule. So the borders of a
// tile that some threads load next to their own element, or the triangle of a decomposition, need
// no check on the device.
//
// Loops that the whole block executes in lockstep have one iteration for all threads: each is a
// case of its own. Other loops may be in any iteration: all of them count.
#include "tools/racecheck/host_enumerate.h"

enum { WINDOW = 1 << 18, MOST_LOOPS = 32 };
// Limits on computed addresses: for one question, and for all questions.
enum { MOST_AT_ONCE = 1 << 18, MOST_IN_ALL = 1 << 26 };
static uint32_t spent;

typedef enum { UNKNOWN, KNOWN, ABSENT } State;  // ABSENT: the loop ends before this iteration
typedef struct Number {
  int64_t value;
  State state;
} Number;

typedef struct Block {
  const RaceEnumeration *e;
  int64_t thread[3];
  uint32_t turn[MOST_LOOPS];
  Number *numbers;  // by term
} Block;

static Number number(int64_t value) { return (Number){value, KNOWN}; }

static Number last_turn(const RaceTerm *t, Number count) {
  if (count.state == KNOWN)
    count.value = MAX(count.value - 1 - (t->bytes & RACE_FEWER ? 1 : 0), (int64_t)0);
  return count;
}

static Number counter(const Block *b, const RaceTerm *t, Number first, Number count) {
  if (t->loop >= MOST_LOOPS || !b->e->turns[t->loop] || first.state != KNOWN)
    return first.state == ABSENT ? first : (Number){0};
  uint32_t turn = b->turn[t->loop];
  Number last = last_turn(t, count);
  if (last.state == KNOWN && turn > last.value) return (Number){.state = ABSENT};
  return number(first.value + t->imm * (int64_t)turn);
}

// The maximal number of iterations, by the distance of the counter from its end.
static Number iterations(const RaceTerm *t, Number d) {
  if (d.state != KNOWN || !t->imm) return (Number){0};
  int64_t step = t->imm < 0 ? -t->imm : t->imm, away = t->imm < 0 ? d.value : -d.value;
  if (t->bytes == RACE_UNTIL) return away < 0 ? (Number){0} : number(away / step + 1);
  if (away < 0) return number(1);
  return number(t->bytes == RACE_BELOW ? (away + step - 1) / step + 1 : away / step + 2);
}

static Number of_two(const RaceTerm *t, int64_t a, int64_t b) {
  int64_t out;
  switch ((RaceTermOp)t->op) {
    case RACE_ADD: return __builtin_add_overflow(a, b, &out) ? (Number){0} : number(out);
    case RACE_SUBTRACT: return __builtin_sub_overflow(a, b, &out) ? (Number){0} : number(out);
    case RACE_MULTIPLY: return __builtin_mul_overflow(a, b, &out) ? (Number){0} : number(out);
    case RACE_AND: return a >= 0 || b >= 0 ? number(a & b) : (Number){0};
    case RACE_OR: return a >= 0 && b >= 0 ? number(a | b) : (Number){0};
    case RACE_SHIFT_RIGHT: return a >= 0 && b >= 0 && b < 63 ? number(a >> b) : (Number){0};
    case RACE_LEAST: return number(MIN(a, b));
    case RACE_MOST: return number(MAX(a, b));
    case RACE_MERGE: return a == b ? number(a) : (Number){0};
    default: return (Number){0};
  }
}

static Number evaluate(const Block *b, uint32_t i) {
  const RaceTerm *t = &b->e->kernel->terms[i];
  if (b->e->constants[i].known) return number(b->e->constants[i].value);
  switch ((RaceTermOp)t->op) {
    case RACE_COORDINATE: return t->imm < 3 ? number(b->thread[t->imm]) : (Number){0};
    case RACE_NUMBER: return number(t->imm);
    case RACE_ANYTHING:
    case RACE_PARAMETER:
    case RACE_EXTENT:
    case RACE_STRIDES: return (Number){0};
    default: break;
  }
  Number x = b->numbers[t->a], y = b->numbers[t->b];
  switch ((RaceTermOp)t->op) {
    case RACE_COUNT: return iterations(t, x);
    case RACE_STEPS: return counter(b, t, x, y);
    case RACE_SIGN_EXTENDED:
      return x.state == KNOWN && (x.value < INT32_MIN || x.value > INT32_MAX) ? (Number){0} : x;
    case RACE_ZERO_EXTENDED:
      return x.state == KNOWN && (x.value < 0 || x.value > UINT32_MAX) ? (Number){0} : x;
    default: break;
  }
  if (x.state == ABSENT || y.state == ABSENT) return (Number){.state = ABSENT};
  return x.state == KNOWN && y.state == KNOWN ? of_two(t, x.value, y.value) : (Number){0};
}

// --- which thread accesses which byte: the thread's number, from 1; 0: none ---

enum { SEVERAL = -1 };
typedef struct Bytes {
  int32_t writer[WINDOW], reader[WINDOW];
  uint32_t from, to;  // the range of nonzero elements
} Bytes;

static void clear(Bytes *m) {
  if (m->from < m->to) {
    memset(m->writer + m->from, 0, (m->to - m->from) * sizeof m->writer[0]);
    memset(m->reader + m->from, 0, (m->to - m->from) * sizeof m->reader[0]);
  }
  m->from = WINDOW;
  m->to = 0;
}

// false: another thread accesses one of these bytes, and one of the two accesses writes.
static bool take(Bytes *m, uint32_t at, uint32_t bytes, int32_t thread, bool writes) {
  m->from = MIN(m->from, at);
  m->to = MAX(m->to, at + bytes);
  for (uint32_t i = at; i < at + bytes; i++) {
    if (m->writer[i] && m->writer[i] != thread) return false;
    if (writes && m->reader[i] && m->reader[i] != thread) return false;
    if (writes) m->writer[i] = thread;
    else m->reader[i] = m->reader[i] && m->reader[i] != thread ? SEVERAL : thread;
  }
  return true;
}

// Whether the access is made. A limit that is not known is assumed to hold.
static bool is_made(const Block *b, const RaceReach *r) {
  for (unsigned i = 0; i < r->nlimits; i++) {
    Number less = b->numbers[r->limits[i].less], than = b->numbers[r->limits[i].than];
    if (less.state == ABSENT || than.state == ABSENT) return false;
    if (less.state == KNOWN && than.state == KNOWN && !r->limits[i].later &&
        less.value >= than.value)
      return false;
  }
  return b->numbers[r->address].state != ABSENT;
}

static bool take_all(const Block *b, Bytes *m, int32_t thread) {
  const RaceEnumeration *e = b->e;
  for (uint32_t i = 0; i < e->kernel->nterms; i++)
    if (e->needs[i]) b->numbers[i] = evaluate(b, i);
  for (uint32_t i = 0; i < e->reaches->n; i++) {
    const RaceReach *r = &e->reaches->list[i];
    Number at = b->numbers[r->address];
    if (!is_made(b, r)) continue;
    if (at.state != KNOWN || at.value < 0 || at.value > WINDOW - (int64_t)r->bytes ||
        !take(m, (uint32_t)at.value, r->bytes, thread, r->writes))
      return false;
  }
  return true;
}

// --- all cases ---

// The next combination of iterations of these loops; false: all have been.
static bool next_turns(Block *b, uint32_t loops) {
  for (uint32_t i = 0; i < MOST_LOOPS; i++) {
    if (!(loops >> i & 1) || !b->e->turns[i]) continue;
    if (++b->turn[i] < b->e->turns[i]) return true;
    b->turn[i] = 0;
  }
  return false;
}

static bool is_within_budget(const RaceEnumeration *e) {
  uint64_t all = (uint64_t)(e->extent[0] * e->extent[1] * e->extent[2]) * e->reaches->n;
  for (uint32_t i = 0; i < MOST_LOOPS && all <= MOST_AT_ONCE; i++)
    if (e->turns[i]) all *= e->turns[i];
  if (all > MOST_AT_ONCE || spent > MOST_IN_ALL) return false;
  spent += (uint32_t)all;
  return true;
}

static bool threads_are_apart(Block *b, Bytes *m) {
  int64_t *thread = b->thread;
  int32_t number_of_thread = 0;
  for (thread[2] = 0; thread[2] < b->e->extent[2]; thread[2]++)
    for (thread[1] = 0; thread[1] < b->e->extent[1]; thread[1]++)
      for (thread[0] = 0; thread[0] < b->e->extent[0]; thread[0]++) {
        number_of_thread++;
        do
          if (!take_all(b, m, number_of_thread)) return false;
        while (next_turns(b, ~b->e->lockstep));
      }
  return true;
}

bool race_enumerate(const RaceEnumeration *e) {
  static Bytes bytes;
  Block b = {.e = e};
  if (!is_within_budget(e)) return false;
  b.numbers = mem_alloc(e->kernel->nterms * sizeof *b.numbers);
  bool apart = true;
  do {
    clear(&bytes);
    apart = threads_are_apart(&b, &bytes);
  } while (apart && next_turns(&b, e->lockstep));
  clear(&bytes);
  free(b.numbers);
  return apart;
}
