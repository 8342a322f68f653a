// The operation of a finding with its numbers. How they are packed is in abi.h.
#include "tools/fpcheck/report.h"

#include <math.h>

static const char *const format_names[] = {"", "f16", "bf16", "f32", "f64"};

static double half_value(uint32_t bits) {
  int exponent = bits >> 10 & 31;
  double fraction = bits & 0x3ff, v = exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                                      : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                                     : ldexp(fraction, -24);
  return bits & 0x8000 ? -v : v;
}

static double value_of(uint64_t bits, uint32_t format) {
  float f;
  double d;
  uint32_t word = (uint32_t)bits << (format == WG_FP_BF16 ? 16 : 0);
  memcpy(&f, &word, sizeof f);
  memcpy(&d, &bits, sizeof d);
  return format == WG_FP_F16 ? half_value((uint32_t)bits) : format == WG_FP_F64 ? d : f;
}

static void add_number(Str *out, uint64_t bits, uint32_t format) {
  double v = value_of(bits, format);
  if (isnan(v)) str_add(out, "NaN");
  else if (isinf(v)) str_add(out, v < 0 ? "-inf" : "inf");
  else str_printf(out, "%.*g", format == WG_FP_F64 ? 17 : format == WG_FP_F32 ? 9 : 5, v);
}

typedef struct Numbers {
  uint32_t what, format, op, formats[3];
  uint64_t r, in[3];
  bool has_third;
} Numbers;

static bool numbers_of(const RunFinding *f, Numbers *n) {
  if (f->text || !(f->kind->parts & HAS_OPERANDS)) return false;
  uint32_t what = (uint32_t)f->extra[2];
  *n = (Numbers){.what = what,
                 .format = WG_FP_WHAT_FORMAT(what),
                 .op = WG_FP_WHAT_OP(what),
                 .has_third = true};
  bool wide = n->format == WG_FP_F64;
  for (unsigned i = 0; i < 3; i++) {
    n->formats[i] = WG_FP_WHAT_OPERAND(what, i);
    wide |= n->formats[i] == WG_FP_F64;
  }
  if (n->op == WG_FP_LOAD) n->r = f->value[0];
  else if (n->op == WG_FP_VANISHES || n->op == WG_FP_STORED) {
    n->in[0] = f->value[0];
    n->r = f->extra[0];
  } else if (n->op == WG_FP_COMPARE) {
    n->in[0] = f->value[0];
    n->in[1] = f->extra[0];
  } else if (wide) {
    n->r = f->value[0];
    n->in[0] = f->extra[0];
    n->in[1] = f->address;
    n->has_third = n->formats[2] == 0;
  } else {
    n->r = f->value[0] & 0xffffffff;
    n->in[0] = f->value[0] >> 32;
    n->in[1] = f->extra[0] & 0xffffffff;
    n->in[2] = f->extra[0] >> 32;
  }
  if (n->op == WG_FP_LOG_SCALED) {
    double d;
    memcpy(&d, &n->in[0], sizeof d);
    d = ldexp(d, -54);
    memcpy(&n->in[0], &d, sizeof d);
  }
  if (n->op == WG_FP_ANSWER_FROM) {
    n->op = WG_FP_ANSWER;
    n->formats[0] = 0;
  }
  // a program can write anything
  return n->format <= WG_FP_F64 && n->formats[0] <= WG_FP_F64 && n->formats[1] <= WG_FP_F64 &&
         n->formats[2] <= WG_FP_F64;
}

// The operation in a programmer's notation; A, B and C stand for the operands.
static const char *const notation[] = {
    [WG_FP_ADD] = "A + B",     [WG_FP_SUB] = "A - B",         [WG_FP_MUL] = "A * B",
    [WG_FP_FMA] = "A * B + C", [WG_FP_DIV] = "A / B",         [WG_FP_RCP] = "1 / A",
    [WG_FP_SQRT] = "sqrt(A)",  [WG_FP_RSQRT] = "1 / sqrt(A)", [WG_FP_SIN] = "sin(A)",
    [WG_FP_COS] = "cos(A)",    [WG_FP_LG2] = "log2(A)",       [WG_FP_EX2] = "exp2(A)",
    [WG_FP_TANH] = "tanh(A)",  [WG_FP_LOG] = "log(A)",        [WG_FP_LOG_SCALED] = "log(A)",
};

