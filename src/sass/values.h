// The known value of a register in all launches with the same key: the same shape, the same numbers
// as parameters, and pointers with as much of their allocation around them. Private to sass/.
#ifndef WG_SASS_VALUES_H
#define WG_SASS_VALUES_H

#include "sass/effects.h"

// The lower half of a pointer, VALUE_LOW, is that of an allocation's address plus something that is
// the same in all these launches; VALUE_HIGH the upper half of the sum, VALUE_CARRY the carry
// between them: a predicate, or a register that is not 0 if there is one. VALUE_HALF is one of the
// two halves: every launch chooses the same one, and an address made of the wrong one is hardly
// inside of an allocation, so that the launch is no model for others.
typedef enum ValueKind {
  VALUE_UNSET,  // nothing was written there
  VALUE_SAME,   // the same in each of these launches, for the same thread: from `least` to `most`
  VALUE_LOW,
  VALUE_HIGH,
  VALUE_HALF,
  VALUE_CARRY,
  VALUE_DATA  // anything, in the bits `most`; the others are the same
} ValueKind;
// The outcome of an instruction that wrote a predicate, at its last turn; negative: its opposite.
typedef int32_t Condition;
typedef struct Value {
  ValueKind kind;
  uint32_t least, most;  // 0 of the other kinds
  Condition condition;   // it is true, or not 0, if and only if this condition is; 0: not known
} Value;

static inline Value value_of(ValueKind kind) {
  return (Value){kind, 0, kind == VALUE_SAME || kind == VALUE_DATA ? UINT32_MAX : 0, 0};
}
// Compilers keep predicates as bits of one register, the other bits of which may be anything.
static inline Value value_with_data_bits(uint32_t bits) {
  return bits ? (Value){VALUE_DATA, 0, bits, 0} : value_of(VALUE_SAME);
}
// The key tells how far a pointer is from a multiple of 512 bytes.
static inline uint32_t value_data_bits(Value v) {
  enum { KNOWN_BITS = 0x1ff };
  switch (v.kind) {
    case VALUE_UNSET:
    case VALUE_SAME: return 0;
    case VALUE_LOW: return ~(uint32_t)KNOWN_BITS;
    case VALUE_HIGH:
    case VALUE_HALF:
    case VALUE_CARRY: return UINT32_MAX;
    case VALUE_DATA: return v.most;
  }
  return UINT32_MAX;
}
static inline Value value_between(uint32_t least, uint32_t most) {
  return (Value){VALUE_SAME, least, most, 0};
}
static inline Value value_number(uint32_t number) { return value_between(number, number); }
static inline bool value_is_same(Value v) { return v.kind == VALUE_SAME; }
static inline bool value_is_number(Value v) { return v.kind == VALUE_SAME && v.least == v.most; }
static inline bool value_is(Value v, uint32_t number) {
  return value_is_number(v) && v.least == number;
}
static inline bool value_equals(Value a, Value b) {
  return a.kind == b.kind && a.least == b.least && a.most == b.most && a.condition == b.condition;
}

// One of the two, and every launch makes the same choice.
Value value_join(Value a, Value b);
// Any function of both, without a memory.
Value value_function(Value a, Value b);

// Operands of an instruction: c_high is the upper register of a pair; in1 to in3 are predicates.
typedef struct ValueInputs {
  Value a, b, c, c_high, in1, in2, in3;
  bool a_negated, b_negated, c_negated;
} ValueInputs;
typedef struct ValueResults {
  Value low, high;   // the second: of a pair, and of all further registers
  Value out1, out2;  // predicates
} ValueResults;

// For rules that compute results from operands alone.
ValueResults value_compute(const SassInstruction *i, const SassEffect *e, const ValueInputs *in);

#endif
