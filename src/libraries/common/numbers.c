#include "libraries/common/numbers.h"

unsigned number_bytes(DataType t) {
  switch (t) {
    case R_8I:
    case R_8U:
    case R_8F_E4M3:
    case R_8F_E5M2: return 1;
    case R_16F:
    case R_16BF:
    case C_8I: return 2;
    case R_32F:
    case R_32I:
    case C_16F:
    case C_16BF: return 4;
    case R_64F:
    case C_32F: return 8;
    case C_64F: return 16;
    default: return 0;
  }
}

OperandFormat number_format(DataType t) {
  switch (t) {
    case R_16F:
    case C_16F: return OPERAND_F16;
    case R_16BF:
    case C_16BF: return OPERAND_BF16;
    case R_32F:
    case C_32F: return OPERAND_F32;
    case R_64F:
    case C_64F: return OPERAND_F64;
    default: return OPERAND_OTHER;
  }
}

static uint32_t bits_of(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}

static float float_of(uint32_t u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}

float number_from_f16(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, m = h & 0x3ff;
  if (exponent == 31) return float_of(sign | 0x7f800000 | m << 13);
  if (exponent) return float_of(sign | (exponent + 112) << 23 | m << 13);
  float f = (float)m * 0x1p-24f;
  return sign ? -f : f;
}

uint16_t number_to_f16(float f) {
  uint32_t u = bits_of(f), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
  if (a > 0x7f800000) return 0x7fff;
  if (a >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
  if (a < 0x38800000) {  // subnormal: units of 2^-24, rounded by the FPU
    float scaled = float_of(a) * 0x1p24f;
    return (uint16_t)(sign | (uint32_t)lrintf(scaled));
  }
  uint32_t odd = a >> 13 & 1;
  return (uint16_t)(sign | (a + 0xfff + odd - (112u << 23)) >> 13);
}

float number_from_bf16(uint16_t h) { return float_of((uint32_t)h << 16); }

uint16_t number_to_bf16(float f) {
  uint32_t u = bits_of(f);
  if ((u & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

float number_to_tf32(float f) {
  uint32_t u = bits_of(f);
  if ((u & 0x7f800000) == 0x7f800000) return f;
  return float_of((u + 0xfff + (u >> 13 & 1)) & ~0x1fffu);
}

// --- FP8: E4M3 has no infinity, its NaN is 0x7f; E5M2 is FP16 cut to eight bits ---

float number_from_f8(uint8_t b, DataType t) {
  if (t == R_8F_E5M2) return number_from_f16((uint16_t)(b << 8));
  uint32_t exponent = b >> 3 & 15, m = b & 7;
  if ((b & 0x7f) == 0x7f) return NAN;
  float f = exponent ? ldexpf((float)(8 + m), (int)exponent - 10) : ldexpf((float)m, -9);
  return b & 0x80 ? -f : f;
}

uint8_t number_to_f8(float f, DataType t) {
  int mantissa = t == R_8F_E4M3 ? 3 : 2, bias = t == R_8F_E4M3 ? 7 : 15;
  float largest = t == R_8F_E4M3 ? 448.0f : 57344.0f, a = fabsf(f);
  uint8_t sign = signbit(f) ? 0x80 : 0;
  if (isnan(f)) return (uint8_t)(sign | 0x7f);
  if (a >= largest) return (uint8_t)(sign | (t == R_8F_E4M3 ? 0x7e : 0x7b));
  int exponent;
  frexpf(a, &exponent);  // a = x * 2^exponent, 0.5 <= x < 1
  int e = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
  long units = lrintf(ldexpf(a, mantissa - e));  // of 2^(e - mantissa)
  // A carry out of the mantissa counts one in the exponent, as it should.
  long code = ((long)(e + bias - 1) << mantissa) + units;
  long most = t == R_8F_E4M3 ? 0x7e : 0x7b;
  return (uint8_t)(sign | (code > most ? most : code));
}

// --- arrays ---

#define COUNT(t, n) (number_is_complex(t) ? 2 * (n) : (n))
#define EACH(type, expression) \
  for (uint64_t i = 0; i < n; i++) { \
    type x = ((const type *)from)[i]; \
    to[i] = expression; \
  } \
  break

void numbers_widen(double *to, const void *from, DataType t, uint64_t count) {
  uint64_t n = COUNT(t, count);
  switch (t) {
    case R_64F:
    case C_64F: EACH(double, x) ;
    case R_32F:
    case C_32F: EACH(float, x) ;
    case R_16F:
    case C_16F: EACH(uint16_t, number_from_f16(x)) ;
    case R_16BF:
    case C_16BF: EACH(uint16_t, number_from_bf16(x)) ;
    case R_8I:
    case C_8I: EACH(int8_t, x) ;
    case R_8U: EACH(uint8_t, x) ;
    case R_32I: EACH(int32_t, x) ;
    default: EACH(uint8_t, number_from_f8(x, t)) ;
  }
}

void numbers_to_float(float *to, const void *from, DataType t, uint64_t count) {
  uint64_t n = COUNT(t, count);
  switch (t) {
    case R_64F:
    case C_64F: EACH(double, (float)x) ;
    case R_32F:
    case C_32F: EACH(float, x) ;
    case R_16F:
    case C_16F: EACH(uint16_t, number_from_f16(x)) ;
    case R_16BF:
    case C_16BF: EACH(uint16_t, number_from_bf16(x)) ;
    case R_8I:
    case C_8I: EACH(int8_t, (float)x) ;
    case R_8U: EACH(uint8_t, (float)x) ;
    case R_32I: EACH(int32_t, (float)x) ;
    default: EACH(uint8_t, number_from_f8(x, t)) ;
  }
}

static int8_t saturate(double x) { return (int8_t)(x > 127 ? 127 : x < -128 ? -128 : lrint(x)); }

#undef EACH
#define EACH(type, expression) \
  for (uint64_t i = 0; i < n; i++) ((type *)to)[i] = (type)(expression); \
  break

void numbers_from_float(void *to, DataType t, const float *from, uint64_t count) {
  uint64_t n = COUNT(t, count);
  switch (t) {
    case R_64F:
    case C_64F: EACH(double, from[i]) ;
    case R_32F:
    case C_32F: EACH(float, from[i]) ;
    case R_16F:
    case C_16F: EACH(uint16_t, number_to_f16(from[i])) ;
    case R_16BF:
    case C_16BF: EACH(uint16_t, number_to_bf16(from[i])) ;
    case R_8I:
    case C_8I: EACH(int8_t, saturate(from[i])) ;
    case R_8F_E4M3:
    case R_8F_E5M2: EACH(uint8_t, number_to_f8(from[i], t)) ;
    default: break;
  }
}

// Integers are sums modulo 2^32.
void numbers_narrow(void *to, DataType t, const double *from, uint64_t count) {
  uint64_t n = COUNT(t, count);
  switch (t) {
    case R_64F:
    case C_64F: EACH(double, from[i]) ;
    case R_32F:
    case C_32F: EACH(float, from[i]) ;
    case R_16F:
    case C_16F: EACH(uint16_t, number_to_f16((float)from[i])) ;
    case R_16BF:
    case C_16BF: EACH(uint16_t, number_to_bf16((float)from[i])) ;
    case R_8I:
    case C_8I: EACH(int8_t, saturate(from[i])) ;
    case R_32I: EACH(int32_t, (uint32_t)(int64_t)from[i]) ;
    case R_8F_E4M3:
    case R_8F_E5M2: EACH(uint8_t, number_to_f8((float)from[i], t)) ;
    default: break;
  }
}
