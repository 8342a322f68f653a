// Tests of values, gathered in groups, and the slow path of each group.
//
// A test is one to three instructions that add to a predicate; one branch serves all tests of a
// group. The slow path is out of line (body_cold). It looks at every item of the group again, this
// time exactly (tools/fpcheck/weave_slow.c), and comes back.
#include "tools/fpcheck/internal.h"

// --- tests ---
// Comparisons in three forms: plain, with an `and` of a predicate, with an `or`.
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

static void add_to_group(FpCheck *k, Code *c, Comparison m, PtxOperand a, PtxOperand b,
                         FpCondition guard) {
  PtxOperand passes = guard.negated ? opd_not(guard.reg) : opd_reg(guard.reg),
             fired = opd_reg(k->fired);
  if (!k->open && !guard.reg) code_emit(c, m[0], (PtxOperand[]){fired, a, b}, 3);
  else if (!k->open) code_emit(c, m[1], (PtxOperand[]){fired, a, b, passes}, 4);
  else if (!guard.reg) code_emit(c, m[2], (PtxOperand[]){fired, a, b, fired}, 4);
  else {
    PtxOperand q = opd_reg(body_temp(k->body, TYPE_PRED, 0));
    code_emit(c, m[1], (PtxOperand[]){q, a, b, passes}, 4);
    EMIT(c, "or.pred", fired, fired, q);
  }
  k->open = true;
}

static PtxOperand f32_imm(uint32_t bits) { return (PtxOperand){.kind = OPD_FLOAT, .imm = bits}; }
static PtxOperand temp32(const FpCheck *k, unsigned i) {
  return opd_reg(body_temp(k->body, TYPE_B32, i));
}
static PtxOperand temp64(const FpCheck *k, unsigned i) {
  return opd_reg(body_temp(k->body, TYPE_B64, i));
}

// --- merged tests ---
// In a chain of comparisons each waits for the predicate of the one before. Every link takes a
// dozen cycles, and a loop of a kernel with few warps waits for all of them. The maximum of several
// values, or the OR of their bits, takes a third of that time and as many instructions.
static bool can_gather(const FpCheck *k, FpGather g, const PtxReg *guard) {
  const PtxModule *m = k->body->func->module;
  if (!k->gathers || guard) return false;
  return g != FP_GATHER_F32 || (m->sm >= 80 && m->version_major >= 7);  // max.NaN
}

static void gather(FpCheck *k, Code *c, FpGather g, const char *first, const char *more,
                   PtxOperand v) {
  if (!k->gathered[g])
    k->gathered[g] = body_reg(k->body, g == FP_GATHER_F32 || g == FP_GATHER_NAN32 ? TYPE_F32
                                       : g == FP_GATHER_NAN64                     ? TYPE_F64
                                                                                  : TYPE_B32);
  PtxOperand all = opd_reg(k->gathered[g]);
  if (k->has_gathered & 1u << g) code_emit(c, more, (PtxOperand[]){all, all, v}, 3);
  else code_emit(c, first, (PtxOperand[]){all, v}, 2);
  k->has_gathered |= 1u << g;
}

// One comparison finds a NaN in two values.
static void gather_nan(FpCheck *k, Code *c, FpGather g, PtxOperand v) {
  bool wide = g == FP_GATHER_NAN64;
  if (k->has_gathered & 1u << g) {
    add_to_group(k, c, wide ? f64_nan : f32_nan, opd_reg(k->gathered[g]), v, FP_ALWAYS);
    k->has_gathered &= ~(1u << g);
  } else gather(k, c, g, wide ? "mov.f64" : "mov.f32", NULL, v);
}

void fp_close_tests(FpCheck *k, Code *c) {
  static const struct {
    const Comparison *m;
    uint32_t limit;
    bool is_float, is_nan;
  } tests[FP_GATHERS] = {
      [FP_GATHER_F32] = {&f32_geu, 0x7f800000, true, false},
      [FP_GATHER_SUBNORMAL] = {&u32_gt, 0xff000000, false, false},
      [FP_GATHER_F64] = {&u32_lt, 0x00200000, false, false},
      [FP_GATHER_PAIRS] = {&u32_ne, 0, false, false},
      [FP_GATHER_NAN32] = {&f32_nan, 0, true, true},
      [FP_GATHER_NAN64] = {&f64_nan, 0, true, true},
  };
  for (unsigned g = 0; g < FP_GATHERS; g++) {
    if (!(k->has_gathered >> g & 1)) continue;
    PtxOperand all = opd_reg(k->gathered[g]);
    add_to_group(k, c, *tests[g].m, all,
                 tests[g].is_nan     ? all
                 : tests[g].is_float ? f32_imm(tests[g].limit)
                                     : opd_imm((int64_t)tests[g].limit),
                 FP_ALWAYS);
  }
  k->has_gathered = 0;
}

