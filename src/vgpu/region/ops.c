// Arithmetic of a compiled function. Results are those of the execute functions, bit for bit
// (exec_arith*.c, arith_float.h, arith_int.h).
#include "vgpu/region/lanes.h"

// --- values that are linear over the lanes: each part on its own ---
static bool is_zero(Name n) { return !strcmp(n.text, "0"); }

// A step that is known to be 0 stays the constant 0, by which rows of equal lanes are known.
static Name part_op(Region *r, const char *op, Name a, Name b, unsigned bits) {
  bool product = !strcmp(op, "mul");
  if (is_zero(a) && (product || is_zero(b) || !strcmp(op, "add"))) return product ? a : b;
  if (is_zero(b)) return product ? b : a;
  return region_emit(r, "%s %s %s, %s", op, region_int(FORM_SAME, bits), a.text, b.text);
}

static LaneValue add_parts(Region *r, const char *op, const LaneValue *a, const LaneValue *b) {
  LaneValue v = {.form = MAX(a->form, b->form), .bits = a->bits, .x = {"0"}, .y = {"0"}};
  if (v.form == FORM_VECTOR) {
    Name x = region_vector(r, a), y = region_vector(r, b);
    v.base = region_emit(r, "%s %s %s, %s", op, region_int(FORM_VECTOR, v.bits), x.text, y.text);
    return v;
  }
  v.base = part_op(r, op, a->base, b->base, v.bits);
  if (v.form == FORM_SAME) return v;
  v.x = part_op(r, op, a->x, b->x, v.bits);
  v.y = part_op(r, op, a->y, b->y, v.bits);
  return v;
}

static LaneValue multiply_parts(Region *r, const LaneValue *a, const LaneValue *b) {
  if (b->form == FORM_LINEAR && a->form == FORM_SAME) return multiply_parts(r, b, a);
  LaneValue v = {.form = a->form, .bits = a->bits, .x = {"0"}, .y = {"0"}};
  if (a->form == FORM_VECTOR || b->form != FORM_SAME) {
    Name x = region_vector(r, a), y = region_vector(r, b);
    v.form = FORM_VECTOR;
    v.base = region_emit(r, "mul %s %s, %s", region_int(FORM_VECTOR, v.bits), x.text, y.text);
    return v;
  }
  v.base = part_op(r, "mul", a->base, b->base, v.bits);
  if (v.form == FORM_SAME) return v;
  v.x = part_op(r, "mul", a->x, b->base, v.bits);
  v.y = part_op(r, "mul", a->y, b->base, v.bits);
  return v;
}

// Leaves for the interpreter if lane (column, row) would wrap around 32 bits.
static void guard_corner(Region *r, const Inst *in, const LaneValue *wide, unsigned corner) {
  Name n = wide->base;
  uint32_t column = corner & 1 ? r->columns - 1 : 0, row = corner & 2 ? region_rows(r) - 1 : 0;
  if (column) {
    Name step = region_emit(r, "mul i64 %s, %u", wide->x.text, column);
    n = region_emit(r, "add i64 %s, %s", n.text, step.text);
  }
  if (row) {
    Name step = region_emit(r, "mul i64 %s, %u", wide->y.text, row);
    n = region_emit(r, "add i64 %s, %s", n.text, step.text);
  }
  Name narrow = region_emit(r, "trunc i64 %s to i32", n.text);
  const char *how = lanes_is_signed(in->src->types[in->src->ntypes - 1]) ? "sext" : "zext";
  Name back = region_emit(r, "%s i32 %s to i64", how, narrow.text);
  Name good = region_emit(r, "icmp eq i64 %s, %s", back.text, n.text);
  Name on = region_label(r), out = region_exit(r, in);
  region_expect(r, good, on, out);
  region_place(r, on);
}

