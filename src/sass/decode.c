// Decodes instructions of machine code: 16 bytes each, the same fields in all generations from
// sm_70 on.
#include "sass/decode.h"

typedef struct Row {
  uint16_t number, from, to;
  SassName name;
  Result result;
  uint8_t follows, pointers;
} Row;

static const Row rows[] = {
#define INSTRUCTION(number, from, to, name, result, follows, pointers) \
  {number, from, to, SASS_##name, result, follows, pointers},
#include "sass/instructions.def"
};

static const Row *row_of(unsigned number, unsigned sm) {
  for (size_t i = 0; i < ARRAY_LEN(rows); i++)
    if (rows[i].number == number && sm >= rows[i].from && sm <= rows[i].to) return &rows[i];
  return NULL;
}

// --- operands ---

static SassOperand in_register(unsigned number, bool uniform) {
  unsigned zero = uniform ? SASS_UNIFORM_ZERO : SASS_ZERO;
  if (number == zero || number == SASS_ZERO) return (SassOperand){PLACE_NONE, 0};
  return (SassOperand){uniform ? PLACE_UNIFORM : PLACE_REGISTER, number};
}

static SassOperand constant(const SassInstruction *i) {
  enum { OFFSET = 38, BANK = 54 };
  if (sass_bits(i, BANK, 5)) return (SassOperand){PLACE_VARIABLE, 0};
  return (SassOperand){PLACE_CONSTANT, sass_bits(i, OFFSET, 16)};
}

// Bits 9 to 11 say what the operands B and C are.
static void find_operands(SassInstruction *i, bool uniform) {
  SassOperand low = in_register(sass_bits(i, 32, 8), uniform),
              high = in_register(sass_bits(i, 64, 8), uniform), none = {PLACE_NONE, 0};
  i->a = in_register(sass_bits(i, 24, 8), uniform);
  switch (sass_bits(i, 9, 3)) {
    case 1:
      i->b = low;
      i->c = high;
      break;
    case 2:
      i->b = high;
      i->c = none;
      break;
    case 3:
      i->b = high;
      i->c = constant(i);
      break;
    case 4:
      i->b = none;
      i->c = high;
      break;
    case 5:
      i->b = constant(i);
      i->c = high;
      break;
    case 6:
      i->b = in_register(sass_bits(i, 32, 8), true);
      i->c = high;
      break;
    case 7:
      i->b = high;
      i->c = in_register(sass_bits(i, 32, 8), true);
      break;
    default: i->b = i->c = none; break;
  }
}

// Instructions that have their operands elsewhere.
static void find_special_operands(SassInstruction *i) {
  enum { LDCU_OFFSET = 37 };
  switch (i->name) {
    case SASS_ULDC:
    case SASS_LDC: i->b = constant(i); break;
    case SASS_LDCU:
      i->b = (SassOperand){PLACE_CONSTANT, sass_bits(i, LDCU_OFFSET, 16)};
      i->c = (SassOperand){PLACE_NONE, 0};
      break;
    case SASS_R2UR:
    case SASS_R2UR_75: i->a = in_register(sass_bits(i, 24, 8), false); break;
    case SASS_SHFL: i->b = i->c = (SassOperand){PLACE_NONE, 0}; break;
    case SASS_STG:
    case SASS_ST:
    case SASS_STS:
    case SASS_STL:
    case SASS_STSM:
    case SASS_RED:
    case SASS_REDG_FLOAT:
    case SASS_ATOMG:
    case SASS_ATOMG_FLOAT:
      i->b = in_register(sass_bits(i, 32, 8), false);
      // a part of the address, or the descriptor of the memory
      if (sass_bits(i, 11, 1)) i->c = in_register(sass_bits(i, 64, 8), true);
      break;
    default: break;
  }
}

unsigned sass_width(const SassInstruction *i) {
  static const uint8_t registers[8] = {1, 1, 1, 1, 1, 2, 4, 4};
  return registers[sass_bits(i, 73, 3)];
}

// --- formats ---

static unsigned two_halves(const SassInstruction *i) {
  if (i->a.place == PLACE_NONE && i->b.place == PLACE_NONE && i->c.place == PLACE_NONE)
    return SASS_BIT(SASS_OTHER);  // a constant
  if (i->name == SASS_HADD2 && sass_bits(i, 78, 1)) return SASS_BIT(SASS_F32);
  return SASS_BIT(sass_bits(i, 85, 1) ? SASS_BF16 : SASS_F16);
}

// For F2FP: formats of 8 bits set more than bit 76; conversions to wider formats set bit 73.
static unsigned packed(const SassInstruction *i) {
  if (sass_bits(i, 77, 2)) return SASS_BIT(SASS_OTHER);
  return SASS_BIT(sass_bits(i, 76, 1) ? SASS_BF16 : SASS_F16);
}

static unsigned converted(const SassInstruction *i) {
  static const uint8_t formats[4] = {SASS_OTHER, SASS_F16, SASS_F32, SASS_F64};
  return SASS_BIT(formats[sass_bits(i, 75, 2)]);
}

// Two functions of MUFU start an approximation of an F64, with its upper half.
static unsigned mufu_format(const SassInstruction *i) {
  enum { RCP64H = 6, RSQ64H = 7 };
  unsigned function = sass_bits(i, 74, 4);
  if (function == RCP64H || function == RSQ64H) return SASS_BIT(SASS_F64);
  return SASS_BIT(sass_bits(i, 72, 2) ? SASS_F16 : SASS_F32);
}

unsigned sass_atomic_format(const SassInstruction *i) {
  static const uint8_t old[16] = {[3] = SASS_F32, [4] = SASS_F16, [6] = SASS_F64};
  static const uint8_t fresh[16] = {
      [0] = SASS_F16, [3] = SASS_BF16, [9] = SASS_F32, [15] = SASS_F64};
  bool is_float = i->name == SASS_REDG_FLOAT || i->name == SASS_ATOMG_FLOAT;
  unsigned type = sass_bits(i, 73, is_float ? 4 : 3);
  return SASS_BIT((is_float ? fresh : old)[type]);
}

enum { MOST_REGISTERS = 128 };  // of each thread, in a matrix product of a warp group

static void find_result(SassInstruction *i) {
  i->registers = 1;
  i->formats = SASS_BIT(SASS_OTHER);
  switch (i->result) {
    case RESULT_NONE: i->registers = 0; break;
    case RESULT_TWO_OTHER: i->registers = 2; break;
    case RESULT_F32: i->formats = SASS_BIT(SASS_F32); break;
    case RESULT_TWO_F32:
      i->formats = SASS_BIT(SASS_F32);
      i->registers = 2;
      break;
    case RESULT_FOUR_F32:
      i->formats = SASS_BIT(SASS_F32);
      i->registers = 4;
      break;
    case RESULT_F64:
      i->formats = SASS_BIT(SASS_F64);
      i->registers = 2;
      break;
    case RESULT_TWO_F64:
      i->formats = SASS_BIT(SASS_F64);
      i->registers = 4;
      break;
    case RESULT_HALVES: i->formats = (uint8_t)two_halves(i); break;
    case RESULT_PACKED: i->formats = (uint8_t)packed(i); break;
    case RESULT_CONVERTED:
      i->formats = (uint8_t)converted(i);
      if (i->formats == SASS_BIT(SASS_F64)) i->registers = 2;
      break;
    case RESULT_MUFU: i->formats = (uint8_t)mufu_format(i); break;
    case RESULT_MATRIX:
      i->formats = SASS_BIT(sass_bits(i, 76, 1) ? SASS_F32 : SASS_F16);
      i->registers = 4;
      break;
    case RESULT_WARPGROUP_MATRIX:
      i->formats = SASS_BIT(sass_bits(i, 75, 1) ? SASS_F32 : SASS_F16);
      i->registers = MOST_REGISTERS;
      break;
    case RESULT_MOVED: i->registers = i->name == SASS_MOV && sass_bits(i, 80, 1) ? 2 : 1; break;
    case RESULT_LOADED:
    case RESULT_FROM_SHARED:
    case RESULT_FROM_LOCAL: i->registers = (uint8_t)sass_width(i); break;
    case RESULT_FOUR_FROM_SHARED: i->registers = 4; break;
    case RESULT_UNIFORM: i->registers = 2; break;
    default: break;
  }
  if (i->to == SASS_ZERO) i->registers = 0;
}

// Follows a mask, a multiplication and a choice of bytes only in the forms that leave the number
// unchanged.
static void find_followed(SassInstruction *i) {
  enum { CONSTANT_B = 4 };
  bool keeps = true;
  if (i->result == RESULT_MASKED) keeps = sass_bits(i, 9, 3) == CONSTANT_B;
  if (i->result == RESULT_MULTIPLIED)
    keeps = i->a.place == PLACE_NONE || (sass_bits(i, 9, 3) == 1 && i->b.place == PLACE_NONE);
  if (!keeps) i->follows = 0;
  // a product with 1 is an addition
  if (i->result == RESULT_MULTIPLIED && sass_bits(i, 9, 3) == CONSTANT_B && i->low >> 32 == 1)
    i->pointers |= OPERAND_A;
}

void sass_decode(const void *code, unsigned sm, SassInstruction *out) {
  enum { ALWAYS = 7 };
  SassInstruction i = {0};
  memcpy(&i.low, code, 8);
  memcpy(&i.high, (const char *)code + 8, 8);
  const Row *row = row_of(sass_bits(&i, 0, 9), sm);
  i.to = (uint8_t)sass_bits(&i, 16, 8);
  i.predicated = sass_bits(&i, 12, 4) != ALWAYS;
  // an unknown instruction with 0 in this field most likely has no destination
  i.result = row ? row->result : i.to ? RESULT_OTHER : RESULT_NONE;
  i.name = row ? row->name : SASS_UNKNOWN;
  i.follows = row ? row->follows : 0;
  i.pointers = row ? row->pointers : 0;
  find_operands(&i, i.result == RESULT_UNIFORM);
  find_special_operands(&i);
  find_result(&i);
  find_followed(&i);
  *out = i;
}
