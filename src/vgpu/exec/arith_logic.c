// Logic and shifts: and or xor not cnot lop3 shl shr shf prmt, for registers and predicates.
#include "vgpu/exec/arith_exec.h"
#include "vgpu/exec/arith_int.h"

#define WIDTHS(X) \
  X(b16, uint16_t, int16_t, 16) X(b32, uint32_t, int32_t, 32) X(b64, uint64_t, int64_t, 64)
// Shift counts past the width shift everything out; a signed right shift then leaves copies of the
// sign.
#define DEFINE(n, T, S, bits) \
  EXEC_2(and_##n, T, T, T, a &b) \
  EXEC_2(or_##n, T, T, T, a | b) \
  EXEC_2(xor_##n, T, T, T, a ^ b) \
  EXEC_1(not_##n, T, T, ~a) \
  EXEC_1(cnot_##n, T, T, a == 0) \
  EXEC_2(shl_##n, T, T, uint32_t, b >= bits ? 0 : (T)(a << (b & (bits - 1)))) \
  EXEC_2(shr_##n, T, T, uint32_t, b >= bits ? 0 : (T)(a >> (b & (bits - 1)))) \
  EXEC_2(shr_signed_##n, S, S, uint32_t, a >> (b >= bits ? bits - 1 : b))
WIDTHS(DEFINE)
#undef DEFINE

// Shifts by the same count in every lane (almost always an immediate): imm is the count, below the
// width.
#define DEFINE(n, T, S, bits) \
  EXEC(shl_by_##n) { \
    const T *a = REG(w, T, in->a); \
    uint32_t count = (uint32_t)in->imm; \
    ELEMENTWISE(w, T, in->d, i, (T)(a[i] << count)); \
    return in + 1; \
  } \
  EXEC(shr_by_##n) { \
    const T *a = REG(w, T, in->a); \
    uint32_t count = (uint32_t)in->imm; \
    ELEMENTWISE(w, T, in->d, i, (T)(a[i] >> count)); \
    return in + 1; \
  } \
  EXEC(shr_signed_by_##n) { \
    const S *a = REG(w, S, in->a); \
    uint32_t count = (uint32_t)in->imm; \
    ELEMENTWISE(w, S, in->d, i, (S)(a[i] >> count)); \
    return in + 1; \
  }
WIDTHS(DEFINE)
#undef DEFINE

EXEC_3(shf_l_clamp, uint32_t, uint32_t, uint32_t, uint32_t,
       (uint32_t)((((uint64_t)b << 32 | a) << (c > 32 ? 32 : c)) >> 32))
EXEC_3(shf_l_wrap, uint32_t, uint32_t, uint32_t, uint32_t,
       (uint32_t)((((uint64_t)b << 32 | a) << (c & 31)) >> 32))
EXEC_3(shf_r_clamp, uint32_t, uint32_t, uint32_t, uint32_t,
       (uint32_t)(((uint64_t)b << 32 | a) >> (c > 32 ? 32 : c)))
EXEC_3(shf_r_wrap, uint32_t, uint32_t, uint32_t, uint32_t,
       (uint32_t)(((uint64_t)b << 32 | a) >> (c & 31)))

EXEC_3(prmt_general, uint32_t, uint32_t, uint32_t, uint32_t, prmt_lane(a, b, c))
// The named modes: c's two low bits choose one of four selectors, packed in imm.
EXEC(prmt_mode) {
  const uint32_t *a = REG(w, uint32_t, in->a), *b = REG(w, uint32_t, in->b),
                 *c = REG(w, uint32_t, in->c);
  uint64_t selectors = in->imm;
  ELEMENTWISE(w, uint32_t, in->d, i,
              prmt_lane(a[i], b[i], (uint32_t)(selectors >> (16 * (c[i] & 3))) & 0xffff));
  return in + 1;
}
// selector for c = 3, 2, 1, 0
static const struct {
  PtxMod mode;
  uint64_t selectors;
} prmt_modes[] = {
    {MOD_F4E, 0x6543543243213210}, {MOD_B4E, 0x0123701267015670}, {MOD_RC8, 0x3333222211110000},
    {MOD_ECL, 0x3333322232113210}, {MOD_ECR, 0x3210221011100000}, {MOD_RC16, 0x3232101032321010},
};

// lop3: the truth table is in imm, bit (a,b,c). Whole words at a time: each set bit of the table
// adds a minterm.
EXEC(lop3_table) {
  const uint32_t *a = REG(w, uint32_t, in->a), *b = REG(w, uint32_t, in->b),
                 *c = REG(w, uint32_t, in->c);
  uint32_t m[8];
  for (int k = 0; k < 8; k++) m[k] = in->imm >> k & 1 ? ~0u : 0;
  uint32_t m0 = m[0], m1 = m[1], m2 = m[2], m3 = m[3], m4 = m[4], m5 = m[5], m6 = m[6], m7 = m[7];
  ELEMENTWISE(w, uint32_t, in->d, i, ({
                uint32_t x = a[i], y = b[i], z = c[i];
                uint32_t low = ((m0 & ~z) | (m1 & z)) & ~y, low2 = ((m2 & ~z) | (m3 & z)) & y;
                uint32_t high = ((m4 & ~z) | (m5 & z)) & ~y, high2 = ((m6 & ~z) | (m7 & z)) & y;
                ((low | low2) & ~x) | ((high | high2) & x);
              }));
  return in + 1;
}
EXEC_3(lop3_xor, uint32_t, uint32_t, uint32_t, uint32_t, a ^ b ^ c)
EXEC_3(lop3_majority, uint32_t, uint32_t, uint32_t, uint32_t, (a & b) | (c & (a | b)))
EXEC_3(lop3_choose, uint32_t, uint32_t, uint32_t, uint32_t, (a & b) | (~a & c))

// Predicates: whole masks. imm low word and high word: what to xor the sources with.
#define DEFINE_PRED(name, EXPR) \
  EXEC(name) { \
    uint32_t a = PRED(w, in->a) ^ (uint32_t)in->imm, \
             b = PRED(w, in->b) ^ (uint32_t)(in->imm >> 32); \
    (void)b; \
    pred_write(w, in->d, w->exec, EXPR); \
    return in + 1; \
  }
DEFINE_PRED(and_pred, a &b)
DEFINE_PRED(or_pred, a | b)
DEFINE_PRED(xor_pred, a ^ b)
DEFINE_PRED(not_pred, ~a)

// The predicate result of lop3.and/.or: (d != 0) combined with c. flag[0]: and. imm: what to xor c
// with.
EXEC(lop3_pred) {
  const uint32_t *a = REG(w, uint32_t, in->a);
  uint32_t nonzero = LANE_MASK(i, a[i] != 0), c = PRED(w, in->c) ^ (uint32_t)in->imm;
  pred_write(w, in->d, w->exec, in->flag[0] ? nonzero & c : nonzero | c);
  return in + 1;
}
EXEC_1(copy_b32, uint32_t, uint32_t, a)

static bool bind_lop3(Binder *b) {
  const PtxInstr *in = b->in;
  const PtxOperand *result = &in->ops[0];
  const PtxOperand *d = result->kind == OPD_PAIR ? &result->list[0] : result;
  uint32_t x = bind_src(b, &in->ops[1], TYPE_B32), y = bind_src(b, &in->ops[2], TYPE_B32),
           z = bind_src(b, &in->ops[3], TYPE_B32);
  uint32_t table = (uint32_t)in->ops[4].imm & 255;
  ExecFn *fn = table == 0x96   ? lop3_xor
               : table == 0xe8 ? lop3_majority
               : table == 0xca ? lop3_choose
                               : lop3_table;
  uint32_t dest = bind_dst(b, d, TYPE_B32);
  if (result->kind != OPD_PAIR) {
    emit(b, fn, dest, x, y, z)->imm = table;
    return true;
  }
  uint32_t negate, c = bind_pred(b, &in->ops[5], &negate),
                   p = bind_dst(b, &result->list[1], TYPE_PRED);
  uint32_t value = bind_scratch(b, 4);
  emit(b, fn, value, x, y, z)->imm = table;
  emit(b, copy_b32, dest, value, 0, 0);
  Inst *i = emit(b, lop3_pred, p, value, 0, c);
  i->imm = negate;
  i->flag[0] = ptx_has(in, MOD_AND);
  return true;
}

static bool bind_pred_logic(Binder *b) {
  const PtxInstr *in = b->in;
  ExecFn *fn = in->op == OP_AND   ? and_pred
               : in->op == OP_OR  ? or_pred
               : in->op == OP_XOR ? xor_pred
                                  : not_pred;
  uint32_t nx, ny = 0, x = bind_pred(b, &in->ops[1], &nx),
               y = in->nops > 2 ? bind_pred(b, &in->ops[2], &ny) : x;
  emit(b, fn, bind_dst(b, &in->ops[0], TYPE_PRED), x, y, 0)->imm = nx | (uint64_t)ny << 32;
  return true;
}

static ExecFn *const and_fns[] = {and_b16, and_b32, and_b64}, *const or_fns[] = {or_b16, or_b32,
                                                                                 or_b64};
static ExecFn *const xor_fns[] = {xor_b16, xor_b32, xor_b64}, *const not_fns[] = {not_b16, not_b32,
                                                                                  not_b64};
static ExecFn *const cnot_fns[] = {cnot_b16, cnot_b32, cnot_b64};
// [left, right, right signed][width]
static ExecFn *const shift_fns[3][3] = {{shl_b16, shl_b32, shl_b64},
                                        {shr_b16, shr_b32, shr_b64},
                                        {shr_signed_b16, shr_signed_b32, shr_signed_b64}};
static ExecFn *const shift_by_fns[3][3] = {
    {shl_by_b16, shl_by_b32, shl_by_b64},
    {shr_by_b16, shr_by_b32, shr_by_b64},
    {shr_signed_by_b16, shr_signed_by_b32, shr_signed_by_b64}};

static bool bind_shift(Binder *b, PtxType t) {
  const PtxInstr *in = b->in;
  unsigned kind = in->op == OP_SHL ? 0 : type_is_signed(t) ? 2 : 1, w = (unsigned)width_index(t);
  const PtxOperand *count = &in->ops[2];
  uint32_t x = bind_src(b, &in->ops[1], t);
  if (count->kind == OPD_INT && (uint32_t)count->imm < 8 * ptx_type_size(t)) {
    emit(b, shift_by_fns[kind][w], bind_dst(b, &in->ops[0], t), x, 0, 0)->imm = (uint32_t)
                                                                                    count->imm;
    return true;
  }
  uint32_t y = bind_src(b, count, TYPE_U32);
  emit(b, shift_fns[kind][w], bind_dst(b, &in->ops[0], t), x, y, 0);
  return true;
}

static bool bind_prmt(Binder *b) {
  const PtxInstr *in = b->in;
  uint32_t x = bind_src(b, &in->ops[1], TYPE_B32), y = bind_src(b, &in->ops[2], TYPE_B32),
           z = bind_src(b, &in->ops[3], TYPE_B32);
  Inst *i = emit(b, prmt_general, bind_dst(b, &in->ops[0], TYPE_B32), x, y, z);
  for (size_t k = 0; k < ARRAY_LEN(prmt_modes); k++)
    if (ptx_has(in, prmt_modes[k].mode)) {
      i->fn = prmt_mode;
      i->imm = prmt_modes[k].selectors;
    }
  return true;
}

bool VGPU_NAME(arith_bind_logic)(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType t = main_type(in);
  if (t == TYPE_PRED) return bind_pred_logic(b);
  int w = width_index(t);
  if (w < 0) return bind_unsupported(b, "logic on this type");
  bool wrap = ptx_has(in, MOD_WRAP);
  switch (in->op) {
    case OP_AND: return emit_simple(b, and_fns[w]);
    case OP_OR: return emit_simple(b, or_fns[w]);
    case OP_XOR: return emit_simple(b, xor_fns[w]);
    case OP_NOT: return emit_simple(b, not_fns[w]);
    case OP_CNOT: return emit_simple(b, cnot_fns[w]);
    case OP_SHL:
    case OP_SHR: return bind_shift(b, t);
    case OP_SHF:
      return emit_simple(b, ptx_has(in, MOD_L) ? (wrap ? shf_l_wrap : shf_l_clamp)
                                               : (wrap ? shf_r_wrap : shf_r_clamp));
    case OP_PRMT: return bind_prmt(b);
    case OP_LOP3: return bind_lop3(b);
    default: return bind_unsupported(b, "not a logic instruction");
  }
}
