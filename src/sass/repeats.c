// Finds whether the addresses that a launch accesses follow from its key alone (sass.h): then a
// launch that was checked need not be checked again.
//
// Values of registers are followed along all paths that the key allows (values.h), until nothing
// changes. What comes from memory is data. A branch that depends on data makes everything that is
// written between it and the place where its paths meet depend on data, too.
#include "sass/paths.h"
#include "sass/values.h"

enum { MOST_LOCAL_WORDS = 4096, STACK_POINTER = 1 };

struct SassProgram {
  SassKernel kernel;
  SassInstruction *code;
  SassEffect *effects;
  uint32_t n;
  SassPaths paths;
  bool has_paths;
  bool stores_generic;  // it may overwrite local memory by other addresses
  bool moves_stack;     // the stack pointer changes after the first block
};

// Where values are: registers, uniform registers, predicates, uniform predicates.
enum {
  REGISTERS = 0,
  UNIFORM_REGISTERS = REGISTERS + 256,
  PREDICATES = UNIFORM_REGISTERS + 64,
  UNIFORM_PREDICATES = PREDICATES + 8,
  PLACES = UNIFORM_PREDICATES + 8
};

// A place that was written under a guard, and is read under the same guard.
typedef struct Guarded {
  SassPredicate guard;  // number SASS_ALWAYS: none
  Value then;           // what it holds where the guard is true
} Guarded;

typedef struct State {
  Value at[PLACES];
  Guarded guarded[PLACES];
} State;

typedef struct Walk {
  const SassProgram *program;
  const SassKey *key;
  State *at;       // of each block, where it begins
  uint8_t *turns;  // how often what is known there changed
  bool *reached, *depends, *go_taken, *go_next, *by_data, *waiting;
  uint32_t *list, waits;  // blocks to go through
  Value local[MOST_LOCAL_WORDS];
  bool local_changed, wild;  // wild: local memory was accessed in a way that is not followed
  // of the block that is gone through
  State now;
  bool dependent, check, failed;
  Error *why;
} Walk;

// --- a program ---

// What concerns the whole kernel.
static void note_instruction(SassProgram *p, uint32_t at, uint32_t first_block_end) {
  enum { LD = 0x180 };
  const SassInstruction *i = &p->code[at];
  SassWritten out = sass_written(i, &p->effects[at]);
  if (p->effects[at].rule == RULE_GENERIC_ACCESS && sass_bits(i, 0, 9) != LD)
    p->stores_generic = true;
  if (!out.uniform && out.first <= STACK_POINTER && out.first + out.n > STACK_POINTER &&
      at >= first_block_end)
    p->moves_stack = true;
}

SassProgram *sass_program_open(const SassKernel *k) {
  enum { FIRST_SM = 90, LAST_SM = 90 };
  if (k->sm < FIRST_SM || k->sm > LAST_SM) return NULL;
  SassProgram *p = mem_alloc(sizeof *p);
  p->kernel = *k;
  p->kernel.code = NULL;
  p->n = (uint32_t)(k->bytes / SASS_BYTES);
  p->code = mem_alloc((p->n + 1) * sizeof *p->code);
  p->effects = mem_alloc((p->n + 1) * sizeof *p->effects);
  for (uint32_t i = 0; i < p->n; i++) {
    sass_decode((const char *)k->code + (size_t)i * SASS_BYTES, k->sm, &p->code[i]);
    p->effects[i] = sass_effect(&p->code[i]);
  }
  p->has_paths = p->n && sass_paths_open(&p->paths, p->code, p->n, k->sm);
  for (uint32_t i = 0; p->has_paths && i < p->n; i++) note_instruction(p, i, p->paths.list[0].end);
  return p;
}

void sass_program_close(SassProgram *p) {
  if (!p) return;
  sass_paths_close(&p->paths);
  free(p->code);
  free(p->effects);
  free(p);
}

// --- reading ---

static bool same_guard(SassPredicate a, SassPredicate b) {
  return a.number == b.number && a.uniform == b.uniform && a.negated == b.negated;
}

