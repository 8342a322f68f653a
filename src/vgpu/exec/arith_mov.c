// mov: registers, predicates, special registers, addresses, and vectors packed into or unpacked
// from one register.
#include "vgpu/exec/arith_exec.h"

EXEC_1(mov_b16, uint16_t, uint16_t, a)
EXEC_1(mov_b32, uint32_t, uint32_t, a)
EXEC_1(mov_b64, uint64_t, uint64_t, a)
EXEC_1(mov_b128, unsigned __int128, unsigned __int128, a)
EXEC_1(mov_b16_b32, uint16_t, uint32_t, a)
EXEC_1(mov_b16_b64, uint16_t, uint64_t, a)
EXEC_1(mov_b32_b16, uint32_t, uint16_t, a)
EXEC_1(mov_b32_b64, uint32_t, uint64_t, a)
EXEC_1(mov_b64_b16, uint64_t, uint16_t, a)
EXEC_1(mov_b64_b32, uint64_t, uint32_t, a)
EXEC(mov_pred) {
  pred_write(w, in->d, w->exec, PRED(w, in->a) ^ (uint32_t)in->imm);
  return in + 1;
}
static ExecFn *const mov_fns[3][3] = {{mov_b16, mov_b16_b32, mov_b16_b64},
                                      {mov_b32_b16, mov_b32, mov_b32_b64},
                                      {mov_b64_b16, mov_b64_b32, mov_b64}};

static int bytes_index(unsigned bytes) {
  return bytes == 2 ? 0 : bytes == 4 ? 1 : bytes == 8 ? 2 : -1;
}

static bool emit_move(Binder *b, uint32_t d, unsigned d_bytes, uint32_t s, unsigned s_bytes) {
  if (d_bytes == 16 && s_bytes == 16) {
    emit(b, mov_b128, d, s, 0, 0);
    return true;
  }
  int x = bytes_index(d_bytes), y = bytes_index(s_bytes);
  if (x < 0 || y < 0) return bind_unsupported(b, "a move between registers of these sizes");
  emit(b, mov_fns[x][y], d, s, 0, 0);
  return true;
}

// Common vectors have their own functions: two halves.
EXEC_2(pack_2xb16, uint32_t, uint16_t, uint16_t, (uint32_t)a | (uint32_t)b << 16)
EXEC_2(pack_2xb32, uint64_t, uint32_t, uint32_t, (uint64_t)a | (uint64_t)b << 32)
EXEC(unpack_2xb16) {
  const uint32_t *a = REG(w, uint32_t, in->a);
  uint16_t low[LANES], high[LANES];
  for (int i = 0; i < LANES; i++) {
    low[i] = (uint16_t)a[i];
    high[i] = (uint16_t)(a[i] >> 16);
  }
  ELEMENTWISE(w, uint16_t, in->d, i, low[i]);
  ELEMENTWISE(w, uint16_t, in->b, i, high[i]);
  return in + 1;
}
EXEC(unpack_2xb32) {
  const uint64_t *a = REG(w, uint64_t, in->a);
  uint32_t low[LANES], high[LANES];
  for (int i = 0; i < LANES; i++) {
    low[i] = (uint32_t)a[i];
    high[i] = (uint32_t)(a[i] >> 32);
  }
  ELEMENTWISE(w, uint32_t, in->d, i, low[i]);
  ELEMENTWISE(w, uint32_t, in->b, i, high[i]);
  return in + 1;
}

// Any other vector: flag[0] elements of flag[1] bytes, in slots of slots[n + k] bytes at slots[k];
// flag[2]: bytes of the whole.
static inline uint64_t load_lane(Warp *w, uint32_t slot, unsigned bytes, uint32_t lane) {
  uint64_t v = 0;
  memcpy(&v, w->regs + slot + (size_t)lane * bytes, MIN(bytes, 8u));
  return v;
}
EXEC(pack_any) {
  unsigned n = in->flag[0], bytes = in->flag[1], whole = in->flag[2];
  FOR_LANES(i, w->exec) {
    char value[16] = {0};
    for (unsigned k = 0; k < n; k++) {
      uint64_t v = load_lane(w, in->slots[k], in->slots[n + k], i);
      memcpy(value + k * bytes, &v, bytes);
    }
    memcpy(w->regs + in->d + (size_t)i * whole, value, whole);
  }
  return in + 1;
}
EXEC(unpack_any) {
  unsigned n = in->flag[0], bytes = in->flag[1], whole = in->flag[2];
  FOR_LANES(i, w->exec) {
    char value[16] = {0};
    memcpy(value, w->regs + in->a + (size_t)i * whole, whole);
    for (unsigned k = 0; k < n; k++) {
      uint64_t v = 0;
      memcpy(&v, value + k * bytes, bytes);
      memcpy(w->regs + in->slots[k] + (size_t)i * in->slots[n + k], &v, in->slots[n + k]);
    }
  }
  return in + 1;
}

static PtxType bits_type(unsigned bytes) {
  return bytes == 1   ? TYPE_B8
         : bytes == 2 ? TYPE_B16
         : bytes == 4 ? TYPE_B32
         : bytes == 8 ? TYPE_B64
                      : TYPE_B128;
}