// 32 to 64 bits, as the type that the instruction reads says.
static LaneValue widen(Region *r, const Inst *in, const LaneValue *v) {
  const char *how = lanes_is_signed(in->src->types[in->src->ntypes - 1]) ? "sext" : "zext";
  Form f = v->form == FORM_VECTOR ? FORM_VECTOR : FORM_SAME;
  LaneValue w = {.form = v->form, .bits = 64, .x = {"0"}, .y = {"0"}};
  w.base = region_emit(r, "%s %s %s to %s", how, region_int(f, 32), v->base.text,
                       region_int(f, 64));
  if (v->form != FORM_LINEAR) return w;
  if (!is_zero(v->x)) w.x = region_emit(r, "sext i32 %s to i64", v->x.text);
  if (!is_zero(v->y)) w.y = region_emit(r, "sext i32 %s to i64", v->y.text);
  for (unsigned corner = 1; corner < (r->columns < LANES ? 4u : 2u); corner++)
    guard_corner(r, in, &w, corner);
  return w;
}

static LaneValue narrow(Region *r, const LaneValue *v) {
  Form f = v->form == FORM_VECTOR ? FORM_VECTOR : FORM_SAME;
  LaneValue n = {.form = v->form, .bits = 32, .x = {"0"}, .y = {"0"}};
  n.base = region_emit(r, "trunc %s %s to %s", region_int(f, 64), v->base.text, region_int(f, 32));
  if (v->form != FORM_LINEAR) return n;
  if (!is_zero(v->x)) n.x = region_emit(r, "trunc i64 %s to i32", v->x.text);
  if (!is_zero(v->y)) n.y = region_emit(r, "trunc i64 %s to i32", v->y.text);
  return n;
}

static LaneValue wide_product(Region *r, const Inst *in, const LaneValue *a, const LaneValue *b) {
  // a product of two linear values is none
  LaneValue x = *a, y = *b;
  if (a->form != FORM_SAME && b->form != FORM_SAME) {
    x = region_value(FORM_VECTOR, 32, region_vector(r, a));
    y = region_value(FORM_VECTOR, 32, region_vector(r, b));
  }
  x = widen(r, in, &x);
  y = widen(r, in, &y);
  return multiply_parts(r, &x, &y);
}

// --- lane by lane: the same text for one value and for 32 ---
static Name shift(Lanes *l, bool left) {
  Name n = l->s[1];  // 32 bits, whatever is shifted
  const char *t32 = region_int(l->f, 32);
  Name most = lanes_constant(l, l->bits - 1, 32);
  Name past = region_emit(l->r, "icmp ugt %s %s, %s", t32, n.text, most.text);
  Name clamped = region_emit(l->r, "select %s %s, %s %s, %s %s", l->b, past.text, t32, most.text,
                             t32, n.text);
  Name by = l->bits == 32 ? clamped
                          : region_emit(l->r, "%s %s %s to %s", l->bits == 64 ? "zext" : "trunc",
                                        t32, clamped.text, l->i);
  if (!left && lanes_is_signed(l->t)) return lanes_int(l, "ashr", l->s[0], by);
  Name shifted = lanes_int(l, left ? "shl" : "lshr", l->s[0], by);
  return lanes_choose(l, past, lanes_constant(l, 0, l->bits), shifted);
}

// Division by zero gives all ones; INT_MIN / -1 wraps.
static Name divide(Lanes *l, bool rem) {
  Name zero = lanes_constant(l, 0, l->bits), one = lanes_constant(l, 1, l->bits),
       ones = lanes_constant(l, ~0ull, l->bits);
  Name by_zero = lanes_compare(l, "eq", l->s[1], zero),
       safe = lanes_choose(l, by_zero, one, l->s[1]);
  if (!lanes_is_signed(l->t)) {
    Name q = lanes_int(l, rem ? "urem" : "udiv", l->s[0], safe);
    return lanes_choose(l, by_zero, ones, q);
  }
  Name by_minus = lanes_compare(l, "eq", l->s[1], ones);
  safe = lanes_choose(l, by_minus, one, safe);
  Name q = lanes_int(l, rem ? "srem" : "sdiv", l->s[0], safe);
  q = lanes_choose(l, by_minus, rem ? zero : lanes_int(l, "sub", zero, l->s[0]), q);
  return lanes_choose(l, by_zero, ones, q);
}

