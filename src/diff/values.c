// Elements as bits: their values, their texts, and the distance between two of them.
#include "diff/diff.h"

#include <math.h>

static const struct {
  const char *name;
  DiffType type;
} types[] = {{"f16", {DIFF_F16, 2}},      {"bf16", {DIFF_BF16, 2}},    {"f32", {DIFF_F32, 4}},
             {"f64", {DIFF_F64, 8}},      {"s8", {DIFF_SIGNED, 1}},    {"s16", {DIFF_SIGNED, 2}},
             {"s32", {DIFF_SIGNED, 4}},   {"s64", {DIFF_SIGNED, 8}},   {"u8", {DIFF_UNSIGNED, 1}},
             {"u16", {DIFF_UNSIGNED, 2}}, {"u32", {DIFF_UNSIGNED, 4}}, {"u64", {DIFF_UNSIGNED, 8}},
             {"b8", {DIFF_BITS, 1}},      {"b16", {DIFF_BITS, 2}},     {"b32", {DIFF_BITS, 4}},
             {"b64", {DIFF_BITS, 8}},     {"f16x2", {DIFF_F16, 2}},    {"bf16x2", {DIFF_BF16, 2}}};

DiffType diff_type(const char *name, uint32_t element_bytes) {
  for (size_t i = 0; name && i < ARRAY_LEN(types); i++)
    if (!strcmp(types[i].name, name)) return types[i].type;
  uint32_t n = element_bytes == 1 || element_bytes == 2 || element_bytes == 4 ? element_bytes
               : element_bytes >= 8                                           ? 8
                                                                              : 1;
  return (DiffType){DIFF_BITS, n};
}

const char *diff_type_name(DiffType t) {
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    if (types[i].type.kind == t.kind && types[i].type.bytes == t.bytes) return types[i].name;
  return "?";
}

bool diff_is_float(DiffType t) { return t.kind >= DIFF_F16; }

uint64_t diff_load(const void *p, DiffType t) {
  uint64_t bits = 0;
  memcpy(&bits, p, t.bytes);  // the files' order of bytes is the device's: least significant first
  return bits;
}

// Bits of fraction, and of the whole format.
static void shape(DiffType t, unsigned *fraction, unsigned *width) {
  static const unsigned fractions[] = {
      [DIFF_F16] = 10, [DIFF_BF16] = 7, [DIFF_F32] = 23, [DIFF_F64] = 52};
  *fraction = fractions[t.kind];
  *width = t.bytes * 8;
}

static uint64_t low_bits(unsigned n) { return n >= 64 ? UINT64_MAX : (1ull << n) - 1; }

bool diff_is_nan(uint64_t bits, DiffType t) {
  if (!diff_is_float(t)) return false;
  unsigned fraction, width;
  shape(t, &fraction, &width);
  uint64_t magnitude = bits & low_bits(width - 1), infinity = low_bits(width - 1 - fraction)
                                                              << fraction;
  return magnitude > infinity;
}

static int64_t sign_extended(uint64_t bits, uint32_t bytes) {
  unsigned shift = 64 - bytes * 8;
  return (int64_t)(bits << shift) >> shift;
}

double diff_value(uint64_t bits, DiffType t) {
  float f;
  double d;
  switch (t.kind) {
    case DIFF_SIGNED: return (double)sign_extended(bits, t.bytes);
    case DIFF_BITS:
    case DIFF_UNSIGNED: return (double)bits;
    case DIFF_F64: memcpy(&d, &bits, 8); return d;
    case DIFF_F32: memcpy(&f, &(uint32_t){(uint32_t)bits}, 4); return f;
    case DIFF_BF16: memcpy(&f, &(uint32_t){(uint32_t)bits << 16}, 4); return f;
    case DIFF_F16: break;
  }
  unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
  d = exponent == 31 ? (fraction ? NAN : INFINITY)
      : exponent     ? ldexp(1024 + fraction, (int)exponent - 25)
                     : ldexp(fraction, -24);
  return bits & 0x8000 ? -d : d;
}

// --- text ---

void diff_print(Str *out, uint64_t bits, DiffType t) {
  if (t.kind == DIFF_BITS) str_printf(out, "0x%0*llx", (int)t.bytes * 2, (unsigned long long)bits);
  else if (t.kind == DIFF_SIGNED) str_printf(out, "%lld", (long long)sign_extended(bits, t.bytes));
  else if (t.kind == DIFF_UNSIGNED) str_printf(out, "%llu", (unsigned long long)bits);
  else if (diff_is_nan(bits, t))
    str_printf(out, "nan:0x%0*llx", (int)t.bytes * 2, (unsigned long long)bits);
  else
    str_printf(out, "%.*g",
               t.kind == DIFF_F64   ? 17
               : t.kind == DIFF_F32 ? 9
                                    : 5,
               diff_value(bits, t));
}

