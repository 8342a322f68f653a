// Code for the shadows of results. Emitted before the instruction, while its operands still have
// the values it reads.
#include "tools/initcheck/internal.h"

// The build fails if the switch below lacks a rule.
#pragma GCC diagnostic error "-Wswitch"

static bool is_wide(const PtxReg *shadow) { return shadow->type == TYPE_B64; }
static unsigned bits_of(const PtxReg *r) {
  return r->type == TYPE_PRED ? 32 : ptx_type_size(r->type) * 8;
}
static PtxReg *temp32(InitCheck *k, unsigned n) { return body_temp(k->body, TYPE_B32, n); }
static PtxReg *temp64(InitCheck *k, unsigned n) { return body_temp(k->body, TYPE_B64, n); }

#define EMIT_WIDTH(c, wide, op, ...) \
  do { \
    if (wide) EMIT(c, op ".b64", __VA_ARGS__); \
    else EMIT(c, op ".b32", __VA_ARGS__); \
  } while (0)

void init_clear(Code *c, PtxReg *shadow) {
  EMIT_WIDTH(c, is_wide(shadow), "mov", opd_reg(shadow), opd_imm(0));
}

PtxReg *init_any(InitCheck *k, Code *c, PtxReg *const *shadows, unsigned n) {
  if (!n) return NULL;
  PtxReg *sum = temp32(k, 0), *low = temp32(k, 1), *high = temp32(k, 2);
  for (unsigned i = 0; i < n; i++) {
    if (is_wide(shadows[i])) {
      EMIT(c, "mov.b64", opd_vector(c, (const PtxOperand[]){opd_reg(low), opd_reg(high)}, 2),
           opd_reg(shadows[i]));
      EMIT(c, "or.b32", opd_reg(low), opd_reg(low), opd_reg(high));
    }
    PtxReg *one = is_wide(shadows[i]) ? low : shadows[i];
    if (i) EMIT(c, "or.b32", opd_reg(sum), opd_reg(sum), opd_reg(one));
    else EMIT(c, "mov.b32", opd_reg(sum), opd_reg(one));
  }
  return sum;
}

static int64_t all_bits(const PtxReg *r) {
  switch (bits_of(r)) {
    case 8: return 0xff;
    case 16: return 0xffff;
    default: return -1;
  }
}

// shadow(r) = bad ? all of it : 0
static void spread(InitCheck *k, Code *c, PtxReg *r, PtxReg *bad) {
  PtxReg *s = init_shadow(k, r);
  if (is_wide(s)) EMIT(c, "selp.b64", opd_reg(s), opd_imm(-1), opd_imm(0), opd_reg(bad));
  else EMIT(c, "selp.b32", opd_reg(s), opd_imm(all_bits(r)), opd_imm(0), opd_reg(bad));
}

// The or of the shadows of all operands that are read; not NULL.
static PtxReg *any_use(const InitResult *r, Code *c) {
  PtxReg *shadows[INIT_MOST_REGS];
  for (unsigned i = 0; i < r->nuses; i++) shadows[i] = init_shadow(r->k, r->uses[i]);
  return init_any(r->k, c, shadows, r->nuses);
}

static void clear_results(const InitResult *r, Code *c) {
  for (unsigned i = 0; i < r->ndefs; i++) init_clear(c, init_shadow(r->k, r->defs[i]));
}

static void spread_any(const InitResult *r, Code *c) {
  PtxReg *any = any_use(r, c), *bad = body_temp(r->k->body, TYPE_PRED, 0);
  EMIT(c, "setp.ne.u32", opd_reg(bad), opd_reg(any), opd_imm(0));
  for (unsigned i = 0; i < r->ndefs; i++) spread(r->k, c, r->defs[i], bad);
}

// cvt.f16x2.f32 d, a, b: a makes the upper half, b the lower.
static void spread_two(InitCheck *k, Code *c, const PtxInstr *in) {
  PtxReg *both = temp32(k, 3), *part = temp32(k, 4), *bad = body_temp(k->body, TYPE_PRED, 0);
  EMIT(c, "mov.b32", opd_reg(both), opd_imm(0));
  for (unsigned i = 1; i <= 2; i++) {
    PtxReg *from = in->ops[i].kind == OPD_REG ? init_shadow(k, in->ops[i].reg) : NULL;
    if (!from) continue;
    EMIT(c, "setp.ne.u32", opd_reg(bad), opd_reg(init_any(k, c, &from, 1)), opd_imm(0));
    EMIT(c, "selp.b32", opd_reg(part), opd_imm(i == 1 ? (int64_t)0xffff0000 : 0xffff), opd_imm(0),
         opd_reg(bad));
    EMIT(c, "or.b32", opd_reg(both), opd_reg(both), opd_reg(part));
  }
  EMIT(c, "mov.b32", opd_reg(init_shadow(k, in->ops[0].reg)), opd_reg(both));
}