static Value read_place(const Walk *w, unsigned place, SassPredicate guard) {
  const Guarded *g = &w->now.guarded[place];
  bool held = g->guard.number != SASS_ALWAYS && same_guard(g->guard, guard);
  return held ? g->then : w->now.at[place];
}

static unsigned place_of_predicate(unsigned number, bool uniform) {
  return (uniform ? UNIFORM_PREDICATES : PREDICATES) + number;
}

static Value read_predicate(const Walk *w, SassPredicate p, SassPredicate guard) {
  if (p.number == SASS_ALWAYS) return value_number(!p.negated);
  Value v = read_place(w, place_of_predicate(p.number, p.uniform), guard);
  return p.negated && value_is_number(v) ? value_number(!v.least) : v;
}

static const SassPredicate no_guard = {.number = SASS_ALWAYS};

static Value read_register(const Walk *w, uint32_t number, bool uniform, SassPredicate guard) {
  return read_place(w, (uniform ? UNIFORM_REGISTERS : REGISTERS) + number, guard);
}

static Value word_value(const SassWord *word) {
  switch (word->kind) {
    case SASS_WORD_NUMBER: return value_number(word->number);
    case SASS_WORD_LOW: return value_of(VALUE_LOW);
    case SASS_WORD_HIGH: return value_of(VALUE_HIGH);
    case SASS_WORD_SAME: return value_of(VALUE_SAME);
    case SASS_WORD_ANY: break;
  }
  return value_of(VALUE_DATA);
}

// A word of constant bank 0: the shape of the launch, facts of the driver, the parameters.
static Value bank_word(const Walk *w, uint32_t offset) {
  const SassProgram *p = w->program;
  const uint32_t shape[] = {w->key->block[0], w->key->block[1], w->key->block[2],
                            w->key->grid[0],  w->key->grid[1],  w->key->grid[2]};
  if (offset < p->kernel.param_base)
    return offset % 4 || offset / 4 >= ARRAY_LEN(shape) ? value_of(VALUE_SAME)
                                                        : value_number(shape[offset / 4]);
  uint32_t word = (offset - p->kernel.param_base) / 4;
  if (word >= w->key->nwords) return value_of(VALUE_DATA);
  Value v = word_value(&w->key->words[word]);
  return offset % 4 ? value_function(v, v) : v;
}

// Variables are other ones in other copies of a module. Bank 2 has the compiler's own constants.
static Value constant(Walk *w, unsigned bank, uint32_t offset) {
  enum { PARAMETERS = 0, COMPILER = 2 };
  if (bank == PARAMETERS) return bank_word(w, offset);
  if (bank == COMPILER) return value_of(VALUE_SAME);
  if (!w->failed) error_set(w->why, "it uses a variable of its module");
  w->failed = true;
  return value_of(VALUE_DATA);
}

// half 1: the upper register of a pair
static Value read_source(Walk *w, SassSource s, unsigned half, SassPredicate guard) {
  switch (s.kind) {
    case SOURCE_NUMBER: return value_number(half ? 0 : s.number);
    case SOURCE_CONSTANT: return constant(w, s.bank, s.index + 4 * half);
    case SOURCE_UNIFORM:
      return s.index + half < SASS_UNIFORM_ZERO ? read_register(w, s.index + half, true, guard)
                                                : value_number(0);
    case SOURCE_REGISTER:
      return s.index + half < SASS_ZERO ? read_register(w, s.index + half, false, guard)
                                        : value_number(0);
  }
  return value_of(VALUE_DATA);
}

// The upper half of a pair that no rule computes with, only follows.
static Value with_half(Walk *w, SassSource s, Value low, SassPredicate guard) {
  Value high = read_source(w, s, 1, guard);
  return value_is_same(low) && value_is_same(high) ? value_of(VALUE_SAME)
                                                   : value_function(low, high);
}

