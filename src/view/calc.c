// The calculator: a C expression with the device's own functions, its types, and its behaviour at
// the limits of their ranges.
//
//   expression: unary { operator unary } [ ? expression : expression ]
//               with C's precedence: * / %  + -  << >>  < <= > >=  == !=  &  ^  |  &&  ||
//   unary:      - ~ + ! unary | ( type ) unary | ( expression ) | number | NAME | x | function (
//   expression , … )
#include "view/calc.h"

#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <limits.h>
#include <math.h>

typedef struct Parser {
  const char *p;
  Error *err;
  Str notes;
  unsigned depth;
  bool failed;
  CalcDevice *device;
  const CalcValue *x;
  unsigned unused;  // parts that C does not evaluate: errors there do not count
} Parser;

static CalcValue fail(Parser *c, const char *why) {
  if (!c->failed) error_set(c->err, "%s%s%.20s", why, *c->p ? " at: " : "", c->p);
  c->failed = true;
  return (CalcValue){0};
}

static void skip_spaces(Parser *c) { c->p += strspn(c->p, " \t"); }
static bool take(Parser *c, const char *text) {
  skip_spaces(c);
  size_t n = strlen(text);
  if (strncmp(c->p, text, n) != 0) return false;
  c->p += n;
  return true;
}

static CalcValue expression(Parser *c, int level);
static CalcValue unary(Parser *c);

static CalcValue number(Parser *c) {
  bool is_hex = c->p[0] == '0' && (c->p[1] == 'x' || c->p[1] == 'X');
  size_t n = strspn(c->p, is_hex ? "0123456789abcdefABCDEFxX" : "0123456789");
  bool with_point = c->p[n] == '.' ||
                    (is_hex ? c->p[n] == 'p' || c->p[n] == 'P'
                            : c->p[n] == 'e' || c->p[n] == 'E' || c->p[n] == 'f' ||
                                  c->p[n] == 'F' || c->p[n] == 'h');
  char *end;
  errno = 0;
  if (with_point) {
    // As a compiler does it: one rounding, to the type the ending says.
    float f = strtof(c->p, &end);
    if (*end == 'f' || *end == 'F') {
      c->p = end + 1;
      return calc_float(CALC_FLOAT, f);
    }
    double d = strtod(c->p, &end);
    c->p = end;
    if (*end == 'h') {
      c->p++;
      return calc_convert(calc_float(CALC_DOUBLE, d), CALC_HALF, FE_TONEAREST);
    }
    return calc_float(CALC_DOUBLE, d);
  }
  uint64_t v = strtoull(c->p, &end, is_hex ? 16 : 10);
  if (errno) return fail(c, "the number is too large");
  c->p = end;
  bool u = false;
  int l = 0;
  for (;; c->p++) {
    if (*c->p == 'u' || *c->p == 'U') u = true;
    else if (*c->p == 'l' || *c->p == 'L') l++;
    else break;
  }
  bool fits_int = v <= INT32_MAX, fits_uint = v <= UINT32_MAX && (is_hex || u),
       fits_long = v <= INT64_MAX;
  return calc_int(!l && !u && fits_int ? CALC_INT
                  : !l && fits_uint    ? CALC_UINT
                  : !u && fits_long    ? CALC_LONG
                                       : CALC_ULONG,
                  v);
}

static bool type_named(const char *name, size_t n, CalcType *out) {
  static const struct {
    const char *name;
    CalcType type;
  } types[] = {{"int", CALC_INT},
               {"unsigned", CALC_UINT},
               {"unsigned int", CALC_UINT},
               {"uint32_t", CALC_UINT},
               {"int32_t", CALC_INT},
               {"long long", CALC_LONG},
               {"long", CALC_LONG},
               {"int64_t", CALC_LONG},
               {"unsigned long long", CALC_ULONG},
               {"uint64_t", CALC_ULONG},
               {"__half", CALC_HALF},
               {"half", CALC_HALF},
               {"__nv_bfloat16", CALC_BFLOAT},
               {"bfloat16", CALC_BFLOAT},
               {"float", CALC_FLOAT},
               {"double", CALC_DOUBLE}};
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    if (strlen(types[i].name) == n && strncmp(types[i].name, name, n) == 0) {
      *out = types[i].type;
      return true;
    }
  return false;
}

