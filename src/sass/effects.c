// Finds what an instruction reads and writes: operands, whose form is in bits 9 to 11, predicates,
// results.
#include "sass/effects.h"

SassEffect sass_effect(const SassInstruction *i) {
  switch (sass_bits(i, 0, 9)) {
#define EFFECT(number, rule, reads, results, predicates) \
  case number: \
    return (SassEffect){RULE_##rule, reads, predicates, RESULTS_##results};
#include "sass/effects.def"
    default: return (SassEffect){RULE_UNKNOWN, 0, 0, RESULTS_NONE};
  }
}

// --- operands ---

static SassSource in_register(unsigned number, bool uniform) {
  if (uniform ? (number & SASS_UNIFORM_ZERO) == SASS_UNIFORM_ZERO : number == SASS_ZERO)
    return (SassSource){.kind = SOURCE_NUMBER};
  return (SassSource){.kind = uniform ? SOURCE_UNIFORM : SOURCE_REGISTER,
                      .index = uniform ? number & SASS_UNIFORM_ZERO : number};
}

// The operand in bits 32 to 63.
static SassSource in_low_bits(const SassInstruction *i, unsigned form, bool uniform) {
  enum { REGISTER = 1, NUMBER_C = 2, CONSTANT_C = 3, NUMBER_B = 4, CONSTANT_B = 5 };
  SassSource s = {.kind = SOURCE_NUMBER, .number = (uint32_t)(i->low >> 32)};
  switch (form) {
    case NUMBER_C:
    case NUMBER_B: return s;
    case CONSTANT_C:
    case CONSTANT_B:
      s = (SassSource){.kind = SOURCE_CONSTANT,
                       .index = sass_bits(i, 38, 16),
                       .bank = (uint8_t)sass_bits(i, 54, 5)};
      break;
    case REGISTER: s = in_register(sass_bits(i, 32, 8), uniform); break;
    default: s = in_register(sass_bits(i, 32, 8), true); break;
  }
  s.negated = sass_bits(i, 63, 1);
  return s;
}

// Which of b and c are in the low bits.
static bool is_swapped(unsigned form) { return form == 2 || form == 3 || form == 7; }

SassSource sass_source(const SassInstruction *i, const SassEffect *e, unsigned which) {
  unsigned form = sass_bits(i, 9, 3);
  bool uniform = e->predicates & OPERAND_U, c_negated = false;
  if (which == READ_A) {
    SassSource a = in_register(sass_bits(i, 24, 8), uniform);
    a.negated = sass_bits(i, 72, 1);
    return a;
  }
  // LEA has the distance of its shift there
  if (which == READ_C && e->rule != RULE_SHIFTED_SUM) c_negated = sass_bits(i, 75, 1);
  if (which == READ_LOW || (which == READ_B) != is_swapped(form)) {
    SassSource s = in_low_bits(i, form, uniform);
    s.negated |= c_negated;
    return s;
  }
  SassSource s = in_register(sass_bits(i, 64, 8), uniform);
  s.negated = c_negated;
  return s;
}

// A shuffle's lane and mask: each in a register, or a number in the instruction.
SassSource sass_shuffled(const SassInstruction *i, bool mask) {
  enum { ALL_IN_REGISTERS = 1, MASK_IN_REGISTER = 4, MASK_IS_NUMBER = 2 };
  unsigned form = sass_bits(i, 9, 3);
  if (!mask && (form == ALL_IN_REGISTERS || form == MASK_IS_NUMBER))
    return in_register(sass_bits(i, 32, 8), false);
  if (mask && (form == ALL_IN_REGISTERS || form == MASK_IN_REGISTER))
    return in_register(sass_bits(i, 64, 8), false);
  return (SassSource){.kind = SOURCE_NUMBER};
}

// --- predicates ---

SassPredicate sass_predicate(const SassInstruction *i, const SassEffect *e, unsigned which) {
  unsigned at = which == IN_1 ? 87 : which == IN_2 ? 77 : 68;
  SassPredicate p = {.number = (uint8_t)sass_bits(i, at, 3),
                     .negated = sass_bits(i, at + 3, 1),
                     .uniform = e->predicates & IN_U};
  // one operand of PLOP3 may be a uniform predicate
  if (which == IN_3 && e->rule == RULE_PREDICATE_LOGIC && sass_bits(i, 67, 1)) p.uniform = true;
  return p;
}

SassPredicate sass_guard(const SassInstruction *i, const SassEffect *e) {
  return (SassPredicate){.number = (uint8_t)sass_bits(i, 12, 3),
                         .negated = sass_bits(i, 15, 1),
                         .uniform = e->predicates & GUARD_U};
}

unsigned sass_predicate_written(const SassInstruction *i, unsigned which) {
  enum { SYNCS = 0x1a7, ARRIVES = 4 };
  if (sass_bits(i, 0, 9) == SYNCS && sass_bits(i, 9, 3) == ARRIVES) return SASS_ALWAYS;
  return sass_bits(i, which == OUT_1 ? 81 : 84, 3);
}

// --- results ---

// A product of 64 rows and n columns, of which each of 128 threads has its share.
static unsigned of_warpgroup(const SassInstruction *i) {
  enum { ROWS = 64, THREADS = 128 };
  unsigned columns = (sass_bits(i, 53, 6) + 1) * 8, numbers = ROWS * columns / THREADS;
  bool halves = (i->low & 0x1ff) == 0x1f0 && !sass_bits(i, 75, 1);
  return halves ? numbers / 2 : numbers;
}

static unsigned registers_written(const SassInstruction *i, const SassEffect *e) {
  enum { F64 = 3, FORM_4 = 4 };
  switch (e->results) {
    case RESULTS_NONE: return 0;
    case RESULTS_ONE: return 1;
    case RESULTS_TWO: return 2;
    case RESULTS_FOUR: return 4;
    case RESULTS_EIGHT: return 8;
    case RESULTS_BY_WIDTH: return sass_width(i);
    case RESULTS_BY_WIDE_BIT: return sass_bits(i, 80, 1) ? 2 : 1;
    case RESULTS_BY_FORMAT: return sass_bits(i, 75, 2) == F64 ? 2 : 1;
    case RESULTS_BY_INTEGER: return sass_bits(i, 75, 1) ? 2 : 1;
    case RESULTS_BY_MATRIX: return sass_bits(i, 76, 1) ? 4 : 2;
    case RESULTS_BY_WARPGROUP: return of_warpgroup(i);
    case RESULTS_OF_FORM_4: return sass_bits(i, 9, 3) == FORM_4 ? 1 : 0;
  }
  return 0;
}

SassWritten sass_written(const SassInstruction *i, const SassEffect *e) {
  bool uniform = e->predicates & RESULT_U;
  SassWritten w = {.uniform = uniform,
                   .first = (uint16_t)sass_bits(i, 16, uniform ? 6 : 8),
                   .n = (uint16_t)registers_written(i, e)};
  unsigned zero = uniform ? SASS_UNIFORM_ZERO : SASS_ZERO;
  if (w.first == zero) w.n = 0;
  w.n = (uint16_t)MIN(w.n, zero - w.first);
  return w;
}