static ValueInputs read_inputs(Walk *w, const SassInstruction *i, const SassEffect *e) {
  SassPredicate guard = sass_guard(i, e);
  Value fixed = value_number(0);
  ValueInputs in = {fixed, fixed, fixed, fixed, fixed, fixed, fixed, false, false, false};
  SassSource a = sass_source(i, e, READ_A), b = sass_source(i, e, READ_B),
             c = sass_source(i, e, READ_C), low = sass_source(i, e, READ_LOW);
  if (e->reads & (READ_A | PAIR_A | READ_SHUFFLED)) in.a = read_source(w, a, 0, guard);
  if (e->reads & PAIR_A) in.a = with_half(w, a, in.a, guard);
  if (e->reads & (READ_B | PAIR_B)) in.b = read_source(w, b, 0, guard);
  if (e->reads & PAIR_B) in.b = with_half(w, b, in.b, guard);
  if (e->reads & (READ_LOW | PAIR_LOW)) in.b = read_source(w, low, 0, guard);
  if (e->reads & PAIR_LOW) in.b = with_half(w, low, in.b, guard);
  if (e->reads & (READ_C | PAIR_C)) in.c = read_source(w, c, 0, guard);
  if (e->reads & PAIR_C) in.c_high = read_source(w, c, 1, guard);
  if (e->reads & READ_SHUFFLED) {
    in.b = read_source(w, sass_shuffled(i, false), 0, guard);
    in.c = read_source(w, sass_shuffled(i, true), 0, guard);
  }
  in.a_negated = a.negated && e->reads & READ_A;
  in.b_negated = b.negated && e->reads & READ_B && b.kind != SOURCE_NUMBER;
  in.c_negated = c.negated && e->reads & (READ_C | PAIR_C);
  if (e->predicates & IN_1) in.in1 = read_predicate(w, sass_predicate(i, e, IN_1), guard);
  if (e->predicates & IN_2) in.in2 = read_predicate(w, sass_predicate(i, e, IN_2), guard);
  if (e->predicates & IN_3) in.in3 = read_predicate(w, sass_predicate(i, e, IN_3), guard);
  return in;
}

// --- writing ---

// A place keeps its old value where the guard is false.
static void write_place(Walk *w, unsigned place, SassPredicate guard, Value v) {
  Guarded *g = &w->now.guarded[place];
  Value *at = &w->now.at[place], held = read_predicate(w, guard, no_guard);
  if (value_is(held, 0)) return;
  if (w->dependent || !value_is_same(held)) v = value_of(VALUE_DATA);
  SassPredicate other = guard;
  other.negated = !guard.negated;
  if (value_is_number(held)) {
    *at = v;
    g->guard.number = SASS_ALWAYS;
  } else if (g->guard.number != SASS_ALWAYS && same_guard(g->guard, other)) {
    *at = value_join(g->then, v);  // it was written where the guard is false, too
    g->guard.number = SASS_ALWAYS;
  } else {
    *at = value_join(*at, v);
    *g = (Guarded){guard, v};
  }
}

static void write_register(Walk *w, uint32_t number, bool uniform, SassPredicate guard, Value v) {
  write_place(w, (uniform ? UNIFORM_REGISTERS : REGISTERS) + number, guard, v);
}

// A guard that changes guards nothing any more.
static void write_predicate(Walk *w, unsigned number, bool uniform, SassPredicate guard, Value v) {
  if (number == SASS_ALWAYS) return;
  unsigned place = place_of_predicate(number, uniform);
  write_place(w, place, guard, v);
  bool guards_itself = guard.number == number && guard.uniform == uniform;
  for (unsigned i = 0; i < PLACES; i++)
    if (w->now.guarded[i].guard.number == number && w->now.guarded[i].guard.uniform == uniform &&
        (i != place || guards_itself))
      w->now.guarded[i].guard.number = SASS_ALWAYS;
}

