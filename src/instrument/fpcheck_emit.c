// Tests of values, gathered in groups, and the slow path behind each group.
//
// A test is one to three instructions that add to a predicate; one branch serves the tests of a group. The slow path stands
// out of line (body_cold), looks at every item of the group again, exactly this time, and comes back.
#include "instrument/fpcheck.h"

// --- tests ---
// Comparisons in three forms: alone, and a predicate, or a predicate.
typedef const char *const Comparison[3];
static Comparison f32_geu = {"setp.geu.f32", "setp.geu.and.f32", "setp.geu.or.f32"};
static Comparison f32_gt = {"setp.gt.f32", "setp.gt.and.f32", "setp.gt.or.f32"};
static Comparison f32_ge = {"setp.ge.f32", "setp.ge.and.f32", "setp.ge.or.f32"};
static Comparison f32_nan = {"setp.nan.f32", "setp.nan.and.f32", "setp.nan.or.f32"};
static Comparison f64_nan = {"setp.nan.f64", "setp.nan.and.f64", "setp.nan.or.f64"};
static Comparison u32_eq = {"setp.eq.u32", "setp.eq.and.u32", "setp.eq.or.u32"};
static Comparison u32_ne = {"setp.ne.u32", "setp.ne.and.u32", "setp.ne.or.u32"};
static Comparison u32_lt = {"setp.lt.u32", "setp.lt.and.u32", "setp.lt.or.u32"};
static Comparison u32_gt = {"setp.gt.u32", "setp.gt.and.u32", "setp.gt.or.u32"};
static Comparison u64_lt = {"setp.lt.u64", "setp.lt.and.u64", "setp.lt.or.u64"};

static void add_to_group(FpCheck *k, Code *c, Comparison m, PtxOperand a, PtxOperand b, PtxReg *guard, bool negated) {
  PtxOperand passes = negated ? opd_not(guard) : opd_reg(guard), fired = opd_reg(k->fired);
  if (!k->open && !guard) code_emit(c, m[0], (PtxOperand[]){fired, a, b}, 3);
  else if (!k->open) code_emit(c, m[1], (PtxOperand[]){fired, a, b, passes}, 4);
  else if (!guard) code_emit(c, m[2], (PtxOperand[]){fired, a, b, fired}, 4);
  else {
    PtxOperand q = opd_reg(body_temp(k->body, TYPE_PRED, 0));
    code_emit(c, m[1], (PtxOperand[]){q, a, b, passes}, 4);
    EMIT(c, "or.pred", fired, fired, q);
  }
  k->open = true;
}

static PtxOperand f32_imm(uint32_t bits) { return (PtxOperand){.kind = OPD_FLOAT, .imm = bits}; }
static PtxOperand temp32(const FpCheck *k, unsigned i) { return opd_reg(body_temp(k->body, TYPE_B32, i)); }
static PtxOperand temp64(const FpCheck *k, unsigned i) { return opd_reg(body_temp(k->body, TYPE_B64, i)); }

static void test_f32(FpCheck *k, Code *c, PtxOperand v, bool subnormal, PtxReg *guard, bool negated) {
  PtxOperand f = opd_reg(body_temp(k->body, TYPE_F32, 0)), u = temp32(k, 0);
  EMIT(c, "abs.f32", f, v);
  add_to_group(k, c, f32_geu, f, f32_imm(0x7f800000), guard, negated);
  if (!subnormal) return;
  // 2x - 2^24 orders bit patterns: normal < infinite and NaN < zero (0xff000000) < subnormal
  EMIT(c, "mov.b32", u, v);
  EMIT(c, "add.u32", u, u, u);
  EMIT(c, "add.u32", u, u, opd_imm(-0x01000000));
  add_to_group(k, c, u32_gt, u, opd_imm(0xff000000), guard, negated);
}