// --- operands of the rules that look at single bits ---

// The shadow of an operand, in a register of the result's width; zero if it has none.
static PtxReg *shadow_of(InitCheck *k, Code *c, const PtxOperand *o, bool wide, unsigned temp) {
  PtxReg *s = o->kind == OPD_REG && !o->selector ? init_shadow(k, o->reg) : NULL;
  if (s && is_wide(s) == wide) return s;
  PtxReg *t = wide ? temp64(k, temp) : temp32(k, temp);
  if (s && wide) EMIT(c, "cvt.u64.u32", opd_reg(t), opd_reg(s));
  else if (s) EMIT(c, "cvt.u32.u64", opd_reg(t), opd_reg(s));
  else if (wide) EMIT(c, "mov.b64", opd_reg(t), opd_imm(0));
  else EMIT(c, "mov.b32", opd_reg(t), opd_imm(0));
  return t;
}

// The value of an operand, as bits; a predicate is all ones or zero.
static PtxReg *value_of(InitCheck *k, Code *c, const PtxOperand *o, bool wide, unsigned temp) {
  PtxReg *t = wide ? temp64(k, temp) : temp32(k, temp);
  if (o->kind != OPD_REG) {
    if (wide) EMIT(c, "mov.b64", opd_reg(t), *o);
    else
      EMIT(c, "mov.b32", opd_reg(t), opd_imm(o->kind == OPD_INT ? (int64_t)(uint32_t)o->imm : 0));
  } else if (o->reg->type == TYPE_PRED) {
    EMIT(c, "selp.b32", opd_reg(t), opd_imm(o->negated ? 0 : -1), opd_imm(o->negated ? -1 : 0),
         opd_reg(o->reg));
  } else if (wide || ptx_type_size(o->reg->type) == 4) return o->reg;
  else EMIT(c, "cvt.u32.u16", opd_reg(t), opd_reg(o->reg));
  return t;
}

// Repeats the instruction itself, with the first n operands replaced.
static void repeat(InitCheck *k, Code *c, const PtxInstr *in, const PtxOperand *first, unsigned n) {
  PtxOperand *ops = ARENA_ARRAY(&k->body->func->module->arena, PtxOperand, in->nops);
  memcpy(ops, in->ops, sizeof *ops * in->nops);
  memcpy(ops, first, sizeof *ops * n);
  PtxInstr *copied = code_instr(c, in);
  copied->ops = ops;
  copied->form = 0;
  copied->guard = c->guard;
  copied->guard_negated = c->guard_negated;
}

// --- formulas.def, as code that emits PTX ---

typedef struct Emit {
  InitCheck *k;
  Code *c;
  const PtxInstr *in;
  bool wide;       // operands and shadows are of 64 bits
  unsigned width;  // of the result
} Emit;

static PtxReg *temp(const Emit *e, unsigned n) {
  return e->wide ? temp64(e->k, n) : temp32(e->k, n);
}

static void find_bounds(const Emit *e, const PtxOperand *o, PtxReg *least, PtxReg *most,
                        bool is_signed) {
  PtxReg *v = value_of(e->k, e->c, o, e->wide, 0), *s = shadow_of(e->k, e->c, o, e->wide, 1),
         *t = temp(e, 2);
  EMIT_WIDTH(e->c, e->wide, "or", opd_reg(most), opd_reg(v), opd_reg(s));
  EMIT_WIDTH(e->c, e->wide, "not", opd_reg(t), opd_reg(s));
  EMIT_WIDTH(e->c, e->wide, "and", opd_reg(least), opd_reg(v), opd_reg(t));
  if (!is_signed) return;
  EMIT_WIDTH(e->c, e->wide, "and", opd_reg(t), opd_reg(s),
             opd_imm(e->wide ? INT64_MIN : INT32_MIN));
  EMIT_WIDTH(e->c, e->wide, "or", opd_reg(least), opd_reg(least), opd_reg(t));
  EMIT_WIDTH(e->c, e->wide, "xor", opd_reg(most), opd_reg(most), opd_reg(t));
}

