// The approximations of single precision in a compiled function: the operations of
// exec/arith_special.c in the same order, so the bits are the same.
#include <math.h>

#include "vgpu/region/lanes.h"

static Name number(Lanes *l, float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return lanes_to_float(l, lanes_constant(l, u, 32));
}
static Name add(Lanes *l, Name a, Name b) { return lanes_float(l, "fadd", a, b); }
static Name sub(Lanes *l, Name a, Name b) { return lanes_float(l, "fsub", a, b); }
static Name mul(Lanes *l, Name a, Name b) { return lanes_float(l, "fmul", a, b); }
static Name divide(Lanes *l, Name a, Name b) { return lanes_float(l, "fdiv", a, b); }
static Name magnitude(Lanes *l, Name a) { return lanes_call(l, "fabs", l->fl, a); }
static Name is(Lanes *l, Name a, const char *how, float b) {
  return lanes_float_compare(l, how, a, number(l, b));
}

// c[0] + x (c[1] + x (… )), from the last coefficient on.
static Name polynomial(Lanes *l, Name x, const float *c, unsigned n) {
  Name p = number(l, c[n - 1]);
  for (unsigned k = n - 1; k-- > 0;) p = add(l, number(l, c[k]), mul(l, x, p));
  return p;
}

// sin(2 pi t), |t| <= 1/4
static Name sin_turns(Lanes *l, Name t) {
  static const float c[] = {6.2831853f, -41.341702f, 81.60525f, -76.70585f,
                            42.058693f, -15.094643f, 3.8199525f};
  Name s = mul(l, t, t), r = mul(l, t, polynomial(l, s, c, ARRAY_LEN(c)));
  Name low = lanes_float_choose(l, is(l, r, "olt", -1.0f), number(l, -1.0f), r);
  return lanes_float_choose(l, is(l, r, "ogt", 1.0f), number(l, 1.0f), low);
}

// x / (2 pi) toward zero, without whole turns.
static Name turns(Lanes *l, Name x) {
  Lanes d = lanes_of(l, 64);
  const float factor = 0.15915494f;
  double wide = (double)factor;
  uint64_t bits;
  memcpy(&bits, &wide, 8);
  Name f = lanes_to_float(&d, lanes_constant(&d, bits, 64));
  Name exact = region_emit(l->r, "fpext %s %s to %s", l->fl, x.text, d.fl);
  exact = mul(&d, exact, f);
  Name t = region_emit(l->r, "fptrunc %s %s to %s", d.fl, exact.text, l->fl);
  Name back = region_emit(l->r, "fpext %s %s to %s", l->fl, t.text, d.fl);
  Name past = lanes_float_compare(&d, "ogt", magnitude(&d, back), magnitude(&d, exact));
  Name finite = lanes_float_compare(l, "olt", magnitude(l, t), number(l, INFINITY));
  Name both = region_emit(l->r, "and %s %s, %s", l->b, past.text, finite.text);
  Name bits_of = lanes_to_int(l, t);
  t = lanes_to_float(l, lanes_choose(l, both, lanes_with(l, "sub", bits_of, 1), bits_of));
  return sub(l, t, lanes_call(l, "rint", l->fl, t));
}

static Name sine(Lanes *l, Name x) {
  Name t = turns(l, x), half = number(l, 0.5f), minus = number(l, -0.5f);
  Name low = lanes_float_choose(l, is(l, t, "olt", -0.25f), sub(l, minus, t), t);
  t = lanes_float_choose(l, is(l, t, "ogt", 0.25f), sub(l, half, t), low);
  Name r = sin_turns(l, t);
  return lanes_float_choose(l, is(l, x, "oeq", 0), x, r);
}

static Name cosine(Lanes *l, Name x) {
  return sin_turns(l, sub(l, number(l, 0.25f), magnitude(l, turns(l, x))));
}

// 2^k as a float.
static Name power(Lanes *l, Name k) {
  Name biased = lanes_with(l, "add", k, 127);
  return lanes_to_float(l, lanes_with(l, "shl", biased, 23));
}

static Name exponential(Lanes *l, Name x) {
  static const float c[] = {1.0f,          6.9314718e-1f, 2.4022651e-1f, 5.5504109e-2f,
                            9.6181291e-3f, 1.3333558e-3f, 1.5403530e-4f};
  Name high = lanes_float_choose(l, is(l, x, "ogt", 130.0f), number(l, 130.0f), x);
  Name y = lanes_float_choose(l, is(l, x, "olt", -160.0f), number(l, -160.0f), high);
  Name whole = lanes_call(l, "rint", l->fl, y), f = sub(l, y, whole);
  Name p = polynomial(l, f, c, ARRAY_LEN(c));
  Name safe = lanes_float_choose(l, lanes_float_compare(l, "ord", y, y), whole, number(l, 0));
  Name k = region_emit(l->r, "fptosi %s %s to %s", l->fl, safe.text, l->i);
  Name half = lanes_with(l, "ashr", k, 1);
  return mul(l, mul(l, p, power(l, half)), power(l, lanes_int(l, "sub", k, half)));
}