static void write_results(Walk *w, const SassInstruction *i, const SassEffect *e,
                          const ValueResults *r) {
  SassPredicate guard = sass_guard(i, e);
  SassWritten out = sass_written(i, e);
  for (uint32_t k = 0; k < out.n; k++)
    write_register(w, out.first + k, out.uniform, guard, k ? r->high : r->low);
  bool uniform = e->predicates & OUT_U;
  if (e->predicates & OUT_1)
    write_predicate(w, sass_predicate_written(i, OUT_1), uniform, guard, r->out1);
  if (e->predicates & OUT_2)
    write_predicate(w, sass_predicate_written(i, OUT_2), uniform, guard, r->out2);
}

// --- rules that need more than operands ---

static void fail(Walk *w, const SassInstruction *i, const char *what) {
  if (!w->failed)
    error_set(w->why, "%s (+0x%x)", what, (unsigned)(i - w->program->code) * SASS_BYTES);
  w->failed = true;
}

static ValueResults position(const Walk *w, const SassInstruction *i) {
  enum { LANE = 0x00, THREAD = 0x21, BLOCK = 0x25, ZERO = 0xff, LANES = 32 };
  // window of shared memory, masks of lanes, rank in the cluster
  static const uint8_t fixed[] = {0x2f, 0x30, 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x88};
  unsigned number = sass_bits(i, 72, 8);
  Value v = value_of(VALUE_DATA);
  for (size_t k = 0; k < sizeof fixed; k++)
    if (fixed[k] == number) v = value_of(VALUE_SAME);
  if (number == LANE) v = value_between(0, LANES - 1);
  if (number - THREAD < 3) v = value_between(0, w->key->block[number - THREAD] - 1);
  if (number - BLOCK < 3) v = value_between(0, w->key->grid[number - BLOCK] - 1);
  if (number == ZERO) v = value_number(0);
  return (ValueResults){v, v, v, v};
}

// The words that an index may lead to. If it may be anything: those of the parameter that the
// offset lies in. Where it lies in the last bytes of one, the array may begin in the next, with an
// index that is not 0.
static void indexed_words(const Walk *w, uint32_t offset, Value index, uint32_t *first,
                          uint32_t *end) {
  enum { NEAR = 64, WIDEST = 1 << 16 };
  const SassKey *k = w->key;
  *first = (offset + index.least) / 4;
  *end = index.most < WIDEST ? (offset + index.most) / 4 + 1 : k->nwords;
  if (index.most >= WIDEST) *first = 0;
  for (uint32_t i = 0; index.most >= WIDEST && i < k->nparams; i++) {
    uint32_t begin = k->params[i].offset, behind = begin + k->params[i].bytes;
    if (offset < begin || offset >= behind) continue;
    *first = begin / 4;
    *end = (behind + 3) / 4;
    if (behind - offset < NEAR && i + 1 < k->nparams)
      *end = (k->params[i + 1].offset + k->params[i + 1].bytes + 3) / 4;
  }
  *end = MIN(*end, k->nwords);
  *first = MIN(*first, *end);
}

// The least and the greatest of a number's parts.
static Value parts_of(Value word, unsigned bits) {
  if (!value_is_number(word)) return value_function(word, word);
  Value v = value_of(VALUE_UNSET);
  for (unsigned at = 0; at < 32; at += bits)
    v = value_join(v, value_number(word.least >> at & ((1u << bits) - 1)));
  return v;
}

enum { SIZE_U8, SIZE_S8, SIZE_U16, SIZE_S16, SIZE_WORD, SIZE_PAIR };  // of a load

static ValueResults indexed(const Walk *w, uint32_t offset, Value index, unsigned size) {
  uint32_t first, end, base = w->program->kernel.param_base;
  bool pair = size == SIZE_PAIR;
  ValueResults r = {.low = value_of(VALUE_UNSET), .high = value_of(VALUE_UNSET)};
  indexed_words(w, offset > base ? offset - base : 0, index, &first, &end);
  if (pair) end = MIN(end + 1, w->key->nwords);
  for (uint32_t i = first; i < end; i++) {
    Value v = word_value(&w->key->words[i]);
    if (size == SIZE_U8 || size == SIZE_U16) v = parts_of(v, size == SIZE_U8 ? 8 : 16);
    // a pair is aligned
    if (!pair || i % 2 == 0) r.low = value_join(r.low, v);
    if (pair && i % 2) r.high = value_join(r.high, v);
  }
  return r;
}

