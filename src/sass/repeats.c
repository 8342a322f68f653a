// Finds whether the addresses that a launch accesses follow from its key alone (sass.h): then a
// launch that was checked need not be checked again.
//
// Values of registers are followed along all paths that the key allows (values.h), until nothing
// changes. What comes from memory is data. A branch that depends on data makes everything that is
// written between it and the place where its paths meet depend on data, too.
#include "sass/paths.h"
#include "sass/places.h"

enum { STACK_POINTER = 1, NO_PLACE = 0xffff };

struct SassProgram {
  SassKernel kernel;
  SassInstruction *code;
  SassEffect *effects;
  uint32_t n;
  SassPaths paths;
  bool has_paths;
  bool moves_stack;  // the stack pointer changes after the first block
  unsigned places;   // that it uses: fewer than there are, without local memory
};

typedef struct Walk {
  const SassProgram *program;
  const SassKey *key;
  Place *at;  // of each block, where it begins: as many places as the program uses
  Implied implied;
  uint8_t *turns;  // how often what is known there changed
  bool *reached, *depends, *go_taken, *go_next, *by_data, *waiting;
  uint32_t *list, waits;  // blocks to go through
  bool **changes;  // of the first block of a loop that data repeat: what the loop writes; else NULL
  bool wild;       // local memory was accessed in a way that is not followed
  // of the block that is gone through
  Place *now;
  bool dependent, check, failed;
  Error *why;
} Walk;

// --- a program ---

// The first word that is accessed, as a place; NO_PLACE: not known.
static unsigned local_word(const SassInstruction *i) {
  enum { LEAST_WORD = 4 };
  int32_t offset = (int32_t)((uint32_t)(i->low >> 40) << 8) >> 8;
  bool by_uniform = sass_bits(i, 91, 1), is_part = sass_bits(i, 73, 3) < LEAST_WORD;
  if (sass_bits(i, 24, 8) != STACK_POINTER || by_uniform || is_part || offset < 0 || offset % 4)
    return NO_PLACE;
  unsigned word = (unsigned)offset / 4;
  return word + sass_width(i) <= MOST_LOCAL_WORDS ? LOCAL_WORDS + word : NO_PLACE;
}

// Does the stack pointer change after the first block?
static bool moves_stack(const SassProgram *p) {
  for (uint32_t at = p->paths.list[0].end; at < p->n; at++) {
    SassWritten out = sass_written(&p->code[at], &p->effects[at]);
    if (!out.uniform && out.first <= STACK_POINTER && out.first + out.n > STACK_POINTER)
      return true;
  }
  return false;
}

