// Computes with known values of registers, one function for each rule. Numbers are computed as the
// GPU does; everything else is a question of kinds.
#include "sass/values.h"

static const Value none = {VALUE_UNSET, 0, 0, 0}, same = {VALUE_SAME, 0, UINT32_MAX, 0},
                   data = {VALUE_DATA, 0, UINT32_MAX, 0};

static bool is_pointer(Value v) {
  return v.kind == VALUE_LOW || v.kind == VALUE_HIGH || v.kind == VALUE_HALF;
}

static Value join(Value a, Value b) {
  if (value_is_same(a) && value_is_same(b))
    return value_between(MIN(a.least, b.least), MAX(a.most, b.most));
  if (a.kind == VALUE_DATA || b.kind == VALUE_DATA)
    return value_with_data_bits(value_data_bits(a) | value_data_bits(b));
  if (a.kind == b.kind) return a;
  if (value_is_same(b)) return a;
  if (value_is_same(a)) return b;
  return is_pointer(a) && is_pointer(b) ? value_of(VALUE_HALF) : data;
}

Value value_join(Value a, Value b) {
  if (a.kind == VALUE_UNSET) return b;
  if (b.kind == VALUE_UNSET) return a;
  Value v = join(a, b);
  v.condition = a.condition == b.condition ? a.condition : 0;
  return v;
}

Value value_function(Value a, Value b) {
  if (a.kind == VALUE_UNSET && b.kind == VALUE_UNSET) return none;
  bool fixed = (a.kind == VALUE_UNSET || value_is_same(a)) &&
               (b.kind == VALUE_UNSET || value_is_same(b));
  return fixed ? same : data;
}

static ValueResults all(Value v) { return (ValueResults){v, v, v, v}; }

static bool are_numbers(const ValueInputs *in) {
  return value_is_number(in->a) && value_is_number(in->b) && value_is_number(in->c);
}

// In IADD3, LEA and IMAD: the sum goes on from lower registers.
static bool takes_carry(const SassInstruction *i) { return sass_bits(i, 74, 1); }

// --- sums ---

// The range of 64-bit sums as one of 32 bits: all of them if only some wrap around.
static Value range(uint64_t least, uint64_t most) {
  return least >> 32 == most >> 32 ? value_between((uint32_t)least, (uint32_t)most) : same;
}

// A sum of at most one pointer and of things that are the same.
static Value sum_of_kinds(const Value *terms, const bool *negated, unsigned n, Value carry) {
  Value pointer = same;
  uint64_t least = 0, most = 0;
  bool ranged = value_is(carry, 0);
  for (unsigned k = 0; k < n; k++) {
    if (terms[k].kind == VALUE_UNSET) return none;
    if (terms[k].kind == VALUE_DATA || terms[k].kind == VALUE_CARRY) return data;
    least += terms[k].least;
    most += terms[k].most;
    ranged &= !negated[k];
    if (!is_pointer(terms[k])) continue;
    if (is_pointer(pointer) || negated[k]) return data;
    pointer = terms[k];
  }
  bool is_upper = pointer.kind == VALUE_HIGH || pointer.kind == VALUE_HALF;
  if (carry.kind == VALUE_CARRY ? !is_upper : value_data_bits(carry)) return data;
  if (carry.kind == VALUE_UNSET) return none;
  return ranged && !is_pointer(pointer) ? range(least, most) : pointer;
}

static Value carry_of(Value sum) {
  bool is_lower = sum.kind == VALUE_LOW || sum.kind == VALUE_HALF;
  return is_lower ? value_of(VALUE_CARRY) : value_function(sum, sum);
}

static ValueResults sum_of_numbers(const SassInstruction *i, const ValueInputs *in) {
  Value terms[] = {in->a, in->b, in->c};
  bool negated[] = {in->a_negated, in->b_negated, in->c_negated}, more = takes_carry(i);
  uint64_t sum = 0;
  unsigned negations = 0;
  for (unsigned k = 0; k < ARRAY_LEN(terms); k++) {
    // a difference adds the complement and 1; with a carry the 1 came before
    sum += negated[k] ? (uint64_t)(~terms[k].least) + !more : terms[k].least;
    negations += negated[k];
  }
  if (more) sum += (uint64_t)in->in1.least + in->in2.least;
  ValueResults r = all(same);
  r.low = r.high = value_number((uint32_t)sum);
  // the sum of two has one carry
  bool of_two = negations <= 1 && value_is(in->c, 0) && !in->c_negated && value_is(in->in2, 0);
  if (of_two) r.out1 = value_number((uint32_t)(sum >> 32 & 1));
  return r;
}