#define OPERAND const PtxOperand *
#define SHADOW PtxReg *
#define WORD PtxReg *
#define NUMBER unsigned
#define SIGN bool
#define FORMULA(id, ...) \
  static PtxReg *formula_##id(const Emit *e, PtxReg *to, __VA_ARGS__) { \
    unsigned width = e->width; \
    (void)width; \
    (void)to;
#define END_FORMULA(x) \
  return x; \
  }
#define SHADOW_OF(x, a, n) PtxReg *x = shadow_of(e->k, e->c, a, e->wide, n);
#define VALUE_OF(x, a, n) PtxReg *x = value_of(e->k, e->c, a, e->wide, n);
#define TEMP(x, n) PtxReg *x = temp(e, n);
#define TEMP_WORD(x, n) PtxReg *x = temp32(e->k, n);
#define FLAG(x, n) PtxReg *x = body_temp(e->k->body, TYPE_PRED, n);
#define EMIT_BITS(op, ...) EMIT_WIDTH(e->c, e->wide, op, __VA_ARGS__);
// with another type than .b64 or .b32
#define EMIT_TYPED(wide_op, op, ...) \
  { \
    if (e->wide) EMIT(e->c, wide_op, __VA_ARGS__); \
    else EMIT(e->c, op, __VA_ARGS__); \
  }
#define OR(x, a, b) EMIT_BITS("or", opd_reg(x), opd_reg(a), opd_reg(b))
#define AND(x, a, b) EMIT_BITS("and", opd_reg(x), opd_reg(a), opd_reg(b))
#define XOR(x, a, b) EMIT_BITS("xor", opd_reg(x), opd_reg(a), opd_reg(b))
#define NOT(x, a) EMIT_BITS("not", opd_reg(x), opd_reg(a))
#define NEG(x, a) EMIT_TYPED("neg.s64", "neg.s32", opd_reg(x), opd_reg(a))
#define AND_N(x, a, n) EMIT_BITS("and", opd_reg(x), opd_reg(a), opd_imm(n))
#define ADD_N(x, a, n) EMIT_TYPED("add.u64", "add.u32", opd_reg(x), opd_reg(a), opd_imm(n))
#define MUL_N(x, a, n) EMIT_TYPED("mul.lo.u64", "mul.lo.u32", opd_reg(x), opd_reg(a), opd_imm(n))
#define SHL_N(x, a, n) EMIT_BITS("shl", opd_reg(x), opd_reg(a), opd_imm(n))
#define SHR_N(x, a, n) EMIT_TYPED("shr.u64", "shr.u32", opd_reg(x), opd_reg(a), opd_imm(n))
#define SAR_N(x, a, n) EMIT_TYPED("shr.s64", "shr.s32", opd_reg(x), opd_reg(a), opd_imm(n))
#define FILL(x, bad, bits) fill(e, x, bad, bits);
#define COMPLEMENT(x, n) \
  { \
    EMIT_BITS("not", opd_reg(temp(e, n)), opd_reg(x)) \
    x = temp(e, n); \
  }
#define NEEDS(x, a) EMIT_TYPED("setp.ne.b64", "setp.ne.b32", opd_reg(x), opd_reg(a), opd_imm(0))
#define TRIM(x)  // registers have the operands' width
#define IS_ZERO_AND(x, a, b) \
  EMIT_TYPED("setp.eq.and.b64", "setp.eq.and.b32", opd_reg(x), opd_reg(a), opd_imm(0), opd_reg(b))
#define IS_SIGNED(how) how
#define LOW_BITS(n) (int64_t)((1ull << (n)) - 1)
#define BOUNDS(a, least, most, how) find_bounds(e, a, temp(e, least), temp(e, most), how);
#define LEAST(a, n) temp(e, n)
#define MOST(a, n) temp(e, n)
// the comparison that the instruction makes: its outcome for a less than b, or for the reverse
#define IS_LESS(x, a, b) \
  repeat(e->k, e->c, e->in, (const PtxOperand[]){opd_reg(x), opd_reg(a), opd_reg(b)}, 3);
#define DIFFER(x, a, b) EMIT(e->c, "xor.pred", opd_reg(x), opd_reg(a), opd_reg(b));

static void fill(const Emit *e, PtxReg *to, PtxReg *bad, int64_t bits) {
  PtxReg *is_bad = body_temp(e->k->body, TYPE_PRED, 0);
  EMIT(e->c, "setp.ne.u32", opd_reg(is_bad), opd_reg(bad), opd_imm(0));
  EMIT(e->c, "selp.b32", opd_reg(to), opd_imm(bits), opd_imm(0), opd_reg(is_bad));
}

