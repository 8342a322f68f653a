// The shadows of results. Emitted before the instruction, while its operands still hold what it
// reads.
#include "tools/initcheck/internal.h"

enum { MOST_REGS = 64 };
// shadows, and registers that have one
typedef struct Regs {
  InitCheck *k;
  const PtxInstr *in;
  PtxReg *uses[MOST_REGS], *defs[MOST_REGS];
  unsigned nuses, ndefs;
} Regs;

static void collect(void *ctx, PtxReg **reg, bool is_def) {
  Regs *r = ctx;
  if (!init_shadow(r->k, *reg)) return;
  if (is_def && r->ndefs < MOST_REGS) r->defs[r->ndefs++] = *reg;
  else if (!is_def && (*reg != r->in->guard) && r->nuses < MOST_REGS)
    r->uses[r->nuses++] = init_shadow(r->k, *reg);
}

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

static void spread_any(InitCheck *k, Code *c, const Regs *r) {
  PtxReg *any = init_any(k, c, r->uses, r->nuses), *bad = body_temp(k->body, TYPE_PRED, 0);
  if (any) EMIT(c, "setp.ne.u32", opd_reg(bad), opd_reg(any), opd_imm(0));
  for (unsigned i = 0; i < r->ndefs; i++) {
    if (any) spread(k, c, r->defs[i], bad);
    else init_clear(c, init_shadow(k, r->defs[i]));
  }
}

// Two values in one register: each half by itself.
static void spread_halves(InitCheck *k, Code *c, const Regs *r) {
  PtxReg *any = init_any(k, c, r->uses, r->nuses), *part = temp32(k, 3), *both = temp32(k, 4),
         *bad = body_temp(k->body, TYPE_PRED, 0);
  PtxReg *s = init_shadow(k, r->defs[0]);
  EMIT(c, "and.b32", opd_reg(part), opd_reg(any), opd_imm(0xffff));
  EMIT(c, "setp.ne.u32", opd_reg(bad), opd_reg(part), opd_imm(0));
  EMIT(c, "selp.b32", opd_reg(both), opd_imm(0xffff), opd_imm(0), opd_reg(bad));
  EMIT(c, "and.b32", opd_reg(part), opd_reg(any), opd_imm((int64_t)0xffff0000));
  EMIT(c, "setp.ne.u32", opd_reg(bad), opd_reg(part), opd_imm(0));
  EMIT(c, "selp.b32", opd_reg(part), opd_imm((int64_t)0xffff0000), opd_imm(0), opd_reg(bad));
  EMIT(c, "or.b32", opd_reg(s), opd_reg(both), opd_reg(part));
}