static void test_f64(FpCheck *k, Code *c, PtxOperand v, bool subnormal, PtxReg *guard, bool negated) {
  PtxOperand lo = temp32(k, 0), hi = temp32(k, 1), w = temp64(k, 0);
  EMIT(c, "mov.b64", opd_vector(c, (PtxOperand[]){lo, hi}, 2), v);
  EMIT(c, "add.u32", hi, hi, hi);
  EMIT(c, "add.u32", hi, hi, opd_imm(0x00200000));
  add_to_group(k, c, u32_lt, hi, opd_imm(0x00200000), guard, negated);
  if (!subnormal) return;
  EMIT(c, "mov.b64", w, v);
  EMIT(c, "shl.b64", w, w, opd_imm(1));
  EMIT(c, "add.u64", w, w, opd_imm(-1));
  add_to_group(k, c, u64_lt, w, opd_imm(0x001fffffffffffff), guard, negated);
}

static void test_half(FpCheck *k, Code *c, FpType t, PtxOperand bits, bool subnormal, PtxReg *guard, bool negated) {
  bool f16 = t.format == WG_FP_F16;
  PtxOperand u = temp32(k, 1);
  EMIT(c, "and.b32", u, bits, opd_imm(f16 ? 0x7c00 : 0x7f80));
  add_to_group(k, c, u32_eq, u, opd_imm(f16 ? 0x7c00 : 0x7f80), guard, negated);
  if (!subnormal) return;
  EMIT(c, "and.b32", u, bits, opd_imm(0x7fff));
  EMIT(c, "add.u32", u, u, opd_imm(-1));
  add_to_group(k, c, u32_lt, u, opd_imm(f16 ? 0x3ff : 0x7f), guard, negated);
}

static PtxOperand widen16(FpCheck *k, Code *c, PtxOperand v, unsigned temp) {
  PtxOperand h = opd_reg(body_temp(k->body, TYPE_B16, 0)), u = temp32(k, temp);
  EMIT(c, "mov.b16", h, v);
  EMIT(c, "cvt.u32.u16", u, h);
  return u;
}

static void test_pair(FpCheck *k, Code *c, FpType t, PtxOperand v, bool subnormal, PtxReg *guard, bool negated) {
  bool f16 = t.format == WG_FP_F16;
  PtxOperand u = temp32(k, 0);
  if (subnormal) {
    EMIT(c, "mov.b32", u, v);
    test_half(k, c, t, u, true, guard, negated);
    EMIT(c, "shr.u32", u, u, opd_imm(16));
    test_half(k, c, t, u, true, guard, negated);
    return;
  }
  EMIT(c, "and.b32", u, v, opd_imm(f16 ? 0x7c007c00 : 0x7f807f80));
  EMIT(c, "add.u32", u, u, opd_imm(f16 ? 0x04000400 : 0x00800080));       // an exponent of all ones carries into the sign
  EMIT(c, "and.b32", u, u, opd_imm(0x80008000));
  add_to_group(k, c, u32_ne, u, opd_imm(0), guard, negated);
}

void fp_test_value(FpCheck *k, Code *c, FpType t, PtxOperand v, bool subnormal, PtxReg *guard, bool negated) {
  if (t.format == WG_FP_F64) test_f64(k, c, v, subnormal, guard, negated);
  else if (t.format == WG_FP_F32 && t.packed) {
    PtxOperand lo = opd_reg(body_temp(k->body, TYPE_F32, 1)), hi = opd_reg(body_temp(k->body, TYPE_F32, 2));
    EMIT(c, "mov.b64", opd_vector(c, (PtxOperand[]){lo, hi}, 2), v);
    test_f32(k, c, lo, subnormal, guard, negated);
    test_f32(k, c, hi, subnormal, guard, negated);
  } else if (t.format == WG_FP_F32) test_f32(k, c, v, subnormal, guard, negated);
  else if (t.packed) test_pair(k, c, t, v, subnormal, guard, negated);
  else test_half(k, c, t, widen16(k, c, v, 0), subnormal, guard, negated);
}

void fp_test_nan(FpCheck *k, Code *c, FpType t, PtxOperand a, PtxOperand b, PtxReg *guard, bool negated) {
  add_to_group(k, c, t.format == WG_FP_F64 ? f64_nan : f32_nan, a, b, guard, negated);
}