// A cast to a type of fewer bits than the calculator's own: the value, as an int.
static bool narrow_type(const char *name, size_t n, unsigned *bits, bool *is_signed) {
  static const struct {
    const char *name;
    unsigned bits;
    bool is_signed;
  } types[] = {{"char", 8, true},     {"signed char", 8, true},      {"int8_t", 8, true},
               {"short", 16, true},   {"int16_t", 16, true},         {"unsigned char", 8, false},
               {"uint8_t", 8, false}, {"unsigned short", 16, false}, {"uint16_t", 16, false},
               {"bool", 1, false}};
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    if (strlen(types[i].name) == n && strncmp(types[i].name, name, n) == 0) {
      *bits = types[i].bits;
      *is_signed = types[i].is_signed;
      return true;
    }
  return false;
}

static bool is_type(const char *name, size_t n) {
  CalcType type;
  unsigned bits;
  bool is_signed;
  return type_named(name, n, &type) || narrow_type(name, n, &bits, &is_signed);
}

static CalcValue cast(CalcValue v, const char *name, size_t n) {
  CalcType type;
  unsigned bits;
  bool is_signed;
  if (type_named(name, n, &type))
    return calc_convert(v, type, calc_is_float(type) ? FE_TONEAREST : FE_TOWARDZERO);
  narrow_type(name, n, &bits, &is_signed);
  if (bits == 1) return calc_int(CALC_INT, calc_is_float(v.type) ? v.f != 0 : v.i != 0);
  int64_t i = calc_convert(v, CALC_LONG, FE_TOWARDZERO).i;
  i = bits == 8 ? (is_signed ? (int8_t)i : (uint8_t)i) : (is_signed ? (int16_t)i : (uint16_t)i);
  return calc_int(CALC_INT, (uint64_t)i);
}

// Conversions from and to half and bfloat16: __int2half_rn, __half2uint_rz, __double2half …
static bool conversion(const char *name, size_t n, CalcValue v, CalcValue *out) {
  static const struct {
    const char *word;
    CalcType type;
  } types[] = {{"int", CALC_INT},   {"uint", CALC_UINT},      {"ll", CALC_LONG},
               {"ull", CALC_ULONG}, {"float", CALC_FLOAT},    {"double", CALC_DOUBLE},
               {"half", CALC_HALF}, {"bfloat16", CALC_BFLOAT}};
  static const struct {
    const char *end;
    int rounding;
  } ends[] = {{"_rn", FE_TONEAREST},
              {"_rz", FE_TOWARDZERO},
              {"_ru", FE_UPWARD},
              {"_rd", FE_DOWNWARD},
              {"", FE_TONEAREST}};
  for (size_t a = 0; a < ARRAY_LEN(types); a++)
    for (size_t b = 0; b < ARRAY_LEN(types); b++)
      for (size_t e = 0; e < ARRAY_LEN(ends); e++) {
        char text[64];
        size_t len = (size_t)snprintf(text, sizeof text, "__%s2%s%s", types[a].word, types[b].word,
                                      ends[e].end);
        bool small = types[a].type == CALC_HALF || types[a].type == CALC_BFLOAT ||
                     types[b].type == CALC_HALF || types[b].type == CALC_BFLOAT;
        if (!small || len != n || strncmp(text, name, n) != 0) continue;
        v = calc_convert(v, types[a].type, FE_TONEAREST);
        *out = calc_convert(v, types[b].type, ends[e].rounding);
        return true;
      }
  return false;
}

static bool constant(const char *name, size_t n, CalcValue *out) {
  const struct {
    const char *name;
    CalcValue value;
  } constants[] = {{"INT_MIN", calc_int(CALC_INT, (uint64_t)INT_MIN)},
                   {"INT_MAX", calc_int(CALC_INT, INT_MAX)},
                   {"UINT_MAX", calc_int(CALC_UINT, UINT_MAX)},
                   {"LLONG_MIN", calc_int(CALC_LONG, (uint64_t)LLONG_MIN)},
                   {"LLONG_MAX", calc_int(CALC_LONG, LLONG_MAX)},
                   {"ULLONG_MAX", calc_int(CALC_ULONG, ULLONG_MAX)},
                   {"FLT_MAX", calc_float(CALC_FLOAT, FLT_MAX)},
                   {"FLT_MIN", calc_float(CALC_FLOAT, FLT_MIN)},
                   {"FLT_EPSILON", calc_float(CALC_FLOAT, FLT_EPSILON)},
                   {"DBL_MAX", calc_float(CALC_DOUBLE, DBL_MAX)},
                   {"DBL_MIN", calc_float(CALC_DOUBLE, DBL_MIN)},
                   {"DBL_EPSILON", calc_float(CALC_DOUBLE, DBL_EPSILON)},
                   {"INFINITY", calc_float(CALC_FLOAT, INFINITY)},
                   {"inf", calc_float(CALC_FLOAT, INFINITY)},
                   {"NAN", calc_float(CALC_FLOAT, NAN)},
                   {"nan", calc_float(CALC_FLOAT, NAN)}};
  for (size_t i = 0; i < ARRAY_LEN(constants); i++)
    if (strlen(constants[i].name) == n && strncmp(constants[i].name, name, n) == 0) {
      *out = constants[i].value;
      return true;
    }
  return false;
}