static Name integer(Lanes *l, const PtxInstr *in) {
  Name a = l->s[0], b = l->s[1], zero = lanes_constant(l, 0, l->bits);
  switch (in->op) {
    case OP_ADD: return lanes_int(l, "add", a, b);
    case OP_SUB: return lanes_int(l, "sub", a, b);
    case OP_MUL: return lanes_int(l, "mul", a, b);
    case OP_MAD: return lanes_int(l, "add", lanes_int(l, "mul", a, b), l->s[2]);
    case OP_AND: return lanes_int(l, "and", a, b);
    case OP_OR: return lanes_int(l, "or", a, b);
    case OP_XOR: return lanes_int(l, "xor", a, b);
    case OP_NOT: return lanes_int(l, "xor", a, lanes_constant(l, ~0ull, l->bits));
    case OP_SHL: return shift(l, true);
    case OP_SHR: return shift(l, false);
    case OP_NEG: return lanes_int(l, "sub", zero, a);
    case OP_ABS:
      return lanes_choose(l, lanes_compare(l, "slt", a, zero), lanes_int(l, "sub", zero, a), a);
    case OP_MIN:
      return lanes_choose(l, lanes_compare(l, lanes_is_signed(l->t) ? "slt" : "ult", a, b), a, b);
    case OP_MAX:
      return lanes_choose(l, lanes_compare(l, lanes_is_signed(l->t) ? "sgt" : "ugt", a, b), a, b);
    case OP_DIV: return divide(l, false);
    case OP_REM: return divide(l, true);
    default: l->r->failed = true; return a;
  }
}

// --- floating point ---
static Name arithmetic(Lanes *l, const PtxInstr *in, const Name *x) {
  const char *two = in->op == OP_ADD   ? "fadd"
                    : in->op == OP_SUB ? "fsub"
                    : in->op == OP_MUL ? "fmul"
                    : in->op == OP_DIV ? "fdiv"
                                       : NULL;
  if (two) return region_emit(l->r, "%s %s %s, %s", two, l->fl, x[0].text, x[1].text);
  const char *suffix = l->f == FORM_VECTOR ? (l->bits == 32 ? "v32f32" : "v32f64")
                                           : (l->bits == 32 ? "f32" : "f64");
  if (in->op == OP_SQRT)
    return region_emit(l->r, "call %s @llvm.sqrt.%s(%s %s)", l->fl, suffix, l->fl, x[0].text);
  if (in->op == OP_RCP) {
    uint64_t bits = l->bits == 64 ? 0x3ff0000000000000ull : 0x3f800000;
    Name one = lanes_to_float(l, lanes_constant(l, bits, l->bits));
    return region_emit(l->r, "fdiv %s %s, %s", l->fl, one.text, x[0].text);
  }
  return region_emit(l->r, "call %s @llvm.fma.%s(%s %s, %s %s, %s %s)", l->fl, suffix, l->fl,
                     x[0].text, l->fl, x[1].text, l->fl, x[2].text);
}

// A NaN result of doubles is the first NaN among its operands, made quiet, in the same order as in
// the execute functions.
static Name first_nan(Lanes *l, const PtxInstr *in, const Name *x) {
  static const uint8_t orders[3][3] = {{1, 0, 0}, {0, 1, 1}, {1, 2, 0}};
  const uint8_t *order = in->op == OP_FMA || in->op == OP_MAD ? orders[2]
                         : in->op == OP_DIV                   ? orders[1]
                                                              : orders[0];
  unsigned n = in->nops == 2 ? 1 : order == orders[2] ? 3 : 2;
  Name u = lanes_constant(l, 0xfff8000000000000ull, 64);
  for (unsigned k = n; k-- > 0;) {
    unsigned s = n == 1 ? 0 : order[k];
    Name nan = lanes_float_compare(l, "uno", x[s], x[s]);
    u = lanes_choose(l, nan, lanes_with(l, "or", l->s[s], 0x0008000000000000ull), u);
  }
  return u;
}

static Name propagate(Lanes *l, const PtxInstr *in, Name result, const Name *x) {
  Region *r = l->r;
  Name nan = lanes_float_compare(l, "uno", result, result), bits = lanes_to_int(l, result);
  if (l->f == FORM_SAME) return lanes_choose(l, nan, first_nan(l, in, x), bits);
  // most results are numbers: chooses only if one of the 32 is a NaN
  Name here = region_label(r), rare = region_label(r), done = region_label(r);
  Name mask = region_emit(r, "bitcast <32 x i1> %s to i32", nan.text);
  Name none = region_emit(r, "icmp eq i32 %s, 0", mask.text);
  region_line(r, "br label %%%s", here.text);
  region_place(r, here);
  region_expect(r, none, done, rare);
  region_place(r, rare);
  Name chosen = lanes_choose(l, nan, first_nan(l, in, x), bits);
  region_line(r, "br label %%%s", done.text);
  region_place(r, done);
  return region_emit(r, "phi %s [ %s, %%%s ], [ %s, %%%s ]", l->i, bits.text, here.text,
                     chosen.text, rare.text);
}

