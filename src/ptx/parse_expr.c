// Constant expressions, with C's operators and precedences; evaluated while parsing.
#include "ptx/parse.h"

static Number parse_ternary(Parser *ps);

static bool is_float(Number n) { return n.kind >= NUM_F32; }
static double as_double(Number n) {
  double d;
  float f;
  uint32_t low = (uint32_t)n.bits;
  switch (n.kind) {
    case NUM_F64: memcpy(&d, &n.bits, 8); return d;
    case NUM_F32: memcpy(&f, &low, 4); return f;
    case NUM_U64: return (double)n.bits;
    default: return (double)(int64_t)n.bits;
  }
}
static Number from_double(double d) {
  Number n = {NUM_F64, 0};
  memcpy(&n.bits, &d, 8);
  return n;
}
static Number from_bool(bool b) { return (Number){NUM_S64, b}; }
static bool is_true(Number n) { return is_float(n) ? as_double(n) != 0 : n.bits != 0; }

// primary: number | WARP_SZ | '(' ('.s64' | '.u64') ')' unary | '(' expression ')'
static Number parse_primary(Parser *ps) {
  if (ps->tok.kind == TOK_NUMBER) {
    Number n = {ps->tok.number, ps->tok.bits};
    ptx_lex(ps);
    return n;
  }
  if (accept_word(ps, "WARP_SZ")) return (Number){NUM_S64, 32};
  if (accept(ps, '(')) {
    Number n;
    bool to_signed = is_word(&ps->tok, ".s64"), to_unsigned = is_word(&ps->tok, ".u64");
    if (to_signed || to_unsigned) {
      ptx_lex(ps);
      expect(ps, ')', "after the type of a cast");
      parse_enter(ps);
      n = parse_primary(ps);
      parse_leave(ps);
      if (is_float(n)) parse_fail(ps, &ps->tok, "a cast in a constant expression takes an integer");
      n.kind = to_signed ? NUM_S64 : NUM_U64;
      return n;
    }
    n = parse_ternary(ps);
    expect(ps, ')', "after a constant expression");
    return n;
  }
  parse_fail(ps, &ps->tok, "expected a constant, found %s", token_describe(ps, &ps->tok));
}

// unary: ('+' | '-' | '!' | '~')* primary
static Number parse_unary(Parser *ps) {
  int op = ps->tok.kind == TOK_PUNCT ? ps->tok.punct : 0;
  if (op != '+' && op != '-' && op != '!' && op != '~') return parse_primary(ps);
  Token at = ps->tok;
  parse_enter(ps);
  ptx_lex(ps);
  Number n = parse_unary(ps);
  parse_leave(ps);
  switch (op) {
    case '-':
      if (n.kind == NUM_F32) n.bits ^= 0x80000000u;
      else if (n.kind == NUM_F64) n.bits ^= 1ull << 63;
      else n.bits = -n.bits;
      return n;
    case '!': return from_bool(!is_true(n));
    case '~':
      if (is_float(n)) parse_fail(ps, &at, "'~' needs an integer");
      n.bits = ~n.bits;
      return n;
    default: return n;
  }
}

static int precedence(const Parser *ps) {
  if (ps->tok.kind != TOK_PUNCT) return 0;
  switch (ps->tok.punct) {
    case '*':
    case '/':
    case '%': return 10;
    case '+':
    case '-': return 9;
    case P_SHL:
    case P_SHR: return 8;
    case '<':
    case '>':
    case P_LE:
    case P_GE: return 7;
    case P_EQ:
    case P_NE: return 6;
    case '&': return 5;
    case '^': return 4;
    case '|': return 3;
    case P_AND: return 2;
    case P_OR: return 1;
    default: return 0;
  }
}

static Number apply_float(Parser *ps, const Token *at, double a, double b) {
  switch (at->punct) {
    case '*': return from_double(a * b);
    case '/': return from_double(a / b);
    case '+': return from_double(a + b);
    case '-': return from_double(a - b);
    case '<': return from_bool(a < b);
    case '>': return from_bool(a > b);
    case P_LE: return from_bool(a <= b);
    case P_GE: return from_bool(a >= b);
    case P_EQ: return from_bool(a == b);
    case P_NE: return from_bool(a != b);
    default: parse_fail(ps, at, "this operator needs integers");
  }
}