static unsigned count_places(const SassProgram *p) {
  unsigned n = LOCAL_WORDS;
  for (uint32_t i = 0; i < p->n; i++) {
    bool local = p->effects[i].rule == RULE_LOCAL_LOAD || p->effects[i].rule == RULE_LOCAL_STORE;
    unsigned place = local ? local_word(&p->code[i]) : NO_PLACE;
    if (place != NO_PLACE) n = MAX(n, place + sass_width(&p->code[i]));
  }
  return n;
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
  p->moves_stack = p->has_paths && moves_stack(p);
  p->places = count_places(p);
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

static const SassPredicate no_guard = {.number = SASS_ALWAYS};

static Condition condition_of(const Walk *w, SassPredicate p) {
  if (p.number == SASS_ALWAYS) return 0;
  Condition c = w->now[place_of_predicate(p.number, p.uniform)].value.condition;
  return p.negated ? -c : c;
}

static Value read_place(const Walk *w, unsigned place, SassPredicate guard) {
  return place_read(&w->now[place], condition_of(w, guard), &w->implied);
}

static Value read_predicate(const Walk *w, SassPredicate p, SassPredicate guard) {
  if (p.number == SASS_ALWAYS) return value_number(!p.negated);
  Value v = read_place(w, place_of_predicate(p.number, p.uniform), guard);
  if (!p.negated) return v;
  if (value_is_number(v)) return value_number(!v.least);
  if (v.kind == VALUE_CARRY) return value_of(VALUE_DATA);
  v.condition = -v.condition;
  return v;
}

static Value read_register(const Walk *w, uint32_t number, bool uniform, SassPredicate guard) {
  return read_place(w, place_of_register(number, uniform), guard);
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

static void write_place(Walk *w, unsigned place, SassPredicate guard, Value v) {
  Value held = read_predicate(w, guard, no_guard);
  if (w->dependent || !value_is_same(held)) v = value_of(VALUE_DATA);
  place_write(&w->now[place], v, condition_of(w, guard), held);
}

static void write_register(Walk *w, uint32_t number, bool uniform, SassPredicate guard, Value v) {
  write_place(w, place_of_register(number, uniform), guard, v);
}

// Of each instruction two, for its two predicates; then one for each predicate of each block.
static Condition condition_of_result(const Walk *w, const SassInstruction *i, unsigned which) {
  return 1 + 2 * (Condition)(i - w->program->code) + (which == OUT_2);
}

// What follows from a predicate that three others were combined to.
static void follow_table(Walk *w, Condition c, const ValueInputs *in, unsigned table) {
  const Value *p[] = {&in->in1, &in->in2, &in->in3};
  for (unsigned k = 0; k < 3; k++) {
    if (!p[k]->condition || value_is_number(*p[k])) continue;
    for (unsigned outcome = 0; outcome < 2; outcome++)
      for (unsigned value = 0; value < 2; value++) {
        bool possible = false;  // this outcome, where the input has this value
        for (unsigned entry = 0; entry < 8; entry++)
          if ((table >> entry & 1) == outcome && (entry >> (2 - k) & 1) == value) possible = true;
        Condition input = value ? -p[k]->condition : p[k]->condition;
        if (!possible) implied_add(&w->implied, outcome ? c : -c, input);
      }
  }
}

// A new condition, and what follows from it.
static Condition new_condition(Walk *w, const SassInstruction *i, const SassEffect *e,
                               const ValueInputs *in, unsigned which) {
  enum { AND = 0, OR = 1 };
  Condition c = condition_of_result(w, i, which);
  places_forget(w->now, w->program->places, c, &w->implied);
  implied_clear(&w->implied, c);
  unsigned operation = sass_bits(i, 74, 2), table = sass_bits(i, 16, 8);
  if (which == OUT_1) table = sass_bits(i, 72, 5) << 3 | sass_bits(i, 64, 3);
  if (e->rule == RULE_PREDICATE_LOGIC) follow_table(w, c, in, table);
  if (e->rule == RULE_COMPARISON && operation == AND)
    implied_add(&w->implied, c, in->in1.condition);
  if (e->rule == RULE_COMPARISON && operation == OR)
    implied_add(&w->implied, -c, -in->in1.condition);
  return c;
}

// A register that keeps a predicate is compared with 0: the predicate's condition, or 0.
static Condition kept_condition(const SassInstruction *i, const SassEffect *e,
                                const ValueInputs *in, unsigned which) {
  enum { AND = 0, EQUAL = 2, NOT_EQUAL = 5 };
  unsigned wanted = sass_bits(i, 76, 3);
  bool plain = e->rule == RULE_COMPARISON && sass_bits(i, 74, 2) == AND && value_is(in->in1, 1) &&
               !sass_bits(i, 72, 1) && value_is(in->b, 0);
  if (!plain || (wanted != EQUAL && wanted != NOT_EQUAL)) return 0;
  return (wanted == NOT_EQUAL) == (which == OUT_1) ? in->a.condition : -in->a.condition;
}

static void write_predicate(Walk *w, unsigned number, bool uniform, SassPredicate guard, Value v) {
  if (number != SASS_ALWAYS) write_place(w, place_of_predicate(number, uniform), guard, v);
}

static void write_outcome(Walk *w, const SassInstruction *i, const SassEffect *e,
                          const ValueInputs *in, unsigned which, Value v) {
  unsigned number = sass_predicate_written(i, which);
  if (!(e->predicates & which) || number == SASS_ALWAYS) return;
  v.condition = in ? kept_condition(i, e, in, which) : 0;
  if (!v.condition && in && value_is_same(v) && !value_is_number(v))
    v.condition = new_condition(w, i, e, in, which);
  write_predicate(w, number, e->predicates & OUT_U, sass_guard(i, e), v);
}

// in: NULL where results do not follow from operands alone
static void write_results(Walk *w, const SassInstruction *i, const SassEffect *e,
                          const ValueInputs *in, const ValueResults *r) {
  SassWritten out = sass_written(i, e);
  for (uint32_t k = 0; k < out.n; k++)
    write_register(w, out.first + k, out.uniform, sass_guard(i, e), k ? r->high : r->low);
  write_outcome(w, i, e, in, OUT_1, r->out1);
  write_outcome(w, i, e, in, OUT_2, r->out2);
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
    if (size == SIZE_S8 || size == SIZE_S16) v = value_function(v, v);
    // a pair is aligned
    if (!pair || i % 2 == 0) r.low = value_join(r.low, v);
    if (pair && i % 2) r.high = value_join(r.high, v);
  }
  return r;
}

// A byte or half word at a place that is known.
static Value part_at(const Walk *w, uint32_t at, unsigned size) {
  Value word = bank_word(w, at & ~3u);
  if (!value_is_number(word)) return value_function(word, word);
  uint32_t n = word.least >> at % 4 * 8;
  switch (size) {
    case SIZE_U8: return value_number((uint8_t)n);
    case SIZE_S8: return value_number((uint32_t)(int8_t)n);
    case SIZE_U16: return value_number((uint16_t)n);
    default: return value_number((uint32_t)(int16_t)n);
  }
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
  return r;
}

// --- local memory: words of the stack frame ---

static void local_store(Walk *w, const SassInstruction *i, const SassEffect *e) {
  unsigned place = local_word(i), from = sass_bits(i, 32, 8);
  SassPredicate guard = sass_guard(i, e);
  if (value_is(read_predicate(w, guard, no_guard), 0)) return;
  if (place == NO_PLACE) w->wild = true;
  for (unsigned k = 0; place != NO_PLACE && k < sass_width(i); k++)
    write_place(w, place + k, guard,
                from + k < SASS_ZERO ? read_register(w, from + k, false, guard) : value_number(0));
}

static void local_load(Walk *w, const SassInstruction *i, const SassEffect *e) {
  SassPredicate guard = sass_guard(i, e);
  SassWritten out = sass_written(i, e);
  unsigned place = local_word(i);
  bool known = place != NO_PLACE && !w->wild && !w->program->moves_stack;
  for (uint32_t k = 0; k < out.n; k++)
    write_register(w, out.first + k, false, guard,
                   known ? read_place(w, place + k, guard) : value_of(VALUE_DATA));
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
  bool a_pointer = a.kind == pointer || a.kind == VALUE_HALF,
       b_pointer = b.kind == pointer || b.kind == VALUE_HALF;
  return (a_pointer || value_is_same(a)) && (b_pointer || value_is_same(b)) &&
         !(a_pointer && b_pointer);
}

typedef struct Address {
  Value low, high, uniform_low, uniform_high;
} Address;

static Address address_of(const Walk *w, const SassInstruction *i, const SassEffect *e) {
  enum { ADDED_TO_SHARED = 6 };
  SassPredicate guard = sass_guard(i, e);
  bool to_shared = e->rule == RULE_ACCESS_TO_SHARED;
  bool has_uniform = sass_bits(i, 91, 1) && !(to_shared && sass_bits(i, 9, 3) == ADDED_TO_SHARED);
  bool pair = to_shared || !sass_bits(i, 91, 1) || sass_bits(i, 90, 1);
  uint32_t a = sass_bits(i, 24, 8), u = uniform_of_access(i);
  Value zero = value_number(0);
  Address at = {zero, zero, zero, zero};
  if (a != SASS_ZERO) at.low = read_register(w, a, false, guard);
  if (a != SASS_ZERO && pair) at.high = read_register(w, a + 1, false, guard);
  if (!has_uniform || u == SASS_UNIFORM_ZERO) return at;
  at.uniform_low = read_register(w, u, true, guard);
  if (u + 1 < SASS_UNIFORM_ZERO) at.uniform_high = read_register(w, u + 1, true, guard);
  return at;
}

static void check_access(Walk *w, const SassInstruction *i, const SassEffect *e) {
  SassPredicate guard = sass_guard(i, e);
  Value held = read_predicate(w, guard, no_guard);
  if (value_is(held, 0)) return;
  Address at = address_of(w, i, e);
  if (w->dependent || !value_is_same(held)) fail(w, i, "data decide whether it accesses memory");
  else if (e->rule == RULE_ACCESS_TO_SHARED &&
           !value_is_same(read_predicate(w, sass_predicate(i, e, IN_1), guard)))
    fail(w, i, "data decide whether it copies memory");
  else if (!is_known(at.low, at.uniform_low, VALUE_LOW) ||
           !is_known(at.high, at.uniform_high, VALUE_HIGH))
    fail(w, i, "an address depends on data");
}

// A generic address with no pointer of a parameter in it may be one of local memory. With one it is
// not: an access outside of the pointer's allocation is no model for others.
static void note_generic(Walk *w, const SassInstruction *i, const SassEffect *e) {
  enum { LD = 0x180 };
  Address at = address_of(w, i, e);
  if (sass_bits(i, 0, 9) != LD && value_is_same(at.low) && value_is_same(at.uniform_low))
    w->wild = true;
}

// --- instructions, blocks ---

// Predicates in a byte of a register.
static void unpack(Walk *w, const SassInstruction *i, const SassEffect *e, Value v) {
  unsigned mask = sass_bits(i, 32, 8), byte = sass_bits(i, 76, 2) * 8;
  uint32_t data = value_data_bits(v) >> byte;
  for (unsigned p = 0; p < SASS_ALWAYS; p++)
    if (mask >> p & 1)
      write_predicate(w, p, e->predicates & OUT_U, sass_guard(i, e),
                      value_of(data >> p & 1 ? VALUE_DATA : VALUE_SAME));
}

static Value pack(Walk *w, const SassInstruction *i, const SassEffect *e, Value v) {
  unsigned mask = sass_bits(i, 32, 8), byte = sass_bits(i, 76, 2) * 8;
  uint32_t data = value_data_bits(v) & ~((uint32_t)mask << byte);
  bool only_one = value_is(v, 0) && mask && !(mask & (mask - 1));
  Condition condition = 0;
  for (unsigned k = 0; k < SASS_ALWAYS; k++) {
    if (!(mask >> k & 1)) continue;
    Value p = read_place(w, place_of_predicate(k, e->predicates & IN_U), sass_guard(i, e));
    if (only_one && p.kind == VALUE_CARRY) return p;
    if (only_one) condition = p.condition;
    if (value_data_bits(p)) data |= 1u << (byte + k);
  }
  v = value_with_data_bits(data);
  v.condition = condition;
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
      if (e->rule == RULE_GENERIC_ACCESS) note_generic(w, i, e);
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
      write_results(w, i, e, &in, &r);
      return;
  }
  write_results(w, i, e, NULL, &r);
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

static void go_to(Walk *w, uint32_t block) {
  enum { MOST_TURNS = 6 };
  unsigned n = w->program->places;
  Place *at = w->at + (size_t)block * n;
  bool changed = !w->reached[block], widen = w->turns[block] >= MOST_TURNS;
  if (changed) {
    memcpy(at, w->now, n * sizeof *at);
    w->reached[block] = true;
  } else {
    changed = places_merge(at, w->now, n, widen);
  }
  if (!changed) return;
  if (!widen) w->turns[block]++;
  wait_for(w, block);
}

// A predicate whose condition is not known where a block begins gets one of the block.
static void name_conditions(Walk *w, uint32_t block) {
  enum { OF_A_BLOCK = LOCAL_WORDS - PREDICATES };
  Condition first = 1 + 2 * (Condition)w->program->n + OF_A_BLOCK * (Condition)block;
  for (unsigned k = 0; k < OF_A_BLOCK; k++) {
    const Value *v = &w->now[PREDICATES + k].value;
    if (v->condition || !value_is_same(*v) || value_is_number(*v)) continue;
    places_forget(w->now, w->program->places, first + (Condition)k, &w->implied);
    implied_clear(&w->implied, first + (Condition)k);
    w->now[PREDICATES + k].value.condition = first + (Condition)k;
  }
}

static void enter(Walk *w, uint32_t block) {
  unsigned n = w->program->places;
  memcpy(w->now, w->at + (size_t)block * n, n * sizeof *w->now);
  w->dependent = w->depends[block];
  for (unsigned i = 0; w->changes[block] && i < n; i++)
    if (w->changes[block][i]) w->now[i] = (Place){.value = value_of(VALUE_DATA)};
  name_conditions(w, block);
}

static void go_through(Walk *w, uint32_t block) {
  const SassBlock *b = &w->program->paths.list[block];
  const SassInstruction *last = &w->program->code[b->end - 1];
  const SassEffect *e = &w->program->effects[b->end - 1];
  enter(w, block);
  for (uint32_t i = b->first; i < b->end && !w->failed; i++)
    step(w, &w->program->code[i], &w->program->effects[i]);
  if (b->how == END_UNKNOWN && w->check) fail(w, last, "it jumps to an address that is not known");
  if (b->how == END_FALLS) w->go_next[block] = true;
  if (b->how == END_BRANCH || b->how == END_EXIT) {
    Value v = condition(w, last, e);
    if (!value_is(v, 0)) w->go_taken[block] = true;
    if (!value_is(v, 1)) w->go_next[block] = true;
    w->by_data[block] = value_data_bits(v) != 0;
  }
  if (w->check) return;
  if (w->go_taken[block] && b->taken != SASS_NO_BLOCK) go_to(w, b->taken);
  if (w->go_next[block] && b->next != SASS_NO_BLOCK) go_to(w, b->next);
}

static void settle(Walk *w) {
  while (!w->failed && w->waits) {
    bool was_wild = w->wild;
    uint32_t block = w->list[--w->waits];
    w->waiting[block] = false;
    go_through(w, block);
    for (uint32_t i = 0; w->wild != was_wild && i < w->program->paths.n; i++)
      if (w->reached[i]) wait_for(w, i);
  }
}

// --- branches that depend on data ---

static void note_written(Walk *w, uint32_t block, bool *places) {
  const SassBlock *b = &w->program->paths.list[block];
  for (uint32_t i = b->first; i < b->end; i++) {
    const SassInstruction *in = &w->program->code[i];
    const SassEffect *e = &w->program->effects[i];
    SassWritten out = sass_written(in, e);
    for (unsigned k = 0; k < out.n; k++)
      places[place_of_register(out.first + k, out.uniform)] = true;
    for (unsigned which = OUT_1; which <= OUT_2; which *= 2) {
      unsigned p = sass_predicate_written(in, which);
      if (e->predicates & which && p != SASS_ALWAYS)
        places[place_of_predicate(p, e->predicates & OUT_U)] = true;
    }
    for (unsigned k = 0; e->rule == RULE_UNPACK && k < SASS_ALWAYS; k++)
      places[place_of_predicate(k, e->predicates & OUT_U)] = true;
    unsigned word = e->rule == RULE_LOCAL_STORE ? local_word(in) : NO_PLACE;
    for (unsigned k = 0; word != NO_PLACE && k < sass_width(in); k++) places[word + k] = true;
  }
}

// Data decide how often a loop runs. What one turn changes for the next then depends on data; what
// each turn computes anew from other things does not.
static void mark_loop(Walk *w, const SassTaken *t, uint32_t first, uint32_t from) {
  const SassPaths *p = &w->program->paths;
  unsigned n = w->program->places;
  bool *loop = mem_alloc(p->n + 1), *places = mem_alloc(n), more = !w->changes[first];
  sass_loop(p, t, first, from, loop);
  for (uint32_t i = 0; i < p->n; i++)
    if (loop[i] && w->reached[i]) note_written(w, i, places);
  if (more) w->changes[first] = mem_alloc(n);
  for (unsigned i = 0; i < n; i++) {
    more |= places[i] && !w->changes[first][i];
    w->changes[first][i] |= places[i];
  }
  if (more) wait_for(w, first);
  free(loop);
  free(places);
}

typedef struct Marking {
  uint32_t *stack, depth;
  bool *seen;
  const uint32_t *gates;
} Marking;

// Goes on to a block after the branch `branch`, unless a new turn of a loop around it begins there.
static void mark_next(Walk *w, const SassTaken *t, Marking *m, uint32_t branch, uint32_t from,
                      uint32_t to) {
  if (to == SASS_NO_BLOCK) return;
  if (sass_gate_of(m->gates, to, branch) && sass_gate_of(m->gates, to, from))
    mark_loop(w, t, to, from);
  else m->stack[m->depth++] = to;
}

// Marks what lies between the branch and the block in which its paths meet: data decide whether it
// runs.
static void mark_dependent(Walk *w, const SassTaken *t, Marking *m, uint32_t branch,
                           uint32_t join) {
  const SassBlock *list = w->program->paths.list;
  memset(m->seen, 0, w->program->paths.n);
  m->depth = 0;
  for (uint32_t i = branch;;) {
    if (w->go_taken[i]) mark_next(w, t, m, branch, i, list[i].taken);
    if (w->go_next[i]) mark_next(w, t, m, branch, i, list[i].next);
    while (m->depth && (m->stack[m->depth - 1] == join || m->seen[m->stack[m->depth - 1]]))
      m->depth--;
    if (!m->depth) break;
    i = m->stack[--m->depth];
    m->seen[i] = true;
    if (w->depends[i]) continue;
    w->depends[i] = true;
    wait_for(w, i);
  }
}

static void mark_all_dependent(Walk *w) {
  uint32_t n = w->program->paths.n;
  size_t words = (n + 1) * sizeof(uint32_t);
  SassTaken t = {w->go_taken, w->go_next};
  uint32_t *joins = mem_alloc(words), *gates = mem_alloc(words);
  Marking m = {.stack = mem_alloc(4 * words), .seen = mem_alloc(n + 1), .gates = gates};
  sass_joins(&w->program->paths, &t, joins);
  sass_gates(&w->program->paths, &t, gates);
  for (uint32_t i = 0; i < n; i++)
    if (w->reached[i] && w->by_data[i]) mark_dependent(w, &t, &m, i, joins[i]);
  free(joins);
  free(gates);
  free(m.stack);
  free(m.seen);
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
  *w = (Walk){
      .program = p,
      .key = key,
      .at = mem_alloc((size_t)n * p->places * sizeof *w->at),
      .now = mem_alloc(p->places * sizeof *w->now),
      .implied = {mem_alloc((2 * (size_t)p->n + 16 * (size_t)n + 2) * 2 * sizeof *w->implied.list)},
      .turns = mem_alloc(n),
      .changes = mem_alloc((n + 1) * sizeof *w->changes),
      .reached = flags,
      .depends = flags + n,
      .go_taken = flags + 2 * (size_t)n,
      .go_next = flags + 3 * (size_t)n,
      .by_data = flags + 4 * (size_t)n,
      .waiting = flags + 5 * (size_t)n,
      .list = mem_alloc((n + 1) * sizeof *w->list),
      .why = why};
  go_to(w, 0);
  while (w->waits && !w->failed) {
    settle(w);
    if (!w->failed) check_all(w);
    if (!w->failed) mark_all_dependent(w);
  }
  bool repeats = !w->failed;
  free(w->at);
  free(w->now);
  free(w->implied.list);
  free(w->turns);
  for (uint32_t i = 0; i < n; i++) free(w->changes[i]);
  free(w->changes);
  free(w->list);
  free(flags);
  free(w);
  return repeats;
}
