// Inside the arithmetic family: how its files define execute functions and hand them to the
// decoder.
//
// An execute function is a loop over 32 lanes of one expression, made by the EXEC macros below; the
// compiler vectorizes it. Rare forms are put together from several Insts: then only the last one
// writes a register of the program, the others write scratch slots, because a destination may share
// its slot with a source (or be the guard).
#ifndef WG_VGPU_ARITH_EXEC_H
#define WG_VGPU_ARITH_EXEC_H

#include "vgpu/warp.h"

// Inside the expressions a, b, c are the lane's operands.
#define EXEC(name) static const Inst *name(Warp *w, const Inst *in)
#define EXEC_1(name, TD, TA, ...) \
  EXEC(name) { \
    const TA *a_ = REG(w, TA, in->a); \
    ELEMENTWISE(w, TD, in->d, i, ({ \
                  TA a = a_[i]; \
                  (__VA_ARGS__); \
                })); \
    return in + 1; \
  }
#define EXEC_2(name, TD, TA, TB, ...) \
  EXEC(name) { \
    const TA *a_ = REG(w, TA, in->a); \
    const TB *b_ = REG(w, TB, in->b); \
    ELEMENTWISE(w, TD, in->d, i, ({ \
                  TA a = a_[i]; \
                  TB b = b_[i]; \
                  (__VA_ARGS__); \
                })); \
    return in + 1; \
  }
#define EXEC_3(name, TD, TA, TB, TC, ...) \
  EXEC(name) { \
    const TA *a_ = REG(w, TA, in->a); \
    const TB *b_ = REG(w, TB, in->b); \
    const TC *c_ = REG(w, TC, in->c); \
    ELEMENTWISE(w, TD, in->d, i, ({ \
                  TA a = a_[i]; \
                  TB b = b_[i]; \
                  TC c = c_[i]; \
                  (__VA_ARGS__); \
                })); \
    return in + 1; \
  }

static inline Inst *emit(Binder *b, ExecFn *fn, uint32_t d, uint32_t a, uint32_t s2, uint32_t s3) {
  Inst *i = bind_emit(b, fn);
  i->d = d;
  i->a = a;
  i->b = s2;
  i->c = s3;
  return i;
}

// 0, 1, 2 for 16, 32, 64 bits; -1 for others.
static inline int width_index(PtxType t) {
  switch (ptx_type_size(t)) {
    case 2: return 0;
    case 4: return 1;
    case 8: return 2;
    default: return -1;
  }
}
static inline bool type_is_signed(PtxType t) { return ptx_type_kind(t) == KIND_SIGNED; }
static inline bool type_is_float(PtxType t) { return ptx_type_kind(t) == KIND_FLOAT; }
// The type an instruction computes in: the last type modifier.
static inline PtxType main_type(const PtxInstr *in) {
  return in->ntypes ? in->types[in->ntypes - 1] : TYPE_NONE;
}

// Binds the destination and up to three sources of the main type and emits one Inst.
static inline bool emit_simple(Binder *b, ExecFn *fn) {
  if (!fn) return bind_unsupported(b, "this type is not executed by the virtual device");
  const PtxInstr *in = b->in;
  PtxType t = main_type(in);
  uint32_t s[3] = {0};
  for (unsigned k = 1; k < in->nops && k <= 3; k++) s[k - 1] = bind_src(b, &in->ops[k], t);
  uint32_t d = bind_dst(b, &in->ops[0], t);
  emit(b, fn, d, s[0], s[1], s[2]);
  return true;
}

// One bind function for each file; arith.c chooses by opcode and type.
bool VGPU_NAME(arith_bind_int)(Binder *b);
bool VGPU_NAME(arith_bind_bits)(Binder *b);
bool VGPU_NAME(arith_bind_carry)(Binder *b);
bool VGPU_NAME(arith_bind_logic)(Binder *b);
bool VGPU_NAME(arith_bind_setp)(Binder *b);
bool VGPU_NAME(arith_bind_set)(Binder *b);
bool VGPU_NAME(arith_bind_select)(Binder *b);
bool VGPU_NAME(arith_bind_f32)(Binder *b);
bool VGPU_NAME(arith_bind_f64)(Binder *b);
bool VGPU_NAME(arith_bind_half)(Binder *b);
bool VGPU_NAME(arith_bind_special)(Binder *b);
bool VGPU_NAME(arith_bind_mov)(Binder *b);
bool VGPU_NAME(arith_bind_cvt)(Binder *b);
bool VGPU_NAME(arith_bind_cvt_small)(Binder *b);
bool VGPU_NAME(arith_bind_cvt_pack)(Binder *b);
bool VGPU_NAME(arith_bind_video)(Binder *b);

#endif