static ValueResults sum(const SassInstruction *i, const ValueInputs *in) {
  bool more = takes_carry(i);
  Value terms[] = {in->a, in->b, in->c};
  bool negated[] = {in->a_negated, in->b_negated, in->c_negated};
  Value carry = more ? value_join(in->in1, in->in2) : value_number(0);
  if (are_numbers(in) && (!more || (value_is_number(in->in1) && value_is_number(in->in2))))
    return sum_of_numbers(i, in);
  Value v = sum_of_kinds(terms, negated, ARRAY_LEN(terms), carry);
  return (ValueResults){v, v, carry_of(v), carry_of(v)};
}

static Value shifted_left(Value v, unsigned by) {
  if (!value_is_same(v)) return v;
  uint64_t least = (uint64_t)v.least << by, most = (uint64_t)v.most << by;
  return value_is_number(v) ? value_number((uint32_t)least) : range(least, most);
}

static ValueResults shifted_sum(const SassInstruction *i, const ValueInputs *in) {
  bool upper = sass_bits(i, 80, 1), more = takes_carry(i);
  Value shifted = upper || in->a_negated ? value_function(in->a, upper ? in->c : same)
                  : is_pointer(in->a)    ? data
                                         : shifted_left(in->a, sass_bits(i, 75, 5));
  Value terms[] = {shifted, in->b};
  bool negated[] = {in->a_negated, in->b_negated};
  Value v = sum_of_kinds(terms, negated, ARRAY_LEN(terms), more ? in->in1 : value_number(0));
  return (ValueResults){v, v, carry_of(v), carry_of(v)};
}

// A product with a pointer in it is only known if the other factor is 0 or 1.
static Value product_of_kinds(Value a, Value b) {
  if (value_is(a, 0) || value_is(b, 0)) return value_number(0);
  if (value_is(b, 1)) return a;
  if (value_is(a, 1)) return b;
  if (!value_is_same(a) || !value_is_same(b)) return value_function(a, b);
  if (value_is_number(a) && value_is_number(b)) return value_number(a.least * b.least);
  return range((uint64_t)a.least * b.least, (uint64_t)a.most * b.most);
}

static ValueResults product(const SassInstruction *i, const ValueInputs *in) {
  ValueInputs terms = {.a = product_of_kinds(in->a, in->b),
                       .b = in->c,
                       .c = value_number(0),
                       .in1 = in->in1,
                       .in2 = value_number(0),
                       .b_negated = in->c_negated};
  if (in->a_negated || in->b_negated) terms.a = value_function(in->a, in->b);
  return sum(i, &terms);
}

static ValueResults wide_product(const SassInstruction *i, const ValueInputs *in) {
  bool is_signed = sass_bits(i, 73, 1), more = takes_carry(i);
  Value factor = value_function(in->a, in->b), carry = more ? in->in1 : value_number(0);
  if (!is_signed && value_is_same(in->a) && value_is_same(in->b))
    factor = range((uint64_t)in->a.least * in->b.least, (uint64_t)in->a.most * in->b.most);
  if (in->a_negated || in->b_negated) factor = data;
  Value low[] = {factor, in->c}, high[] = {value_function(factor, factor), in->c_high};
  bool negated[] = {false, in->c_negated};
  ValueResults r = {.low = sum_of_kinds(low, negated, 2, carry), .out1 = data, .out2 = data};
  r.high = sum_of_kinds(high, negated, 2, is_pointer(in->c) ? value_of(VALUE_CARRY) : same);
  if (value_is_same(r.low) && value_is_same(r.high)) r.out1 = r.out2 = same;
  bool known = are_numbers(in) && value_is_number(in->c_high) && !more && !in->c_negated;
  if (!known) return r;
  uint64_t p = is_signed ? (uint64_t)((int64_t)(int32_t)in->a.least * (int32_t)in->b.least)
                         : (uint64_t)in->a.least * in->b.least;
  p += (uint64_t)in->c_high.least << 32 | in->c.least;
  r.low = value_number((uint32_t)p);
  r.high = value_number((uint32_t)(p >> 32));
  return r;
}