static uint64_t narrowed(double v, DiffType t) {
  float f = (float)v;
  uint32_t w;
  uint64_t d;
  memcpy(&w, &f, 4);
  memcpy(&d, &v, 8);
  if (t.kind == DIFF_F64) return d;
  if (t.kind == DIFF_F32) return w;
  uint64_t sign = d >> 63 << 15, best = 0;
  double magnitude = fabs(v);
  DiffType plain = t;  // the nearest of the format: its numbers grow with their bits
  uint64_t low = 0, high = t.kind == DIFF_F16 ? 0x7c00 : 0x7f80;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (diff_value(middle, plain) < magnitude) low = middle + 1;
    else high = middle;
  }
  best = low && magnitude - diff_value(low - 1, plain) < diff_value(low, plain) - magnitude
             ? low - 1
             : low;
  return sign | best;
}

bool diff_read(const char *text, DiffType t, uint64_t *bits) {
  char *end;
  if (t.kind == DIFF_BITS || t.kind == DIFF_UNSIGNED) *bits = strtoull(text, &end, 0);
  else if (t.kind == DIFF_SIGNED) *bits = (uint64_t)strtoll(text, &end, 10) & low_bits(t.bytes * 8);
  else if (!strncmp(text, "nan:", 4)) *bits = strtoull(text + 4, &end, 16);
  else *bits = narrowed(strtod(text, &end), t);
  return end != text && (!*end || *end == '\n' || *end == '\r');
}

// --- distance ---

// Numbers of a format in their order, as integers; +0 and -0 are the same. NaNs lie beyond the
// infinities.
static int64_t place_of(uint64_t bits, DiffType t) {
  unsigned fraction, width;
  shape(t, &fraction, &width);
  int64_t magnitude = (int64_t)(bits & low_bits(width - 1));
  return bits >> (width - 1) & 1 ? -magnitude : magnitude;
}

uint64_t diff_ulps(uint64_t a, uint64_t b, DiffType t) {
  if (t.kind == DIFF_BITS) return a == b ? 0 : UINT64_MAX;
  if (t.kind == DIFF_UNSIGNED) return a > b ? a - b : b - a;
  int64_t x = t.kind == DIFF_SIGNED ? sign_extended(a, t.bytes) : place_of(a, t),
          y = t.kind == DIFF_SIGNED ? sign_extended(b, t.bytes) : place_of(b, t);
  return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

int diff_order(uint64_t a, uint64_t b, DiffType t) {
  if (t.kind == DIFF_BITS || t.kind == DIFF_UNSIGNED) return (a > b) - (a < b);
  int64_t x = t.kind == DIFF_SIGNED ? sign_extended(a, t.bytes) : place_of(a, t),
          y = t.kind == DIFF_SIGNED ? sign_extended(b, t.bytes) : place_of(b, t);
  return x != y ? (x > y) - (x < y) : (a > b) - (a < b);
}

// --- rules ---

bool diff_rules_tolerance(DiffRules *r, const char *text, Error *err) {
  for (const char *p = text; *p;) {
    char *end;
    double v = strtod(p, &end);
    size_t n = strcspn(end, ",");
    bool ok = end != p && v >= 0 && isfinite(v);
    if (ok && n == 3 && !strncmp(end, "ulp", 3)) r->ulps = v >= 1e19 ? UINT64_MAX : (uint64_t)v;
    else if (ok && n == 3 && !strncmp(end, "rel", 3)) r->relative = v;
    else if (ok && n == 3 && !strncmp(end, "abs", 3)) r->absolute = v;
    else
      return error_set(err,
                       "--tolerance=%s: expected numbers, each followed by ulp, rel or abs, with "
                       "commas between them: 4ulp,1e-6rel,1e-9abs.",
                       text);
    p = end + n + (end[n] == ',');
  }
  r->has_tolerance = true;
  return *text || error_set(err, "--tolerance needs a value: --tolerance=4ulp.");
}

bool diff_same(uint64_t a, uint64_t b, DiffType t, const DiffRules *r) {
  bool a_nan = diff_is_nan(a, t), b_nan = diff_is_nan(b, t);
  if (a_nan && b_nan) return r->nan == DIFF_NAN_EQUAL || (r->nan == DIFF_NAN_BITS && a == b);
  if (a == b) return true;
  if (a_nan || b_nan) return false;
  uint64_t ulps = diff_ulps(a, b, t);
  if (diff_is_float(t) && !ulps) return !r->zero_bits;
  if (!r->has_tolerance || t.kind == DIFF_BITS) return false;
  double x = diff_value(a, t), y = diff_value(b, t), distance = fabs(x - y);
  if (ulps <= r->ulps && isfinite(distance)) return true;
  return isfinite(distance) &&
         (distance <= r->absolute || distance <= r->relative * fmax(fabs(x), fabs(y)));
}
