// Bit counting and bit fields (popc clz bfind fns brev bfe bfi bmsk szext), dot products (dp4a
// dp2a), and the extended-precision chain (add.cc addc sub.cc subc mad.cc madc).
#include "vgpu/exec/arith_exec.h"
#include "vgpu/exec/arith_int.h"

EXEC_1(popc_b32, uint32_t, uint32_t, (uint32_t)__builtin_popcount(a))
EXEC_1(popc_b64, uint32_t, uint64_t, (uint32_t)__builtin_popcountll(a))
EXEC_1(clz_op_b32, uint32_t, uint32_t, clz_b32(a))
EXEC_1(clz_op_b64, uint32_t, uint64_t, clz_b64(a))
EXEC_1(bfind_op_u32, uint32_t, uint32_t, bfind_u32(a))
EXEC_1(bfind_op_u64, uint32_t, uint64_t, bfind_u64(a))
EXEC_1(bfind_op_s32, uint32_t, int32_t, bfind_s32(a))
EXEC_1(bfind_op_s64, uint32_t, int64_t, bfind_s64(a))
EXEC_1(bfind_shift_u32, uint32_t, uint32_t, shiftamt32(bfind_u32(a)))
EXEC_1(bfind_shift_u64, uint32_t, uint64_t, shiftamt64(bfind_u64(a)))
EXEC_1(bfind_shift_s32, uint32_t, int32_t, shiftamt32(bfind_s32(a)))
EXEC_1(bfind_shift_s64, uint32_t, int64_t, shiftamt64(bfind_s64(a)))
EXEC_1(brev_op_b32, uint32_t, uint32_t, brev_b32(a))
EXEC_1(brev_op_b64, uint64_t, uint64_t, brev_b64(a))
EXEC_3(fns_op, uint32_t, uint32_t, uint32_t, int32_t, fns_b32(a, b, c))
EXEC_3(bfe_op_u32, uint32_t, uint32_t, uint32_t, uint32_t, bfe_u32(a, b, c))
EXEC_3(bfe_op_u64, uint64_t, uint64_t, uint32_t, uint32_t, bfe_u64(a, b, c))
EXEC_3(bfe_op_s32, int32_t, int32_t, uint32_t, uint32_t, bfe_s32(a, b, c))
EXEC_3(bfe_op_s64, int64_t, int64_t, uint32_t, uint32_t, bfe_s64(a, b, c))
EXEC_2(bmsk_clamp, uint32_t, uint32_t, uint32_t, bmsk_b32(a, b))
EXEC_2(bmsk_wrap, uint32_t, uint32_t, uint32_t, bmsk_b32(a & 31, b & 31))
EXEC_2(szext_clamp_u32, uint32_t, uint32_t, uint32_t, szext_u32(a, b))
EXEC_2(szext_wrap_u32, uint32_t, uint32_t, uint32_t, szext_u32(a, b & 31))
EXEC_2(szext_clamp_s32, int32_t, int32_t, uint32_t, szext_s32(a, b))
EXEC_2(szext_wrap_s32, int32_t, int32_t, uint32_t, szext_s32(a, b & 31))

