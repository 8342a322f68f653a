// Expands forms.def: brace alternatives, operand types, input values, and a PTX kernel for each
// form.
#include "forms.h"

#include <stdlib.h>
#include <string.h>

Form *forms;
unsigned nforms, narithmetic;
bool forms_diverged;
static unsigned capacity;

static void die(const char *what, const char *text) {
  fprintf(stderr, "forms.def: %s: %s\n", what, text);
  exit(2);
}

typedef struct TypeInfo {
  const char *name;
  ValueKind kind;
  unsigned bits, reg_bits;
  const char *wide;
} TypeInfo;
static const TypeInfo types[] = {
    {"b8", VALUE_INT, 8, 16, NULL},
    {"u8", VALUE_INT, 8, 16, NULL},
    {"s8", VALUE_INT, 8, 16, NULL},
    {"b16", VALUE_INT, 16, 16, NULL},
    {"u16", VALUE_INT, 16, 16, "u32"},
    {"s16", VALUE_INT, 16, 16, "s32"},
    {"b32", VALUE_INT, 32, 32, NULL},
    {"u32", VALUE_INT, 32, 32, "u64"},
    {"s32", VALUE_INT, 32, 32, "s64"},
    {"b64", VALUE_INT, 64, 64, NULL},
    {"u64", VALUE_INT, 64, 64, NULL},
    {"s64", VALUE_INT, 64, 64, NULL},
    {"f16", VALUE_F16, 16, 16, NULL},
    {"bf16", VALUE_BF16, 16, 16, NULL},
    {"f32", VALUE_F32, 32, 32, NULL},
    {"f64", VALUE_F64, 64, 64, NULL},
    {"f16x2", VALUE_F16X2, 32, 32, NULL},
    {"bf16x2", VALUE_BF16X2, 32, 32, NULL},
    {"u16x2", VALUE_INT16X2, 32, 32, NULL},
    {"s16x2", VALUE_INT16X2, 32, 32, NULL},
    {"tf32", VALUE_F32, 32, 32, NULL},
    {"pred", VALUE_PRED, 1, 1, NULL},
    {"p", VALUE_PRED, 1, 1, NULL},
    {"sh", VALUE_SHIFT, 32, 32, NULL},
    {"sih", VALUE_SMALL_F16X2, 32, 32, NULL},
    {"sib", VALUE_SMALL_BF16X2, 32, 32, NULL},
    {"si", VALUE_SMALL_F32, 32, 32, NULL},
    {"siq", VALUE_SMALL_FP8, 32, 32, NULL},
    {"fn", VALUE_NTH, 32, 32, NULL},
    {"fs", VALUE_ANGLE, 32, 32, NULL},
    {"fx", VALUE_EXPONENT, 32, 32, NULL},
    {"all", VALUE_SWEEP, 16, 16, NULL},
};

static const TypeInfo *find_type(const char *s, size_t n) {
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strlen(types[i].name) == n && !memcmp(types[i].name, s, n)) return &types[i];
  return NULL;
}

// The n-th type among the modifiers of the first opcode.
static const TypeInfo *opcode_type(const char *text, int n) {
  for (const char *p = text; *p && *p != ' ';) {
    size_t len = strcspn(p, ". ");
    const TypeInfo *t = p == text ? NULL : find_type(p, len);
    if (t && n-- == 0) return t;
    p += len;
    if (*p == '.') p++;
  }
  die("no such type in the opcode", text);
  return NULL;
}

static void add_form(const char *text, const char *operands, const char *rule) {
  if (nforms == capacity)
    forms = realloc(forms, (capacity = capacity ? capacity * 2 : 1024) * sizeof *forms);
  Form *f = &forms[nforms++];
  memset(f, 0, sizeof *f);
  f->text = strdup(text);
  f->rule = rule;
  f->whole = strchr(text, ' ') != NULL;
  bool sources = false;
  for (const char *p = operands; *p;) {
    size_t len = strcspn(p, " ");
    if (len == 1 && *p == ':') {
      sources = true;
    } else if (len) {
      size_t name = strcspn(p, "/ ");
      if (name > len) name = len;
      const TypeInfo *t = NULL;
      if (name == 1 && *p >= '0' && *p <= '9') t = opcode_type(text, *p - '0');
      else if (name == 1 && *p == 'W') t = find_type(opcode_type(text, 0)->wide, 3);
      else t = find_type(p, name);
      if (!t || f->ndst + f->nsrc == MAX_OPERANDS) die("bad operands", operands);
      f->ops[f->ndst + f->nsrc] = (Operand){
          t->kind, t->bits, name < len ? (unsigned)atoi(p + name + 1) : t->reg_bits};
      if (sources) f->nsrc++; else f->ndst++;
    }
    p += len;
    while (*p == ' ') p++;
  }
  f->rows = f->nsrc == 1 ? 768 : f->nsrc == 2 ? 1536 : 2048;
  if (f->nsrc == 1 && f->ops[f->ndst].bits == 1) f->rows = 32;
  if (f->nsrc == 1 && f->ops[f->ndst].kind == VALUE_SWEEP) f->rows = MAX_ROWS;
  if (text[0] == 'v') f->rows = 384;           // video: very many forms of few kinds
}

