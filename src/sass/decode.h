// One decoded instruction of machine code. Private to sass/.
#ifndef WG_SASS_DECODE_H
#define WG_SASS_DECODE_H

#include "sass/sass.h"

enum { SASS_BYTES = 16, SASS_ZERO = 0xff, SASS_UNIFORM_ZERO = 0x3f };

// The contents of an instruction's destination.
typedef enum Result {
  RESULT_NONE,  // it has none
  RESULT_OTHER,
  RESULT_TWO_OTHER,
  RESULT_F32,
  RESULT_TWO_F32,
  RESULT_FOUR_F32,
  RESULT_F64,
  RESULT_TWO_F64,
  RESULT_HALVES,            // two of 16 bits; bits of the instruction tell the format
  RESULT_PACKED,            // two of 16 or 8 bits, made from F32
  RESULT_CONVERTED,         // bits of the instruction tell the format
  RESULT_MUFU,              // F32, F16, or the upper half of an F64
  RESULT_MATRIX,            // F32 or F16
  RESULT_WARPGROUP_MATRIX,  // the same, many registers
  RESULT_MOVED,             // one of the operands that it follows
  RESULT_BYTES,             // bytes of them, in an order that operand B gives
  RESULT_MASKED,            // the operand, changed by a mask, if that is a constant
  RESULT_MULTIPLIED,        // the operand, if what is added to it is 0
  RESULT_LOADED,            // as many registers as are loaded
  RESULT_FROM_SHARED,
  RESULT_FOUR_FROM_SHARED,
  RESULT_FROM_LOCAL,
  RESULT_UNIFORM,  // in a uniform register
} Result;

enum { OPERAND_A = 1, OPERAND_B = 2, OPERAND_C = 4 };

typedef enum SassName {
  SASS_UNKNOWN,
#define INSTRUCTION(number, from, to, name, result, follows, pointers) SASS_##name,
#include "sass/instructions.def"
} SassName;

// The place of an operand.
// PLACE_VARIABLE: the address of a variable of the program, in another constant bank
typedef enum SassPlace {
  PLACE_NONE,
  PLACE_REGISTER,
  PLACE_UNIFORM,
  PLACE_CONSTANT,
  PLACE_VARIABLE
} SassPlace;
typedef struct SassOperand {
  SassPlace place;
  uint32_t number;  // register, or offset in constant bank 0
} SassOperand;

typedef struct SassInstruction {
  uint64_t low, high;
  SassName name;
  Result result;
  uint8_t follows, pointers;  // as in instructions.def
  bool predicated;
  uint8_t to, registers;  // the destination: `registers` of them from `to` on
  uint8_t formats;        // SASS_BIT()s of a new value
  SassOperand a, b, c;
} SassInstruction;

void sass_decode(const void *code, unsigned sm, SassInstruction *out);
// The number of registers that a load or a store moves.
unsigned sass_width(const SassInstruction *i);
// The format of an atomic instruction's operand.
unsigned sass_atomic_format(const SassInstruction *i);

static inline unsigned sass_bits(const SassInstruction *i, unsigned from, unsigned n) {
  uint64_t word = from < 64 ? i->low >> from : i->high >> (from - 64);
  return (unsigned)(word & ((1ull << n) - 1));
}

#endif