#include "tools/initcheck/formulas.def"

// The first result's shadow is `to`; the formula has its width.
static Emit emit_for(const InitResult *r, Code *c, PtxReg **to) {
  *to = init_shadow(r->k, r->in->ops[0].reg);
  return (Emit){r->k, c, r->in, is_wide(*to), bits_of(r->in->ops[0].reg)};
}

static void parts(const InitResult *r, Code *c) {
  PtxReg *to, *any = any_use(r, c);
  Emit e = emit_for(r, c, &to);
  if (init_part_bits(r->in) == 8) formula_bytes(&e, to, any);
  else formula_halves(&e, to, any);
}

static void logic(const InitResult *r, Code *c, bool is_and) {
  PtxReg *to;
  Emit e = emit_for(r, c, &to);
  formula_logic(&e, to, &r->in->ops[1], &r->in->ops[2], is_and);
}

static void join(const InitResult *r, Code *c, bool upwards) {
  const PtxInstr *in = r->in;
  PtxReg *to;
  Emit e = emit_for(r, c, &to);
  PtxReg *sum = temp(&e, 0);
  bool first = true;
  for (unsigned i = 1; i < in->nops; i++) {
    if (in->ops[i].kind != OPD_REG || !init_shadow(r->k, in->ops[i].reg)) continue;
    PtxReg *one = shadow_of(r->k, c, &in->ops[i], e.wide, 2);
    if (first) EMIT_WIDTH(c, e.wide, "mov", opd_reg(sum), opd_reg(one));
    else EMIT_WIDTH(c, e.wide, "or", opd_reg(sum), opd_reg(sum), opd_reg(one));
    first = false;
  }
  if (first) EMIT_WIDTH(c, e.wide, "mov", opd_reg(sum), opd_imm(0));
  if (upwards) {
    formula_upwards(&e, sum, sum);
    if (all_bits(in->ops[0].reg) > 0)
      EMIT(c, "and.b32", opd_reg(sum), opd_reg(sum), opd_imm(all_bits(in->ops[0].reg)));
  }
  EMIT_WIDTH(c, e.wide, "mov", opd_reg(to), opd_reg(sum));
}

static void convert(const InitResult *r, Code *c) {
  InitConversion how = init_conversion(r->in);
  PtxReg *to, *t = temp64(r->k, 0);
  Emit e = emit_for(r, c, &to);
  bool narrow = !e.wide;
  e.wide = true;
  formula_convert(&e, t, shadow_of(r->k, c, &r->in->ops[1], true, 1), how.from, how.to,
                  how.is_signed);
  if (!narrow) EMIT(c, "mov.b64", opd_reg(to), opd_reg(t));
  else EMIT(c, "cvt.u32.u64", opd_reg(to), opd_reg(t));
  if (narrow && all_bits(r->in->ops[0].reg) > 0)
    EMIT(c, "and.b32", opd_reg(to), opd_reg(to), opd_imm(all_bits(r->in->ops[0].reg)));
}

static void compare(InitCheck *k, Code *c, const PtxInstr *in) {
  InitComparison how = init_comparison(in);
  Emit e = {k, c, in, ptx_type_size(in->types[0]) == 8, ptx_type_size(in->types[0]) * 8};
  PtxReg *open = how.order ? formula_order(&e, NULL, &in->ops[1], &in->ops[2], how.is_signed)
                           : formula_equal(&e, NULL, &in->ops[1], &in->ops[2]);
  spread(k, c, in->ops[0].reg, open);
}

// --- lop3 ---

// Computes the result for every choice of flipped bad bits: result bits that are not the same for
// all choices are bad.
static void turn_round(InitCheck *k, Code *c, const PtxInstr *in) {
  PtxReg *is = temp32(k, 4), *other = temp32(k, 5), *sum = temp32(k, 6), *turned[3];
  unsigned at[3], n = 0;
  PtxOperand ops[5];
  memcpy(ops, in->ops, sizeof ops);
  ops[0] = opd_reg(is);
  ops[4] = opd_imm(init_table(in));
  for (unsigned o = 1; o <= 3; o++) {
    PtxReg *s = in->ops[o].kind == OPD_REG ? init_shadow(k, in->ops[o].reg) : NULL;
    if (!s || (o > 1 && in->ops[1].kind == OPD_REG && in->ops[1].reg == in->ops[o].reg) ||
        (o > 2 && in->ops[2].kind == OPD_REG && in->ops[2].reg == in->ops[o].reg))
      continue;
    at[n] = o;
    turned[n] = temp32(k, 1 + n);
    EMIT(c, "xor.b32", opd_reg(turned[n]), in->ops[o], opd_reg(s));
    n++;
  }
  repeat(k, c, in, ops, 5);
  ops[0] = opd_reg(other);
  for (unsigned choice = 1; choice < 1u << n; choice++) {
    for (unsigned i = 0; i < n; i++)
      ops[at[i]] = choice >> i & 1 ? opd_reg(turned[i]) : in->ops[at[i]];
    repeat(k, c, in, ops, 5);
    EMIT(c, "xor.b32", opd_reg(choice == 1 ? sum : other), opd_reg(other), opd_reg(is));
    if (choice > 1) EMIT(c, "or.b32", opd_reg(sum), opd_reg(sum), opd_reg(other));
  }
  EMIT(c, "mov.b32", opd_reg(init_shadow(k, in->ops[0].reg)), opd_reg(sum));
}

