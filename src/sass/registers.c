// Reads and writes what is known of registers, predicates and constants at one instruction.
#include "sass/walk.h"

const SassPredicate walk_no_guard = {.number = SASS_ALWAYS};

static Condition condition_of(const Walk *w, SassPredicate p) {
  if (p.number == SASS_ALWAYS) return 0;
  Condition c = w->now[place_of_predicate(p.number, p.uniform)].value.condition;
  return p.negated ? -c : c;
}

Value walk_place(const Walk *w, unsigned place, SassPredicate guard) {
  return place_read(&w->now[place], condition_of(w, guard), &w->implied);
}

Value walk_predicate(const Walk *w, SassPredicate p, SassPredicate guard) {
  if (p.number == SASS_ALWAYS) return value_number(!p.negated);
  Value v = walk_place(w, place_of_predicate(p.number, p.uniform), guard);
  if (!p.negated) return v;
  if (value_is_number(v)) return value_number(!v.least);
  if (v.kind == VALUE_CARRY) return value_of(VALUE_DATA);
  v.condition = -v.condition;
  return v;
}

Value walk_register(const Walk *w, uint32_t number, bool uniform, SassPredicate guard) {
  return walk_place(w, place_of_register(number, uniform), guard);
}

Value walk_word(const SassWord *word) {
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
Value walk_bank_word(const Walk *w, uint32_t offset) {
  const SassProgram *p = w->program;
  const uint32_t shape[] = {w->key->block[0], w->key->block[1], w->key->block[2],
                            w->key->grid[0],  w->key->grid[1],  w->key->grid[2]};
  if (offset < p->kernel.param_base)
    return offset % 4 || offset / 4 >= ARRAY_LEN(shape) ? value_of(VALUE_SAME)
                                                        : value_number(shape[offset / 4]);
  uint32_t word = (offset - p->kernel.param_base) / 4;
  if (word >= w->key->nwords) return value_of(VALUE_DATA);
  Value v = walk_word(&w->key->words[word]);
  return offset % 4 ? value_function(v, v) : v;
}

// Variables are other ones in other copies of a module. Bank 2 has the compiler's own constants.
Value walk_constant(Walk *w, unsigned bank, uint32_t offset) {
  enum { PARAMETERS = 0, COMPILER = 2 };
  if (bank == PARAMETERS) return walk_bank_word(w, offset);
  if (bank == COMPILER) return value_of(VALUE_SAME);
  if (!w->failed) error_set(w->why, "it uses a variable of its module");
  w->failed = true;
  return value_of(VALUE_DATA);
}

Value walk_source(Walk *w, SassSource s, unsigned half, SassPredicate guard) {
  switch (s.kind) {
    case SOURCE_NUMBER: return value_number(half ? 0 : s.number);
    case SOURCE_CONSTANT: return walk_constant(w, s.bank, s.index + 4 * half);
    case SOURCE_UNIFORM:
      return s.index + half < SASS_UNIFORM_ZERO ? walk_register(w, s.index + half, true, guard)
                                                : value_number(0);
    case SOURCE_REGISTER:
      return s.index + half < SASS_ZERO ? walk_register(w, s.index + half, false, guard)
                                        : value_number(0);
  }
  return value_of(VALUE_DATA);
}

// The upper half of a pair that no rule computes with, only follows.
static Value with_half(Walk *w, SassSource s, Value low, SassPredicate guard) {
  Value high = walk_source(w, s, 1, guard);
  return value_is_same(low) && value_is_same(high) ? value_of(VALUE_SAME)
                                                   : value_function(low, high);
}

ValueInputs walk_inputs(Walk *w, const SassInstruction *i, const SassEffect *e) {
  SassPredicate guard = sass_guard(i, e);
  Value fixed = value_number(0);
  ValueInputs in = {fixed, fixed, fixed, fixed, fixed, fixed, fixed, false, false, false};
  SassSource a = sass_source(i, e, READ_A), b = sass_source(i, e, READ_B),
             c = sass_source(i, e, READ_C), low = sass_source(i, e, READ_LOW);
  if (e->reads & (READ_A | PAIR_A | READ_SHUFFLED)) in.a = walk_source(w, a, 0, guard);
  if (e->reads & PAIR_A) in.a = with_half(w, a, in.a, guard);
  if (e->reads & (READ_B | PAIR_B)) in.b = walk_source(w, b, 0, guard);
  if (e->reads & PAIR_B) in.b = with_half(w, b, in.b, guard);
  if (e->reads & (READ_LOW | PAIR_LOW)) in.b = walk_source(w, low, 0, guard);
  if (e->reads & PAIR_LOW) in.b = with_half(w, low, in.b, guard);
  if (e->reads & (READ_C | PAIR_C)) in.c = walk_source(w, c, 0, guard);
  if (e->reads & PAIR_C) in.c_high = walk_source(w, c, 1, guard);
  if (e->reads & READ_SHUFFLED) {
    in.b = walk_source(w, sass_shuffled(i, false), 0, guard);
    in.c = walk_source(w, sass_shuffled(i, true), 0, guard);
  }
  in.a_negated = a.negated && e->reads & READ_A;
  in.b_negated = b.negated && e->reads & READ_B && b.kind != SOURCE_NUMBER;
  in.c_negated = c.negated && e->reads & (READ_C | PAIR_C);
  if (e->predicates & IN_1) in.in1 = walk_predicate(w, sass_predicate(i, e, IN_1), guard);
  if (e->predicates & IN_2) in.in2 = walk_predicate(w, sass_predicate(i, e, IN_2), guard);
  if (e->predicates & IN_3) in.in3 = walk_predicate(w, sass_predicate(i, e, IN_3), guard);
  return in;
}

// --- writing ---

void walk_write_place(Walk *w, unsigned place, SassPredicate guard, Value v) {
  Value held = walk_predicate(w, guard, walk_no_guard);
  if (w->dependent || !value_is_same(held)) v = value_of(VALUE_DATA);
  place_write(&w->now[place], v, condition_of(w, guard), held);
}

void walk_write_register(Walk *w, uint32_t number, bool uniform, SassPredicate guard, Value v) {
  walk_write_place(w, place_of_register(number, uniform), guard, v);
}

// Two for each instruction, for its two predicates; then one for each predicate of each block.
static Condition condition_of_result(const Walk *w, const SassInstruction *i, unsigned which) {
  return 1 + 2 * (Condition)(i - w->program->code) + (which == OUT_2);
}

// The consequences of a predicate that is a combination of three others.
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

void walk_write_predicate(Walk *w, unsigned number, bool uniform, SassPredicate guard, Value v) {
  if (number != SASS_ALWAYS) walk_write_place(w, place_of_predicate(number, uniform), guard, v);
}

static void write_outcome(Walk *w, const SassInstruction *i, const SassEffect *e,
                          const ValueInputs *in, unsigned which, Value v) {
  unsigned number = sass_predicate_written(i, which);
  if (!(e->predicates & which) || number == SASS_ALWAYS) return;
  v.condition = in ? kept_condition(i, e, in, which) : 0;
  if (!v.condition && in && value_is_same(v) && !value_is_number(v))
    v.condition = new_condition(w, i, e, in, which);
  walk_write_predicate(w, number, e->predicates & OUT_U, sass_guard(i, e), v);
}

void walk_results(Walk *w, const SassInstruction *i, const SassEffect *e, const ValueInputs *in,
                  const ValueResults *r) {
  SassWritten out = sass_written(i, e);
  for (uint32_t k = 0; k < out.n; k++)
    walk_write_register(w, out.first + k, out.uniform, sass_guard(i, e), k ? r->high : r->low);
  write_outcome(w, i, e, in, OUT_1, r->out1);
  write_outcome(w, i, e, in, OUT_2, r->out2);
}