static void expand(const char *text, const char *operands, const char *rule) {
  const char *open = strchr(text, '{');
  if (!open) {
    add_form(text, operands, rule);
    return;
  }
  const char *close = strchr(open, '}');
  if (!close) die("missing }", text);
  for (const char *p = open + 1;; p++) {
    size_t n = strcspn(p, ",}");
    char out[512];
    snprintf(out, sizeof out, "%.*s%.*s%s", (int)(open - text), text, (int)n, p, close + 1);
    expand(out, operands, rule);
    p += n;
    if (*p == '}') break;
  }
}

void forms_expand(void) {
#define FORM(text, operands, rule) expand(text, operands, rule);
#include "forms.def"
  narithmetic = nforms;
#define FORM(text, operands, rule) expand(text, operands, rule);
#include "forms_warp.def"
}

// --- input values ---
static const uint64_t int_edges[] = {
    0,
    1,
    2,
    3,
    5,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    100,
    127,
    128,
    129,
    255,
    256,
    0x7ffe,
    0x7fff,
    0x8000,
    0x8001,
    0xfffe,
    0xffff,
    0x10000,
    0x10001,
    0x7fffff,
    0x800000,
    0xffffff,
    0x1000000,
    0x1000001,
    0x1000003,
    0x2000003,
    0x7ffffffe,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xfffffffe,
    0xffffffff,
    0x100000000,
    0x100000001,
    0x123456789abcdef,
    0xaaaaaaaaaaaaaaaa,
    0x5555555555555555,
    0x0102040810204080,
    0x1fffffffffffff,
    0x20000000000001,
    0x20000000000003,
    0x40000040000001,
    0x40000040000000,
    0x400000c0000000,
    0x7ffffffffffffffe,
    0x7fffffffffffffff,
    0x8000000000000000,
    0x8000000000000001,
    0xfffffffffffffffe,
    0xffffffffffffffff,
    0xffffffff80000000,
    0xffffffff7fffffff,
    0xffffffffffff8000,
    0xffffffffffff7fff,
    0xffffffffffffff80,
    0xffffffffffffff7f,
    0xfffffffffffffff0,
    0x8080808080808080,
    0x7f807f807f807f80,
    65504,
    65519,
    65520,
    2049,
    2051,
    257,
    259,
};
static const uint32_t f32_edges[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x3f000000, 0xbf000000,
    0x3fc00000, 0xbfc00000, 0x40200000, 0xc0200000, 0x00000001, 0x80000001, 0x00000002, 0x00000003,
    0x007fffff, 0x807fffff, 0x00400000, 0x80400000, 0x00800000, 0x80800000, 0x00800001, 0x80800001,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001,
    0x7fbfffff, 0x7fffffff, 0xffffffff, 0x3f7fffff, 0xbf7fffff, 0x3f800001, 0xbf800001, 0x3f7ffffe,
    0x4b000000, 0x4b7fffff, 0x4b800000, 0x4b800001, 0xcb000001, 0x4effffff, 0x4f000000, 0x4f000001,
    0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0x5f000000, 0x5effffff, 0xdf000000, 0x5f800000,
    0x5f7fffff, 0xdf800000, 0x42fe0000, 0x42ff0000, 0x43000000, 0x437f0000, 0x437f8000, 0x43800000,
    0xc3000000, 0xc3008000, 0x46fffe00, 0x47000000, 0xc7000000, 0xc7000100, 0x477fe000, 0x477fefff,
    0x477ff000, 0x477fff00, 0x47800000, 0x33000000, 0x33000001, 0x33800000, 0x38800000, 0x387fffff,
    0x387fe000, 0x387ff000, 0x38000000, 0x33c00000, 0x3f801000, 0x3f803000, 0x3f808000, 0x3f818000,
    0x3f810000, 0x7f7f8000, 0x7f7f7fff, 0x7e800000, 0x7e800001, 0x7f000000, 0x01000000, 0x0c800000,
    0x20000000, 0x5f000001, 0x40490fdb, 0xc0490fdb, 0x3eaaaaab, 0x3dcccccd, 0x43e00000, 0x43e80000,
    0x43f00000, 0x3c800000, 0x3b000000, 0x3a800000, 0x47600000, 0x47700000, 0x37800000, 0x37000000,
    0x3e000000, 0x1e3ce508,
};
static const uint64_t f64_edges[] = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x4000000000000000, 0xc000000000000000, 0x3fe0000000000000, 0xbfe0000000000000,
    0x3ff8000000000000, 0xbff8000000000000, 0x4004000000000000, 0xc004000000000000,
    0x0000000000000001, 0x8000000000000001, 0x0000000000000003, 0x000fffffffffffff,
    0x800fffffffffffff, 0x0008000000000000, 0x0010000000000000, 0x8010000000000000,
    0x0010000000000001, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000, 0x7ff0000000000001,
    0xfff0000000000001, 0x7ff4000000000123, 0xfffc000000000456, 0x7fffffffffffffff,
    0xffffffffffffffff, 0x3fefffffffffffff, 0x3ff0000000000001, 0xbff0000000000001,
    0x4330000000000000, 0x433fffffffffffff, 0x4340000000000000, 0x4340000000000001,
    0x41dfffffffc00000, 0x41dfffffffe00000, 0x41e0000000000000, 0x41efffffffe00000,
    0x41f0000000000000, 0xc1e0000000000000, 0xc1e0000000200000, 0xc1e0000000100000,
    0x43dfffffffffffff, 0x43e0000000000000, 0xc3e0000000000000, 0xc3e0000000000001,
    0x43efffffffffffff, 0x43f0000000000000, 0x47efffffe0000000, 0x47efffffefffffff,
    0x47effffff0000000, 0x47efffffffffffff, 0x47f0000000000000, 0x36a0000000000000,
    0x3690000000000000, 0x3690000000000001, 0x3810000000000000, 0x380fffffffffffff,
    0x380fffffe0000000, 0x380ffffff0000000, 0x380fffffd0000000, 0x37f0000000000000,
    0x36b8000000000000, 0x3ff0000010000000, 0x3ff0000030000000, 0x3ff0000010000001,
    0x3ff000000fffffff, 0x3ff0020000000000, 0x3ff0020000000001, 0x3ff0060000000000,
    0x3ff0100000000000, 0x3ff0100000000001, 0x3ff0300000000000, 0x40effc0000000000,
    0x40effdffffffffff, 0x40effe0000000000, 0x40f0000000000000, 0x3e60000000000000,
    0x3e60000000000001, 0x3f10000000000000, 0x3f0ffc0000000000, 0x3f0ffe0000000000,
    0x405fc00000000000, 0x405fe00000000000, 0x4060000000000000, 0x406fe00000000000,
    0x406ff00000000000, 0x40dfffc000000000, 0xc060100000000000, 0xc0e0001000000000,
    0x40efffe000000000, 0x3fd5555555555555, 0x3fb999999999999a, 0x1ff0000000000000,
    0x5ff0000000000000, 0x7fe0000000000000, 0x0020000000000000, 0x400921fb54442d18,
    0x43efffffffffffff, 0x47ef000000000000, 0x47ef800000000000,
};
static const uint16_t f16_edges[] = {
    0x0000, 0x8000, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x3800, 0xb800, 0x3e00, 0xbe00, 0x4100, 0xc100,
    0x0001, 0x8001, 0x0002, 0x0003, 0x03ff, 0x83ff, 0x0200, 0x0400, 0x8400, 0x0401, 0x7bff, 0xfbff,
    0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01, 0xfc01, 0x7dff, 0x7fff, 0xffff, 0x3bff, 0x3c01, 0xbc01,
    0x6400, 0x6401, 0x67ff, 0x6800, 0x6801, 0x57f0, 0x57f8, 0x5800, 0xd800, 0xd808, 0x5bf8, 0x5c00,
    0x77ff, 0x7800, 0xf800, 0x1000, 0x0c00, 0x1400, 0x3555, 0x2e66, 0x5640, 0x4248,
};
static const uint16_t bf16_edges[] = {
    0x0000, 0x8000, 0x3f80, 0xbf80, 0x4000, 0xc000, 0x3f00, 0xbf00, 0x3fc0, 0xbfc0, 0x4020, 0xc020,
    0x0001, 0x8001, 0x0002, 0x0003, 0x007f, 0x807f, 0x0040, 0x0080, 0x8080, 0x0081, 0x7f7f, 0xff7f,
    0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81, 0xff81, 0x7fbf, 0x7fff, 0xffff, 0x3f7f, 0x3f81, 0xbf81,
    0x4300, 0x4301, 0x437f, 0x4f00, 0xcf00, 0xcf01, 0x4f7f, 0x4f80, 0x5f00, 0xdf00, 0x5f80, 0x4700,
    0x477f, 0x4780, 0x2000, 0x1f80, 0x6000, 0x0100, 0x7e80, 0x3eab, 0x3dcd, 0x4049,
};
static const uint32_t shift_edges[] = {
    0,   1,   2,   3,   7,   8,   9,   15,      16,         17,         24,         30,
    31,  32,  33,  47,  48,  63,  64,  65,      100,        127,        128,        200,
    254, 255, 256, 257, 288, 511, 512, 0x10001, 0x7fffffff, 0x80000000, 0xffffffff, 0xffffffe1,
};
static const uint32_t nth_edges[] = {
    0,  1,          2,          3,          5,          16,         31,         32,
    33, 0xffffffff, 0xfffffffe, 0xfffffffd, 0xfffffff0, 0xffffffe0, 0x7fffffff, 0x80000000};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t next_random(uint64_t *s) {
  uint64_t x = (*s += 0x9e3779b97f4a7c15ull);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}