// Emits the exact rule. If that is long, it is out of line and runs only if an operand is bad.
static void closely(const InitResult *r, Code *c, bool at_once,
                    void how(InitCheck *, Code *, const PtxInstr *)) {
  InitCheck *k = r->k;
  const PtxInstr *in = r->in;
  if (at_once || c->guard) {
    how(k, c, in);
    return;
  }
  PtxReg *bad = body_temp(k->body, TYPE_PRED, 0);
  PtxLabel *slow = body_label(k->body), *back = body_label(k->body);
  Code *cold = body_cold(k->body);
  EMIT(c, "setp.ne.u32", opd_reg(bad), opd_reg(any_use(r, c)), opd_imm(0));
  code_branch(c, bad, false, slow);
  init_clear(c, init_shadow(k, in->ops[0].reg));
  code_label(c, back);
  cold->near = in;
  code_label(cold, slow);
  how(k, cold, in);
  EMIT(cold, "bra", opd_label(back));
}

// --- moves: registers, and packing and taking apart ---

static void pack(InitCheck *k, Code *c, PtxReg *to, const PtxOperand *parts) {
  PtxReg *s = init_shadow(k, to);
  unsigned bits = bits_of(to) / parts->nlist;
  PtxReg *sum = temp64(k, 0), *one = temp64(k, 1);
  EMIT(c, "mov.b64", opd_reg(sum), opd_imm(0));
  for (unsigned i = 0; i < parts->nlist; i++) {
    if (parts->list[i].kind != OPD_REG || !init_shadow(k, parts->list[i].reg)) continue;
    EMIT(c, "shl.b64", opd_reg(one), opd_reg(shadow_of(k, c, &parts->list[i], true, 2)),
         opd_imm(bits * i));
    EMIT(c, "or.b64", opd_reg(sum), opd_reg(sum), opd_reg(one));
  }
  if (is_wide(s)) EMIT(c, "mov.b64", opd_reg(s), opd_reg(sum));
  else EMIT(c, "cvt.u32.u64", opd_reg(s), opd_reg(sum));
}

static void take_apart(InitCheck *k, Code *c, const PtxOperand *parts, const PtxOperand *from) {
  PtxReg *all = temp64(k, 0), *one = temp64(k, 1);
  EMIT(c, "mov.b64", opd_reg(all), opd_reg(shadow_of(k, c, from, true, 2)));
  unsigned bits = from->kind == OPD_REG ? bits_of(from->reg) / parts->nlist : 32;
  for (unsigned i = 0; i < parts->nlist; i++) {
    if (parts->list[i].kind != OPD_REG) continue;
    PtxReg *s = init_shadow(k, parts->list[i].reg);
    if (!s) continue;
    EMIT(c, "shr.u64", opd_reg(one), opd_reg(all), opd_imm(bits * i));
    if (bits < 32) EMIT(c, "and.b64", opd_reg(one), opd_reg(one), opd_imm((1 << bits) - 1));
    EMIT(c, "cvt.u32.u64", opd_reg(s), opd_reg(one));
  }
}

static void copy(InitCheck *k, Code *c, const PtxInstr *in) {
  PtxReg *s = init_shadow(k, in->ops[0].reg);
  EMIT_WIDTH(c, is_wide(s), "mov", opd_reg(s),
             opd_reg(shadow_of(k, c, &in->ops[1], is_wide(s), 0)));
}

// --- the instruction itself, on shadows ---

static void shift(InitCheck *k, Code *c, const PtxInstr *in) {
  repeat(k, c, in,
         (const PtxOperand[]){opd_reg(init_shadow(k, in->ops[0].reg)),
                              opd_reg(init_shadow(k, in->ops[1].reg))},
         2);
}