static bool is_called(const CalcCall *f, const char *name, unsigned arguments) {
  return f->count == arguments && f->n == strlen(name) && strncmp(f->name, name, f->n) == 0;
}

// Functions of C++ that take every type with a point: their result is of the same type.
static bool overloaded(const CalcCall *f, CalcValue *out) {
  CalcValue a = f->arguments[0], b = f->count > 1 ? f->arguments[1] : a;
  CalcType type = MAX(a.type, b.type);
  double x = calc_is_float(a.type) ? a.f : 0;
  bool of_float = calc_is_float(type);
  if (is_called(f, "isnan", 1)) *out = calc_int(CALC_INT, isnan(x));
  else if (is_called(f, "isinf", 1)) *out = calc_int(CALC_INT, isinf(x) != 0);
  else if (is_called(f, "isfinite", 1)) *out = calc_int(CALC_INT, isfinite(x));
  else if (is_called(f, "fabsf", 1))
    *out = calc_float(CALC_FLOAT, fabs(calc_convert(a, CALC_FLOAT, FE_TONEAREST).f));
  else if (is_called(f, "fabs", 1) || (is_called(f, "abs", 1) && of_float)) {
    CalcType to = of_float ? type : CALC_DOUBLE;
    *out = calc_float(to, fabs(calc_convert(a, to, FE_TONEAREST).f));
  } else if ((is_called(f, "min", 2) || is_called(f, "max", 2)) && of_float) {
    x = calc_convert(a, type, FE_TONEAREST).f;
    double y = calc_convert(b, type, FE_TONEAREST).f;
    *out = calc_float(type, f->name[1] == 'i' ? fmin(x, y) : fmax(x, y));
  } else return false;
  return true;
}

static CalcValue named(Parser *c) {
  const char *name = c->p;
  size_t n = 0;
  while (isalnum((unsigned char)name[n]) || name[n] == '_') n++;
  CalcValue v, arguments[4];
  c->p += n;
  if (n == 11 && !strncmp(name, "static_cast", n) && take(c, "<")) {
    const char *type = c->p;
    size_t len = strcspn(type, ">");
    if (type[len] != '>' || !is_type(type, len)) return fail(c, "there is no such type");
    c->p += len + 1;
    return cast(unary(c), type, len);
  }
  if (!take(c, "(")) {
    if (constant(name, n, &v)) return v;
    if (c->x && n == 1 && *name == 'x') return *c->x;
    c->p = name;
    return fail(c, "there is no such name");
  }
  unsigned count = 0;
  if (!take(c, ")")) {
    do {
      if (count == ARRAY_LEN(arguments)) return fail(c, "too many arguments");
      arguments[count++] = expression(c, 0);
    } while (!c->failed && take(c, ","));
    if (!c->failed && !take(c, ")")) return fail(c, "a ) is missing");
  }
  if (c->failed) return (CalcValue){0};
  if (count == 1 && is_type(name, n)) return cast(arguments[0], name, n);
  Error why = {{0}};
  CalcCall call = {name, n, arguments, count, c->device};
  if (count && overloaded(&call, &v)) return v;
  if (calc_call(&call, &v, &c->notes, &why)) return v;
  if (count == 1 && conversion(name, n, arguments[0], &v)) return v;
  *c->err = why;
  c->failed = true;
  return v;
}

// -2147483648 is a long in C; a user who copies the value of an int means an int.
static bool smallest_int(Parser *c) {
  static const char digits[] = "2147483648";
  skip_spaces(c);
  const char *p = c->p;
  if (*p++ != '-') return false;
  p += strspn(p, " ");
  size_t n = sizeof digits - 1;
  if (strncmp(p, digits, n) != 0 || isalnum((unsigned char)p[n]) || p[n] == '.') return false;
  c->p = p + n;
  return true;
}

static bool is_true(CalcValue v) { return calc_is_float(v.type) ? v.f != 0 : v.i != 0; }