// --- tests of one value ---
static void test_f32(FpCheck *k, Code *c, PtxOperand v, bool subnormal, FpCondition guard) {
  PtxOperand f = opd_reg(body_temp(k->body, TYPE_F32, 0)), u = temp32(k, 0);
  if (can_gather(k, FP_GATHER_F32, guard.reg)) {
    bool first = !(k->has_gathered & 1u << FP_GATHER_F32);
    if (!first) EMIT(c, "abs.f32", f, v);
    gather(k, c, FP_GATHER_F32, "abs.f32", "max.NaN.f32", first ? v : f);
  } else {
    EMIT(c, "abs.f32", f, v);
    add_to_group(k, c, f32_geu, f, f32_imm(0x7f800000), guard);
  }
  if (!subnormal) return;
  // 2x - 2^24 orders bit patterns: normal < infinite and NaN < zero (0xff000000) < subnormal
  EMIT(c, "mov.b32", u, v);
  EMIT(c, "add.u32", u, u, u);
  EMIT(c, "add.u32", u, u, opd_imm(-0x01000000));
  if (can_gather(k, FP_GATHER_SUBNORMAL, guard.reg))
    gather(k, c, FP_GATHER_SUBNORMAL, "mov.u32", "max.u32", u);
  else add_to_group(k, c, u32_gt, u, opd_imm(0xff000000), guard);
}

static void test_f64(FpCheck *k, Code *c, PtxOperand v, bool subnormal, FpCondition guard) {
  PtxOperand lo = temp32(k, 0), hi = temp32(k, 1), w = temp64(k, 0);
  EMIT(c, "mov.b64", opd_vector(c, (PtxOperand[]){lo, hi}, 2), v);
  EMIT(c, "add.u32", hi, hi, hi);
  EMIT(c, "add.u32", hi, hi, opd_imm(0x00200000));
  if (can_gather(k, FP_GATHER_F64, guard.reg))
    gather(k, c, FP_GATHER_F64, "mov.u32", "min.u32", hi);
  else add_to_group(k, c, u32_lt, hi, opd_imm(0x00200000), guard);
  if (!subnormal) return;
  EMIT(c, "mov.b64", w, v);
  EMIT(c, "shl.b64", w, w, opd_imm(1));
  EMIT(c, "add.u64", w, w, opd_imm(-1));
  add_to_group(k, c, u64_lt, w, opd_imm(0x001fffffffffffff), guard);
}

static void test_half(FpCheck *k, Code *c, FpType t, PtxOperand bits, bool subnormal,
                      FpCondition guard) {
  bool f16 = t.format == WG_FP_F16;
  PtxOperand u = temp32(k, 1);
  EMIT(c, "and.b32", u, bits, opd_imm(f16 ? 0x7c00 : 0x7f80));
  add_to_group(k, c, u32_eq, u, opd_imm(f16 ? 0x7c00 : 0x7f80), guard);
  if (!subnormal) return;
  EMIT(c, "and.b32", u, bits, opd_imm(0x7fff));
  EMIT(c, "add.u32", u, u, opd_imm(-1));
  add_to_group(k, c, u32_lt, u, opd_imm(f16 ? 0x3ff : 0x7f), guard);
}

PtxOperand fp_widen16(FpCheck *k, Code *c, PtxOperand v, unsigned temp) {
  PtxOperand h = opd_reg(body_temp(k->body, TYPE_B16, 0)), u = temp32(k, temp);
  EMIT(c, "mov.b16", h, v);
  EMIT(c, "cvt.u32.u16", u, h);
  return u;
}

static void test_pair(FpCheck *k, Code *c, FpType t, PtxOperand v, bool subnormal,
                      FpCondition guard) {
  bool f16 = t.format == WG_FP_F16;
  PtxOperand u = temp32(k, 0);
  if (subnormal) {
    EMIT(c, "mov.b32", u, v);
    test_half(k, c, t, u, true, guard);
    EMIT(c, "shr.u32", u, u, opd_imm(16));
    test_half(k, c, t, u, true, guard);
    return;
  }
  EMIT(c, "and.b32", u, v, opd_imm(f16 ? 0x7c007c00 : 0x7f807f80));
  // an exponent of all ones carries into the sign
  EMIT(c, "add.u32", u, u, opd_imm(f16 ? 0x04000400 : 0x00800080));
  EMIT(c, "and.b32", u, u, opd_imm(0x80008000));
  if (can_gather(k, FP_GATHER_PAIRS, guard.reg))
    gather(k, c, FP_GATHER_PAIRS, "mov.b32", "or.b32", u);
  else add_to_group(k, c, u32_ne, u, opd_imm(0), guard);
}