// A byte or half word at a place that is known.
static Value part_at(const Walk *w, uint32_t at, unsigned size) {
  Value word = bank_word(w, at & ~3u);
  if (!value_is_number(word) || (size != SIZE_U8 && size != SIZE_U16))
    return value_function(word, word);
  return value_number(word.least >> at % 4 * 8 & (size == SIZE_U8 ? 0xff : 0xffff));
}

static ValueResults load_constant(Walk *w, const SassInstruction *i, const SassEffect *e) {
  unsigned bank = sass_bits(i, 54, 5), size = sass_bits(i, 73, 3);
  uint32_t offset = sass_bits(i, 38, 16);
  Value index = value_number(0);
  if (e->reads & READ_A) index = read_source(w, sass_source(i, e, READ_A), 0, sass_guard(i, e));
  ValueResults r = {.low = value_of(VALUE_DATA), .high = value_of(VALUE_DATA)};
  if (bank) {
    r.low = r.high = constant(w, bank, offset);
    if (!value_is_same(index)) r.low = r.high = value_of(VALUE_DATA);
  } else if (value_is_number(index)) {
    uint32_t at = offset + index.least;
    r.low = size < SIZE_WORD ? part_at(w, at, size) : bank_word(w, at);
    r.high = bank_word(w, at + 4);
  } else if (value_is_same(index)) {
    r = indexed(w, offset, index, size);
  }
  r.out1 = r.out2 = r.low;
  if (size == SIZE_S8 || size == SIZE_S16) r.low = value_function(r.low, r.low);
  return r;
}

// --- local memory: the words of the stack frame, for the whole kernel at once ---

// The word of the frame that is accessed; MOST_LOCAL_WORDS: not known.
static uint32_t local_word(const SassInstruction *i) {
  int32_t offset = (int32_t)((uint32_t)(i->low >> 40) << 8) >> 8;
  bool by_uniform = sass_bits(i, 91, 1);
  if (sass_bits(i, 24, 8) != STACK_POINTER || by_uniform || offset < 0 || offset % 4)
    return MOST_LOCAL_WORDS;
  return MIN((uint32_t)offset / 4, (uint32_t)MOST_LOCAL_WORDS);
}

static void local_store(Walk *w, const SassInstruction *i, const SassEffect *e) {
  uint32_t first = local_word(i), from = sass_bits(i, 32, 8), n = sass_width(i);
  SassPredicate guard = sass_guard(i, e);
  if (value_is(read_predicate(w, guard, no_guard), 0)) return;
  if (first + n > MOST_LOCAL_WORDS || sass_bits(i, 73, 3) < 4) {
    w->wild = true;
    return;
  }
  for (uint32_t k = 0; k < n; k++) {
    Value v = from + k < SASS_ZERO ? read_register(w, from + k, false, guard) : value_number(0);
    if (w->dependent) v = value_of(VALUE_DATA);
    Value joined = value_join(w->local[first + k], v);
    if (value_equals(joined, w->local[first + k])) continue;
    w->local[first + k] = value_is_same(joined) && w->local[first + k].kind != VALUE_UNSET
                              ? value_of(VALUE_SAME)
                              : joined;
    w->local_changed = true;
  }
}

static void local_load(Walk *w, const SassInstruction *i, const SassEffect *e) {
  SassWritten out = sass_written(i, e);
  uint32_t first = local_word(i);
  bool known = first + out.n <= MOST_LOCAL_WORDS && !w->wild && !w->program->stores_generic &&
               !w->program->moves_stack && sass_bits(i, 73, 3) >= 4;
  for (uint32_t k = 0; k < out.n; k++)
    write_register(w, out.first + k, false, sass_guard(i, e),
                   known ? w->local[first + k] : value_of(VALUE_DATA));
}

// --- accesses to global memory ---