static CalcValue unary(Parser *c) {
  if (c->depth > 100) return fail(c, "too deep");
  c->depth++;
  CalcValue v;
  if (smallest_int(c)) v = calc_int(CALC_INT, (uint64_t)INT32_MIN);
  else if (take(c, "-")) {
    v = unary(c);
    if (v.type == CALC_INT && v.i == INT32_MIN) str_add(&c->notes, "int overflow; ");
    v = calc_is_float(v.type) ? calc_float(v.type, -v.f) : calc_int(v.type, -(uint64_t)v.i);
  } else if (take(c, "+")) v = unary(c);
  else if (take(c, "!")) v = calc_int(CALC_INT, !is_true(unary(c)));
  else if (take(c, "~")) {
    v = unary(c);
    if (calc_is_float(v.type)) v = fail(c, "~ is for integers");
    v = calc_int(v.type, ~(uint64_t)v.i);
  } else if (take(c, "(")) {
    size_t n = strspn(c->p, "abcdefghijklmnopqrstuvwxyz0123456789_ ");
    if (c->p[n] == ')' && is_type(c->p, n)) {
      const char *name = c->p;
      c->p += n + 1;
      v = cast(unary(c), name, n);
    } else {
      v = expression(c, 0);
      if (!c->failed && !take(c, ")")) v = fail(c, "a ) is missing");
    }
  } else {
    skip_spaces(c);
    v = isdigit((unsigned char)*c->p) || *c->p == '.' ? number(c)
        : isalpha((unsigned char)*c->p) || *c->p == '_'
            ? named(c)
            : fail(c, *c->p ? "this is not understood" : "something is missing at the end");
  }
  c->depth--;
  return v;
}

// Longer ones first: << is no <.
static const struct {
  const char *text;
  int level;
} operators[] = {{"<<", 8}, {">>", 8}, {"<=", 7}, {">=", 7}, {"==", 6}, {"!=", 6},
                 {"&&", 2}, {"||", 1}, {"<", 7},  {">", 7},  {"*", 10}, {"/", 10},
                 {"%", 10}, {"+", 9},  {"-", 9},  {"&", 5},  {"^", 4},  {"|", 3}};

// -1, 0, 1; 2: one of them is a NaN
static int compared(CalcValue a, CalcValue b) {
  CalcType type = MAX(a.type, b.type);
  a = calc_convert(a, type, FE_TONEAREST);
  b = calc_convert(b, type, FE_TONEAREST);
  if (calc_is_float(type)) return isnan(a.f) || isnan(b.f) ? 2 : (a.f > b.f) - (a.f < b.f);
  if (type == CALC_ULONG) return ((uint64_t)a.i > (uint64_t)b.i) - ((uint64_t)a.i < (uint64_t)b.i);
  return (a.i > b.i) - (a.i < b.i);
}

static bool is_comparison(const char *op) {
  return !strcmp(op, "==") || !strcmp(op, "!=") || ((*op == '<' || *op == '>') && op[1] != *op);
}

static CalcValue comparison(const char *op, CalcValue a, CalcValue b) {
  int c = compared(a, b);
  bool or_equal = op[1] == '=';
  return calc_int(CALC_INT, op[0] == '='   ? c == 0
                            : op[0] == '!' ? c != 0
                            : op[0] == '<' ? c == -1 || (or_equal && c == 0)
                                           : c == 1 || (or_equal && c == 0));
}

static CalcValue float_result(Parser *c, char op, CalcType type, double a, double b) {
  if (op == '%') return fail(c, "% is for integers");
  double r = type == CALC_FLOAT ? (double)(op == '+'   ? (float)a + (float)b
                                           : op == '-' ? (float)a - (float)b
                                           : op == '*' ? (float)a * (float)b
                                                       : (float)a / (float)b)
             : op == '+'        ? a + b
             : op == '-'        ? a - b
             : op == '*'        ? a * b
                                : a / b;
  if (isinf(r) && !isinf(a) && !isinf(b))
    str_add(&c->notes, op == '/' && b == 0 ? "division by zero; " : "overflow to infinity; ");
  // Sums, products and quotients of two halves, rounded to double first, round to the right half.
  return type == CALC_HALF || type == CALC_BFLOAT
             ? calc_convert(calc_float(CALC_DOUBLE, r), type, FE_TONEAREST)
             : calc_float(type, r);
}

