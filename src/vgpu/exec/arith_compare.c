// Comparison and selection: setp set selp slct testp.
//
// A comparison is one base relation (eq, lt, le, "less or greater", "both are numbers"), its
// operands possibly swapped and its result possibly inverted: the unordered comparisons are the
// opposites of ordered ones.
#include "vgpu/exec/arith_exec.h"
#include "vgpu/exec/arith_float.h"
#include "vgpu/exec/arith_mask.h"

typedef enum { REL_EQ, REL_LT, REL_LE, REL_NE_ORDERED, REL_NUM, REL_COUNT } Relation;

// Writes imm ^ (relation) to predicate d.
#define DEFINE_COMPARE(name, T, COND) \
  EXEC(name) { \
    const T *a_ = REG(w, T, in->a), *b_ = REG(w, T, in->b); \
    uint32_t r = COMPARE_MASK(i, ({ \
                                T a = a_[i], b = b_[i]; \
                                (void)a, (void)b; \
                                (COND); \
                              })); \
    pred_write(w, in->d, w->exec, r ^ (uint32_t)in->imm); \
    return in + 1; \
  }
#define DEFINE_INT(n, T) DEFINE_COMPARE(lt_##n, T, a < b) DEFINE_COMPARE(le_##n, T, a <= b)
DEFINE_INT(u16, uint16_t)
DEFINE_INT(u32, uint32_t)
DEFINE_INT(u64, uint64_t)
DEFINE_INT(s16, int16_t)
DEFINE_INT(s32, int32_t)
DEFINE_INT(s64, int64_t)
DEFINE_COMPARE(eq_16, uint16_t, a == b)
DEFINE_COMPARE(eq_32, uint32_t, a == b)
DEFINE_COMPARE(eq_64, uint64_t, a == b)
#define DEFINE_FLOAT(n, T, VALUE) \
  DEFINE_COMPARE(eq_##n, T, VALUE(a) == VALUE(b)) \
  DEFINE_COMPARE(lt_##n, T, VALUE(a) < VALUE(b)) \
  DEFINE_COMPARE(le_##n, T, VALUE(a) <= VALUE(b)) \
  DEFINE_COMPARE(ne_##n, T, VALUE(a) < VALUE(b) || VALUE(a) > VALUE(b)) \
  DEFINE_COMPARE(num_##n, T, VALUE(a) == VALUE(a) && VALUE(b) == VALUE(b))
#define IDENTITY(x) (x)
#define BF16_VALUE(x) f32_from_bits((uint32_t)(x) << 16)
DEFINE_FLOAT(f32, float, IDENTITY)
DEFINE_FLOAT(f64, double, IDENTITY)
DEFINE_FLOAT(f32_ftz, float, f32_flush)
DEFINE_FLOAT(f16, uint16_t, f32_from_f16)
DEFINE_FLOAT(f16_ftz, uint16_t, f32_from_f16_flush)
DEFINE_FLOAT(bf16, uint16_t, BF16_VALUE)
// One half of a packed register: flag[0] is the half's number.
#define DEFINE_PACKED(name, REL, VALUE) \
  EXEC(name) { \
    const uint32_t *a_ = REG(w, uint32_t, in->a), *b_ = REG(w, uint32_t, in->b); \
    unsigned shift = in->flag[0] * 16u; \
    uint32_t r = COMPARE_MASK(i, ({ \
                                float a = VALUE((uint16_t)(a_[i] >> shift)), \
                                      b = VALUE((uint16_t)(b_[i] >> shift)); \
                                (REL); \
                              })); \
    pred_write(w, in->d, w->exec, r ^ (uint32_t)in->imm); \
    return in + 1; \
  }
#define DEFINE_PACKED_ALL(n, VALUE) \
  DEFINE_PACKED(eq_##n, a == b, VALUE) \
  DEFINE_PACKED(lt_##n, a < b, VALUE) \
  DEFINE_PACKED(le_##n, a <= b, VALUE) \
  DEFINE_PACKED(ne_##n, a<b || a> b, VALUE) \
  DEFINE_PACKED(num_##n, a == a && b == b, VALUE)
DEFINE_PACKED_ALL(f16x2, f32_from_f16)
DEFINE_PACKED_ALL(f16x2_ftz, f32_from_f16_flush)
DEFINE_PACKED_ALL(bf16x2, BF16_VALUE)

#define ALL_RELATIONS(n) \
  { eq_##n, lt_##n, le_##n, ne_##n, num_##n }
#define INT_RELATIONS(n, bits) \
  { eq_##bits, lt_##n, le_##n, NULL, NULL }
static const struct {
  PtxType type;
  bool ftz;
  ExecFn *fns[REL_COUNT];
} compare_fns[] = {
    {TYPE_U16, false, INT_RELATIONS(u16, 16)},    {TYPE_U32, false, INT_RELATIONS(u32, 32)},
    {TYPE_U64, false, INT_RELATIONS(u64, 64)},    {TYPE_S16, false, INT_RELATIONS(s16, 16)},
    {TYPE_S32, false, INT_RELATIONS(s32, 32)},    {TYPE_S64, false, INT_RELATIONS(s64, 64)},
    {TYPE_B16, false, INT_RELATIONS(u16, 16)},    {TYPE_B32, false, INT_RELATIONS(u32, 32)},
    {TYPE_B64, false, INT_RELATIONS(u64, 64)},    {TYPE_F32, false, ALL_RELATIONS(f32)},
    {TYPE_F32, true, ALL_RELATIONS(f32_ftz)},     {TYPE_F64, false, ALL_RELATIONS(f64)},
    {TYPE_F16, false, ALL_RELATIONS(f16)},        {TYPE_F16, true, ALL_RELATIONS(f16_ftz)},
    {TYPE_BF16, false, ALL_RELATIONS(bf16)},      {TYPE_F16X2, false, ALL_RELATIONS(f16x2)},
    {TYPE_F16X2, true, ALL_RELATIONS(f16x2_ftz)}, {TYPE_BF16X2, false, ALL_RELATIONS(bf16x2)},
};

typedef struct Comparison {
  Relation relation;
  bool swap, invert;
} Comparison;
static bool find_comparison(const PtxInstr *in, PtxType t, Comparison *out) {
  static const struct {
    PtxMod mod;
    Comparison ordered;
  } table[] = {
      {MOD_EQ, {REL_EQ, false, false}},         {MOD_LT, {REL_LT, false, false}},
      {MOD_LE, {REL_LE, false, false}},         {MOD_GT, {REL_LT, true, false}},
      {MOD_GE, {REL_LE, true, false}},          {MOD_LO, {REL_LT, false, false}},
      {MOD_LS, {REL_LE, false, false}},         {MOD_HI, {REL_LT, true, false}},
      {MOD_HS, {REL_LE, true, false}},          {MOD_NEU, {REL_EQ, false, true}},
      {MOD_EQU, {REL_NE_ORDERED, false, true}}, {MOD_GEU, {REL_LT, false, true}},
      {MOD_GTU, {REL_LE, false, true}},         {MOD_LEU, {REL_LT, true, true}},
      {MOD_LTU, {REL_LE, true, true}},          {MOD_NUM, {REL_NUM, false, false}},
      {MOD_ISNAN, {REL_NUM, false, true}},
  };
  if (ptx_has(in, MOD_NE)) {
    *out = type_is_float(t) ? (Comparison){REL_NE_ORDERED, false, false}
                            : (Comparison){REL_EQ, false, true};
    return true;
  }
  for (size_t k = 0; k < ARRAY_LEN(table); k++)
    if (ptx_has(in, table[k].mod)) {
      *out = table[k].ordered;
      return true;
    }
  return false;
}

static ExecFn *find_compare(PtxType t, bool ftz, Relation r) {
  for (size_t k = 0; k < ARRAY_LEN(compare_fns); k++)
    if (compare_fns[k].type == t && compare_fns[k].ftz == ftz) return compare_fns[k].fns[r];
  return NULL;
}

// --- combining with a third predicate ---
typedef enum { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR } Combine;
static Combine find_combine(const PtxInstr *in) {
  return ptx_has(in, MOD_AND)   ? COMBINE_AND
         : ptx_has(in, MOD_OR)  ? COMBINE_OR
         : ptx_has(in, MOD_XOR) ? COMBINE_XOR
                                : COMBINE_NONE;
}
static uint32_t combine(unsigned how, uint32_t r, uint32_t c) {
  return how == COMBINE_AND ? r & c : how == COMBINE_OR ? r | c : how == COMBINE_XOR ? r ^ c : r;
}
// d = a . c and, if flag[1], b = !a . c; flag[0] is the operation; imm what to xor c with.
EXEC(combine_pred) {
  uint32_t r = PRED(w, in->a), c = PRED(w, in->c) ^ (uint32_t)in->imm;
  pred_write(w, in->d, w->exec, combine(in->flag[0], r, c));
  if (in->flag[1]) pred_write(w, in->b, w->exec, combine(in->flag[0], ~r, c));
  return in + 1;
}
// The two halves of a packed comparison: d = a . c, slots[1] = b . c.
EXEC(combine_halves) {
  uint32_t low = PRED(w, in->a), high = PRED(w, in->b), c = PRED(w, in->c) ^ (uint32_t)in->imm;
  pred_write(w, in->d, w->exec, combine(in->flag[0], low, c));
  pred_write(w, in->slots[0], w->exec, combine(in->flag[0], high, c));
  return in + 1;
}

// Emits the comparison of operands[first], [first+1] into predicate d.
static bool emit_compare(Binder *b, unsigned first, PtxType t, unsigned half, uint32_t d) {
  const PtxInstr *in = b->in;
  Comparison c;
  if (!find_comparison(in, t, &c)) return bind_unsupported(b, "no such comparison");
  ExecFn *fn = find_compare(t, ptx_has(in, MOD_FTZ), c.relation);
  if (!fn) return bind_unsupported(b, "no such comparison of this type");
  uint32_t x = bind_src(b, &in->ops[first], t), y = bind_src(b, &in->ops[first + 1], t);
  Inst *i = emit(b, fn, d, c.swap ? y : x, c.swap ? x : y, 0);
  i->imm = c.invert ? FULL_MASK : 0;
  i->flag[0] = (uint8_t)half;
  return true;
}

static bool is_packed(PtxType t) { return t == TYPE_F16X2 || t == TYPE_BF16X2; }

bool VGPU_NAME(arith_bind_setp)(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType t = main_type(in);
  Combine how = find_combine(in);
  const PtxOperand *result = &in->ops[0];
  bool pair = result->kind == OPD_PAIR;
  const PtxOperand *p = pair ? &result->list[0] : result;
  if (how == COMBINE_NONE && !pair) return emit_compare(b, 1, t, 0, bind_dst(b, p, TYPE_PRED));

  uint32_t negate = 0, third = how == COMBINE_NONE ? bind_constant(b, 0, 0)
                                                   : bind_pred(b, &in->ops[3], &negate);
  uint32_t low = bind_scratch(b, 0), high = bind_scratch(b, 0);
  if (!emit_compare(b, 1, t, 0, low)) return false;
  uint32_t dp = bind_dst(b, p, TYPE_PRED), dq = pair ? bind_dst(b, &result->list[1], TYPE_PRED) : 0;
  Inst *i;
  if (is_packed(t)) {
    if (!emit_compare(b, 1, t, 1, high)) return false;
    uint32_t *slots = bind_alloc(b, sizeof *slots);
    slots[0] = pair ? dq : bind_scratch(b, 0);
    i = emit(b, combine_halves, dp, low, high, third);
    i->slots = slots;
  } else {
    i = emit(b, combine_pred, dp, low, dq, third);
    i->flag[1] = pair;
  }
  i->flag[0] = (uint8_t)how;
  i->imm = negate;
  return true;
}

// --- selection ---
#define DEFINE_SELECT(n, T) \
  EXEC(selp_##n) { \
    const T *a = REG(w, T, in->a), *b = REG(w, T, in->b); \
    uint32_t p = PRED(w, in->c) ^ (uint32_t)in->imm; \
    ELEMENTWISE(w, T, in->d, i, (p >> i & 1) ? a[i] : b[i]); \
    return in + 1; \
  } \
  EXEC_3(slct_s32_##n, T, T, T, int32_t, c >= 0 ? a : b) \
  EXEC_3(slct_f32_##n, T, T, T, float, c >= 0 ? a : b)
DEFINE_SELECT(b16, uint16_t)
DEFINE_SELECT(b32, uint32_t)
DEFINE_SELECT(b64, uint64_t)
static ExecFn *const selp_fns[] = {selp_b16, selp_b32, selp_b64};
static ExecFn *const slct_fns[2][3] = {{slct_s32_b16, slct_s32_b32, slct_s32_b64},
                                       {slct_f32_b16, slct_f32_b32, slct_f32_b64}};
EXEC_1(flush_f32, float, float, f32_flush(a))

static bool bind_selp(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType t = main_type(in);
  int w = width_index(t);
  if (w < 0) return bind_unsupported(b, "selp of this type");
  uint32_t negate, x = bind_src(b, &in->ops[1], t), y = bind_src(b, &in->ops[2], t),
                   p = bind_pred(b, &in->ops[3], &negate);
  emit(b, selp_fns[w], bind_dst(b, &in->ops[0], t), x, y, p)->imm = negate;
  return true;
}

static bool bind_slct(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType t = in->types[0], key = in->types[1];
  int w = width_index(t);
  if (w < 0) return bind_unsupported(b, "slct of this type");
  uint32_t x = bind_src(b, &in->ops[1], t), y = bind_src(b, &in->ops[2], t),
           z = bind_src(b, &in->ops[3], key);
  if (ptx_has(in, MOD_FTZ)) {
    uint32_t flushed = bind_scratch(b, 4);
    emit(b, flush_f32, flushed, z, 0, 0);
    z = flushed;
  }
  emit(b, slct_fns[key == TYPE_F32][w], bind_dst(b, &in->ops[0], t), x, y, z);
  return true;
}

// set: the comparison goes to a predicate, which then chooses between "true" of the destination
// type and zero.
static uint64_t true_value(PtxType t) {
  switch (t) {
    case TYPE_F32: return 0x3f800000;
    case TYPE_F16: return 0x3c00;
    case TYPE_BF16: return 0x3f80;
    case TYPE_F16X2: return 0x3c003c00;
    case TYPE_BF16X2: return 0x3f803f80;
    case TYPE_U16:
    case TYPE_S16: return 0xffff;
    default: return 0xffffffff;
  }
}
// Two predicates choose the halves of imm.
EXEC(select_halves) {
  uint32_t low = PRED(w, in->a), high = PRED(w, in->b), value = (uint32_t)in->imm;
  ELEMENTWISE(w, uint32_t, in->d, i,
              ((low >> i & 1) ? value & 0xffff : 0) | ((high >> i & 1) ? value & 0xffff0000 : 0));
  return in + 1;
}

bool VGPU_NAME(arith_bind_set)(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType td = in->types[0], t = in->types[1];
  Combine how = find_combine(in);
  uint32_t negate = 0, third = how == COMBINE_NONE ? bind_constant(b, 0, 0)
                                                   : bind_pred(b, &in->ops[3], &negate);
  uint32_t p[2];
  for (unsigned half = 0; half < (is_packed(t) ? 2u : 1u); half++) {
    uint32_t raw = bind_scratch(b, 0);
    p[half] = bind_scratch(b, 0);
    if (!emit_compare(b, 1, t, half, raw)) return false;
    Inst *i = emit(b, combine_pred, p[half], raw, 0, third);
    i->flag[0] = (uint8_t)how;
    i->imm = negate;
  }
  uint64_t yes = true_value(td);
  uint32_t d = bind_dst(b, &in->ops[0], td);
  if (is_packed(t)) {
    emit(b, select_halves, d, p[0], p[1], 0)->imm = yes;
    return true;
  }
  int w = width_index(td);
  unsigned bytes = ptx_type_size(td);
  if (w < 0) return bind_unsupported(b, "set to this type");
  uint32_t x = bind_constant(b, yes, bytes), y = bind_constant(b, 0, bytes);
  emit(b, selp_fns[w], d, x, y, p[0]);
  return true;
}

// --- testp; zero counts as normal (measured) ---
#define DEFINE_TESTP(n, T, U, FRACTION, EXPONENT) \
  DEFINE_COMPARE(testp_finite_##n, U, (a & EXPONENT) != EXPONENT) \
  DEFINE_COMPARE(testp_infinite_##n, U, (a & (EXPONENT | FRACTION)) == EXPONENT) \
  DEFINE_COMPARE(testp_number_##n, U, (a & (EXPONENT | FRACTION)) <= EXPONENT) \
  DEFINE_COMPARE(testp_normal_##n, U, \
                 (a & EXPONENT) != EXPONENT && ((a & EXPONENT) != 0 || (a & FRACTION) == 0)) \
  DEFINE_COMPARE(testp_subnormal_##n, U, (a & EXPONENT) == 0 && (a & FRACTION) != 0)
DEFINE_TESTP(f32, float, uint32_t, 0x007fffffu, 0x7f800000u)
DEFINE_TESTP(f64, double, uint64_t, 0x000fffffffffffffull, 0x7ff0000000000000ull)

static bool bind_testp(Binder *b) {
  static const struct {
    PtxMod mod;
    ExecFn *fns[2];
    bool invert;
  } table[] = {
      {MOD_FINITE, {testp_finite_f32, testp_finite_f64}, false},
      {MOD_INFINITE, {testp_infinite_f32, testp_infinite_f64}, false},
      {MOD_NUMBER, {testp_number_f32, testp_number_f64}, false},
      {MOD_NOTANUMBER, {testp_number_f32, testp_number_f64}, true},
      {MOD_NORMAL, {testp_normal_f32, testp_normal_f64}, false},
      {MOD_SUBNORMAL, {testp_subnormal_f32, testp_subnormal_f64}, false},
  };
  const PtxInstr *in = b->in;
  PtxType t = main_type(in);
  for (size_t k = 0; k < ARRAY_LEN(table); k++) {
    if (!ptx_has(in, table[k].mod)) continue;
    uint32_t x = bind_src(b, &in->ops[1], t);
    emit(b, table[k].fns[t == TYPE_F64], bind_dst(b, &in->ops[0], TYPE_PRED), x, x, 0)->imm =
        table[k].invert ? FULL_MASK : 0;
    return true;
  }
  return bind_unsupported(b, "no such test");
}

bool VGPU_NAME(arith_bind_select)(Binder *b) {
  switch (b->in->op) {
    case OP_SELP: return bind_selp(b);
    case OP_SLCT: return bind_slct(b);
    default: return bind_testp(b);
  }
}