// Bits that are only moved keep their shadow; the first n operands have shadows.
static void move_bits(InitCheck *k, Code *c, const PtxInstr *in, unsigned n) {
  bool wide = is_wide(init_shadow(k, in->ops[0].reg));
  PtxOperand ops[3] = {opd_reg(init_shadow(k, in->ops[0].reg))};
  for (unsigned i = 1; i <= n; i++) ops[i] = opd_reg(shadow_of(k, c, &in->ops[i], wide, i));
  repeat(k, c, in, ops, n + 1);
}

static void select_one(InitCheck *k, Code *c, const PtxInstr *in) {
  PtxReg *s = init_shadow(k, in->ops[0].reg), *bad = body_temp(k->body, TYPE_PRED, 0);
  bool wide = is_wide(s);
  PtxReg *by = in->ops[3].kind == OPD_REG ? init_shadow(k, in->ops[3].reg) : NULL;
  PtxReg *a = shadow_of(k, c, &in->ops[1], wide, 0), *b = shadow_of(k, c, &in->ops[2], wide, 1);
  PtxOperand chooser = in->ops[3];
  EMIT_WIDTH(c, wide, "selp", opd_reg(s), opd_reg(a), opd_reg(b), chooser);
  if (!by) return;
  EMIT(c, "setp.ne.u32", opd_reg(bad), opd_reg(by), opd_imm(0));
  if (wide) EMIT(c, "selp.b64", opd_reg(s), opd_imm(-1), opd_reg(s), opd_reg(bad));
  else EMIT(c, "selp.b32", opd_reg(s), opd_imm(all_bits(in->ops[0].reg)), opd_reg(s), opd_reg(bad));
}

// --- exchanges between lanes ---

// The received value inherits the origin of lane `from`'s. takes: lanes that receive; NULL: all.
static void take_origin(InitCheck *k, Code *c, PtxReg *from, const PtxOperand *lanes,
                        PtxReg *takes) {
  PtxReg *low = temp32(k, 2), *high = temp32(k, 3),
         *got = temp32(k, 4), *const words[] = {k->origin_site, k->origin_derived};
  EMIT(c, "mov.b64", opd_vector(c, (const PtxOperand[]){opd_reg(low), opd_reg(high)}, 2),
       opd_reg(k->origin_address));
  EMIT(c, "shfl.sync.idx.b32", opd_reg(low), opd_reg(low), opd_reg(from), opd_imm(31), *lanes);
  EMIT(c, "shfl.sync.idx.b32", opd_reg(high), opd_reg(high), opd_reg(from), opd_imm(31), *lanes);
  code_guard(c, takes, false);
  EMIT(c, "mov.b64", opd_reg(k->origin_address),
       opd_vector(c, (const PtxOperand[]){opd_reg(low), opd_reg(high)}, 2));
  code_guard(c, NULL, false);
  for (unsigned i = 0; i < ARRAY_LEN(words); i++) {
    EMIT(c, "shfl.sync.idx.b32", opd_reg(got), opd_reg(words[i]), opd_reg(from), opd_imm(31),
         *lanes);
    code_guard(c, takes, false);
    EMIT(c, "mov.b32", opd_reg(words[i]), opd_reg(got));
    code_guard(c, NULL, false);
  }
}

// Lanes that all know whether something is bad branch out of line together.
static bool exchanges_origins(const Code *c, const PtxInstr *in) {
  return ptx_has(in, MOD_SYNC) && !c->guard;
}
static Code *leave_together(InitCheck *k, Code *c, const PtxInstr *in, PtxReg *any,
                            PtxLabel **back) {
  PtxLabel *slow = body_label(k->body);
  Code *cold = body_cold(k->body);
  *back = body_label(k->body);
  code_branch(c, any, false, slow);
  code_label(c, *back);
  cold->near = in;
  code_label(cold, slow);
  return cold;
}

// The result is bad in all lanes because one lane's operand is: `bad` is set in such lanes.
static void take_from_first(InitCheck *k, Code *c, const PtxInstr *in, PtxReg *any, PtxReg *bad) {
  PtxLabel *back;
  PtxReg *first = temp32(k, 1);
  if (!exchanges_origins(c, in)) return;
  Code *cold = leave_together(k, c, in, any, &back);
  EMIT(cold, "vote.sync.ballot.b32", opd_reg(first), opd_reg(bad), in->ops[2]);
  EMIT(cold, "brev.b32", opd_reg(first), opd_reg(first));
  EMIT(cold, "clz.b32", opd_reg(first), opd_reg(first));
  take_origin(k, cold, first, &in->ops[2], NULL);
  EMIT(cold, "bra", opd_label(back));
}

