// What is known of a register in all launches that have the same key: the same shape, the same
// numbers as parameters, and pointers with as much of their allocation around them. Private to
// sass/.
#ifndef WG_SASS_VALUES_H
#define WG_SASS_VALUES_H

#include "sass/effects.h"

// The lower half of a pointer, VALUE_LOW, is that of an allocation's address plus something that is
// the same in all these launches; VALUE_HIGH the upper half of the sum. A predicate that is
// VALUE_LOW is the carry between them.
typedef enum ValueKind {
  VALUE_UNSET,  // nothing was written there
  VALUE_SAME,   // the same in each of these launches, for the same thread: from `least` to `most`
  VALUE_LOW,
  VALUE_HIGH,
  VALUE_DATA  // anything
} ValueKind;
typedef struct Value {
  ValueKind kind;
  uint32_t least, most;  // 0, but of VALUE_SAME
} Value;

static inline Value value_of(ValueKind kind) {
  return (Value){kind, 0, kind == VALUE_SAME ? UINT32_MAX : 0};
}
static inline Value value_between(uint32_t least, uint32_t most) {
  return (Value){VALUE_SAME, least, most};
}
static inline Value value_number(uint32_t number) { return value_between(number, number); }
static inline bool value_is_same(Value v) { return v.kind == VALUE_SAME; }
static inline bool value_is_number(Value v) { return v.kind == VALUE_SAME && v.least == v.most; }
static inline bool value_is(Value v, uint32_t number) {
  return value_is_number(v) && v.least == number;
}
static inline bool value_equals(Value a, Value b) {
  return a.kind == b.kind && a.least == b.least && a.most == b.most;
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