void fp_test_value(FpCheck *k, Code *c, FpType t, PtxOperand v, bool subnormal, FpCondition guard) {
  if (t.format == WG_FP_F64) test_f64(k, c, v, subnormal, guard);
  else if (t.format == WG_FP_F32 && t.packed) {
    PtxOperand lo = opd_reg(body_temp(k->body, TYPE_F32, 1)),
               hi = opd_reg(body_temp(k->body, TYPE_F32, 2));
    EMIT(c, "mov.b64", opd_vector(c, (PtxOperand[]){lo, hi}, 2), v);
    test_f32(k, c, lo, subnormal, guard);
    test_f32(k, c, hi, subnormal, guard);
  } else if (t.format == WG_FP_F32) test_f32(k, c, v, subnormal, guard);
  else if (t.packed) test_pair(k, c, t, v, subnormal, guard);
  else test_half(k, c, t, fp_widen16(k, c, v, 0), subnormal, guard);
}

void fp_test_nan(FpCheck *k, Code *c, FpType t, PtxOperand a, PtxOperand b, FpCondition guard) {
  bool wide = t.format == WG_FP_F64, one = a.kind == OPD_REG && b.kind == OPD_REG && a.reg == b.reg;
  FpGather g = wide ? FP_GATHER_NAN64 : FP_GATHER_NAN32;
  if (one && can_gather(k, g, guard.reg)) gather_nan(k, c, g, a);
  else add_to_group(k, c, wide ? f64_nan : f32_nan, a, b, guard);
}

// The smallest number whose rounding overflows the format; f32 bits. from_it_on: it overflows
// itself.
typedef struct Limit {
  PtxType to;
  uint32_t bits;
  bool from_it_on;
} Limit;
static const Limit limits[] = {
    {TYPE_E4M3X2, 0x43e80000, false},                                  // 464: 448 is even
    {TYPE_E5M2X2, 0x47700000, true},                                   // 61440
    {TYPE_F16, 0x477ff000, true},     {TYPE_F16X2, 0x477ff000, true},  // 65520
    {TYPE_BF16, 0x7f7f8000, true},    {TYPE_BF16X2, 0x7f7f8000, true},
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
  PtxOperand f = opd_reg(body_temp(k->body, TYPE_F32, 1)),
             lo = opd_reg(body_temp(k->body, TYPE_B16, 0)),
             hi = opd_reg(body_temp(k->body, TYPE_B16, 1));
  EMIT(c, "mov.b32", opd_vector(c, (PtxOperand[]){lo, hi}, 2), *o->operands[0]);
  EMIT(c, "cvt.f32.f16", f, part ? lo : hi);
  return f;
}

unsigned fp_parts(const FpOperation *o) { return o->n == 2 || o->types[0].packed ? 2 : 1; }

// Tests whether a part overflows; returns its bits.
PtxOperand fp_test_part(FpCheck *k, Code *c, const PtxInstr *in, const FpOperation *o,
                        unsigned part, unsigned temp) {
  const Limit *l = limit_of(in);
  PtxOperand f = opd_reg(body_temp(k->body, TYPE_F32, 0)), v = part_as_f32(k, c, o, part),
             bits = temp32(k, temp);
  EMIT(c, "abs.f32", f, v);
  EMIT(c, "mov.b32", bits, v);
  add_to_group(k, c, l->from_it_on ? f32_ge : f32_gt, f, f32_imm(l->bits), FP_ALWAYS);
  return bits;
}