static Number apply(Parser *ps, const Token *at, Number a, Number b) {
  if (at->punct == P_AND) return from_bool(is_true(a) && is_true(b));
  if (at->punct == P_OR) return from_bool(is_true(a) || is_true(b));
  if (is_float(a) || is_float(b)) return apply_float(ps, at, as_double(a), as_double(b));
  bool u = a.kind == NUM_U64 || b.kind == NUM_U64;
  uint64_t x = a.bits, y = b.bits;
  int64_t sx = (int64_t)x, sy = (int64_t)y;
  Number r = {u ? NUM_U64 : NUM_S64, 0};
  switch (at->punct) {
    case '*': r.bits = x * y; break;
    case '+': r.bits = x + y; break;
    case '-': r.bits = x - y; break;
    case '&': r.bits = x & y; break;
    case '|': r.bits = x | y; break;
    case '^': r.bits = x ^ y; break;
    case P_SHL:
      r.kind = a.kind;
      r.bits = y < 64 ? x << y : 0;
      break;
    case P_SHR:
      r.kind = a.kind;
      r.bits = a.kind == NUM_U64 ? (y < 64 ? x >> y : 0) : (uint64_t)(sx >> (y < 63 ? y : 63));
      break;
    case '/':
    case '%':
      if (!y) parse_fail(ps, at, "division by zero in a constant expression");
      if (u) r.bits = at->punct == '/' ? x / y : x % y;
      else if (sy == -1) r.bits = at->punct == '/' ? -x : 0;
      else r.bits = (uint64_t)(at->punct == '/' ? sx / sy : sx % sy);
      break;
    case '<': return from_bool(u ? x < y : sx < sy);
    case '>': return from_bool(u ? x > y : sx > sy);
    case P_LE: return from_bool(u ? x <= y : sx <= sy);
    case P_GE: return from_bool(u ? x >= y : sx >= sy);
    case P_EQ: return from_bool(x == y);
    case P_NE: return from_bool(x != y);
    default: CHECK(!"operator without a rule");
  }
  return r;
}

// binary: unary (operator binary)*, by precedence
static Number parse_binary(Parser *ps, int min) {
  Number a = parse_unary(ps);
  for (int prec; (prec = precedence(ps)) && prec >= min;) {
    Token at = ps->tok;
    ptx_lex(ps);
    a = apply(ps, &at, a, parse_binary(ps, prec + 1));
  }
  return a;
}

// expression: binary ['?' expression ':' expression]
static Number parse_ternary(Parser *ps) {
  parse_enter(ps);
  Number c = parse_binary(ps, 1);
  if (accept(ps, '?')) {
    Number a = parse_ternary(ps);
    expect(ps, ':', "in a conditional expression");
    Number b = parse_ternary(ps);
    c = is_true(c) ? a : b;
  }
  parse_leave(ps);
  return c;
}

Number parse_constant(Parser *ps) { return parse_ternary(ps); }

int64_t parse_int_constant(Parser *ps, const char *what) {
  Token at = ps->tok;
  Number n = parse_ternary(ps);
  if (is_float(n)) parse_fail(ps, &at, "%s must be an integer", what);
  return (int64_t)n.bits;
}

uint64_t parse_bounded(Parser *ps, const char *what, uint64_t max) {
  Token at = ps->tok;
  uint64_t v = (uint64_t)parse_int_constant(ps, what);
  if (v > max)
    parse_fail(ps, &at, "%s is out of range (at most %llu)", what, (unsigned long long)max);
  return v;
}

static uint16_t double_to_half(double d) {  // round to nearest even; NaN stays NaN
  float f = (float)d;
  uint32_t x;
  memcpy(&x, &f, 4);
  uint32_t sign = x >> 16 & 0x8000, mag = x & 0x7fffffff;
  if (mag > 0x7f800000) return (uint16_t)(sign | 0x7fff);
  if (mag >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
  if (mag < 0x33000000) return (uint16_t)sign;
  int e = (int)(mag >> 23) - 127;
  uint32_t m = (mag & 0x7fffff) | 0x800000, shift = e < -14 ? (uint32_t)(-1 - e) : 13,
           base = e < -14 ? 0 : (uint32_t)(e + 14) << 10;
  uint32_t q = m >> shift, rest = m & ((1u << shift) - 1), half = 1u << (shift - 1);
  if (rest > half || (rest == half && (q & 1))) q++;
  return (uint16_t)(sign | (base + q));
}

uint64_t number_as(Parser *ps, Number n, PtxType t) {
  if (ptx_type_kind(t) == KIND_FLOAT || (is_float(n) && ptx_type_kind(t) == KIND_BITS)) {
    unsigned size = ptx_type_size(t);
    // small floats are given as bits
    if (!is_float(n) && t != TYPE_F32 && t != TYPE_F64) return n.bits;
    if (t == TYPE_F64 || size == 8) {
      if (n.kind == NUM_F64) return n.bits;
      return from_double(as_double(n)).bits;
    }
    if (t == TYPE_F32 || size == 4) {
      if (n.kind == NUM_F32) return n.bits;
      float f = (float)as_double(n);
      uint32_t x;
      memcpy(&x, &f, 4);
      return x;
    }
    if (t == TYPE_F16) return double_to_half(as_double(n));
    parse_fail(ps, &ps->tok, "a floating-point constant cannot initialise .%s", ptx_type_name(t));
  }
  if (is_float(n))
    parse_fail(ps, &ps->tok, "a floating-point constant where .%s is expected", ptx_type_name(t));
  return n.bits;
}