// Shuffles the shadow exactly as the value is shuffled.
static void shuffle(const InitResult *r, Code *c) {
  InitCheck *k = r->k;
  const PtxInstr *in = r->in;
  const PtxOperand *to = in->ops[0].kind == OPD_PAIR ? &in->ops[0].list[0] : &in->ops[0];
  for (unsigned i = 0; i < r->ndefs; i++)
    // the "in range" predicate depends on the lane alone
    if (to->kind != OPD_REG || r->defs[i] != to->reg) init_clear(c, init_shadow(k, r->defs[i]));
  if (to->kind != OPD_REG || !init_shadow(k, to->reg)) return;
  PtxReg *got = temp32(k, 1);
  repeat(k, c, in,
         (const PtxOperand[]){opd_reg(got), opd_reg(shadow_of(k, c, &in->ops[1], false, 0))}, 2);
  EMIT(c, "mov.b32", opd_reg(init_shadow(k, to->reg)), opd_reg(got));
  if (!exchanges_origins(c, in)) return;
  PtxReg *takes = body_temp(k->body, TYPE_PRED, 0), *any = body_temp(k->body, TYPE_PRED, 1),
         *lane = temp32(k, 0);
  PtxLabel *back;
  EMIT(c, "setp.ne.u32", opd_reg(takes), opd_reg(got), opd_imm(0));
  EMIT(c, "vote.sync.any.pred", opd_reg(any), opd_reg(takes), in->ops[in->nops - 1]);
  Code *cold = leave_together(k, c, in, any, &back);
  EMIT(cold, "mov.u32", opd_reg(lane), opd_sreg(SREG_LANEID, SEL_NONE));
  repeat(k, cold, in, (const PtxOperand[]){opd_reg(got), opd_reg(lane)}, 2);
  take_origin(k, cold, got, &in->ops[in->nops - 1], takes);
  EMIT(cold, "bra", opd_label(back));
}

// ballot: bit by bit. any, all, uni: bad if one lane's predicate is.
static void vote(InitCheck *k, Code *c, const PtxInstr *in) {
  PtxReg *bad = body_temp(k->body, TYPE_PRED, 0), *got = body_temp(k->body, TYPE_PRED, 1),
         *s = init_shadow(k, in->ops[0].reg);
  EMIT(c, "setp.ne.u32", opd_reg(bad), opd_reg(shadow_of(k, c, &in->ops[1], false, 0)), opd_imm(0));
  if (ptx_has(in, MOD_BALLOT)) {
    repeat(k, c, in, (const PtxOperand[]){opd_reg(s), opd_reg(bad)}, 2);
    EMIT(c, "setp.ne.u32", opd_reg(got), opd_reg(s), opd_imm(0));
    take_from_first(k, c, in, got, bad);
    return;
  }
  if (ptx_has(in, MOD_SYNC)) EMIT(c, "vote.sync.any.pred", opd_reg(got), opd_reg(bad), in->ops[2]);
  else EMIT(c, "vote.any.pred", opd_reg(got), opd_reg(bad));
  EMIT(c, "selp.b32", opd_reg(s), opd_imm(-1), opd_imm(0), opd_reg(got));
  take_from_first(k, c, in, got, bad);
}

static void reduce(InitCheck *k, Code *c, const PtxInstr *in) {
  PtxReg *any = body_temp(k->body, TYPE_PRED, 0), *bad = body_temp(k->body, TYPE_PRED, 1),
         *got = temp32(k, 1), *own = shadow_of(k, c, &in->ops[1], false, 0);
  EMIT(c, "setp.ne.u32", opd_reg(bad), opd_reg(own), opd_imm(0));
  EMIT(c, "redux.sync.or.b32", opd_reg(got), opd_reg(own), in->ops[2]);
  EMIT(c, "setp.ne.u32", opd_reg(any), opd_reg(got), opd_imm(0));
  spread(k, c, in->ops[0].reg, any);
  take_from_first(k, c, in, any, bad);
}

