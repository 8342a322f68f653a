// Half precision: f16, bf16 and their pairs. A slot of packed registers is 64 halves, so pairs and
// singles are one loop.
#include "vgpu/exec/arith_exec.h"
#include "vgpu/exec/arith_float.h"

// Computes EXPR of halves a, b, c; flag[1] is 1 for packed registers.
#define HALF(name, EXPR) \
  EXEC(name) { \
    const uint16_t *a_ = REG(w, uint16_t, in->a), *b_ = REG(w, uint16_t, in->b), \
                   *c_ = REG(w, uint16_t, in->c); \
    if (!in->flag[1]) { \
      ELEMENTWISE(w, uint16_t, in->d, i, ({ \
                    uint16_t a = a_[i], b = b_[i], c = c_[i]; \
                    (void)b, (void)c; \
                    (uint16_t)(EXPR); \
                  })); \
      return in + 1; \
    } \
    uint16_t t[2 * LANES]; \
    for (int i = 0; i < 2 * LANES; i++) \
      t[i] = ({ \
        uint16_t a = a_[i], b = b_[i], c = c_[i]; \
        (void)b, (void)c; \
        (uint16_t)(EXPR); \
      }); \
    store_pairs(w, in->d, t); \
    return in + 1; \
  }
static inline void store_pairs(Warp *w, uint32_t slot, const uint16_t *t) {
  uint32_t *d = REG(w, uint32_t, slot), m = w->exec, v[LANES];
  memcpy(v, t, sizeof v);
  for (int i = 0; i < LANES; i++) d[i] = (m >> i & 1) ? v[i] : d[i];
}

#define H(x) f32_from_f16(x)
#define B(x) f32_from_bf16(x)
HALF(add_f16, f16_from_f32(H(a) + H(b)))
HALF(sub_f16, f16_from_f32(H(a) - H(b)))
HALF(mul_f16, f16_from_f32(H(a) * H(b)))
HALF(fma_f16, f16_fma(a, b, c))
HALF(add_bf16, bf16_from_f32(B(a) + B(b)))
HALF(sub_bf16, bf16_from_f32(B(a) - B(b)))
HALF(mul_bf16, bf16_fma(a, b, 0x8000))
HALF(fma_bf16, bf16_fma(a, b, c))
HALF(add_ftz_f16, f16_from_f32_flush(H(a) + H(b)))
HALF(sub_ftz_f16, f16_from_f32_flush(H(a) - H(b)))
HALF(mul_ftz_f16, f16_from_f32_flush(H(a) * H(b)))
HALF(fma_ftz_f16, f16_fma_flush(a, b, c))
HALF(flush_f16, f16_flush(a))
HALF(saturate_f16, f16_saturate(a))
HALF(relu_f16, half_relu(a, 0x7c00, F16_NAN_BITS))
HALF(relu_bf16, half_relu(a, 0x7f80, BF16_NAN_BITS))
HALF(clear_oob, half_is_oob(b) || half_is_oob(c) ? 0 : a)
HALF(abs_f16, f16_change_sign(a, a & 0x7fff))
HALF(neg_f16, f16_change_sign(a, a ^ 0x8000))
HALF(abs_bf16, bf16_change_sign(a, a & 0x7fff))
HALF(neg_bf16, bf16_change_sign(a, a ^ 0x8000))
HALF(min_f16, f16_min(a, b))
HALF(max_f16, f16_max(a, b))
HALF(min_nan_f16, f16_min_nan(a, b))
HALF(max_nan_f16, f16_max_nan(a, b))
HALF(min_bf16, bf16_min(a, b))
HALF(max_bf16, bf16_max(a, b))
HALF(min_nan_bf16, bf16_min_nan(a, b))
HALF(max_nan_bf16, bf16_max_nan(a, b))
#define XORSIGN(F, op, NAN_BITS) \
  ({ \
    uint16_t r_ = op(a & 0x7fff, b & 0x7fff); \
    F##_is_nan(r_) ? NAN_BITS : r_ | ((a ^ b) & 0x8000); \
  })
HALF(min_xorsign_f16, XORSIGN(f16, f16_min, F16_NAN_BITS))
HALF(max_xorsign_f16, XORSIGN(f16, f16_max, F16_NAN_BITS))
HALF(min_nan_xorsign_f16, XORSIGN(f16, f16_min_nan, F16_NAN_BITS))
HALF(max_nan_xorsign_f16, XORSIGN(f16, f16_max_nan, F16_NAN_BITS))
HALF(min_xorsign_bf16, XORSIGN(bf16, bf16_min, BF16_NAN_BITS))
HALF(max_xorsign_bf16, XORSIGN(bf16, bf16_max, BF16_NAN_BITS))
HALF(min_nan_xorsign_bf16, XORSIGN(bf16, bf16_min_nan, BF16_NAN_BITS))
HALF(max_nan_xorsign_bf16, XORSIGN(bf16, bf16_max_nan, BF16_NAN_BITS))