static Name logarithm(Lanes *l, Name x) {
  static const float c[] = {2.8853900f, 0.9617967f, 0.5770780f, 0.4121985f, 0.3205989f};
  Name u = lanes_to_int(l, x), tiny = lanes_compare_with(l, "ult", u, 0x00800000u);
  Name v = lanes_choose(l, tiny, lanes_to_int(l, mul(l, x, number(l, 0x1p24f))), u);
  Name e = lanes_with(l, "ashr", lanes_with(l, "sub", v, 0x3f3504f3u), 23);
  Name m = lanes_to_float(l, lanes_int(l, "sub", v, lanes_with(l, "shl", e, 23)));
  Name one = number(l, 1.0f), s = divide(l, sub(l, m, one), add(l, m, one));
  Name p = polynomial(l, mul(l, s, s), c, ARRAY_LEN(c));
  Name k = lanes_choose(l, tiny, lanes_with(l, "sub", e, 24), e);
  Name whole = region_emit(l->r, "sitofp %s %s to %s", l->i, k.text, l->fl);
  Name r = add(l, whole, mul(l, s, p));
  r = lanes_float_choose(l, lanes_compare_with(l, "eq", u, 0x7f800000u), x, r);
  r = lanes_float_choose(l, is(l, x, "oeq", 0), number(l, -INFINITY), r);
  Name nan = lanes_to_float(l, lanes_constant(l, 0x7fffffff, 32));
  return lanes_float_choose(l, is(l, x, "oge", 0), r, nan);
}

static Name canonical(Lanes *l, Name x) {
  return lanes_to_float(l, lanes_canonical(l, lanes_to_int(l, x)));
}

static Name negated(Lanes *l, Name x) {
  return lanes_to_float(l, lanes_with(l, "xor", lanes_to_int(l, x), 0x80000000u));
}

static Name hyperbolic(Lanes *l, Name x) {
  static const float c[] = {-0.33333333f, 0.13333333f, -0.05396825f, 0.02186949f};
  Name t = magnitude(l, x), q = mul(l, x, x);
  Name small = add(l, x, mul(l, mul(l, x, q), polynomial(l, q, c, ARRAY_LEN(c))));
  Name e = canonical(l, exponential(l, mul(l, t, number(l, 2.8853901f))));
  Name one = number(l, 1.0f);
  Name large = sub(l, one, divide(l, number(l, 2.0f), add(l, e, one)));
  large = lanes_float_choose(l, is(l, x, "olt", 0), negated(l, large), large);
  return lanes_float_choose(l, is(l, t, "olt", 0.5f), small, large);
}

// A divisor beyond 2^126 has a reciprocal that is flushed.
static Name quotient(Lanes *l, Name a, Name b, bool full) {
  Name r = divide(l, a, b);
  if (full) return r;
  Name sign = lanes_to_float(l, lanes_with(l, "and", lanes_to_int(l, b), 0x80000000u));
  Name m = magnitude(l, b), large = is(l, m, "ogt", 0x1p126f), finite = is(l, m, "olt", INFINITY);
  Name both = region_emit(l->r, "and %s %s, %s", l->b, large.text, finite.text);
  return lanes_float_choose(l, both, mul(l, a, sign), r);
}

static Name approximation(Lanes *l, const PtxInstr *in, Name a, Name b) {
  switch (in->op) {
    case OP_DIV: return quotient(l, a, b, ptx_has(in, MOD_FULL));
    case OP_RCP: return divide(l, number(l, 1.0f), a);
    case OP_SQRT: return lanes_call(l, "sqrt", l->fl, a);
    case OP_RSQRT: return divide(l, number(l, 1.0f), lanes_call(l, "sqrt", l->fl, a));
    case OP_SIN: return sine(l, a);
    case OP_COS: return cosine(l, a);
    case OP_LG2: return logarithm(l, a);
    case OP_EX2: return exponential(l, a);
    case OP_TANH: return hyperbolic(l, a);
    default: l->r->failed = true; return a;
  }
}

bool region_is_approximation(const PtxInstr *in) {
  if (in->ntypes != 1 || in->types[0] != TYPE_F32 || ptx_has(in, MOD_SAT)) return false;
  switch (in->op) {
    case OP_DIV: return ptx_has(in, MOD_FULL) || ptx_has(in, MOD_APPROX);
    case OP_RCP:
    case OP_SQRT: return ptx_has(in, MOD_APPROX);
    case OP_RSQRT:
    case OP_SIN:
    case OP_COS:
    case OP_LG2:
    case OP_EX2:
    case OP_TANH: return true;
    default: return false;
  }
}

Name region_approximate(Lanes *l, const PtxInstr *in) {
  bool ftz = ptx_has(in, MOD_FTZ);
  Name x[2];
  for (unsigned k = 0; k < 2 && k + 1u < in->nops; k++)
    x[k] = lanes_to_float(l, ftz ? lanes_flush(l, l->s[k]) : l->s[k]);
  Name bits = lanes_to_int(l, approximation(l, in, x[0], x[1]));
  if (!l->r->lazy_nan[in->ops[0].reg->id]) bits = lanes_canonical(l, bits);
  return ftz ? lanes_flush(l, bits) : bits;
}
