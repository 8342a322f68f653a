// Follows one instruction: rules that need more than operands, accesses to memory, conditions of
// branches.
#include "sass/walk.h"

void walk_fail(Walk *w, const SassInstruction *i, const char *what) {
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
// offset lies in. If it is in the last bytes of a parameter, the array may begin in the next one,
// with an index that is not 0.
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
    Value v = walk_word(&w->key->words[i]);
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
  Value word = walk_bank_word(w, at & ~3u);
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
  if (e->reads & READ_A) index = walk_source(w, sass_source(i, e, READ_A), 0, sass_guard(i, e));
  ValueResults r = {.low = value_of(VALUE_DATA), .high = value_of(VALUE_DATA)};
  if (bank) {
    r.low = r.high = walk_constant(w, bank, offset);
    if (!value_is_same(index)) r.low = r.high = value_of(VALUE_DATA);
  } else if (value_is_number(index)) {
    uint32_t at = offset + index.least;
    r.low = size < SIZE_WORD ? part_at(w, at, size) : walk_bank_word(w, at);
    r.high = walk_bank_word(w, at + 4);
  } else if (value_is_same(index)) {
    r = indexed(w, offset, index, size);
  }
  r.out1 = r.out2 = r.low;
  return r;
}

// --- local memory: words of the stack frame ---

unsigned walk_local_word(const SassInstruction *i) {
  enum { LEAST_WORD = 4 };
  int32_t offset = (int32_t)((uint32_t)(i->low >> 40) << 8) >> 8;
  bool by_uniform = sass_bits(i, 91, 1), is_part = sass_bits(i, 73, 3) < LEAST_WORD;
  if (sass_bits(i, 24, 8) != STACK_POINTER || by_uniform || is_part || offset < 0 || offset % 4)
    return NO_PLACE;
  unsigned word = (unsigned)offset / 4;
  return word + sass_width(i) <= MOST_LOCAL_WORDS ? LOCAL_WORDS + word : NO_PLACE;
}

static void local_store(Walk *w, const SassInstruction *i, const SassEffect *e) {
  unsigned place = walk_local_word(i), from = sass_bits(i, 32, 8);
  SassPredicate guard = sass_guard(i, e);
  if (value_is(walk_predicate(w, guard, walk_no_guard), 0)) return;
  if (place == NO_PLACE) w->wild = true;
  for (unsigned k = 0; place != NO_PLACE && k < sass_width(i); k++)
    walk_write_place(w, place + k, guard,
                     from + k < SASS_ZERO ? walk_register(w, from + k, false, guard)
                                          : value_number(0));
}

static void local_load(Walk *w, const SassInstruction *i, const SassEffect *e) {
  SassPredicate guard = sass_guard(i, e);
  SassWritten out = sass_written(i, e);
  unsigned place = walk_local_word(i);
  bool known = place != NO_PLACE && !w->wild && !w->program->moves_stack;
  for (uint32_t k = 0; k < out.n; k++)
    walk_write_register(w, out.first + k, false, guard,
                        known ? walk_place(w, place + k, guard) : value_of(VALUE_DATA));
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
  if (a != SASS_ZERO) at.low = walk_register(w, a, false, guard);
  if (a != SASS_ZERO && pair) at.high = walk_register(w, a + 1, false, guard);
  if (!has_uniform || u == SASS_UNIFORM_ZERO) return at;
  at.uniform_low = walk_register(w, u, true, guard);
  if (u + 1 < SASS_UNIFORM_ZERO) at.uniform_high = walk_register(w, u + 1, true, guard);
  return at;
}

static void check_access(Walk *w, const SassInstruction *i, const SassEffect *e) {
  SassPredicate guard = sass_guard(i, e);
  Value held = walk_predicate(w, guard, walk_no_guard);
  if (value_is(held, 0)) return;
  Address at = address_of(w, i, e);
  if (w->dependent || !value_is_same(held))
    walk_fail(w, i, "whether it accesses memory depends on data");
  else if (e->rule == RULE_ACCESS_TO_SHARED &&
           !value_is_same(walk_predicate(w, sass_predicate(i, e, IN_1), guard)))
    walk_fail(w, i, "data decide whether it copies memory");
  else if (!is_known(at.low, at.uniform_low, VALUE_LOW) ||
           !is_known(at.high, at.uniform_high, VALUE_HIGH))
    walk_fail(w, i, "an address depends on data");
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
      walk_write_predicate(w, p, e->predicates & OUT_U, sass_guard(i, e),
                           value_of(data >> p & 1 ? VALUE_DATA : VALUE_SAME));
}

static Value pack(Walk *w, const SassInstruction *i, const SassEffect *e, Value v) {
  unsigned mask = sass_bits(i, 32, 8), byte = sass_bits(i, 76, 2) * 8;
  uint32_t data = value_data_bits(v) & ~((uint32_t)mask << byte);
  bool only_one = value_is(v, 0) && mask && !(mask & (mask - 1));
  Condition condition = 0;
  for (unsigned k = 0; k < SASS_ALWAYS; k++) {
    if (!(mask >> k & 1)) continue;
    Value p = walk_place(w, place_of_predicate(k, e->predicates & IN_U), sass_guard(i, e));
    if (only_one && p.kind == VALUE_CARRY) return p;
    if (only_one) condition = p.condition;
    if (value_data_bits(p)) data |= 1u << (byte + k);
  }
  v = value_with_data_bits(data);
  v.condition = condition;
  return v;
}

void walk_step(Walk *w, const SassInstruction *i, const SassEffect *e) {
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
      in = walk_inputs(w, i, e);
      unpack(w, i, e, in.a);
      return;
    case RULE_PACK:
      in = walk_inputs(w, i, e);
      r.low = r.high = r.out1 = r.out2 = pack(w, i, e, in.a);
      break;
    default:
      in = walk_inputs(w, i, e);
      r = value_compute(i, e, &in);
      walk_results(w, i, e, &in, &r);
      return;
  }
  walk_results(w, i, e, NULL, &r);
}

Value walk_condition(Walk *w, const SassInstruction *i, const SassEffect *e) {
  enum { UNIFORM_FORM = 2 };
  SassPredicate guarding = sass_guard(i, e);
  Value guard = walk_predicate(w, guarding, walk_no_guard), v;
  if (i->name != SASS_BRA && i->name != SASS_EXIT) return guard;
  SassPredicate p = sass_predicate(i, e, IN_1);
  if (i->name == SASS_BRA && sass_bits(i, 9, 3) == UNIFORM_FORM)
    p = (SassPredicate){(uint8_t)sass_bits(i, 24, 3), true, sass_bits(i, 27, 1)};
  v = walk_predicate(w, p, guarding);
  // BRA.DIV: whether lanes have diverged does not change what they access
  if (i->name == SASS_BRA && sass_bits(i, 91, 1) && sass_bits(i, 9, 3) != UNIFORM_FORM)
    v = value_of(VALUE_SAME);
  if (value_is(guard, 0) || value_is(v, 0)) return value_number(0);
  if (value_is_number(guard)) return v;
  return value_is_number(v) ? value_function(guard, guard) : value_function(guard, v);
}
