// What one instruction of machine code reads and writes. Private to sass/.
#ifndef WG_SASS_EFFECTS_H
#define WG_SASS_EFFECTS_H

#include "sass/decode.h"

// How results follow from operands.
typedef enum SassRule {
  RULE_UNKNOWN,  // the instruction is not in effects.def
  RULE_NOTHING,
  RULE_SUM,              // a + b + c, with carries
  RULE_SHIFTED_SUM,      // (a << n) + b, with carries
  RULE_PRODUCT,          // a * b + c
  RULE_WIDE_PRODUCT,     // the same with a sum of 64 bits
  RULE_HIGH_PRODUCT,     // the upper 32 bits of that sum
  RULE_ABSOLUTE,         // of b
  RULE_EXTREME,          // the lesser or the greater of a and b
  RULE_BYTES,            // bytes of a and c, which b chooses
  RULE_MOVE,             // b, or a where there is no b
  RULE_CHOICE,           // a or b, as a predicate says
  RULE_LOGIC,            // bits of a, b and c by a table
  RULE_SHIFT,            // two registers, shifted by b
  RULE_COMPARISON,       // of integers
  RULE_PREDICATE_LOGIC,  // of three predicates by a table
  RULE_PACK,             // predicates into a register
  RULE_UNPACK,           // … and back
  RULE_VOTE,
  RULE_POSITION,  // of the thread, or a clock
  RULE_CONSTANT,  // a word of a constant bank
  RULE_NUMBER,    // a fixed number that does not matter
  RULE_FUNCTION,  // any function of its operands, and of nothing else
  RULE_DATA,      // depends on memory or time
  RULE_LOCAL_LOAD,
  RULE_LOCAL_STORE,
  RULE_ACCESS,            // to global memory; what it returns is data
  RULE_GENERIC_ACCESS,    // … by an address that may also be one of local memory
  RULE_ACCESS_TO_SHARED,  // … which copies to shared memory
  RULE_BRANCH,
} SassRule;

enum {  // reads
  READ_A = 1,
  READ_B = 2,
  READ_C = 4,
  PAIR_A = 8,
  PAIR_B = 16,
  PAIR_C = 32,
  READ_LOW = 64,  // the operand in bits 32 to 63, be it b or c
  PAIR_LOW = 128,
  READ_SHUFFLED = 256,  // a, and the operands of a shuffle, which has forms of its own
};

typedef enum SassResults {
  RESULTS_NONE,
  RESULTS_ONE,
  RESULTS_TWO,
  RESULTS_FOUR,
  RESULTS_EIGHT,
  RESULTS_BY_WIDTH,      // of a load
  RESULTS_BY_WIDE_BIT,   // two, where a bit says so
  RESULTS_BY_FORMAT,     // two for an F64
  RESULTS_BY_INTEGER,    // two for 64 bits
  RESULTS_BY_MATRIX,     // of a warp
  RESULTS_BY_WARPGROUP,  // of a warp group
  RESULTS_OF_FORM_4,     // one, where it is of this form
} SassResults;

enum {  // predicates: where those are that it reads and writes
  IN_1 = 1,
  IN_2 = 2,
  IN_3 = 4,
  OUT_1 = 8,
  OUT_2 = 16,
  OPERAND_U = 32,  // its operands are uniform registers
  RESULT_U = 64,
  IN_U = 128,
  OUT_U = 256,
  GUARD_U = 512,
  UNIFORM = OPERAND_U | RESULT_U | IN_U | OUT_U | GUARD_U,
};

typedef struct SassEffect {
  SassRule rule;
  uint16_t reads, predicates;
  SassResults results;
} SassEffect;

// SOURCE_CONSTANT: of a constant bank, `index` is its offset in bytes
typedef enum SassSourceKind {
  SOURCE_NUMBER,
  SOURCE_REGISTER,
  SOURCE_UNIFORM,
  SOURCE_CONSTANT
} SassSourceKind;
typedef struct SassSource {
  SassSourceKind kind;
  uint32_t index, number;
  uint8_t bank;
  bool negated;  // or complemented, in sums that take a carry
} SassSource;

enum { SASS_ALWAYS = 7 };  // the predicate that is always true
typedef struct SassPredicate {
  uint8_t number;
  bool uniform, negated;
} SassPredicate;

SassEffect sass_effect(const SassInstruction *i);
// which: READ_A, READ_B, READ_C or READ_LOW
SassSource sass_source(const SassInstruction *i, const SassEffect *e, unsigned which);
SassSource sass_shuffled(const SassInstruction *i, bool mask);  // its lane, or its mask
// which: IN_1, IN_2 or IN_3
SassPredicate sass_predicate(const SassInstruction *i, const SassEffect *e, unsigned which);
SassPredicate sass_guard(const SassInstruction *i, const SassEffect *e);
// which: OUT_1 or OUT_2; SASS_ALWAYS: it is not kept
unsigned sass_predicate_written(const SassInstruction *i, unsigned which);
// Registers that it writes: `n` from `first` on; n 0: none is kept.
typedef struct SassWritten {
  bool uniform;
  uint16_t first, n;
} SassWritten;
SassWritten sass_written(const SassInstruction *i, const SassEffect *e);

#endif