// The smallest number whose rounding overflows the format; f32 bits. From it on, or above it.
typedef struct Limit { PtxType to; uint32_t bits; bool from_it_on; } Limit;
static const Limit limits[] = {
  {TYPE_E4M3X2, 0x43e80000, false},        // 464: 448 is even
  {TYPE_E5M2X2, 0x47700000, true},         // 61440
  {TYPE_F16, 0x477ff000, true}, {TYPE_F16X2, 0x477ff000, true},      // 65520
  {TYPE_BF16, 0x7f7f8000, true}, {TYPE_BF16X2, 0x7f7f8000, true},
  {TYPE_TF32, 0x7f7ff000, true},
};
static const Limit *limit_of(const PtxInstr *in) {
  for (size_t i = 0; i < ARRAY_LEN(limits); i++)
    if (limits[i].to == in->types[0]) return &limits[i];
  return NULL;
}

// One of the values a saturating conversion takes, as f32.
static PtxOperand part_as_f32(FpCheck *k, Code *c, const FpOperation *o, unsigned part) {
  FpType t = o->types[0];
  if (!t.packed) return *o->operands[o->n == 2 ? part : 0];
  PtxOperand f = opd_reg(body_temp(k->body, TYPE_F32, 1)), lo = opd_reg(body_temp(k->body, TYPE_B16, 0)), hi = opd_reg(body_temp(k->body, TYPE_B16, 1));
  EMIT(c, "mov.b32", opd_vector(c, (PtxOperand[]){lo, hi}, 2), *o->operands[0]);
  EMIT(c, "cvt.f32.f16", f, part ? lo : hi);
  return f;
}
static unsigned parts_of(const FpOperation *o) { return o->n == 2 || o->types[0].packed ? 2 : 1; }

bool fp_test_overflow(FpCheck *k, Code *c, const PtxInstr *in, const FpOperation *o) {
  const Limit *l = limit_of(in);
  if (!l || (o->types[0].packed && o->types[0].format != WG_FP_F16) || (!o->types[0].packed && o->types[0].format != WG_FP_F32)) return false;
  PtxOperand f = opd_reg(body_temp(k->body, TYPE_F32, 0));
  for (unsigned part = 0; part < parts_of(o); part++) {
    EMIT(c, "abs.f32", f, part_as_f32(k, c, o, part));
    if (l->from_it_on) add_to_group(k, c, f32_ge, f, f32_imm(l->bits), in->guard, in->guard_negated);
    else add_to_group(k, c, f32_gt, f, f32_imm(l->bits), in->guard, in->guard_negated);
  }
  return true;
}

// --- groups ---
static void keep(FpCheck *k, const PtxOperand *o) {
  if (o->kind == OPD_REG) vec_push(&k->kept, o->reg);
  for (unsigned i = 0; i < o->nlist; i++) keep(k, &o->list[i]);
}

void fp_add_item(FpCheck *k, FpItem item) {
  keep(k, &item.result);
  keep(k, &item.address);
  for (unsigned i = 0; i < item.operation.n; i++) keep(k, item.operation.operands[i]);
  for (unsigned i = 0; i < item.nconditions; i++) vec_push(&k->kept, item.conditions[i].reg);
  vec_push(&k->items, item);
}

bool fp_keeps(const FpCheck *k, const PtxReg *r) {
  for (uint32_t i = 0; i < k->kept.len; i++)
    if (k->kept.data[i] == r) return true;
  return false;
}

// --- the slow path ---
// One site for each kind. Instructions of one source line share them, if they work on the same format: a line is what a
// programmer sees.
uint32_t fp_sites(FpCheck *k, uint32_t instr, unsigned format, char use, unsigned kinds) {
  Body *b = k->body;
  const PtxInstr *in = b->cfg->instrs[instr];
  Str key = {0};
  for (const PtxLoc *l = in->loc; l && l->file; l = l->inlined_at) str_printf(&key, "%u:%u ", l->file, l->line);
  if (!key.len) str_printf(&key, "instruction %u ", instr);
  str_printf(&key, "%u%c", format, use);
  uint32_t known = (uint32_t)(uintptr_t)strmap_get(&k->sites, key.data);
  if (!known) {
    known = b->program->sites.len + 1;
    strmap_put(&k->sites, arena_strdup(&b->cfg->arena, key.data), (void *)(uintptr_t)known);
    if (use == 'r' && k->follow) program_site(b->program, b, in);
    for (unsigned rest = kinds; rest; rest &= rest - 1) program_site(b->program, b, in);
  }
  str_free(&key);
  return known - 1;
}