static CalcValue integer_result(Parser *c, const char *op, CalcType type, CalcValue a,
                                CalcValue b) {
  __int128 x = type == CALC_ULONG ? (__int128)(uint64_t)a.i : a.i,
           y = type == CALC_ULONG ? (__int128)(uint64_t)b.i : b.i, r;
  bool is_signed = type == CALC_INT || type == CALC_LONG;
  unsigned bits = type == CALC_INT || type == CALC_UINT ? 32 : 64;
  switch (op[0]) {
    case '+': r = x + y; break;
    case '-': r = x - y; break;
    case '*': r = type == CALC_ULONG ? (__int128)((uint64_t)x * (uint64_t)y) : x * y; break;
    case '/':
    case '%':
      if (y == 0 && c->unused) return calc_int(type, 0);
      if (y == 0) return fail(c, "division by zero");
      r = op[0] == '/' ? x / y : x % y;
      break;
    case '&': r = x & y; break;
    case '^': r = x ^ y; break;
    case '|': r = x | y; break;
    default:
      if (y < 0 || y >= bits) {
        str_add(&c->notes, "the shift is not within the type's bits; ");
        y = y < 0 ? 0 : bits - 1;
      }
      r = op[0] == '<' ? (__int128)((uint64_t)x << (int)y) : x >> (int)y;
      if (op[0] == '<') return calc_int(type, (uint64_t)r);
  }
  CalcValue v = calc_int(type, (uint64_t)r);
  __int128 got = type == CALC_ULONG ? (__int128)(uint64_t)v.i : v.i;
  if (is_signed && got != r)
    str_printf(&c->notes, "signed overflow: the exact result does not fit into %s; ",
               bits == 32 ? "an int" : "a long long");
  else if (got != r && op[0] != '*') str_add(&c->notes, "wraps around; ");
  return v;
}

static CalcValue binary(Parser *c, const char *op, CalcValue a, CalcValue b) {
  if (c->failed) return a;
  bool is_shift = op[1] != 0;
  CalcType type = is_shift ? a.type : MAX(a.type, b.type);
  if (calc_is_float(type)) {
    if (strchr("&^|<>", op[0])) return fail(c, "bit operations are for integers");
    a = calc_convert(a, type, FE_TONEAREST);
    b = calc_convert(b, type, FE_TONEAREST);
    return float_result(c, op[0], type, a.f, b.f);
  }
  a = calc_convert(a, type, FE_TOWARDZERO);
  if (!is_shift) b = calc_convert(b, type, FE_TOWARDZERO);
  return integer_result(c, op, type, a, b);
}

// Operands after && || ? : are always parsed. If C would not evaluate one, its notes and errors do
// not count.
static CalcValue part(Parser *c, int level, bool is_used) {
  size_t notes = c->notes.len;
  c->unused += !is_used;
  CalcValue v = expression(c, level);
  c->unused -= !is_used;
  if (!is_used && c->notes.len > notes) c->notes.data[c->notes.len = notes] = 0;
  return v;
}

static CalcValue choice(Parser *c, bool first) {
  CalcValue a = part(c, 0, first);
  if (c->failed) return a;
  if (!take(c, ":")) return fail(c, "a : is missing");
  CalcValue b = part(c, 0, !first);
  CalcType type = MAX(a.type, b.type);
  return calc_convert(first ? a : b, type, FE_TONEAREST);
}

static CalcValue expression(Parser *c, int level) {
  CalcValue left = unary(c);
  while (!c->failed) {
    skip_spaces(c);
    const char *op = NULL;
    int found = 0;
    for (size_t i = 0; i < ARRAY_LEN(operators) && !op; i++)
      if (strncmp(c->p, operators[i].text, strlen(operators[i].text)) == 0) {
        op = operators[i].text;
        found = operators[i].level;
      }
    if (!op || found <= level) break;
    c->p += strlen(op);
    bool is_and = !strcmp(op, "&&"), is_logic = is_and || !strcmp(op, "||");
    CalcValue right = part(c, found, !is_logic || is_true(left) == is_and);
    if (c->failed) break;
    if (is_logic)
      left = calc_int(CALC_INT,
                      is_and ? is_true(left) && is_true(right) : is_true(left) || is_true(right));
    else left = is_comparison(op) ? comparison(op, left, right) : binary(c, op, left, right);
  }
  return !c->failed && level == 0 && take(c, "?") ? choice(c, is_true(left)) : left;
}

bool calc_evaluate(const CalcQuestion *q, CalcValue *out, Str *notes, Error *err) {
  Parser c = {.p = q->text, .err = err, .device = q->device, .x = q->x};
  *out = expression(&c, 0);
  skip_spaces(&c);
  if (!c.failed && *c.p) fail(&c, "this is not understood");
  if (!c.failed && notes && c.notes.len) str_addn(notes, c.notes.data, c.notes.len);
  str_free(&c.notes);
  return !c.failed;
}