static void add_operand(Str *out, const Numbers *n, unsigned i) {
  if (i == 2 && !n->has_third) str_addc(out, 'c');
  else if (!n->formats[i]) str_addc(out, '?');
  else {
    double v = value_of(n->in[i], n->formats[i]);
    if (signbit(v) && !isnan(v) && i) str_addc(out, '(');
    add_number(out, n->in[i], n->formats[i]);
    if (signbit(v) && !isnan(v) && i) str_addc(out, ')');
  }
}

bool fp_report_detail(const RunFinding *f, Str *out) {
  Numbers n;
  if (!numbers_of(f, &n)) return false;
  str_add(out, ": ");
  switch (n.op) {
    case WG_FP_LOAD:
      add_number(out, n.r, n.format);
      str_printf(out, " (%s) is read%s", format_names[n.format], f->address ? " from memory" : "");
      return true;
    case WG_FP_COMPARE:
      add_operand(out, &n, 0);
      str_add(out, " is compared with ");
      add_number(out, n.in[1], n.formats[1]);
      str_printf(out, " (%s)", format_names[n.formats[0]]);
      return true;
    case WG_FP_STORED:
      add_number(out, n.in[0], n.formats[0]);
      str_printf(out, " (%s) is written to memory", format_names[n.formats[0]]);
      return true;
    case WG_FP_VANISHES:
      add_number(out, n.in[0], n.formats[0]);
      str_printf(out, " (%s) vanishes", format_names[n.formats[0]]);
      if (f->site && f->site->text)
        str_printf(out, " in %.*s", (int)strcspn(f->site->text, " \t;"), f->site->text);
      if (n.format) {
        str_add(out, ", which gives ");
        add_number(out, n.r, n.format);
      }
      return true;
    case WG_FP_SATURATE:
      add_number(out, n.r, n.format);
      str_add(
          out,
          " is too large for the format it is converted to and becomes its largest finite number");
      return true;
    case WG_FP_ANSWER:
      str_add(out, "a function of CUDA's library");
      if (n.formats[0]) {
        str_add(out, ", called with ");
        add_number(out, n.in[0], n.formats[0]);
      }
      if (n.formats[0] && n.formats[1]) {
        str_add(out, " and ");
        add_number(out, n.in[1], n.formats[1]);
      }
      if (n.formats[0]) str_addc(out, ',');
      str_add(out, " returns ");
      break;
    case WG_FP_MATRIX: str_add(out, "an element of a matrix product is "); break;
    case WG_FP_CONVERT:
      if (n.formats[0]) {
        add_operand(out, &n, 0);
        str_printf(out, " (%s) becomes ", format_names[n.formats[0]]);
      } else str_add(out, "an integer becomes ");
      break;
    default:
      for (const char *p = n.op < ARRAY_LEN(notation) && notation[n.op] ? notation[n.op] : ""; *p;
           p++) {
        if (*p >= 'A' && *p <= 'C') add_operand(out, &n, (unsigned)(*p - 'A'));
        else str_addc(out, *p);
      }
      str_add(out, " = ");
  }
  add_number(out, n.r, n.format);
  str_printf(out, " (%s)", format_names[n.format]);
  return true;
}

static void add_json_number(Str *out, uint64_t bits, uint32_t format) {
  str_addc(out, '"');
  add_number(out, bits, format);
  str_addc(out, '"');
}

void fp_report_numbers_json(const RunFinding *f, Str *out) {
  Numbers n;
  if (!numbers_of(f, &n)) return;
  uint32_t format = n.format ? n.format : n.formats[0];
  str_printf(out, ",\"format\":\"%s\"", format_names[format <= WG_FP_F64 ? format : 0]);
  if (f->kind->number == KIND_FP_FLOW)
    str_printf(out, ",\"flow\":\"%s\"",
               n.op == WG_FP_VANISHES ? "vanishes"
               : n.op == WG_FP_STORED ? "stored"
                                      : "carried");
  if (n.format) {
    str_add(out, ",\"value\":");
    add_json_number(out, n.r, n.format);
  }
  bool any = false;
  for (unsigned i = 0; i < 3 && n.op != WG_FP_MATRIX && n.op != WG_FP_SATURATE; i++) {
    if (!n.formats[i] || n.formats[i] > WG_FP_F64 || (i == 2 && !n.has_third)) continue;
    str_add(out, any ? "," : ",\"operands\":[");
    add_json_number(out, n.in[i], n.formats[i]);
    any = true;
  }
  if (any) str_addc(out, ']');
}
