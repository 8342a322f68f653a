// Values and conversions between types. Rounding is done by the CPU's own arithmetic where it has
// the format, by hand for half and bfloat16.
#include "view/calc.h"

#include <fenv.h>
#include <math.h>

bool calc_is_float(CalcType t) { return t >= CALC_HALF; }

CalcType calc_type_of(char letter) {
  static const char letters[] = "iulvhbfd";  // by CalcType
  const char *at = strchr(letters, letter);
  CHECK(letter && at);
  return (CalcType)(at - letters);
}

CalcValue calc_int(CalcType type, uint64_t bits) {
  int64_t i = type == CALC_INT    ? (int32_t)bits
              : type == CALC_UINT ? (int64_t)(uint32_t)bits
                                  : (int64_t)bits;
  return (CalcValue){.type = type, .i = i};
}

CalcValue calc_float(CalcType type, double f) { return (CalcValue){.type = type, .f = f}; }

// digits: of the significand, the hidden one included. least: exponent of the smallest subnormal
// number.
static double round_to(double v, int digits, int least, double largest, int mode) {
  if (isnan(v) || isinf(v) || v == 0) return v;
  int exponent;
  frexp(v, &exponent);
  int unit = MAX(exponent - digits, least);
  double scaled = ldexp(v, -unit);
  double r = mode == FE_TOWARDZERO ? trunc(scaled)
             : mode == FE_UPWARD   ? ceil(scaled)
             : mode == FE_DOWNWARD ? floor(scaled)
                                   : nearbyint(scaled);
  r = copysign(ldexp(fabs(r), unit), v);
  if (fabs(r) <= largest) return r;
  bool to_infinity = mode == FE_TONEAREST || (mode == FE_UPWARD && v > 0) ||
                     (mode == FE_DOWNWARD && v < 0);
  return copysign(to_infinity ? INFINITY : largest, v);
}

static double round_half(double v, int mode) { return round_to(v, 11, -24, 65504, mode); }
static double round_bfloat(double v, int mode) { return round_to(v, 8, -133, 0x1.fep127, mode); }
static double round_float(double v, int mode) {
  return round_to(v, 24, -149, 0x1.fffffep127, mode);
}

uint64_t calc_bits(CalcValue v) {
  if (calc_is_float(v.type) && isnan(v.f) && v.i) return (uint64_t)v.i;
  float f = (float)v.f;
  uint32_t word;
  uint64_t bits;
  memcpy(&word, &f, 4);
  memcpy(&bits, &v.f, 8);
  switch (v.type) {
    case CALC_INT:
    case CALC_UINT: return (uint32_t)v.i;
    case CALC_LONG:
    case CALC_ULONG: return (uint64_t)v.i;
    case CALC_BFLOAT: return isnan(v.f) ? 0x7fff : word >> 16;
    case CALC_FLOAT: return isnan(v.f) ? 0x7fffffff : word;
    case CALC_DOUBLE: return bits;
    case CALC_HALF: break;
  }
  if (isnan(v.f)) return 0x7fff;
  uint64_t sign = signbit(v.f) ? 0x8000 : 0;
  double size = fabs(v.f);
  if (isinf(size)) return sign | 0x7c00;
  if (size < 0x1p-14) return sign | (uint64_t)ldexp(size, 24);
  int exponent;
  double fraction = frexp(size, &exponent);  // [0.5, 1)
  return sign | (uint64_t)(exponent + 14) << 10 | ((uint64_t)ldexp(fraction, 11) & 1023);
}

static CalcValue float_of_bits(CalcType type, uint64_t bits) {
  if (type == CALC_DOUBLE) {
    double d;
    memcpy(&d, &bits, 8);
    return calc_float(type, d);
  }
  if (type == CALC_HALF) {
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double v = exponent == 31 ? (fraction ? NAN : INFINITY)
               : exponent     ? ldexp(1024 + fraction, exponent - 25)
                              : ldexp(fraction, -24);
    return calc_float(type, bits & 0x8000 ? -v : v);
  }
  uint32_t word = (uint32_t)(type == CALC_BFLOAT ? bits << 16 : bits);
  float f;
  memcpy(&f, &word, 4);
  return calc_float(type, f);
}

CalcValue calc_from_bits(CalcType type, uint64_t bits) {
  if (!calc_is_float(type)) return calc_int(type, bits);
  static const uint64_t masks[] = {[CALC_HALF] = 0xffff,
                                   [CALC_BFLOAT] = 0xffff,
                                   [CALC_FLOAT] = 0xffffffff,
                                   [CALC_DOUBLE] = UINT64_MAX};
  CalcValue v = float_of_bits(type, bits);
  if (isnan(v.f)) v.i = (int64_t)(bits & masks[type]);  // CPUs quieten some on the way
  return v;
}

static CalcValue to_integer(CalcValue v, CalcType to, int mode) {
  if (!calc_is_float(v.type)) return calc_int(to, (uint64_t)v.i);
  if (isnan(v.f)) return calc_int(to, to == CALC_LONG || to == CALC_ULONG ? 1ull << 63 : 0);
  double r = mode == FE_UPWARD      ? ceil(v.f)
             : mode == FE_DOWNWARD  ? floor(v.f)
             : mode == FE_TONEAREST ? nearbyint(v.f)
                                    : trunc(v.f);
  switch (to) {
    case CALC_INT:
      return calc_int(to, (uint64_t)(int64_t)(r < -0x1p31      ? -0x1p31
                                              : r > 0x1p31 - 1 ? 0x1p31 - 1
                                                               : r));
    case CALC_UINT: return calc_int(to, (uint64_t)(r < 0 ? 0 : r > 0x1p32 - 1 ? 0x1p32 - 1 : r));
    case CALC_LONG:
      return calc_int(to, r >= 0x1p63   ? (uint64_t)INT64_MAX
                          : r < -0x1p63 ? (uint64_t)INT64_MIN
                                        : (uint64_t)(int64_t)r);
    default: return calc_int(to, r >= 0x1p64 ? UINT64_MAX : r < 0 ? 0 : (uint64_t)r);
  }
}

// A 64-bit integer has more digits than a double: it is rounded here and not twice.
static double integer_as(CalcValue v, int digits, int mode) {
  bool negative = v.type != CALC_ULONG && v.i < 0;
  uint64_t size = negative ? -(uint64_t)v.i : (uint64_t)v.i;
  int unit = 0;
  while (unit < 64 && (size >> unit) >> digits) unit++;
  uint64_t kept = size >> unit, rest = unit ? size & ((1ull << unit) - 1) : 0,
           half = unit ? 1ull << (unit - 1) : 0;
  bool up = mode == FE_UPWARD ? !negative : mode == FE_DOWNWARD ? negative : false;
  if (rest && (up || (mode == FE_TONEAREST && (rest > half || (rest == half && kept & 1))))) kept++;
  double r = ldexp((double)kept, unit);
  return negative ? -r : r;
}

CalcValue calc_convert(CalcValue v, CalcType to, int mode) {
  if (v.type == to) return v;
  if (!calc_is_float(to)) return to_integer(v, to, mode);
  static const int digits[] = {
      [CALC_HALF] = 11, [CALC_BFLOAT] = 8, [CALC_FLOAT] = 24, [CALC_DOUBLE] = 53};
  double f = calc_is_float(v.type) ? v.f : integer_as(v, digits[to], mode);
  return calc_float(to, to == CALC_HALF     ? round_half(f, mode)
                        : to == CALC_BFLOAT ? round_bfloat(f, mode)
                        : to == CALC_FLOAT  ? round_float(f, mode)
                                            : f);
}