static bool bind_vector(Binder *b, PtxType t, bool packing) {
  const PtxInstr *in = b->in;
  const PtxOperand *vector = &in->ops[packing ? 1 : 0], *whole = &in->ops[packing ? 0 : 1];
  unsigned n = vector->nlist, total = ptx_type_size(t);
  if (n < 2 || total == 0 || total % n)
    return bind_unsupported(b, "a vector that does not fit the type");
  unsigned bytes = total / n;
  PtxType element = bits_type(bytes);
  uint32_t *slots = bind_alloc(b, 2 * n * sizeof *slots);
  for (unsigned k = 0; k < n; k++) {
    const PtxOperand *o = &vector->list[k];
    slots[k] = packing ? bind_src(b, o, element) : bind_dst(b, o, element);
    slots[n + k] = bind_width(b, o, element);
  }
  uint32_t other = packing ? bind_dst(b, whole, t) : bind_src(b, whole, t);
  unsigned whole_bytes = bind_width(b, whole, t);
  bool plain = n == 2 && slots[2] == bytes && slots[3] == bytes && whole_bytes == total &&
               (bytes == 2 || bytes == 4);
  if (plain && packing) {
    emit(b, bytes == 2 ? pack_2xb16 : pack_2xb32, other, slots[0], slots[1], 0);
    return true;
  }
  if (plain) {
    emit(b, bytes == 2 ? unpack_2xb16 : unpack_2xb32, slots[0], other, slots[1], 0);
    return true;
  }
  Inst *i = emit(b, packing ? pack_any : unpack_any, packing ? other : 0, packing ? 0 : other, 0,
                 0);
  i->slots = slots;
  i->flag[0] = (uint8_t)n;
  i->flag[1] = (uint8_t)bytes;
  i->flag[2] = (uint8_t)whole_bytes;
  return true;
}

// Element k of {a, b, …}, of a vector register, or of a special register with components.
static PtxOperand element_of(const PtxOperand *o, unsigned k) {
  if (o->kind == OPD_VECTOR) return o->list[k];
  PtxOperand e = *o;
  e.selector = SEL_X + k;
  return e;
}
static bool has_elements(const PtxOperand *o, unsigned n) {
  return o->kind == OPD_VECTOR ? o->nlist == n
         : o->kind == OPD_REG  ? o->reg->vector >= n && !o->selector
                               : o->kind == OPD_SREG && ptx_sreg_is_vector(o->sreg) && !o->selector;
}

// mov.v2, mov.v4: element by element, through scratch registers because {a, b} = {b, a} must swap.
static bool bind_elements(Binder *b, PtxType t, unsigned n) {
  const PtxOperand *d = &b->in->ops[0], *s = &b->in->ops[1];
  if (!has_elements(d, n) || !has_elements(s, n))
    return bind_unsupported(b, "vectors of the same length were expected");
  uint32_t copy[4];
  unsigned bytes = MAX(ptx_type_size(t), 2u);
  for (unsigned k = 0; k < n; k++) {
    PtxOperand from = element_of(s, k);
    uint32_t x = bind_src(b, &from, t);
    copy[k] = bind_scratch(b, bytes);
    if (!emit_move(b, copy[k], bytes, x, bind_width(b, &from, t))) return false;
  }
  for (unsigned k = 0; k < n; k++) {
    PtxOperand to = element_of(d, k);
    if (to.kind == OPD_SINK) continue;
    if (!emit_move(b, bind_dst(b, &to, t), bind_width(b, &to, t), copy[k], bytes)) return false;
  }
  return true;
}

bool VGPU_NAME(arith_bind_mov)(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType t = main_type(in);
  const PtxOperand *d = &in->ops[0], *s = &in->ops[1];
  if (ptx_has(in, MOD_V2)) return bind_elements(b, t, 2);
  if (ptx_has(in, MOD_V4)) return bind_elements(b, t, 4);
  if (s->kind == OPD_VECTOR && d->kind == OPD_VECTOR)
    return bind_unsupported(b, "a move between two vectors");
  if (s->kind == OPD_VECTOR) return bind_vector(b, t, true);
  if (d->kind == OPD_VECTOR) return bind_vector(b, t, false);
  if (t == TYPE_PRED) {
    uint32_t negate, x = bind_pred(b, s, &negate);
    emit(b, mov_pred, bind_dst(b, d, t), x, 0, 0)->imm = negate;
    return true;
  }
  unsigned d_bytes = bind_width(b, d, t);
  if (s->kind == OPD_SREG) {
    uint32_t slot = bind_dst(b, d, t);
    Inst *i = bind_emit(b, sreg_exec(s->sreg, s->selector, d_bytes));
    i->d = slot;
    i->imm = s->sreg;
    i->flag[0] = (uint8_t)s->selector;
    i->flag[1] = (uint8_t)d_bytes;
    return true;
  }
  uint32_t x = bind_src(b, s, t);
  unsigned s_bytes = bind_width(b, s, t);
  if ((s->kind == OPD_VAR || s->kind == OPD_FUNC) && s_bytes < 4) s_bytes = 4;
  return emit_move(b, bind_dst(b, d, t), d_bytes, x, s_bytes);
}