// neg and abs change the sign bit; a NaN becomes the canonical one, of f64 only quiet.
static Name change_sign(Lanes *l, bool negate) {
  bool f32 = l->bits == 32;
  Name sign = lanes_constant(l, f32 ? 0x80000000u : 0x8000000000000000ull, l->bits);
  Name rest = lanes_constant(l, f32 ? 0x7fffffffu : 0x7fffffffffffffffull, l->bits);
  Name changed = negate ? lanes_int(l, "xor", l->s[0], sign) : lanes_int(l, "and", l->s[0], rest);
  Name x = lanes_to_float(l, l->s[0]), nan = lanes_float_compare(l, "uno", x, x);
  Name instead = f32 ? rest
                     : lanes_int(l, "or", l->s[0], lanes_constant(l, 0x0008000000000000ull, 64));
  return lanes_choose(l, nan, instead, changed);
}

// -0 is less than +0, a NaN loses: compared as integers in the order of the floats. Of two NaNs
// the result is the canonical one, of f64 the second.
static Name min_max(Lanes *l, bool max) {
  Name key[2], nan[2];
  for (unsigned k = 0; k < 2; k++) {
    Name sign = lanes_with(l, "ashr", l->s[k], l->bits - 1);
    Name flip = lanes_with(l, "lshr", sign, 1);
    key[k] = lanes_int(l, "xor", l->s[k], flip);
    Name x = lanes_to_float(l, l->s[k]);
    nan[k] = lanes_float_compare(l, "uno", x, x);
  }
  Name c = lanes_compare(l, max ? "sgt" : "slt", key[0], key[1]);
  Name v = lanes_choose(l, c, l->s[0], l->s[1]);
  v = lanes_choose(l, nan[0], l->s[1], v);
  v = lanes_choose(l, nan[1], l->s[0], v);
  Name both = region_emit(l->r, "and %s %s, %s", l->b, nan[0].text, nan[1].text);
  Name instead = l->bits == 32 ? lanes_constant(l, 0x7fffffff, 32)
                               : lanes_with(l, "or", l->s[1], 0x0008000000000000ull);
  return lanes_choose(l, both, instead, v);
}

// A result that was rounded up to the least normal number must be zero (arith_float.h): leaves that
// decision to the interpreter.
static void leave_if_least_normal(Lanes *l, const Inst *first, Name bits) {
  Region *r = l->r;
  Name magnitude = lanes_int(l, "and", bits, lanes_constant(l, 0x7fffffff, 32));
  Name least = lanes_compare(l, "eq", magnitude, lanes_constant(l, 0x00800000, 32));
  if (l->f == FORM_VECTOR) {
    least = region_emit(r, "bitcast <32 x i1> %s to i32", least.text);
    least = region_emit(r, "icmp ne i32 %s, 0", least.text);
  }
  Name on = region_label(r), out = region_exit(r, first);
  Name none = region_emit(r, "xor i1 %s, true", least.text);
  region_expect(r, none, on, out);
  region_place(r, on);
}

static Name floating(Lanes *l, const Inst *first) {
  const PtxInstr *in = first->src;
  bool ftz = ptx_has(in, MOD_FTZ) && l->bits == 32;
  for (unsigned k = 0; ftz && k + 1u < in->nops; k++) l->s[k] = lanes_flush(l, l->s[k]);
  if (in->op == OP_NEG || in->op == OP_ABS) return change_sign(l, in->op == OP_NEG);
  if (in->op == OP_MIN || in->op == OP_MAX) return min_max(l, in->op == OP_MAX);
  Name x[3];
  for (unsigned k = 0; k + 1u < in->nops; k++) x[k] = lanes_to_float(l, l->s[k]);
  Name result = arithmetic(l, in, x);
  if (ftz) {
    Name bits = lanes_flush(l, lanes_to_int(l, result));
    if (in->op != OP_ADD && in->op != OP_SUB) leave_if_least_normal(l, first, bits);
    result = lanes_to_float(l, bits);
  }
  if (l->bits == 64) return propagate(l, in, result, x);
  if (l->r->lazy_nan[in->ops[0].reg->id]) return lanes_to_int(l, result);
  Name nan = lanes_float_compare(l, "uno", result, result);
  return lanes_choose(l, nan, lanes_constant(l, 0x7fffffff, 32), lanes_to_int(l, result));
}