static float random_float(uint64_t *s, float limit) {
  return ((float)(next_random(s) >> 40) / 8388608.0f - 1.0f) * limit;
}
static uint32_t float_bits(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }

static unsigned edge_count(const Operand *o) {
  switch (o->kind) {
    case VALUE_F16: case VALUE_F16X2: return COUNT(f16_edges);
    case VALUE_BF16: case VALUE_BF16X2: return COUNT(bf16_edges);
    case VALUE_F32: case VALUE_ANGLE: case VALUE_EXPONENT: return COUNT(f32_edges);
    case VALUE_F64: return COUNT(f64_edges);
    case VALUE_SHIFT: return COUNT(shift_edges);
    case VALUE_NTH: return COUNT(nth_edges);
    case VALUE_PRED: return 2;
    default: return COUNT(int_edges);
  }
}
// Small integers in the formats of matrix fragments.
static uint64_t small_integer(ValueKind kind, uint64_t *s) {
  static const uint16_t half[] = {0,      0x3c00, 0x4000, 0x4200, 0x4400,
                                  0x4500, 0x4600, 0x4700, 0x4800};
  uint64_t r = next_random(s), v = 0;
  unsigned n = kind == VALUE_SMALL_FP8 ? 4 : kind == VALUE_SMALL_F32 ? 1 : 2;
  for (unsigned i = 0; i < n; i++, r >>= 8) {
    unsigned size = (unsigned)(r % 9), sign = r >> 7 & 1;
    if (kind == VALUE_SMALL_F16X2) v |= (uint64_t)(half[size] | sign << 15) << 16 * i;
    else if (kind == VALUE_SMALL_FP8)
      v |= (uint64_t)(size < 2   ? 0x38 * size
                      : size < 5 ? 0x3c + 4 * (size - 1) / 2
                                 : 0x48)
               << 8 * i |
           (uint64_t)sign << (8 * i + 7);
    else {
      float f = sign ? -(float)size : (float)size;
      v |= kind == VALUE_SMALL_F32 ? float_bits(f) : (uint64_t)(float_bits(f) >> 16) << 16 * i;
    }
  }
  return v;
}
static uint64_t edge_value(const Operand *o, unsigned i, uint64_t *s) {
  switch (o->kind) {
    case VALUE_SMALL_F16X2:
    case VALUE_SMALL_BF16X2:
    case VALUE_SMALL_F32:
    case VALUE_SMALL_FP8: return small_integer(o->kind, s);
    case VALUE_F16: return f16_edges[i];
    case VALUE_BF16: return bf16_edges[i];
    case VALUE_F16X2:
      return f16_edges[i] | (uint64_t)f16_edges[next_random(s) % COUNT(f16_edges)] << 16;
    case VALUE_BF16X2:
      return bf16_edges[i] | (uint64_t)bf16_edges[next_random(s) % COUNT(bf16_edges)] << 16;
    case VALUE_INT16X2:
      return (int_edges[i] & 0xffff) | (int_edges[next_random(s) % COUNT(int_edges)] & 0xffff)
                                           << 16;
    case VALUE_F32: case VALUE_ANGLE: case VALUE_EXPONENT: return f32_edges[i];
    case VALUE_F64: return f64_edges[i];
    case VALUE_SHIFT: return shift_edges[i];
    case VALUE_NTH: return nth_edges[i];
    case VALUE_PRED: return i;
    default: return int_edges[i];
  }
}
// Random values of a kind; `near` makes the floats of one row close in magnitude, so that sums
// cancel and round.
static uint64_t random_value(const Operand *o, uint64_t *s, unsigned near) {
  uint64_t r = next_random(s);
  switch (o->kind) {
    case VALUE_SMALL_F16X2:
    case VALUE_SMALL_BF16X2:
    case VALUE_SMALL_F32:
    case VALUE_SMALL_FP8: return small_integer(o->kind, s);
    case VALUE_F16:
      return near ? (r & 0x83ff) | (10 + near % 16 + (r >> 20) % 4) << 10 : r & 0xffff;
    case VALUE_BF16: return near ? (r & 0x807f) | (near + (r >> 20) % 4) << 7 : r & 0xffff;
    case VALUE_F16X2:
      return near ? (r & 0x83ff83ff) | (10 + near % 16 + (r >> 40) % 4) << 10 |
                        (10 + near % 16 + (r >> 50) % 4) << 26
                  : r & 0xffffffff;
    case VALUE_BF16X2:
      return near ? (r & 0x807f807f) | (near + (r >> 40) % 4) << 7 | (near + (r >> 50) % 4) << 23
                  : r & 0xffffffff;
    case VALUE_F32: return near ? (r & 0x807fffff) | (near + (r >> 40) % 4) << 23 : r & 0xffffffff;
    case VALUE_F64:
      return near ? (r & 0x800fffffffffffff) | (uint64_t)(near + 896 + (r >> 53) % 4) << 52 : r;
    case VALUE_ANGLE: return float_bits(random_float(s, near ? 6.2831855f : 40.0f));
    case VALUE_EXPONENT: return float_bits(random_float(s, near & 1 ? 2.0f : 150.0f));
    case VALUE_SHIFT: return near ? r % 70 : r % 300;
    case VALUE_NTH: return (uint32_t)(int32_t)((int)(r % 70) - 35);
    case VALUE_PRED: return r & 1;
    default: return near & 1 ? r >> (r & 63 & (o->bits - 1)) : r;
  }
}