static ValueResults high_product(const SassInstruction *i, const ValueInputs *in) {
  bool is_signed = sass_bits(i, 73, 1);
  Value v = value_function(value_function(in->a, in->b), value_function(in->c, in->c_high));
  bool usable = !is_signed && !in->c_negated && !takes_carry(i) && value_is_same(in->a) &&
                value_is_same(in->b) && value_is(in->c_high, 0) && value_is_same(in->c);
  if (!usable) return all(v);
  uint64_t least = (uint64_t)in->a.least * in->b.least + in->c.least,
           most = (uint64_t)in->a.most * in->b.most + in->c.most;
  v = value_between((uint32_t)(least >> 32), (uint32_t)(most >> 32));
  return (ValueResults){v, v, same, same};
}

static ValueResults absolute(const ValueInputs *in) {
  if (!value_is_number(in->b)) return all(value_function(in->b, same));
  uint32_t n = in->b.least;
  return all(value_number((int32_t)n < 0 ? 0 - n : n));
}

static ValueResults extreme(const SassInstruction *i, const ValueInputs *in) {
  bool is_signed = sass_bits(i, 72, 1), halves = sass_bits(i, 73, 1);
  Value v = value_function(value_function(in->a, in->b), in->in1);
  if (!value_is_number(in->a) || !value_is_number(in->b) || !value_is_number(in->in1) || halves)
    return all(v);
  uint32_t a = in->a.least, b = in->b.least;
  bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
  return all(value_number(less == (in->in1.least != 0) ? a : b));
}

// --- bits ---