// --- comparison ---
static const struct {
  PtxMod mod;
  const char *as_unsigned, *as_signed, *as_float;
} comparisons[] = {
    {MOD_EQ, "eq", "eq", "oeq"},   {MOD_NE, "ne", "ne", "one"},   {MOD_LT, "ult", "slt", "olt"},
    {MOD_LE, "ule", "sle", "ole"}, {MOD_GT, "ugt", "sgt", "ogt"}, {MOD_GE, "uge", "sge", "oge"},
    {MOD_LO, "ult", "slt", NULL},  {MOD_LS, "ule", "sle", NULL},  {MOD_HI, "ugt", "sgt", NULL},
    {MOD_HS, "uge", "sge", NULL},  {MOD_EQU, NULL, NULL, "ueq"},  {MOD_NEU, NULL, NULL, "une"},
    {MOD_LTU, NULL, NULL, "ult"},  {MOD_LEU, NULL, NULL, "ule"},  {MOD_GTU, NULL, NULL, "ugt"},
    {MOD_GEU, NULL, NULL, "uge"},  {MOD_NUM, NULL, NULL, "ord"},  {MOD_ISNAN, NULL, NULL, "uno"},
};

static Name setp(Lanes *l, const PtxInstr *in) {
  bool is_float = ptx_type_kind(l->t) == KIND_FLOAT;
  Name result = {"false"};
  const char *how = NULL;
  for (size_t k = 0; k < ARRAY_LEN(comparisons) && !how; k++)
    if (ptx_has(in, comparisons[k].mod))
      how = is_float                ? comparisons[k].as_float
            : lanes_is_signed(l->t) ? comparisons[k].as_signed
                                    : comparisons[k].as_unsigned;
  if (!how) {
    l->r->failed = true;
    return result;
  }
  for (unsigned k = 0; k < 2 && is_float && ptx_has(in, MOD_FTZ) && l->bits == 32; k++)
    l->s[k] = lanes_flush(l, l->s[k]);
  result = is_float
               ? lanes_float_compare(l, how, lanes_to_float(l, l->s[0]), lanes_to_float(l, l->s[1]))
               : lanes_compare(l, how, l->s[0], l->s[1]);
  const char *with = ptx_has(in, MOD_AND)   ? "and"
                     : ptx_has(in, MOD_OR)  ? "or"
                     : ptx_has(in, MOD_XOR) ? "xor"
                                            : NULL;
  return with ? region_emit(l->r, "%s %s %s, %s", with, l->b, result.text, l->s[2].text) : result;
}

static Name element(Lanes *l, const Inst *first) {
  const PtxInstr *in = first->src;
  switch (in->op) {
    case OP_SETP: return setp(l, in);
    case OP_CVT: return region_convert(l, in);
    case OP_SELP: return lanes_choose(l, l->s[2], l->s[0], l->s[1]);
    default: break;
  }
  if (region_is_bit_op(in)) return region_bit_op(l, in);
  if (region_is_approximation(in)) return region_approximate(l, in);
  return ptx_type_kind(l->t) == KIND_FLOAT ? floating(l, first) : integer(l, in);
}

// The type of source k (from 0).
static PtxType source_type(const PtxInstr *in, unsigned k, PtxType t) {
  if ((in->op == OP_SETP || in->op == OP_SELP) && k == 2) return TYPE_PRED;
  if ((in->op == OP_BFE && k > 0) || (in->op == OP_BFI && k > 1)) return TYPE_U32;
  return (in->op == OP_SHL || in->op == OP_SHR) && k == 1 ? TYPE_U32 : t;
}