// A load and a generic load have their uniform register elsewhere than others.
static uint32_t uniform_of_access(const SassInstruction *i) {
  enum { LD = 0x180, LDG = 0x181 };
  unsigned number = sass_bits(i, 0, 9);
  return number == LD || number == LDG ? sass_bits(i, 32, 6) : sass_bits(i, 64, 6);
}

// Half of an address: a sum of at most one pointer and of what is the same.
static bool is_known(Value a, Value b, ValueKind pointer) {
  bool a_pointer = a.kind == pointer, b_pointer = b.kind == pointer;
  return (a_pointer || value_is_same(a)) && (b_pointer || value_is_same(b)) &&
         !(a_pointer && b_pointer);
}

static void check_access(Walk *w, const SassInstruction *i, const SassEffect *e) {
  SassPredicate guard = sass_guard(i, e);
  bool has_uniform = sass_bits(i, 91, 1), pair = !has_uniform || sass_bits(i, 90, 1);
  uint32_t a = sass_bits(i, 24, 8), u = uniform_of_access(i);
  enum { ADDED_TO_SHARED = 6 };
  if (e->rule == RULE_ACCESS_TO_SHARED) {
    has_uniform = has_uniform && sass_bits(i, 9, 3) != ADDED_TO_SHARED;
    pair = true;
  }
  Value zero = value_number(0), low = zero, high = zero, ulow = zero, uhigh = zero;
  if (a != SASS_ZERO) low = read_register(w, a, false, guard);
  if (a != SASS_ZERO && pair) high = read_register(w, a + 1, false, guard);
  if (has_uniform && u != SASS_UNIFORM_ZERO) {
    ulow = read_register(w, u, true, guard);
    if (u + 1 < SASS_UNIFORM_ZERO) uhigh = read_register(w, u + 1, true, guard);
  }
  Value held = read_predicate(w, guard, no_guard);
  if (value_is(held, 0)) return;
  if (w->dependent || !value_is_same(held)) fail(w, i, "data decide whether it accesses memory");
  else if (e->rule == RULE_ACCESS_TO_SHARED &&
           !value_is_same(read_predicate(w, sass_predicate(i, e, IN_1), guard)))
    fail(w, i, "data decide whether it copies memory");
  else if (!is_known(low, ulow, VALUE_LOW) || !is_known(high, uhigh, VALUE_HIGH))
    fail(w, i, "an address depends on data");
}

// --- instructions, blocks ---

static void unpack(Walk *w, const SassInstruction *i, const SassEffect *e, Value v) {
  unsigned mask = sass_bits(i, 32, 8);
  for (unsigned p = 0; p < SASS_ALWAYS; p++)
    if (mask >> p & 1)
      write_predicate(w, p, e->predicates & OUT_U, sass_guard(i, e), value_function(v, v));
}

static Value pack(Walk *w, const SassInstruction *i, const SassEffect *e, Value v) {
  unsigned mask = sass_bits(i, 32, 8);
  v = value_function(v, v);
  for (unsigned k = 0; k < SASS_ALWAYS; k++)
    if (mask >> k & 1)
      v = value_function(
          v, read_place(w, place_of_predicate(k, e->predicates & IN_U), sass_guard(i, e)));
  return v;
}

static void step(Walk *w, const SassInstruction *i, const SassEffect *e) {
  ValueResults r;
  ValueInputs in;
  switch (e->rule) {
    case RULE_NOTHING:
    case RULE_BRANCH:
    case RULE_UNKNOWN: return;
    case RULE_LOCAL_STORE: local_store(w, i, e); return;
    case RULE_LOCAL_LOAD: local_load(w, i, e); return;
    case RULE_POSITION: r = position(w, i); break;
    case RULE_CONSTANT: r = load_constant(w, i, e); break;
    case RULE_ACCESS:
    case RULE_GENERIC_ACCESS:
    case RULE_ACCESS_TO_SHARED:
      if (w->check) check_access(w, i, e);
      r.low = r.high = r.out1 = r.out2 = value_of(VALUE_DATA);
      break;
    case RULE_UNPACK:
      in = read_inputs(w, i, e);
      unpack(w, i, e, in.a);
      return;
    case RULE_PACK:
      in = read_inputs(w, i, e);
      r.low = r.high = r.out1 = r.out2 = pack(w, i, e, in.a);
      break;
    default:
      in = read_inputs(w, i, e);
      r = value_compute(i, e, &in);
      break;
  }
  write_results(w, i, e, &r);
}

