#include "view/numbers.h"

#include <math.h>

static const char *const names[ELEMENT_TYPES] = {"u8",  "i8",  "u16", "i16",  "u32", "i32",
                                                 "u64", "i64", "f16", "bf16", "f32", "f64"};
const unsigned view_element_bytes[ELEMENT_TYPES] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};

int view_element_type(const char *name) {
  int type = 0;
  while (type < ELEMENT_TYPES && (!name || strcmp(names[type], name) != 0)) type++;
  return type;
}

static double half_value(uint16_t h) {
  int exponent = h >> 10 & 31, fraction = h & 1023;
  double v = exponent == 31 ? (fraction ? NAN : INFINITY)
             : exponent     ? ldexp(1024 + fraction, exponent - 25)
                            : ldexp(fraction, -24);
  return h & 0x8000 ? -v : v;
}

#define TAKE(T) \
  ({ \
    T take_; \
    memcpy(&take_, p, sizeof take_); \
    take_; \
  })
double view_number_at(const uint8_t *p, ViewElement t) {
  switch (t) {
    case U8: return TAKE(uint8_t);
    case I8: return TAKE(int8_t);
    case U16: return TAKE(uint16_t);
    case I16: return TAKE(int16_t);
    case U32: return TAKE(uint32_t);
    case I32: return TAKE(int32_t);
    case U64: return (double)TAKE(uint64_t);
    case I64: return (double)TAKE(int64_t);
    case F16: return half_value(TAKE(uint16_t));
    case BF16: {
      uint32_t bits = (uint32_t)TAKE(uint16_t) << 16;
      float f;
      memcpy(&f, &bits, 4);
      return f;
    }
    case F32: return TAKE(float);
    default: return TAKE(double);
  }
}

void view_number_text(const uint8_t *p, ViewElement t, char *out, size_t size) {
  if (t == U64) snprintf(out, size, "%llu", (unsigned long long)TAKE(uint64_t));
  else if (t == I64) snprintf(out, size, "%lld", (long long)TAKE(int64_t));
  else snprintf(out, size, "%.*g", t == F64 ? 17 : t == F32 ? 9 : 10, view_number_at(p, t));
}