static LaneValue elementwise(Region *r, const Inst *first) {
  const PtxInstr *in = first->src;
  PtxType t = region_type(in);
  LaneValue v[LANES_SOURCES];
  Form f = FORM_SAME;
  bool raw = ptx_type_kind(t) == KIND_FLOAT && in->op != OP_SELP && in->op != OP_CVT;
  for (unsigned k = 0; k + 1u < in->nops; k++) {
    v[k] = region_operand(r, &in->ops[k + 1], source_type(in, k, t), raw && t == TYPE_F32);
    if (v[k].form != FORM_SAME) f = FORM_VECTOR;
  }
  unsigned bits = t == TYPE_PRED ? 1 : 8 * slot_width(t);
  Lanes l = {.r = r,
             .f = f,
             .t = t,
             .bits = bits,
             .i = region_int(f, bits),
             .fl = region_float(f, bits),
             .b = region_int(f, 1)};
  for (unsigned k = 0; k + 1u < in->nops; k++) {
    l.s[k] = region_as(r, &v[k], f);
    l.width[k] = v[k].bits;
  }
  return region_value(f, region_bits(in->ops[0].reg), element(&l, first));
}

static LaneValue variable(Region *r, const Inst *first) {
  unsigned bits = region_bits(first->src->ops[0].reg);
  Name at = region_slot(r, first->a);
  return region_value(FORM_SAME, bits,
                      region_emit(r, "load %s, ptr %s", region_int(FORM_SAME, bits), at.text));
}

static LaneValue compute(Region *r, const Inst *first, Shape s) {
  const PtxInstr *in = first->src;
  PtxType t = region_type(in), to = s == SHAPE_COPY ? region_type(in) : t;
  LaneValue a = {0}, b = {0}, c = {0};
  if (s == SHAPE_ELEMENT) return elementwise(r, first);
  if (s == SHAPE_VARIABLE) return variable(r, first);
  bool raw = s == SHAPE_COPY && r->lazy_nan[in->ops[0].reg->id];
  a = region_operand(r, &in->ops[1], to, raw);
  if (in->nops > 2 && s != SHAPE_SHL) b = region_operand(r, &in->ops[2], t, false);
  if (in->nops > 3) c = region_operand(r, &in->ops[3], s == SHAPE_MAD_WIDE ? TYPE_B64 : t, false);
  switch (s) {
    case SHAPE_COPY: return a;
    case SHAPE_ADD: return add_parts(r, "add", &a, &b);
    case SHAPE_SUB: return add_parts(r, "sub", &a, &b);
    case SHAPE_MUL: return multiply_parts(r, &a, &b);
    case SHAPE_SHL:
      b = region_constant(1ull << (in->ops[2].imm & 63), a.bits);
      return multiply_parts(r, &a, &b);
    case SHAPE_NEG: b = region_constant(0, a.bits); return add_parts(r, "sub", &b, &a);
    case SHAPE_MAD: b = multiply_parts(r, &a, &b); return add_parts(r, "add", &b, &c);
    case SHAPE_WIDEN: return widen(r, first, &a);
    case SHAPE_NARROW: return narrow(r, &a);
    case SHAPE_LOW: a = narrow(r, &a); return widen(r, first, &a);
    case SHAPE_MUL_WIDE: return wide_product(r, first, &a, &b);
    default: b = wide_product(r, first, &a, &b); return add_parts(r, "add", &b, &c);
  }
}

void region_op(Region *r, const Inst *first, Shape s) {
  const PtxInstr *in = first->src;
  const PtxReg *d = in->ops[0].reg;
  LaneValue v = compute(r, first, s);
  if (r->failed) return;
  if (!in->guard || !r->kept[in->guard->id] || r->lanes[in->guard->id] == LANES_SAME) {
    region_write(r, d, v);  // the caller has branched
    return;
  }
  LaneValue g = region_read(r, in->guard, false), old = region_read(r, d, true);
  Name now = region_vector(r, &v), was = region_vector(r, &old), mask = region_vector(r, &g);
  const char *t = region_int(FORM_VECTOR, v.bits);
  Name yes = in->guard_negated ? was : now, no = in->guard_negated ? now : was;
  v = region_value(
      FORM_VECTOR, v.bits,
      region_emit(r, "select <32 x i1> %s, %s %s, %s %s", mask.text, t, yes.text, t, no.text));
  region_write(r, d, v);
}