// movmatrix of the shadow. Lane l holds two halves of row l / 4. It receives from two lanes; the
// first of these that is bad provides the origin.
static void transpose(InitCheck *k, Code *c, const PtxInstr *in) {
  const PtxOperand everybody = opd_imm(0xffffffff);
  PtxReg *got = temp32(k, 1), *lane = temp32(k, 0), *part = temp32(k, 5);
  repeat(k, c, in,
         (const PtxOperand[]){opd_reg(got), opd_reg(shadow_of(k, c, &in->ops[1], false, 0))}, 2);
  EMIT(c, "mov.b32", opd_reg(init_shadow(k, in->ops[0].reg)), opd_reg(got));
  if (!exchanges_origins(c, in)) return;
  PtxReg *takes = body_temp(k->body, TYPE_PRED, 0), *any = body_temp(k->body, TYPE_PRED, 1);
  PtxLabel *back;
  EMIT(c, "setp.ne.u32", opd_reg(takes), opd_reg(got), opd_imm(0));
  EMIT(c, "vote.sync.any.pred", opd_reg(any), opd_reg(takes), everybody);
  Code *cold = leave_together(k, c, in, any, &back);
  EMIT(cold, "mov.u32", opd_reg(lane), opd_sreg(SREG_LANEID, SEL_NONE));
  EMIT(cold, "and.b32", opd_reg(part), opd_reg(lane), opd_imm(3));
  EMIT(cold, "shr.u32", opd_reg(lane), opd_reg(lane), opd_imm(3));
  EMIT(cold, "mad.lo.u32", opd_reg(lane), opd_reg(part), opd_imm(8), opd_reg(lane));
  EMIT(cold, "and.b32", opd_reg(part), opd_reg(got), opd_imm(0xffff));
  EMIT(cold, "setp.eq.u32", opd_reg(any), opd_reg(part), opd_imm(0));
  EMIT(cold, "selp.b32", opd_reg(part), opd_imm(4), opd_imm(0), opd_reg(any));
  EMIT(cold, "add.u32", opd_reg(lane), opd_reg(lane), opd_reg(part));
  take_origin(k, cold, lane, &everybody, takes);
  EMIT(cold, "bra", opd_label(back));
}

static void follow_rule(const InitResult *r, Code *c) {
  InitCheck *k = r->k;
  const PtxInstr *in = r->in;
  switch (r->rule) {
    case RULE_CLEAR: clear_results(r, c); return;
    case RULE_SPREAD: spread_any(r, c); return;
    case RULE_UPWARDS: join(r, c, true); return;
    case RULE_JOIN: join(r, c, false); return;
    case RULE_COPY: copy(k, c, in); return;
    case RULE_PACK: pack(k, c, in->ops[0].reg, &in->ops[1]); return;
    case RULE_TAKE_APART: take_apart(k, c, &in->ops[0], &in->ops[1]); return;
    case RULE_PARTS: parts(r, c); return;
    case RULE_TWO_HALVES: spread_two(k, c, in); return;
    case RULE_AND: logic(r, c, true); return;
    case RULE_OR: logic(r, c, false); return;
    case RULE_TABLE: closely(r, c, r->nuses == 1, turn_round); return;
    case RULE_COMPARE: closely(r, c, false, compare); return;
    case RULE_SHIFT: shift(k, c, in); return;
    case RULE_CONVERT: convert(r, c); return;
    case RULE_SELECT: select_one(k, c, in); return;
    case RULE_MOVE_BITS: move_bits(k, c, in, 1); return;
    case RULE_MOVE_TWO: move_bits(k, c, in, 2); return;
    case RULE_SHUFFLE: shuffle(r, c); return;
    case RULE_VOTE: vote(k, c, in); return;
    case RULE_REDUCE: reduce(k, c, in); return;
    case RULE_TRANSPOSE: transpose(k, c, in); return;
  }
}

void init_transfer(InitCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  InitResult r;
  if (!init_result(k, in, &r)) return;
  Code *c = body_before(k->body, i);
  code_guard(c, in->guard, in->guard_negated);
  follow_rule(&r, c);
  code_guard(c, NULL, false);
  if (!r.spoiled_by) return;
  // if it is not known whether the register was written, its value is not known either
  PtxReg *bad = body_temp(k->body, TYPE_PRED, 0);
  EMIT(c, "setp.ne.u32", opd_reg(bad), opd_reg(init_shadow(k, r.spoiled_by)), opd_imm(0));
  for (unsigned n = 0; n < r.ndefs; n++) {
    code_guard(c, bad, false);
    PtxReg *s = init_shadow(k, r.defs[n]);
    EMIT_WIDTH(c, is_wide(s), "mov", opd_reg(s), opd_imm(all_bits(r.defs[n])));
    code_guard(c, NULL, false);
  }
}