void forms_fill_inputs(const Form *f, uint64_t *rows) {
  uint64_t seed = 0xcbf29ce484222325ull;
  for (const char *p = f->text; *p; p++) seed = (seed ^ (unsigned char)*p) * 0x100000001b3ull;
  if (f->rows == MAX_ROWS) {
    for (unsigned i = 0; i < f->rows; i++) rows[i] = i;
    return;
  }
  uint64_t product = 1;
  for (unsigned k = 0; k < f->nsrc; k++) product *= edge_count(&f->ops[f->ndst + k]);
  // Two thirds of the rows are edge values, crossed (all of them when they fit, a random choice
  // otherwise).
  unsigned edges = f->rows * 2 / 3;
  for (unsigned i = 0; i < f->rows; i++) {
    bool is_edge = i < edges && (product > edges || i < product);
    uint64_t pick = product <= edges ? i : next_random(&seed) % product;
    unsigned near = i & 1 ? 1 + (unsigned)(next_random(&seed) % 250) : 0;
    for (unsigned k = 0; k < f->nsrc; k++) {
      const Operand *o = &f->ops[f->ndst + k];
      unsigned n = edge_count(o);
      // A few rows mix edge and random values.
      bool edge = is_edge ? true : (next_random(&seed) & 7) == 0;
      uint64_t v = edge
                       ? edge_value(
                             o, is_edge ? (unsigned)(pick % n) : (unsigned)(next_random(&seed) % n),
                             &seed)
                       : random_value(o, &seed, near);
      pick /= n;
      if (o->reg_bits < 64 && o->reg_bits > 1) v &= (1ull << o->reg_bits) - 1;
      rows[(size_t)i * f->nsrc + k] = v;
    }
  }
}

