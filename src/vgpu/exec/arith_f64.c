// Double precision: add sub mul fma mad div rcp sqrt, abs neg min max copysign.
#include "vgpu/exec/arith_exec.h"
#include "vgpu/exec/arith_float.h"

#define FMA(a, b, c) __builtin_fma(a, b, c)
EXEC_2(add_rn, double, double, double, f64_propagate2(a + b, b, a))
EXEC_2(sub_rn, double, double, double, f64_propagate2(a - b, b, a))
EXEC_2(mul_rn, double, double, double, f64_propagate2(a *b, b, a))
EXEC_2(div_rn, double, double, double, f64_propagate2(a / b, a, b))
EXEC_3(fma_rn, double, double, double, double, f64_propagate3(FMA(a, b, c), b, c, a))
EXEC_1(rcp_rn, double, double, f64_propagate1(1.0 / a, a))
EXEC_1(sqrt_rn, double, double, f64_propagate1(__builtin_sqrt(a), a))

#define DIRECTED(name, EXPR, NAN_OF) \
  EXEC(name) { \
    uint64_t old = rounding_enter(in->flag[0]); \
    const double *a_ = REG(w, double, in->a), *b_ = REG(w, double, in->b), \
                 *c_ = REG(w, double, in->c); \
    ELEMENTWISE(w, double, in->d, i, ({ \
                  double a = a_[i], b = b_[i], c = c_[i]; \
                  (void)b, (void)c; \
                  double r = EXPR; \
                  NAN_OF; \
                })); \
    rounding_leave(old); \
    return in + 1; \
  }
DIRECTED(add_directed, a + b, f64_propagate2(r, b, a))
DIRECTED(sub_directed, a - b, f64_propagate2(r, b, a))
DIRECTED(mul_directed, a *b, f64_propagate2(r, b, a))
DIRECTED(fma_directed, FMA(a, b, c), f64_propagate3(r, b, c, a))
DIRECTED(div_directed, a / b, f64_propagate2(r, a, b))
DIRECTED(rcp_directed, b / a, f64_propagate1(r, a))  // b is 1
DIRECTED(sqrt_directed, __builtin_sqrt(a), f64_propagate1(r, a))

EXEC_1(abs_f64, uint64_t, uint64_t, f64_change_sign(a, a & 0x7fffffffffffffffull))
EXEC_1(neg_f64, uint64_t, uint64_t, f64_change_sign(a, a ^ 0x8000000000000000ull))
EXEC_2(copysign_f64, uint64_t, uint64_t, uint64_t,
       (a & 0x8000000000000000ull) | (b & 0x7fffffffffffffffull))
EXEC_2(min_f64, uint64_t, uint64_t, uint64_t, f64_min(a, b))
EXEC_2(max_f64, uint64_t, uint64_t, uint64_t, f64_max(a, b))

bool VGPU_NAME(arith_bind_f64)(Binder *b) {
  const PtxInstr *in = b->in;
  ExecFn *nearest, *directed;
  switch (in->op) {
    case OP_ABS: return emit_simple(b, abs_f64);
    case OP_NEG: return emit_simple(b, neg_f64);
    case OP_COPYSIGN: return emit_simple(b, copysign_f64);
    case OP_MIN: return emit_simple(b, min_f64);
    case OP_MAX: return emit_simple(b, max_f64);
    case OP_ADD:
      nearest = add_rn;
      directed = add_directed;
      break;
    case OP_SUB:
      nearest = sub_rn;
      directed = sub_directed;
      break;
    case OP_MUL:
      nearest = mul_rn;
      directed = mul_directed;
      break;
    case OP_DIV:
      nearest = div_rn;
      directed = div_directed;
      break;
    case OP_FMA:
    case OP_MAD:
      nearest = fma_rn;
      directed = fma_directed;
      break;
    case OP_RCP:
      nearest = rcp_rn;
      directed = rcp_directed;
      break;
    case OP_SQRT:
      nearest = sqrt_rn;
      directed = sqrt_directed;
      break;
    default: return bind_unsupported(b, "not a double-precision instruction");
  }
  Rounding mode = ptx_has(in, MOD_RZ)   ? ROUND_ZERO
                  : ptx_has(in, MOD_RM) ? ROUND_DOWN
                  : ptx_has(in, MOD_RP) ? ROUND_UP
                                        : ROUND_NEAREST;
  if (mode == ROUND_NEAREST) return emit_simple(b, nearest);
  uint32_t s[3] = {0};
  for (unsigned k = 0; k < 3; k++)
    s[k] = k + 1 < in->nops ? bind_src(b, &in->ops[k + 1], TYPE_F64) : s[0];
  if (in->op == OP_RCP) s[1] = bind_constant(b, f64_bits(1.0), 8);
  emit(b, directed, bind_dst(b, &in->ops[0], TYPE_F64), s[0], s[1], s[2])->flag[0] = (uint8_t)mode;
  return true;
}