static uint64_t constant_bits(const PtxOperand *o, FpType t) {
  if (o->kind != OPD_FLOAT) return (uint64_t)o->imm;
  if (t.format == WG_FP_F64 || !o->is_double) return (uint64_t)o->imm;
  double d;
  float f;
  memcpy(&d, &o->imm, sizeof d);
  f = (float)d;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

// The bits of one value of an operand (half: which of a pair, 0 the lower), in a temporary of 4 or 8 bytes.
PtxOperand fp_bits(FpCheck *k, Code *c, const PtxOperand *o, FpType t, unsigned half, bool wide, unsigned temp) {
  PtxOperand to32 = temp32(k, temp), to64 = temp64(k, temp);
  if (o->kind != OPD_REG) {
    uint64_t bits = constant_bits(o, t);
    if (t.packed) bits = t.format == WG_FP_F32 ? bits >> 32 * half & 0xffffffff : bits >> 16 * half & 0xffff;
    if (wide) EMIT(c, "mov.u64", to64, opd_imm((int64_t)bits));
    else EMIT(c, "mov.u32", to32, opd_imm((int64_t)(uint32_t)bits));
    return wide ? to64 : to32;
  }
  if (t.format == WG_FP_F64) {
    EMIT(c, "mov.b64", to64, *o);
    return to64;
  }
  if (t.format == WG_FP_F32 && t.packed) {
    PtxOperand other = temp32(k, 5);
    EMIT(c, "mov.b64", opd_vector(c, half ? (PtxOperand[]){other, to32} : (PtxOperand[]){to32, other}, 2), *o);
  } else if (t.format == WG_FP_F32) EMIT(c, "mov.b32", to32, *o);
  else if (t.packed) {
    EMIT(c, "mov.b32", to32, *o);
    if (half) EMIT(c, "shr.u32", to32, to32, opd_imm(16));
    else EMIT(c, "and.b32", to32, to32, opd_imm(0xffff));
  } else to32 = widen16(k, c, *o, temp);
  if (!wide) return to32;
  EMIT(c, "cvt.u64.u32", to64, to32);
  return to64;
}

FpHead fp_head(FpCheck *k, Code *c, uint32_t site) {
  FpHead h = {opd_reg(body_temp(k->body, TYPE_B64, 5)), temp32(k, 6), temp32(k, 7)};
  record_load(c, h.channel.reg, offsetof(WgLaunch, channel));
  record_load(c, h.launch.reg, offsetof(WgLaunch, launch));
  record_site(c, h.site.reg, site);
  return h;
}

static PtxFunc *probe(const FpCheck *k, const char *name) { return probe_function(k->body->program, k->body->unit, name); }

// One result with its operands; of a packed pair, one half of all.
static void call_result(FpCheck *k, Code *c, const FpItem *item, uint32_t site, unsigned half) {
  const FpOperation *o = &item->operation;
  const PtxOperand *in[FP_OPERANDS];
  FpType types[FP_OPERANDS] = {{0, 0}};
  unsigned n = o->n;
  for (unsigned i = 0; i < n; i++) in[i] = o->operands[i], types[i] = o->types[i];
  if (o->halves_from_two) in[0] = o->operands[half ? 0 : 1], types[1].format = 0, n = 1;
  bool wide = o->result.format == WG_FP_F64;
  for (unsigned i = 0; i < n; i++) wide |= types[i].format == WG_FP_F64;
  uint32_t what = WG_FP_WHAT(o->result.format, types[0].format, types[1].format, types[2].format, o->op, k->kinds, o->ftz) | (k->follow ? WG_FP_WHAT_FLOW : 0);
  PtxOperand args[8];
  args[4] = fp_bits(k, c, &item->result, o->result, half, wide, 0);
  for (unsigned i = 0; i < FP_OPERANDS; i++) args[5 + i] = i < n && types[i].format ? fp_bits(k, c, in[i], types[i], half, wide, i + 1) : opd_imm(0);
  FpHead h = fp_head(k, c, site);
  args[0] = h.channel, args[1] = h.launch, args[2] = h.site, args[3] = opd_imm(what);
  code_call(c, probe(k, wide ? "wg_fp_result64" : "wg_fp_result32"), args, 8);
}

// An operand that a load brought in: if it is exceptional, the load is where the program first sees it.
static void call_input(FpCheck *k, Code *c, const PtxOperand *o, FpType t) {
  const PtxInstr *def = fp_def(k->flow, o);
  if (!def || !t.format || !fp_is_input(k->body->func, def)) return;
  uint32_t site = fp_sites(k, k->flow->defs->instr[o->reg->id], t.format, 'i', 1);
  PtxOperand address = opd_imm(0);
  const PtxOperand *m = &def->ops[1];
  if (def->op != OP_TEX && def->op != OP_SULD && m->kind == OPD_ADDR && m->nlist == 1 && m->list[0].kind == OPD_REG && def->space != SPACE_PARAM &&
      ptx_type_size(m->list[0].reg->type) == 8 && fp_is_fixed(k->flow, &m->list[0])) {
    unsigned element = 0;
    const PtxOperand *d = &def->ops[0];
    for (unsigned i = 0; d->kind == OPD_VECTOR && i < d->nlist; i++)
      if (d->list[i].kind == OPD_REG && d->list[i].reg == o->reg) element = i;
    address = temp64(k, 1);
    EMIT(c, "add.u64", address, m->list[0], opd_imm(m->imm + (int64_t)(element * ptx_type_size(o->reg->type))));
  }
  for (unsigned half = 0; half <= t.packed; half++) {
    PtxOperand value = fp_bits(k, c, o, t, half, true, 0);
    FpHead h = fp_head(k, c, site);
    bool global = def->space == SPACE_GLOBAL || def->space == SPACE_GENERIC;
    uint32_t what = WG_FP_WHAT(t.format, 0, 0, 0, WG_FP_LOAD, 0, 0) | (global ? WG_FP_WHAT_GLOBAL : 0);
    const PtxOperand args[] = {h.channel, h.launch, h.site, opd_imm(what), value, address};
    code_call(c, probe(k, "wg_fp_input"), args, ARRAY_LEN(args));
  }
}

static void call_compare(FpCheck *k, Code *c, const FpItem *item, uint32_t site) {
  FpType t = item->operation.types[0];
  PtxOperand a = fp_bits(k, c, item->operation.operands[0], t, 0, true, 0), b = fp_bits(k, c, item->operation.operands[1], t, 0, true, 1);
  FpHead h = fp_head(k, c, site);
  uint32_t what = WG_FP_WHAT(0, t.format, t.format, 0, WG_FP_COMPARE, 0, 0);
  const PtxOperand args[] = {h.channel, h.launch, h.site, opd_imm(what), a, b};
  code_call(c, probe(k, "wg_fp_compare"), args, ARRAY_LEN(args));
}

static void call_saturated(FpCheck *k, Code *c, const FpItem *item, uint32_t site) {
  const FpOperation *o = &item->operation;
  const PtxInstr *in = k->body->cfg->instrs[item->instr];
  const Limit *l = limit_of(in);
  PtxOperand f = opd_reg(body_temp(k->body, TYPE_F32, 0)), above = opd_reg(body_temp(k->body, TYPE_PRED, 0)), bits = temp32(k, 0);
  uint32_t what = WG_FP_WHAT(WG_FP_F32, WG_FP_F32, 0, 0, WG_FP_SATURATE, WG_FP_INF, 0);
  for (unsigned part = 0; part < parts_of(o); part++) {
    PtxOperand v = part_as_f32(k, c, o, part);
    EMIT(c, "abs.f32", f, v);
    EMIT(c, "mov.b32", bits, v);
    if (l->from_it_on) EMIT(c, "setp.ge.f32", above, f, f32_imm(l->bits));
    else EMIT(c, "setp.gt.f32", above, f, f32_imm(l->bits));
    FpHead h = fp_head(k, c, site);
    const PtxOperand args[] = {h.channel, h.launch, h.site, opd_imm(what), bits, bits, opd_imm(0), opd_imm(0)};
    code_guard(c, above.reg, false);
    code_call(c, probe(k, "wg_fp_result32"), args, ARRAY_LEN(args));
    code_guard(c, NULL, false);
  }
}

// A sink counts, remembers what it stores where, and says that the kernel is to be tested everywhere from now on.
static void call_sink(FpCheck *k, Code *c, const FpItem *item, uint32_t site) {
  Body *b = k->body;
  FpType t = item->operation.types[0];
  PtxOperand value = *item->operation.operands[0], address = opd_imm(0), hot = opd_imm(0);
  PtxLabel *over = body_label(b);
  b->program->sites.data[site].classes |= WG_FP_SITE_SINK;
  k->open = false;
  if (item->nan_only && !t.packed && (t.format == WG_FP_F32 || t.format == WG_FP_F64)) fp_test_nan(k, c, t, value, value, NULL, false);
  else fp_test_value(k, c, t, value, false, NULL, false);
  k->open = false;
  code_branch(c, k->fired, true, over);
  fp_again_mark(k, c);
  if (item->address.kind == OPD_REG) {
    address = temp64(k, 1);
    b->program->sites.data[site].fp_format = t.format;
    EMIT(c, "add.u64", address, item->address, opd_imm(item->offset));
  }
  if (k->hot >= 0) {
    hot = temp64(k, 2);
    record_load(c, hot.reg, offsetof(WgLaunch, counters));
    EMIT(c, "add.u64", hot, hot, opd_imm(k->hot * 8));
  }
  FpHead h = fp_head(k, c, site);
  const PtxOperand args[] = {h.channel, h.launch, h.site, address, hot};
  code_call(c, probe(k, "wg_fp_sink"), args, ARRAY_LEN(args));
  code_label(c, over);
}

// Every operand that may be exceptional, with the result if there is one of the same shape.
static void call_flow(FpCheck *k, Code *c, const FpItem *item, uint32_t site) {
  const FpOperation *o = &item->operation;
  for (unsigned n = 0; n < o->n; n++)
    for (unsigned half = 0; half <= o->types[n].packed; half++) {
      bool has_result = o->result.format && o->result.packed == o->types[n].packed;
      PtxOperand value = fp_bits(k, c, o->operands[n], o->types[n], half, true, 0), result = opd_imm(0);
      if (has_result) result = fp_bits(k, c, &item->result, o->result, half, true, 1);
      FpHead h = fp_head(k, c, site);
      uint32_t what = WG_FP_WHAT(has_result ? o->result.format : 0, o->types[n].format, 0, 0, o->op, 0, 0);
      const PtxOperand args[] = {h.channel, h.launch, h.site, opd_imm(what), value, result};
      code_call(c, probe(k, "wg_fp_flow"), args, ARRAY_LEN(args));
    }
}

static void look_closely(FpCheck *k, Code *c, const FpItem *item) {
  const FpOperation *o = &item->operation;
  PtxLabel *over = item->nconditions ? body_label(k->body) : NULL;
  c->near = k->body->cfg->instrs[item->instr];
  for (unsigned i = 0; i < item->nconditions; i++) {
    code_guard(c, item->conditions[i].reg, !item->conditions[i].negated);
    EMIT(c, "bra", opd_label(over));
    code_guard(c, NULL, false);
  }
  if (item->kind == FP_ITEM_SINK) call_sink(k, c, item, fp_sites(k, item->instr, o->types[0].format, 'k', 1));
  else if (item->kind == FP_ITEM_STORE) fp_stored_call(k, c, item);
  else if (item->kind == FP_ITEM_FLOW) call_flow(k, c, item, fp_sites(k, item->instr, o->types[0].format, 'v', 1));
  else if (item->kind == FP_ITEM_COMPARE) call_compare(k, c, item, fp_sites(k, item->instr, o->types[0].format, 'c', 1));
  else if (o->op == WG_FP_SATURATE) call_saturated(k, c, item, fp_sites(k, item->instr, WG_FP_NONE, 's', 1));
  else {
    uint32_t site = fp_sites(k, item->instr, o->result.format, 'r', k->kinds);
    for (unsigned half = 0; half <= o->result.packed; half++) call_result(k, c, item, site, half);
  }
  for (unsigned i = 0; item->kind != FP_ITEM_SINK && i < o->n; i++) call_input(k, c, o->operands[i], o->types[i]);
  if (over) code_label(c, over);
}

void fp_close_group(FpCheck *k, Code *c, bool in_place) {
  if (!k->items.len) return;
  PtxLabel *resume = body_label(k->body), *start = body_label(k->body);
  code_guard(c, k->fired, in_place);
  EMIT(c, "bra", opd_label(in_place ? resume : start));
  code_guard(c, NULL, false);
  Code *slow = in_place ? c : body_cold(k->body);
  const PtxInstr *near = slow->near;
  if (!in_place) code_label(slow, start);
  for (uint32_t i = 0; i < k->items.len; i++) look_closely(k, slow, &k->items.data[i]);
  slow->near = near;
  if (!in_place) EMIT(slow, "bra", opd_label(resume));
  code_label(c, resume);
  k->items.len = k->kept.len = 0;
  k->open = false;
}

// --- tensor cores: the operands of a result are spread over the warp ---
static void exceptional_vector(FpCheck *k, Code *c, FpType t, const PtxOperand *v) {
  if (!t.format) return;
  for (unsigned i = 0; v->kind == OPD_VECTOR && i < v->nlist; i++)
    if (v->list[i].kind == OPD_REG) fp_test_value(k, c, t, v->list[i], false, NULL, false);
  if (v->kind == OPD_REG) fp_test_value(k, c, t, *v, false, NULL, false);
}

void fp_check_matrix(FpCheck *k, uint32_t i, FpType types[4], const PtxOperand operands[4]) {
  Code *c = fp_after(k, i);
  PtxOperand fired = opd_reg(k->fired);
  exceptional_vector(k, c, types[0], &operands[0]);
  if (!k->open) return;
  k->open = false;
  EMIT(c, "vote.sync.any.pred", fired, fired, opd_imm(-1));
  PtxLabel *resume = body_label(k->body), *start = body_label(k->body);
  code_guard(c, k->fired, false);
  EMIT(c, "bra.uni", opd_label(start));
  code_guard(c, NULL, false);
  code_label(c, resume);
  Code *slow = body_cold(k->body);
  slow->near = k->body->cfg->instrs[i];
  code_label(slow, start);
  for (unsigned o = 1; o < 4; o++) exceptional_vector(k, slow, types[o], &operands[o]);
  PtxOperand operand = opd_reg(k->matrix_operand);
  if (k->open) {
    EMIT(slow, "vote.sync.any.pred", fired, fired, opd_imm(-1));
    EMIT(slow, "selp.b32", operand, opd_imm(0x7fc00000), opd_imm(0), fired);
  } else EMIT(slow, "mov.u32", operand, opd_imm(0));
  k->open = false;
  const PtxOperand *d = &operands[0];
  uint32_t site = fp_sites(k, i, types[0].format, 'r', k->kinds);
  for (unsigned e = 0; e < d->nlist; e++)
    for (unsigned half = 0; half <= types[0].packed; half++) {
      bool wide = types[0].format == WG_FP_F64;
      uint32_t what = WG_FP_WHAT(types[0].format, wide ? 0 : WG_FP_F32, 0, 0, WG_FP_MATRIX, k->kinds, 0);
      PtxOperand bits = fp_bits(k, slow, &d->list[e], types[0], half, wide, 0);
      FpHead h = fp_head(k, slow, site);
      const PtxOperand args[] = {h.channel, h.launch, h.site, opd_imm(what), bits, wide ? opd_imm(0) : operand, opd_imm(0), opd_imm(0)};
      // The f64 form gives no room for a float beside it: then lanes with exceptional operands do not ask.
      if (wide) code_guard(slow, k->fired, true);
      code_call(slow, probe(k, wide ? "wg_fp_result64" : "wg_fp_result32"), args, ARRAY_LEN(args));
      code_guard(slow, NULL, false);
    }
  EMIT(slow, "bra", opd_label(resume));
}