// --- PTX ---
void forms_print_header(FILE *f, const char *version, const char *target) {
  fprintf(f, ".version %s\n.target %s\n.address_size 64\n", version, target);
}

static const char *reg_type(unsigned bits) {
  return bits == 1 ? "pred" : bits == 16 ? "b16" : bits == 32 ? "b32" : "b64";
}

static void print_instruction(FILE *f, const Form *form, const char *guard) {
  unsigned n = form->ndst + form->nsrc;
  fprintf(f, "  %s", guard);
  if (!form->whole) {
    fprintf(f, "%s ", form->text);
    for (unsigned k = 0; k < n; k++) fprintf(f, "%sv%u", k ? ", " : "", k);
  } else {
    for (const char *p = form->text; *p; p++) {
      if (*p == '$') fputc('v', f);
      else if (p[0] == '<' && p[1] == '<') {
        fputc('{', f);
        p++;
      } else if (!strcmp(p, " >>")) {
        fputs("; } //", f);
        p += 2;
      } else if (p[0] == '>' && p[1] == '>') {
        fputc('}', f);
        p++;
      } else fputc(*p, f);
    }
  }
  fprintf(f, ";\n");
}

void forms_print_kernel(FILE *f, const Form *form, unsigned index) {
  unsigned n = form->ndst + form->nsrc;
  fprintf(f, "// %s\n.visible .entry f%u(.param .u64 pin, .param .u64 pout, .param .u32 pn) {\n",
          form->text, index);
  fprintf(f, "  .reg .b64 in, out;\n  .reg .b32 i, n, t0, t1;\n  .reg .pred done;\n");
  for (unsigned k = 0; k < n; k++)
    fprintf(f, "  .reg .%s v%u;\n", reg_type(form->ops[k].reg_bits), k);
  fprintf(f, "  mov.u32 i, %%ctaid.x;\n  mov.u32 t0, %%ntid.x;\n  mov.u32 t1, %%tid.x;\n  "
             "mad.lo.u32 i, i, t0, t1;\n");
  fprintf(f, "  ld.param.u32 n, [pn];\n  setp.ge.u32 done, i, n;\n  @done bra DONE;\n");
  fprintf(f, "  ld.param.u64 in, [pin];\n  ld.param.u64 out, [pout];\n");
  fprintf(f, "  mad.wide.u32 in, i, %u, in;\n  mad.wide.u32 out, i, %u, out;\n",
          form->nsrc * ROW_WORD, form->ndst * ROW_WORD);
  for (unsigned k = form->ndst; k < n; k++) {
    unsigned offset = (k - form->ndst) * ROW_WORD;
    if (form->ops[k].bits == 1)
      fprintf(f, "  ld.global.b32 t0, [in+%u];\n  setp.ne.b32 v%u, t0, 0;\n", offset, k);
    else fprintf(f, "  ld.global.%s v%u, [in+%u];\n", reg_type(form->ops[k].reg_bits), k, offset);
  }
  if (!forms_diverged) {
    print_instruction(f, form, "");
  } else {
    fprintf(f, "  and.b32 t0, i, 5;\n  setp.eq.b32 done, t0, 0;\n");
    bool several = strchr(form->text, ';') != NULL;
    if (several) fprintf(f, "  @done bra OTHER;\n");
    print_instruction(f, form, several ? "" : "@!done ");
    if (several) fprintf(f, "  bra JOIN;\nOTHER:\n");
    print_instruction(f, form, several ? "" : "@done ");
    if (several) fprintf(f, "JOIN:\n");
  }
  for (unsigned k = 0; k < form->ndst; k++) {
    if (form->ops[k].bits == 1)
      fprintf(f, "  selp.b32 t0, 1, 0, v%u;\n  st.global.b32 [out+%u], t0;\n", k, k * ROW_WORD);
    else
      fprintf(f, "  st.global.%s [out+%u], v%u;\n", reg_type(form->ops[k].reg_bits), k * ROW_WORD,
              k);
  }
  fprintf(f, "DONE:\n  ret;\n}\n\n");
}