// The condition of a branch or an exit.
static Value condition(Walk *w, const SassInstruction *i, const SassEffect *e) {
  enum { UNIFORM_FORM = 2 };
  SassPredicate guarding = sass_guard(i, e);
  Value guard = read_predicate(w, guarding, no_guard), v;
  if (i->name != SASS_BRA && i->name != SASS_EXIT) return guard;
  SassPredicate p = sass_predicate(i, e, IN_1);
  if (i->name == SASS_BRA && sass_bits(i, 9, 3) == UNIFORM_FORM)
    p = (SassPredicate){(uint8_t)sass_bits(i, 24, 3), true, sass_bits(i, 27, 1)};
  v = read_predicate(w, p, guarding);
  // BRA.DIV: whether lanes have diverged does not change what they access
  if (i->name == SASS_BRA && sass_bits(i, 91, 1) && sass_bits(i, 9, 3) != UNIFORM_FORM)
    v = value_of(VALUE_SAME);
  if (value_is(guard, 0) || value_is(v, 0)) return value_number(0);
  if (value_is_number(guard)) return v;
  return value_is_number(v) ? value_function(guard, guard) : value_function(guard, v);
}

static void wait_for(Walk *w, uint32_t block) {
  if (w->waiting[block]) return;
  w->waiting[block] = true;
  w->list[w->waits++] = block;
}

// Ranges that go on growing become all numbers.
static bool merge_value(Value *to, Value from, bool widen) {
  Value v = value_join(*to, from);
  if (value_equals(v, *to)) return false;
  *to = widen && value_is_same(v) ? value_of(VALUE_SAME) : v;
  return true;
}

static bool merge_guarded(Guarded *to, const Guarded *from, bool widen) {
  if (to->guard.number == SASS_ALWAYS) return false;
  if (from->guard.number != SASS_ALWAYS && same_guard(to->guard, from->guard))
    return merge_value(&to->then, from->then, widen);
  to->guard.number = SASS_ALWAYS;
  return true;
}

static void go_to(Walk *w, uint32_t block) {
  enum { MOST_TURNS = 6 };
  bool changed = !w->reached[block], widen = w->turns[block] >= MOST_TURNS;
  if (changed) {
    w->at[block] = w->now;
    w->reached[block] = true;
  } else {
    for (unsigned i = 0; i < PLACES; i++) {
      changed |= merge_value(&w->at[block].at[i], w->now.at[i], widen);
      changed |= merge_guarded(&w->at[block].guarded[i], &w->now.guarded[i], widen);
    }
  }
  if (!changed) return;
  if (!widen) w->turns[block]++;
  wait_for(w, block);
}

static void go_through(Walk *w, uint32_t block) {
  const SassBlock *b = &w->program->paths.list[block];
  const SassInstruction *last = &w->program->code[b->end - 1];
  const SassEffect *e = &w->program->effects[b->end - 1];
  w->now = w->at[block];
  w->dependent = w->depends[block];
  for (uint32_t i = b->first; i < b->end && !w->failed; i++)
    step(w, &w->program->code[i], &w->program->effects[i]);
  if (b->how == END_UNKNOWN && w->check) fail(w, last, "it jumps to an address that is not known");
  if (b->how == END_FALLS) w->go_next[block] = true;
  if (b->how == END_BRANCH || b->how == END_EXIT) {
    Value v = condition(w, last, e);
    if (!value_is(v, 0)) w->go_taken[block] = true;
    if (!value_is(v, 1)) w->go_next[block] = true;
    w->by_data[block] = v.kind == VALUE_DATA || v.kind == VALUE_LOW || v.kind == VALUE_HIGH;
  }
  if (w->check) return;
  if (w->go_taken[block] && b->taken != SASS_NO_BLOCK) go_to(w, b->taken);
  if (w->go_next[block] && b->next != SASS_NO_BLOCK) go_to(w, b->next);
}