bool fp_test_overflow(FpCheck *k, Code *c, const PtxInstr *in, const FpOperation *o) {
  const Limit *l = limit_of(in);
  if (!l || (o->types[0].packed && o->types[0].format != WG_FP_F16) ||
      (!o->types[0].packed && o->types[0].format != WG_FP_F32))
    return false;
  PtxOperand f = opd_reg(body_temp(k->body, TYPE_F32, 0));
  for (unsigned part = 0; part < fp_parts(o); part++) {
    EMIT(c, "abs.f32", f, part_as_f32(k, c, o, part));
    if (l->from_it_on)
      add_to_group(k, c, f32_ge, f, f32_imm(l->bits), (FpCondition){in->guard, in->guard_negated});
    else
      add_to_group(k, c, f32_gt, f, f32_imm(l->bits), (FpCondition){in->guard, in->guard_negated});
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
  for (unsigned i = 0; i < FP_UNLESS_NAN && item.unless_nan[i]; i++)
    vec_push(&k->kept, item.unless_nan[i]);
  vec_push(&k->items, item);
}

static bool keeps(const FpCheck *k, const PtxReg *r) {
  for (uint32_t i = 0; i < k->kept.len; i++)
    if (k->kept.data[i] == r) return true;
  return false;
}

typedef struct Overwrites {
  const FpCheck *k;
  bool yes;
} Overwrites;
static void overwrites(void *ctx, PtxReg **reg, bool is_def) {
  Overwrites *o = ctx;
  if (is_def && keeps(o->k, *reg)) o->yes = true;
}

bool fp_must_close_before(const FpCheck *k, uint32_t i) {
  PtxInstr *in = k->body->cfg->instrs[i];
  if (ptx_op_classes(in) &
      (CLASS_BRANCH | CLASS_RETURN | CLASS_CALL | CLASS_SYNC | CLASS_TENSOR | CLASS_ASYNC))
    return true;
  Overwrites o = {k, false};
  ptx_visit_regs(in, overwrites, &o);
  return o.yes;
}

void fp_close_group(FpCheck *k, Code *c, bool in_place) {
  if (!k->items.len) return;
  fp_close_tests(k, c);
  PtxLabel *resume = body_label(k->body), *start = body_label(k->body);
  code_guard(c, k->fired, in_place);
  EMIT(c, "bra", opd_label(in_place ? resume : start));
  code_guard(c, NULL, false);
  Code *slow = in_place ? c : body_cold(k->body);
  const PtxInstr *near = slow->near;
  slow->near = k->body->cfg->instrs[k->items.data[0].instr];
  if (!in_place) code_label(slow, start);
  bool at_once = !in_place && fp_again_at_once(k), over = !in_place && fp_over_can(k);
  if (!at_once && !k->clone) k->asks_at_end = true;
  if (!over && !k->clone) k->asks_first = true;
  if (over) fp_over_weave(k, slow, fp_loop_resume(k, k->items.data[0].instr, resume));
  else {
    fp_look_closely(k, slow, k->items.data, k->items.len);
    if (!in_place)
      EMIT(slow, "bra",
           opd_label(at_once ? k->again : fp_loop_resume(k, k->items.data[0].instr, resume)));
  }
  slow->near = near;
  code_label(c, resume);
  k->items.len = k->kept.len = 0;
  k->open = false;
}

// --- tensor cores: the operands of a result are spread over the warp ---
static void exceptional_vector(FpCheck *k, Code *c, FpType t, const PtxOperand *v) {
  if (!t.format) return;
  for (unsigned i = 0; v->kind == OPD_VECTOR && i < v->nlist; i++)
    if (v->list[i].kind == OPD_REG) fp_test_value(k, c, t, v->list[i], false, FP_ALWAYS);
  if (v->kind == OPD_REG) fp_test_value(k, c, t, *v, false, FP_ALWAYS);
}

void fp_check_matrix(FpCheck *k, uint32_t i, FpType types[4], const PtxOperand operands[4]) {
  Code *c = fp_after(k, i);
  PtxOperand fired = opd_reg(k->fired);
  exceptional_vector(k, c, types[0], &operands[0]);
  fp_close_tests(k, c);
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
  fp_close_tests(k, slow);
  if (k->open) {  // nothing is born where an operand is exceptional
    EMIT(slow, "vote.sync.any.pred", fired, fired, opd_imm(-1));
    code_branch(slow, k->fired, false, resume);
  }
  k->open = false;
  FpItems results = {0};
  for (unsigned e = 0; e < operands[0].nlist; e++) {
    FpItem item = {.kind = FP_ITEM_RESULT, .instr = i, .result = operands[0].list[e]};
    item.operation = (FpOperation){.op = WG_FP_MATRIX, .result = types[0]};
    if (item.result.kind == OPD_REG) vec_push(&results, item);
  }
  fp_look_closely(k, slow, results.data, results.len);
  vec_free(&results);
  EMIT(slow, "bar.warp.sync", opd_imm(-1));
  EMIT(slow, "bra", opd_label(resume));
}