// Four of them: what has a bit set in a byte.
static void spread_bytes(InitCheck *k, Code *c, const Regs *r) {
  PtxReg *any = init_any(k, c, r->uses, r->nuses), *t = temp32(k, 3);
  EMIT(c, "and.b32", opd_reg(t), opd_reg(any), opd_imm(0x7f7f7f7f));
  EMIT(c, "add.u32", opd_reg(t), opd_reg(t), opd_imm(0x7f7f7f7f));
  EMIT(c, "or.b32", opd_reg(t), opd_reg(t), opd_reg(any));
  EMIT(c, "shr.u32", opd_reg(t), opd_reg(t), opd_imm(7));
  EMIT(c, "and.b32", opd_reg(t), opd_reg(t), opd_imm(0x01010101));
  EMIT(c, "mul.lo.u32", opd_reg(init_shadow(k, r->defs[0])), opd_reg(t), opd_imm(255));
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

// The shadow of an operand in a register of the result's width; zero where it has none.
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

// What the operand holds, as bits: predicates as all or none.
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

// A bit of a & b is good where one of them is a good 0; of a | b where one is a good 1.
static void logic(InitCheck *k, Code *c, const PtxInstr *in, bool is_and) {
  PtxReg *s = init_shadow(k, in->ops[0].reg);
  bool wide = is_wide(s);
  PtxReg *sa = shadow_of(k, c, &in->ops[1], wide, 0), *sb = shadow_of(k, c, &in->ops[2], wide, 1);
  PtxReg *a = value_of(k, c, &in->ops[1], wide, 2), *b = value_of(k, c, &in->ops[2], wide, 3);
  PtxReg *t = wide ? temp64(k, 4) : temp32(k, 4), *u = wide ? temp64(k, 5) : temp32(k, 5);
  if (!is_and) {
    PtxReg *na = wide ? temp64(k, 2) : temp32(k, 2), *nb = wide ? temp64(k, 3) : temp32(k, 3);
    EMIT_WIDTH(c, wide, "not", opd_reg(na), opd_reg(a));
    EMIT_WIDTH(c, wide, "not", opd_reg(nb), opd_reg(b));
    a = na;
    b = nb;
  }
  EMIT_WIDTH(c, wide, "or", opd_reg(t), opd_reg(sa), opd_reg(sb));
  EMIT_WIDTH(c, wide, "or", opd_reg(u), opd_reg(sa), opd_reg(a));
  EMIT_WIDTH(c, wide, "and", opd_reg(t), opd_reg(t), opd_reg(u));
  EMIT_WIDTH(c, wide, "or", opd_reg(u), opd_reg(sb), opd_reg(b));
  EMIT_WIDTH(c, wide, "and", opd_reg(s), opd_reg(t), opd_reg(u));
}

// --- lop3 ---

uint8_t init_table(const PtxInstr *in) {
  unsigned given = (unsigned)in->ops[4].imm & 255, table = 0;
  const PtxOperand *o = &in->ops[1];
  bool ab = o[0].kind == OPD_REG && o[1].kind == OPD_REG && o[0].reg == o[1].reg,
       ac = o[0].kind == OPD_REG && o[2].kind == OPD_REG && o[0].reg == o[2].reg;
  bool bc = o[1].kind == OPD_REG && o[2].kind == OPD_REG && o[1].reg == o[2].reg;
  for (unsigned i = 0; i < 8; i++) {
    unsigned a = i >> 2, b = ab ? a : i >> 1 & 1, c = ac ? a : bc ? b : i & 1;
    table |= (given >> (a << 2 | b << 1 | c) & 1) << i;
  }
  return (uint8_t)table;
}

static void repeat(InitCheck *k, Code *c, const PtxInstr *in, const PtxOperand *first, unsigned n);

// The result with every choice of what is bad turned round: bits that are not the same in all of
// them are bad.
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

// Out of line where something is bad, if that is long.
static void closely(InitCheck *k, Code *c, const PtxInstr *in, const Regs *r, bool at_once,
                    void how(InitCheck *, Code *, const PtxInstr *)) {
  if (at_once || c->guard) {
    how(k, c, in);
    return;
  }
  PtxReg *bad = body_temp(k->body, TYPE_PRED, 0);
  PtxLabel *slow = body_label(k->body), *back = body_label(k->body);
  Code *cold = body_cold(k->body);
  EMIT(c, "setp.ne.u32", opd_reg(bad), opd_reg(init_any(k, c, r->uses, r->nuses)), opd_imm(0));
  code_branch(c, bad, false, slow);
  init_clear(c, init_shadow(k, in->ops[0].reg));
  code_label(c, back);
  cold->near = in;
  code_label(cold, slow);
  how(k, cold, in);
  EMIT(cold, "bra", opd_label(back));
}

// --- comparisons of integers ---

InitComparison init_comparison(const PtxInstr *in) {
  bool less = ptx_has(in, MOD_LT) || ptx_has(in, MOD_GE) || ptx_has(in, MOD_LO) ||
              ptx_has(in, MOD_HS),
       equal = ptx_has(in, MOD_EQ) || ptx_has(in, MOD_NE);
  return (InitComparison){.order = !equal,
                          .swapped = !equal && !less,
                          .is_signed = ptx_type_kind(in->types[0]) == KIND_SIGNED};
}

// The least and the largest number that the operand may be.
static void bounds(InitCheck *k, Code *c, const PtxOperand *o, bool wide, bool is_signed,
                   PtxReg *least, PtxReg *most, unsigned temp) {
  PtxReg *v = value_of(k, c, o, wide, temp), *s = shadow_of(k, c, o, wide, temp + 1),
         *t = wide ? temp64(k, temp + 2) : temp32(k, temp + 2);
  EMIT_WIDTH(c, wide, "or", opd_reg(most), opd_reg(v), opd_reg(s));
  EMIT_WIDTH(c, wide, "not", opd_reg(t), opd_reg(s));
  EMIT_WIDTH(c, wide, "and", opd_reg(least), opd_reg(v), opd_reg(t));
  if (!is_signed) return;
  EMIT_WIDTH(c, wide, "and", opd_reg(t), opd_reg(s), opd_imm(wide ? INT64_MIN : INT32_MIN));
  EMIT_WIDTH(c, wide, "or", opd_reg(least), opd_reg(least), opd_reg(t));
  EMIT_WIDTH(c, wide, "xor", opd_reg(most), opd_reg(most), opd_reg(t));
}

static void compare_bounds(InitCheck *k, Code *c, const PtxInstr *in, bool is_signed) {
  bool wide = ptx_type_size(in->types[0]) == 8;
  PtxReg *at[4], *one = body_temp(k->body, TYPE_PRED, 0), *other = body_temp(k->body, TYPE_PRED, 1);
  for (unsigned i = 0; i < 4; i++) at[i] = wide ? temp64(k, 3 + i) : temp32(k, 3 + i);
  bounds(k, c, &in->ops[1], wide, is_signed, at[0], at[1], 0);
  bounds(k, c, &in->ops[2], wide, is_signed, at[2], at[3], 0);
  repeat(k, c, in, (const PtxOperand[]){opd_reg(one), opd_reg(at[0]), opd_reg(at[3])}, 3);
  repeat(k, c, in, (const PtxOperand[]){opd_reg(other), opd_reg(at[1]), opd_reg(at[2])}, 3);
  EMIT(c, "xor.pred", opd_reg(one), opd_reg(one), opd_reg(other));
  spread(k, c, in->ops[0].reg, one);
}

static void compare_bits(InitCheck *k, Code *c, const PtxInstr *in) {
  bool wide = ptx_type_size(in->types[0]) == 8;
  PtxReg *sa = shadow_of(k, c, &in->ops[1], wide, 0), *sb = shadow_of(k, c, &in->ops[2], wide, 1),
         *open = body_temp(k->body, TYPE_PRED, 0), *some = body_temp(k->body, TYPE_PRED, 1);
  PtxReg *a = value_of(k, c, &in->ops[1], wide, 2), *b = value_of(k, c, &in->ops[2], wide, 3),
         *t = wide ? temp64(k, 4) : temp32(k, 4), *u = wide ? temp64(k, 5) : temp32(k, 5);
  EMIT_WIDTH(c, wide, "or", opd_reg(u), opd_reg(sa), opd_reg(sb));
  if (wide) EMIT(c, "setp.ne.b64", opd_reg(some), opd_reg(u), opd_imm(0));
  else EMIT(c, "setp.ne.b32", opd_reg(some), opd_reg(u), opd_imm(0));
  EMIT_WIDTH(c, wide, "xor", opd_reg(t), opd_reg(a), opd_reg(b));
  EMIT_WIDTH(c, wide, "not", opd_reg(u), opd_reg(u));
  EMIT_WIDTH(c, wide, "and", opd_reg(t), opd_reg(t), opd_reg(u));
  if (wide) EMIT(c, "setp.eq.and.b64", opd_reg(open), opd_reg(t), opd_imm(0), opd_reg(some));
  else EMIT(c, "setp.eq.and.b32", opd_reg(open), opd_reg(t), opd_imm(0), opd_reg(some));
  spread(k, c, in->ops[0].reg, open);
}

static void compare_closely(InitCheck *k, Code *c, const PtxInstr *in) {
  InitComparison how = init_comparison(in);
  if (how.order) compare_bounds(k, c, in, how.is_signed);
  else compare_bits(k, c, in);
}

static void join(InitCheck *k, Code *c, const PtxInstr *in, bool upwards) {
  PtxReg *s = init_shadow(k, in->ops[0].reg);
  bool wide = is_wide(s);
  PtxReg *sum = wide ? temp64(k, 0) : temp32(k, 0), *minus = wide ? temp64(k, 1) : temp32(k, 1);
  bool first = true;
  for (unsigned i = 1; i < in->nops; i++) {
    if (in->ops[i].kind != OPD_REG || !init_shadow(k, in->ops[i].reg)) continue;
    PtxReg *one = shadow_of(k, c, &in->ops[i], wide, 2);
    if (first) EMIT_WIDTH(c, wide, "mov", opd_reg(sum), opd_reg(one));
    else EMIT_WIDTH(c, wide, "or", opd_reg(sum), opd_reg(sum), opd_reg(one));
    first = false;
  }
  if (first) EMIT_WIDTH(c, wide, "mov", opd_reg(sum), opd_imm(0));
  if (upwards) {
    if (wide) EMIT(c, "neg.s64", opd_reg(minus), opd_reg(sum));
    else EMIT(c, "neg.s32", opd_reg(minus), opd_reg(sum));
    EMIT_WIDTH(c, wide, "or", opd_reg(sum), opd_reg(sum), opd_reg(minus));
    if (!wide && all_bits(in->ops[0].reg) > 0)
      EMIT(c, "and.b32", opd_reg(sum), opd_reg(sum), opd_imm(all_bits(in->ops[0].reg)));
  }
  EMIT_WIDTH(c, wide, "mov", opd_reg(s), opd_reg(sum));
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

static void copy(InitCheck *k, Code *c, const PtxInstr *in, const Regs *r) {
  const PtxOperand *to = &in->ops[0], *from = &in->ops[1];
  if (to->kind == OPD_REG && from->kind == OPD_VECTOR) pack(k, c, to->reg, from);
  else if (to->kind == OPD_VECTOR && from->kind == OPD_REG) take_apart(k, c, to, from);
  else if (to->kind == OPD_REG) {
    PtxReg *s = init_shadow(k, to->reg);
    EMIT_WIDTH(c, is_wide(s), "mov", opd_reg(s), opd_reg(shadow_of(k, c, from, is_wide(s), 0)));
  } else spread_any(k, c, r);
}

// --- the others ---

bool init_is_int(PtxType t) {
  return ptx_type_kind(t) == KIND_BITS || ptx_type_kind(t) == KIND_UNSIGNED ||
         ptx_type_kind(t) == KIND_SIGNED;
}

// A result narrower than its register is extended: one of a signed type by its sign.
InitConversion init_conversion(const PtxInstr *in) {
  bool to_signed = ptx_type_kind(in->types[0]) == KIND_SIGNED;
  unsigned from = ptx_type_size(in->types[1]) * 8, to = ptx_type_size(in->types[0]) * 8;
  InitConversion how = {.from = from,
                        .to = to_signed ? 64 : to,
                        .is_signed = ptx_type_kind(in->types[1]) == KIND_SIGNED};
  if (to_signed && from >= to && to < ptx_type_size(in->ops[0].reg->type) * 8) {
    how.from = to;
    how.is_signed = true;
  }
  return how;
}

static void convert(InitCheck *k, Code *c, const PtxInstr *in, const Regs *r) {
  if (in->ntypes < 2 || !init_is_int(in->types[0]) || !init_is_int(in->types[1]) ||
      ptx_has(in, MOD_SAT) || in->nops != 2 || in->ops[1].kind != OPD_REG || in->ops[1].selector) {
    spread_any(k, c, r);
    return;
  }
  InitConversion how = init_conversion(in);
  PtxReg *s = init_shadow(k, in->ops[0].reg), *t = temp64(k, 0);
  EMIT(c, "shl.b64", opd_reg(t), opd_reg(shadow_of(k, c, &in->ops[1], true, 1)),
       opd_imm(64 - how.from));
  if (how.is_signed) EMIT(c, "shr.s64", opd_reg(t), opd_reg(t), opd_imm(64 - how.from));
  else EMIT(c, "shr.u64", opd_reg(t), opd_reg(t), opd_imm(64 - how.from));
  if (how.to < bits_of(in->ops[0].reg))
    EMIT(c, "and.b64", opd_reg(t), opd_reg(t), opd_imm((int64_t)((1ull << how.to) - 1)));
  if (is_wide(s)) EMIT(c, "mov.b64", opd_reg(s), opd_reg(t));
  else {
    EMIT(c, "cvt.u32.u64", opd_reg(s), opd_reg(t));
    if (all_bits(in->ops[0].reg) > 0)
      EMIT(c, "and.b32", opd_reg(s), opd_reg(s), opd_imm(all_bits(in->ops[0].reg)));
  }
}

// The instruction itself, with the first n operands replaced.
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

static void shift(InitCheck *k, Code *c, const PtxInstr *in, const Regs *r) {
  bool narrow = ptx_type_size(in->types[0]) < 4,
       by_bad = in->ops[2].kind == OPD_REG && init_shadow(k, in->ops[2].reg);
  if (narrow || by_bad) {
    spread_any(k, c, r);
    return;
  }
  repeat(k, c, in,
         (const PtxOperand[]){opd_reg(init_shadow(k, in->ops[0].reg)),
                              opd_reg(init_shadow(k, in->ops[1].reg))},
         2);
}

// The same instruction on shadows: what is only moved around keeps its bits. Operands that say
// where to move must be good.
static void same(InitCheck *k, Code *c, const PtxInstr *in, const Regs *r) {
  // how many of the operands are data
  unsigned data = in->op == OP_BREV || in->op == OP_BFE ? 1 : 2;
  bool wide = is_wide(init_shadow(k, in->ops[0].reg));
  for (unsigned i = 1 + data; i < in->nops; i++)
    if (in->ops[i].kind == OPD_REG && init_shadow(k, in->ops[i].reg)) {
      spread_any(k, c, r);
      return;
    }
  PtxOperand ops[3] = {opd_reg(init_shadow(k, in->ops[0].reg))};
  for (unsigned i = 1; i <= data; i++) ops[i] = opd_reg(shadow_of(k, c, &in->ops[i], wide, i));
  repeat(k, c, in, ops, data + 1);
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

// --- what lanes exchange ---

// Where what lane `from` holds was read is where what this one takes was; takes: NULL: all of them
// do.
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

// Lanes that all know whether something is bad go out of line together.
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

// The result is bad in all lanes because it is in one, or more: `bad` there.
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

// The same exchange between the same lanes, of the shadow.
static void shuffle(InitCheck *k, Code *c, const PtxInstr *in, const Regs *r) {
  const PtxOperand *to = in->ops[0].kind == OPD_PAIR ? &in->ops[0].list[0] : &in->ops[0];
  for (unsigned i = 0; i < r->ndefs; i++)
    // "in range": known from the lane alone
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

// ballot: bit by bit. any, all, uni: bad as soon as one lane's predicate is.
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

// movmatrix, of the shadow. Lane l holds two halves of row l / 4; what it receives comes from two
// lanes, of which the first that is bad gives the origin.
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

// x ^ x, x - x
bool init_cancels(const PtxInstr *in) {
  return (in->op == OP_XOR || (in->op == OP_SUB && ptx_type_kind(in->types[0]) != KIND_FLOAT)) &&
         in->ops[1].kind == OPD_REG && in->ops[2].kind == OPD_REG &&
         in->ops[1].reg == in->ops[2].reg && !in->ops[1].selector && !in->ops[2].selector;
}

static bool is_two_halves(PtxType t) {
  return t == TYPE_F16X2 || t == TYPE_BF16X2 || t == TYPE_U16X2 || t == TYPE_S16X2;
}
static bool is_video(const PtxInstr *in) { return in->op >= OP_VADD2 && in->op <= OP_VSET4; }
unsigned init_part_bits(const PtxInstr *in) {
  if (is_video(in)) return in->nops != 4 || ptx_has(in, MOD_ADD) ? 0 : in->op >= OP_VADD4 ? 8 : 16;
  // what is compared, whatever the answer is called
  bool halves = in->op == OP_SET ? in->ntypes == 2 && is_two_halves(in->types[1]) && in->nops == 3
                                 : in->ntypes && in->op != OP_CVT && in->op != OP_SETP &&
                                       is_two_halves(in->types[0]);
  return halves ? 16 : 0;
}
bool init_ignores_third(const PtxInstr *in) {
  return is_video(in) && init_part_bits(in) && init_has_plain_registers(in);
}
bool init_makes_halves(const PtxInstr *in) {
  return in->op == OP_CVT && in->ntypes == 2 && is_two_halves(in->types[0]) &&
         in->types[1] == TYPE_F32 && in->nops == 3;
}

bool init_has_plain_registers(const PtxInstr *in) {
  for (unsigned i = 0; i < in->nops; i++)
    if ((in->ops[i].kind == OPD_REG && in->ops[i].selector) || (i && in->ops[i].kind == OPD_VECTOR))
      return false;
  return in->nops && in->ops[0].kind == OPD_REG;
}

static void follow_rule(InitCheck *k, Code *c, const PtxInstr *in, const Regs *r) {
  PtxValidity rule = init_validity(in);
  if (!r->nuses) spread_any(k, c, r);
  else if (rule == VALIDITY_COPY) copy(k, c, in, r);
  else if (rule == VALIDITY_SHUFFLE) shuffle(k, c, in, r);
  else if (!init_has_plain_registers(in)) spread_any(k, c, r);
  else if (init_cancels(in)) init_clear(c, init_shadow(k, in->ops[0].reg));
  else if (init_part_bits(in) && r->ndefs == 1)
    (init_part_bits(in) == 8 ? spread_bytes : spread_halves)(k, c, r);
  else if (init_makes_halves(in)) spread_two(k, c, in);
  else switch (rule) {
      case VALIDITY_SUM: join(k, c, in, true); return;
      case VALIDITY_XOR: join(k, c, in, false); return;
      case VALIDITY_TABLE: closely(k, c, in, r, r->nuses == 1, turn_round); return;
      case VALIDITY_COMPARE: closely(k, c, in, r, false, compare_closely); return;
      case VALIDITY_AND: logic(k, c, in, true); return;
      case VALIDITY_OR: logic(k, c, in, false); return;
      case VALIDITY_SHIFT: shift(k, c, in, r); return;
      case VALIDITY_CONVERT: convert(k, c, in, r); return;
      case VALIDITY_SELECT: select_one(k, c, in); return;
      case VALIDITY_PERMUTE: same(k, c, in, r); return;
      case VALIDITY_VOTE: vote(k, c, in); return;
      case VALIDITY_REDUCE: reduce(k, c, in); return;
      case VALIDITY_TRANSPOSE: transpose(k, c, in); return;
      default: spread_any(k, c, r); return;
    }
}

void init_transfer(InitCheck *k, uint32_t i) {
  PtxInstr *in = k->body->cfg->instrs[i];
  Regs r = {.k = k, .in = in};
  ptx_visit_regs(in, collect, &r);
  if (!r.ndefs || in->op == OP_LD || in->op == OP_LDU || in->op == OP_ATOM) return;
  Code *c = body_before(k->body, i);
  code_guard(c, in->guard, in->guard_negated);
  if (init_validity(in) == VALIDITY_GOOD) r.nuses = 0;
  if (init_ignores_third(in)) {
    r.nuses = 0;
    for (unsigned o = 1; o <= 2; o++)
      if (in->ops[o].kind == OPD_REG && init_shadow(k, in->ops[o].reg))
        r.uses[r.nuses++] = init_shadow(k, in->ops[o].reg);
  }
  follow_rule(k, c, in, &r);
  code_guard(c, NULL, false);
  PtxReg *by = in->guard && !init_is_decision(in) ? init_shadow(k, in->guard) : NULL;
  if (!by) return;
  // who does not know whether it was written does not know what it holds
  PtxReg *bad = body_temp(k->body, TYPE_PRED, 0);
  EMIT(c, "setp.ne.u32", opd_reg(bad), opd_reg(by), opd_imm(0));
  for (unsigned n = 0; n < r.ndefs; n++) {
    code_guard(c, bad, false);
    PtxReg *s = init_shadow(k, r.defs[n]);
    EMIT_WIDTH(c, is_wide(s), "mov", opd_reg(s), opd_imm(all_bits(r.defs[n])));
    code_guard(c, NULL, false);
  }
}