static void settle(Walk *w) {
  uint32_t n = w->program->paths.n;
  while (!w->failed && w->waits) {
    w->local_changed = false;
    bool was_wild = w->wild;
    while (w->waits && !w->failed) {
      uint32_t block = w->list[--w->waits];
      w->waiting[block] = false;
      go_through(w, block);
    }
    if (w->local_changed || w->wild != was_wild)
      for (uint32_t i = 0; i < n; i++)
        if (w->reached[i]) wait_for(w, i);
  }
}

// Marks what lies between a branch that depends on data and the place where its paths meet.
static void mark_dependent(Walk *w, uint32_t from, uint32_t join) {
  const SassPaths *p = &w->program->paths;
  uint32_t *stack = mem_alloc((2 * (size_t)p->n + 2) * sizeof *stack), depth = 0;
  bool *seen = mem_alloc(p->n + 1);
  const SassBlock *b = &p->list[from];
  if (b->taken != SASS_NO_BLOCK && w->go_taken[from]) stack[depth++] = b->taken;
  if (b->next != SASS_NO_BLOCK && w->go_next[from]) stack[depth++] = b->next;
  while (depth) {
    uint32_t i = stack[--depth];
    if (i == join || seen[i]) continue;
    seen[i] = true;
    if (!w->depends[i]) {
      w->depends[i] = true;
      wait_for(w, i);
    }
    b = &p->list[i];
    if (b->taken != SASS_NO_BLOCK && w->go_taken[i]) stack[depth++] = b->taken;
    if (b->next != SASS_NO_BLOCK && w->go_next[i]) stack[depth++] = b->next;
  }
  free(stack);
  free(seen);
}

static void mark_all_dependent(Walk *w) {
  uint32_t n = w->program->paths.n;
  uint32_t *joins = mem_alloc((n + 1) * sizeof *joins);
  sass_joins(&w->program->paths, w->go_taken, w->go_next, joins);
  for (uint32_t i = 0; i < n; i++)
    if (w->reached[i] && w->by_data[i]) mark_dependent(w, i, joins[i]);
  free(joins);
}

static void check_all(Walk *w) {
  w->check = true;
  for (uint32_t i = 0; i < w->program->paths.n && !w->failed; i++)
    if (w->reached[i]) go_through(w, i);
  w->check = false;
}

bool sass_repeats(const SassProgram *p, const SassKey *key, Error *why) {
  if (!p->has_paths)
    return error_set(why, "its code is too large, or its functions call functions");
  uint32_t n = p->paths.n;
  Walk *w = mem_alloc(sizeof *w);
  bool *flags = mem_alloc(6 * ((size_t)n + 1));
  *w = (Walk){.program = p,
              .key = key,
              .at = mem_alloc(n * sizeof *w->at),
              .turns = mem_alloc(n),
              .reached = flags,
              .depends = flags + n,
              .go_taken = flags + 2 * (size_t)n,
              .go_next = flags + 3 * (size_t)n,
              .by_data = flags + 4 * (size_t)n,
              .waiting = flags + 5 * (size_t)n,
              .list = mem_alloc((n + 1) * sizeof *w->list),
              .why = why};
  for (unsigned i = 0; i < PLACES; i++) w->now.guarded[i].guard.number = SASS_ALWAYS;
  go_to(w, 0);
  while (w->waits && !w->failed) {
    settle(w);
    if (!w->failed) check_all(w);
    if (!w->failed) mark_all_dependent(w);
  }
  bool repeats = !w->failed;
  free(w->at);
  free(w->turns);
  free(w->list);
  free(flags);
  free(w);
  return repeats;
}