static ExecFn *const minmax_fns[2][2][2][2] = {  // [bf16][max][.NaN][.xorsign.abs]
    {{{min_f16, min_xorsign_f16}, {min_nan_f16, min_nan_xorsign_f16}},
     {{max_f16, max_xorsign_f16}, {max_nan_f16, max_nan_xorsign_f16}}},
    {{{min_bf16, min_xorsign_bf16}, {min_nan_bf16, min_nan_xorsign_bf16}},
     {{max_bf16, max_xorsign_bf16}, {max_nan_bf16, max_nan_xorsign_bf16}}}};

static ExecFn *find_operation(const PtxInstr *in, bool bf, bool ftz) {
  switch (in->op) {
    case OP_ADD: return bf ? add_bf16 : ftz ? add_ftz_f16 : add_f16;
    case OP_SUB: return bf ? sub_bf16 : ftz ? sub_ftz_f16 : sub_f16;
    case OP_MUL: return bf ? mul_bf16 : ftz ? mul_ftz_f16 : mul_f16;
    case OP_FMA:
    case OP_MAD: return bf ? fma_bf16 : ftz ? fma_ftz_f16 : fma_f16;
    case OP_ABS: return bf ? abs_bf16 : abs_f16;
    case OP_NEG: return bf ? neg_bf16 : neg_f16;
    case OP_MIN:
    case OP_MAX:
      return minmax_fns[bf][in->op == OP_MAX][ptx_has(in, MOD_NAN)][ptx_has(in, MOD_XORSIGN)];
    default: return NULL;
  }
}

bool VGPU_NAME(arith_bind_half)(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType t = main_type(in);
  bool packed = t == TYPE_F16X2 || t == TYPE_BF16X2, bf = t == TYPE_BF16 || t == TYPE_BF16X2;
  unsigned bytes = packed ? 4 : 2, sources = in->nops - 1u;
  ExecFn *fn = find_operation(in, bf, ptx_has(in, MOD_FTZ));
  if (!fn || sources > 3) return bind_unsupported(b, "not a half-precision instruction");
  bool ftz = ptx_has(in, MOD_FTZ);
  uint32_t s[3] = {0};
  for (unsigned k = 0; k < 3; k++) s[k] = k < sources ? bind_src(b, &in->ops[k + 1], t) : s[0];
  uint32_t d = bind_dst(b, &in->ops[0], t);
#define EMIT(fn, d, x, y, z) (emit(b, fn, d, x, y, z)->flag[1] = packed)
  for (unsigned k = 0; ftz && k < sources; k++) {
    uint32_t flushed = bind_scratch(b, bytes);
    EMIT(flush_f16, flushed, s[k], s[k], s[k]);
    s[k] = flushed;
  }
  // The remaining steps on the result, in order.
  ExecFn *after[3];
  unsigned nafter = 0;
  if (ptx_has(in, MOD_SAT)) after[nafter++] = saturate_f16;
  if (ptx_has(in, MOD_RELU)) after[nafter++] = bf ? relu_bf16 : relu_f16;
  if (ptx_has(in, MOD_OOB)) after[nafter++] = clear_oob;
  uint32_t result = nafter ? bind_scratch(b, bytes) : d;
  if (sources == 3 && (in->op == OP_MIN || in->op == OP_MAX)) {
    uint32_t first = bind_scratch(b, bytes);
    if (ptx_has(in, MOD_ABS))
      for (unsigned k = 0; k < 3; k++) {
        uint32_t magnitude = bind_scratch(b, bytes);
        EMIT(abs_f16, magnitude, s[k], s[k], s[k]);
        s[k] = magnitude;
      }
    EMIT(fn, first, s[0], s[1], s[1]);
    EMIT(fn, result, first, s[2], s[2]);
  } else {
    EMIT(fn, result, s[0], s[1], s[2]);
  }
  for (unsigned k = 0; k < nafter; k++) {
    uint32_t next = k + 1 < nafter ? bind_scratch(b, bytes) : d;
    EMIT(after[k], next, result, s[0], s[1]);
    result = next;
  }
#undef EMIT
  return true;
}