#define DEFINE_DOT(n, sa, sb) \
  EXEC_3(dp4a_##n, uint32_t, uint32_t, uint32_t, uint32_t, dp4a_lane(a, b, c, sa, sb)) \
  EXEC_3(dp2a_lo_##n, uint32_t, uint32_t, uint32_t, uint32_t, dp2a_lane(a, b, c, sa, sb, 0)) \
  EXEC_3(dp2a_hi_##n, uint32_t, uint32_t, uint32_t, uint32_t, dp2a_lane(a, b, c, sa, sb, 2))
DEFINE_DOT(uu, 0, 0)
DEFINE_DOT(us, 0, 1)
DEFINE_DOT(su, 1, 0)
DEFINE_DOT(ss, 1, 1)

// bfi has four sources: the fourth is slots[0].
#define DEFINE_BFI(n, T) \
  EXEC(bfi_op_##n) { \
    const T *a = REG(w, T, in->a), *b = REG(w, T, in->b); \
    const uint32_t *c = REG(w, uint32_t, in->c), *len = REG(w, uint32_t, in->slots[0]); \
    ELEMENTWISE(w, T, in->d, i, bfi_##n(a[i], b[i], c[i], len[i])); \
    return in + 1; \
  }
DEFINE_BFI(b32, uint32_t)
DEFINE_BFI(b64, uint64_t)

static bool bind_bfi(Binder *b, PtxType t) {
  const PtxInstr *in = b->in;
  uint32_t x = bind_src(b, &in->ops[1], t), y = bind_src(b, &in->ops[2], t);
  uint32_t pos = bind_src(b, &in->ops[3], TYPE_U32), len = bind_src(b, &in->ops[4], TYPE_U32);
  uint32_t *slots = bind_alloc(b, sizeof *slots);
  slots[0] = len;
  emit(b, ptx_type_size(t) == 8 ? bfi_op_b64 : bfi_op_b32, bind_dst(b, &in->ops[0], t), x, y, pos)
      ->slots = slots;
  return true;
}

// Operands: destination of type td, first source of type ta, others of type tb.
static bool bind_typed(Binder *b, ExecFn *fn, PtxType td, PtxType ta, PtxType tb) {
  const PtxInstr *in = b->in;
  uint32_t s[3] = {0};
  for (unsigned k = 1; k < in->nops && k <= 3; k++)
    s[k - 1] = bind_src(b, &in->ops[k], k == 1 ? ta : tb);
  emit(b, fn, bind_dst(b, &in->ops[0], td), s[0], s[1], s[2]);
  return true;
}

static ExecFn *const bfind_fns[2][2][2] = {  // [shiftamt][signed][64 bits]
    {{bfind_op_u32, bfind_op_u64}, {bfind_op_s32, bfind_op_s64}},
    {{bfind_shift_u32, bfind_shift_u64}, {bfind_shift_s32, bfind_shift_s64}}};
static ExecFn *const bfe_fns[2][2] = {{bfe_op_u32, bfe_op_u64}, {bfe_op_s32, bfe_op_s64}};
// [wrap][signed]
static ExecFn *const szext_fns[2][2] = {{szext_clamp_u32, szext_clamp_s32},
                                        {szext_wrap_u32, szext_wrap_s32}};
static ExecFn *const dot_fns[3][2][2] = {  // [dp4a, dp2a.lo, dp2a.hi][a signed][b signed]
    {{dp4a_uu, dp4a_us}, {dp4a_su, dp4a_ss}},
    {{dp2a_lo_uu, dp2a_lo_us}, {dp2a_lo_su, dp2a_lo_ss}},
    {{dp2a_hi_uu, dp2a_hi_us}, {dp2a_hi_su, dp2a_hi_ss}}};

bool VGPU_NAME(arith_bind_bits)(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType t = main_type(in);
  bool is_signed = type_is_signed(t), wide = ptx_type_size(t) == 8, wrap = ptx_has(in, MOD_WRAP);
  switch (in->op) {
    case OP_POPC: return bind_typed(b, wide ? popc_b64 : popc_b32, TYPE_U32, t, t);
    case OP_CLZ: return bind_typed(b, wide ? clz_op_b64 : clz_op_b32, TYPE_U32, t, t);
    case OP_BREV: return bind_typed(b, wide ? brev_op_b64 : brev_op_b32, t, t, t);
    case OP_BFIND:
      return bind_typed(b, bfind_fns[ptx_has(in, MOD_SHIFTAMT)][is_signed][wide], TYPE_U32, t, t);
    case OP_FNS: return bind_typed(b, fns_op, TYPE_B32, TYPE_B32, TYPE_B32);
    case OP_BFE: return bind_typed(b, bfe_fns[is_signed][wide], t, t, TYPE_U32);
    case OP_BFI: return bind_bfi(b, t);
    case OP_BMSK: return bind_typed(b, wrap ? bmsk_wrap : bmsk_clamp, TYPE_B32, TYPE_U32, TYPE_U32);
    case OP_SZEXT: return bind_typed(b, szext_fns[wrap][is_signed], t, t, TYPE_U32);
    case OP_DP4A:
    case OP_DP2A: {
      unsigned kind = in->op == OP_DP4A ? 0 : ptx_has(in, MOD_LO) ? 1 : 2;
      return bind_typed(b,
                        dot_fns[kind][type_is_signed(in->types[0])][type_is_signed(in->types[1])],
                        TYPE_B32, TYPE_B32, TYPE_B32);
    }
    default: return bind_unsupported(b, "not a bit instruction");
  }
}

// --- extended precision ---
// CC.CF is a predicate slot. Each of these computes a sum with a carry in and out; flag[0] says
// whether the carry comes in, flag[1] whether it goes out. imm is the slot of the flag. A
// subtraction adds the complement, so that its flag means "no borrow"; programs see it where an
// addition follows a subtraction or the other way round (measured).
enum { CARRY_IN, CARRY_OUT };
#define DEFINE_CARRY(name, T, LEFT, RIGHT, IS_SUB) \
  EXEC(name) { \
    T *d = REG(w, T, in->d); \
    const T *a = REG(w, T, in->a), *b = REG(w, T, in->b), *c = REG(w, T, in->c); \
    uint32_t carry = in->flag[CARRY_IN] ? PRED(w, in->imm) : IS_SUB ? ~0u : 0, out = 0; \
    (void)a, (void)b, (void)c; \
    for (int i = 0; i < LANES; i++) { \
      T x = (LEFT), y = IS_SUB ? ~(RIGHT) : (RIGHT), k = carry >> i & 1; \
      T r = x + y + k; \
      bool over = r < x || (r == x && k); \
      out |= (uint32_t)over << i; \
      if (w->exec >> i & 1) d[i] = r; \
    } \
    if (in->flag[CARRY_OUT]) pred_write(w, (uint32_t)in->imm, w->exec, out); \
    return in + 1; \
  }
DEFINE_CARRY(carry_add_u32, uint32_t, a[i], b[i], false)
DEFINE_CARRY(carry_add_u64, uint64_t, a[i], b[i], false)
DEFINE_CARRY(carry_sub_u32, uint32_t, a[i], b[i], true)
DEFINE_CARRY(carry_sub_u64, uint64_t, a[i], b[i], true)
DEFINE_CARRY(carry_mad_lo_u32, uint32_t, a[i] * b[i], c[i], false)
DEFINE_CARRY(carry_mad_lo_u64, uint64_t, a[i] * b[i], c[i], false)
DEFINE_CARRY(carry_mad_hi_u32, uint32_t, mulhi_u32(a[i], b[i]), c[i], false)
DEFINE_CARRY(carry_mad_hi_u64, uint64_t, mulhi_u64(a[i], b[i]), c[i], false)
DEFINE_CARRY(carry_mad_hi_s32, uint32_t, (uint32_t)mulhi_s32((int32_t)a[i], (int32_t)b[i]), c[i],
             false)
DEFINE_CARRY(carry_mad_hi_s64, uint64_t, (uint64_t)mulhi_s64((int64_t)a[i], (int64_t)b[i]), c[i],
             false)

bool VGPU_NAME(arith_bind_carry)(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType t = main_type(in);
  bool wide = ptx_type_size(t) == 8, is_signed = type_is_signed(t);
  ExecFn *fn;
  switch (in->op) {
    case OP_ADD:
    case OP_ADDC: fn = wide ? carry_add_u64 : carry_add_u32; break;
    case OP_SUB:
    case OP_SUBC: fn = wide ? carry_sub_u64 : carry_sub_u32; break;
    default:
      if (!ptx_has(in, MOD_HI)) fn = wide ? carry_mad_lo_u64 : carry_mad_lo_u32;
      else if (is_signed) fn = wide ? carry_mad_hi_s64 : carry_mad_hi_s32;
      else fn = wide ? carry_mad_hi_u64 : carry_mad_hi_u32;
  }
  uint32_t s[3] = {0};
  for (unsigned k = 1; k < in->nops && k <= 3; k++) s[k - 1] = bind_src(b, &in->ops[k], t);
  Inst *i = emit(b, fn, bind_dst(b, &in->ops[0], t), s[0], s[1], s[2]);
  i->imm = bind_carry(b);
  i->flag[CARRY_IN] = in->op == OP_ADDC || in->op == OP_SUBC || in->op == OP_MADC;
  i->flag[CARRY_OUT] = ptx_has(in, MOD_CC);
  return true;
}