static uint32_t by_table(uint32_t a, uint32_t b, uint32_t c, unsigned table) {
  uint32_t r = 0;
  for (unsigned k = 0; k < 8; k++)
    if (table >> k & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  return r;
}

// Bits of the result that change with data bits of the operands, whatever the other bits are.
static uint32_t data_bits_by_table(const Value *operands, unsigned table) {
  uint32_t bits = 0;
  for (unsigned b = 0; b < 32; b++) {
    unsigned data_operands = 0, known = 0, numbers = 0;
    for (unsigned k = 0; k < 3; k++) {
      data_operands |= (value_data_bits(operands[k]) >> b & 1) << (2 - k);
      known |= (unsigned)value_is_number(operands[k]) << (2 - k);
      numbers |= (operands[k].least >> b & 1) << (2 - k);
    }
    for (unsigned one = 0; one < 8; one++)
      for (unsigned two = 0; two < 8; two++) {
        bool possible = !((one ^ numbers) & known) && !((one ^ two) & ~data_operands);
        if (possible && (table >> one & 1) != (table >> two & 1)) bits |= 1u << b;
      }
  }
  return bits;
}

static Value logic_of_data(const ValueInputs *in, unsigned table) {
  Value operands[] = {in->a, in->b, in->c};
  if (in->a.kind == VALUE_UNSET || in->b.kind == VALUE_UNSET || in->c.kind == VALUE_UNSET)
    return none;
  return value_with_data_bits(data_bits_by_table(operands, table));
}

static ValueResults logic(const SassInstruction *i, const ValueInputs *in) {
  enum { A_AND_B = 0xc0 };
  unsigned table = sass_bits(i, 72, 8);
  Value v = value_function(value_function(in->a, in->b), in->c);
  if (v.kind == VALUE_DATA) v = logic_of_data(in, table);
  if (table == A_AND_B) {
    if (value_is(in->a, 0) || value_is(in->b, 0)) v = value_number(0);
    else if (value_is_number(in->a) && value_is_number(in->b))
      v = value_number(in->a.least & in->b.least);
    else if (value_is_same(in->a) && value_is_same(in->b))
      v = value_between(0, MIN(in->a.most, in->b.most));
  } else if (are_numbers(in)) {
    v = value_number(by_table(in->a.least, in->b.least, in->c.least, table));
  }
  // a predicate tells whether a bit is set
  Value any = value_is_number(v) ? value_number(v.least != 0) : value_function(v, v);
  if (!value_is(in->in1, 0)) any = value_function(any, in->in1);
  return (ValueResults){v, v, any, any};
}

static ValueResults shift(const SassInstruction *i, const ValueInputs *in) {
  bool upper = sass_bits(i, 80, 1), right = sass_bits(i, 76, 1);
  unsigned type = sass_bits(i, 73, 2);
  enum { S64 = 0, U64 = 1, S32 = 2, U32 = 3 };
  Value v = value_function(value_function(in->a, in->b), in->c);
  if (!value_is_number(in->b) || in->b.least > 31) return all(v);
  unsigned by = in->b.least;
  uint64_t data_bits = (uint64_t)value_data_bits(in->c) << 32 | value_data_bits(in->a);
  if (v.kind == VALUE_DATA && !right && !upper)
    return all(value_with_data_bits((uint32_t)data_bits << by));
  if (v.kind == VALUE_DATA && right && (!upper || type == U32))
    return all(value_with_data_bits((uint32_t)(data_bits >> by >> (upper ? 32 : 0))));
  if (!right && !upper && type == U32 && value_is_same(in->a)) return all(shifted_left(in->a, by));
  if (right && upper && type == U32 && value_is(in->a, 0) && value_is_same(in->c))
    return all(value_between(in->c.least >> by, in->c.most >> by));
  if (!are_numbers(in)) return all(v);
  uint32_t a = in->a.least, c = in->c.least;
  uint64_t both = (uint64_t)c << 32 | a;
  if (!right && upper && type == U64) return all(value_number((uint32_t)(both << by >> 32)));
  if (right && upper && !a && type == S32) return all(value_number((uint32_t)((int32_t)c >> by)));
  if (right && !upper && (type == U64 || type == S64))
    return all(value_number((uint32_t)(both >> by)));
  return all(v);
}

// The bytes of a are 0 to 3, those of c 4 to 7; 8 is added for a byte of the chosen one's sign.
static uint32_t choose_bytes(uint32_t a, uint32_t c, uint32_t choice) {
  uint64_t both = (uint64_t)c << 32 | a;
  uint32_t r = 0;
  for (unsigned k = 0; k < 4; k++) {
    unsigned which = choice >> 4 * k & 15;
    uint32_t byte = (uint32_t)(both >> 8 * (which & 7)) & 0xff;
    if (which & 8) byte = byte & 0x80 ? 0xff : 0;
    r |= byte << 8 * k;
  }
  return r;
}

static ValueResults bytes(const SassInstruction *i, const ValueInputs *in) {
  Value v = value_function(value_function(in->a, in->b), in->c);
  bool other_mode = sass_bits(i, 72, 3);
  if (!value_is_number(in->b) || other_mode || v.kind == VALUE_UNSET) return all(v);
  uint32_t choice = in->b.least;
  if (value_is_number(in->a) && value_is_number(in->c))
    return all(value_number(choose_bytes(in->a.least, in->c.least, choice)));
  return all(
      value_with_data_bits(choose_bytes(value_data_bits(in->a), value_data_bits(in->c), choice)));
}

// --- choices and comparisons ---

static ValueResults choice(const ValueInputs *in) {
  if (value_is_number(in->in1)) return all(in->in1.least ? in->a : in->b);
  if (in->in1.kind == VALUE_UNSET) return all(none);
  return all(in->in1.kind == VALUE_SAME ? value_join(in->a, in->b) : data);
}

// lower: the comparison of the lower halves, where these are the upper ones
static bool compare(const SassInstruction *i, uint32_t a, uint32_t b, Value lower) {
  enum { LESS = 1, EQUAL = 2, GREATER = 4 };
  unsigned wanted = sass_bits(i, 76, 3);
  bool is_signed = sass_bits(i, 73, 1), more = sass_bits(i, 72, 1);
  bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
  if (more && a == b) return lower.least;
  return wanted & (less ? LESS : a == b ? EQUAL : GREATER);
}

// A pointer is never null; its halves are compared one after the other.
static bool is_null_test(const SassInstruction *i, const ValueInputs *in) {
  enum { EQUAL = 2, NOT_EQUAL = 5 };
  unsigned wanted = sass_bits(i, 76, 3);
  return (wanted == EQUAL || wanted == NOT_EQUAL) &&
         ((is_pointer(in->a) && value_is(in->b, 0)) || (is_pointer(in->b) && value_is(in->a, 0)));
}

static bool is_carry_test(const SassInstruction *i, const ValueInputs *in) {
  enum { NOT_EQUAL = 5 };
  return in->a.kind == VALUE_CARRY && value_is(in->b, 0) && sass_bits(i, 76, 3) == NOT_EQUAL &&
         !sass_bits(i, 72, 1);
}

static Value compared(const SassInstruction *i, const ValueInputs *in) {
  bool more = sass_bits(i, 72, 1);
  Value lower = more ? in->in3 : same;
  bool numbers = value_is_number(in->a) && value_is_number(in->b);
  if (numbers && (!more || value_is_number(in->in3) || in->a.least != in->b.least))
    return value_number(compare(i, in->a.least, in->b.least, in->in3));
  if (is_null_test(i, in)) return value_function(lower, same);
  if (is_carry_test(i, in)) return in->a;
  return value_function(value_function(in->a, in->b), lower);
}

static Value combine(Value a, Value b, unsigned operation) {
  enum { AND = 0, OR = 1 };
  if (operation == AND && (value_is(a, 0) || value_is(b, 0))) return value_number(0);
  if (operation == OR && (value_is(a, 1) || value_is(b, 1))) return value_number(1);
  if (value_is(b, operation == AND)) return a;
  if (!value_is_number(a) || !value_is_number(b)) return value_function(a, b);
  return value_number(operation == AND  ? a.least & b.least
                      : operation == OR ? a.least | b.least
                                        : a.least ^ b.least);
}

static ValueResults comparison(const SassInstruction *i, const ValueInputs *in) {
  Value v = compared(i, in), not_v = v;
  unsigned operation = sass_bits(i, 74, 2);
  if (value_is_number(v)) not_v = value_number(!v.least);
  v.condition = not_v.condition = 0;
  return (ValueResults){none, none, combine(v, in->in1, operation),
                        combine(not_v, in->in1, operation)};
}

// The outcome may be the same for all that an unknown predicate can be.
static Value by_predicate_table(const ValueInputs *in, unsigned table) {
  const Value *p[] = {&in->in1, &in->in2, &in->in3};
  bool zero = false, one = false;
  for (unsigned k = 0; k < 8; k++) {
    bool possible = true;
    for (unsigned n = 0; n < 3; n++)
      possible &= !value_is_number(*p[n]) || p[n]->least == (k >> (2 - n) & 1);
    if (possible && table >> k & 1) one = true;
    if (possible && !(table >> k & 1)) zero = true;
  }
  if (zero != one) return value_number(one);
  return value_function(value_function(in->in1, in->in2), in->in3);
}

static ValueResults predicate_logic(const SassInstruction *i, const ValueInputs *in) {
  unsigned first = sass_bits(i, 72, 5) << 3 | sass_bits(i, 64, 3), second = sass_bits(i, 16, 8);
  return (ValueResults){none, none, by_predicate_table(in, first), by_predicate_table(in, second)};
}

// A vote of the lanes that are there by chance depends on time.
static ValueResults vote(const ValueInputs *in) {
  return all(value_is(in->in1, 1) ? data : value_function(in->in1, same));
}

static ValueResults function(const ValueInputs *in) {
  Value v = value_function(value_function(in->a, in->b), value_function(in->c, in->c_high));
  return all(value_function(v, value_function(value_function(in->in1, in->in2), in->in3)));
}

ValueResults value_compute(const SassInstruction *i, const SassEffect *e, const ValueInputs *in) {
  switch (e->rule) {
    case RULE_SUM: return sum(i, in);
    case RULE_SHIFTED_SUM: return shifted_sum(i, in);
    case RULE_PRODUCT: return product(i, in);
    case RULE_WIDE_PRODUCT: return wide_product(i, in);
    case RULE_HIGH_PRODUCT: return high_product(i, in);
    case RULE_ABSOLUTE: return absolute(in);
    case RULE_EXTREME: return extreme(i, in);
    case RULE_BYTES: return bytes(i, in);
    case RULE_MOVE: return all(e->reads & READ_B ? in->b : in->a);
    case RULE_CHOICE: return choice(in);
    case RULE_LOGIC: return logic(i, in);
    case RULE_SHIFT: return shift(i, in);
    case RULE_COMPARISON: return comparison(i, in);
    case RULE_PREDICATE_LOGIC: return predicate_logic(i, in);
    case RULE_VOTE: return vote(in);
    case RULE_NUMBER: return all(same);
    case RULE_FUNCTION: return function(in);
    default: return all(data);
  }
}
