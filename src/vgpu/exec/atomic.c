// atom and red. Memory of the window may be touched by several workers, so operations there are
// atomic; a block, and the blocks of a cluster, run on one worker at a time, so shared memory needs
// no atomic instructions.
#include "vgpu/exec/arith_float.h"
#include "vgpu/exec/memory.h"
#include "vgpu/exec/half.h"
#include "vgpu/exec/pair.h"

#define memory_pointer VGPU_NAME(memory_pointer)
#define memory_bind_address VGPU_NAME(memory_bind_address)

typedef enum {
  AT_ADD,
  AT_MIN,
  AT_MAX,
  AT_AND,
  AT_OR,
  AT_XOR,
  AT_EXCH,
  AT_CAS,
  AT_INC,
  AT_DEC,
  AT_COUNT
} AtomicOp;

typedef struct AtomDesc {
  MemDesc mem;  // first: mem_desc() works; slot[]/width[] are the destinations
  PtxType type;
  AtomicOp op;
  bool returns, shared;
  uint32_t b[8], c;  // operand slots (vector forms have several b)
  uint8_t bwidth[8], cwidth;
} AtomDesc;

#define FLOAT_OF(T, bits) \
  ({ \
    __typeof__(bits) b_ = (bits); \
    T f_; \
    memcpy(&f_, &b_, sizeof f_); \
    f_; \
  })
#define BITS_OF(T, f) \
  ({ \
    __typeof__(f) f_ = (f); \
    T b_; \
    memcpy(&b_, &f_, sizeof b_); \
    b_; \
  })

static uint32_t flushed(uint32_t f) { return f & 0x7f800000 ? f : f & 0x80000000; }

// x: what memory holds, y: the operand. Of two NaNs the global unit prefers the operand to the
// value in memory, and keeps a signaling NaN unchanged; in shared memory the thread adds: the value
// in memory comes first, made quiet (measured).
static uint64_t add_f64(uint64_t x, uint64_t y, bool shared) {
  double m = f64_from_bits(x), v = f64_from_bits(y), r = m + v;
  if (shared) return f64_bits(f64_propagate2(r, m, v));
  return r == r ? f64_bits(r) : v != v ? y : m != m ? x : F64_NAN_BITS;
}

// GPU arithmetic makes one NaN of all of the other types. Global f32 add treats subnormals as zero.
static uint64_t add(PtxType t, uint64_t x, uint64_t y, bool shared) {
  switch (t) {
    case TYPE_F32: {
      uint32_t a = (uint32_t)x, b = (uint32_t)y;
      bool flush = !shared;
      if (flush) {
        a = flushed(a);
        b = flushed(b);
      }
      float r = FLOAT_OF(float, a) + FLOAT_OF(float, b);
      uint32_t bits = r != r ? 0x7fffffff : BITS_OF(uint32_t, r);
      return flush ? flushed(bits) : bits;
    }
    case TYPE_F64: return add_f64(x, y, shared);
    case TYPE_F16: return half_from_float(half_to_float((uint16_t)x) + half_to_float((uint16_t)y));
    case TYPE_BF16:
      return bfloat_from_float(bfloat_to_float((uint16_t)x) + bfloat_to_float((uint16_t)y));
    case TYPE_F16X2:
      return add(TYPE_F16, x & 0xffff, y & 0xffff, false) |
             add(TYPE_F16, x >> 16 & 0xffff, y >> 16 & 0xffff, false) << 16;
    case TYPE_BF16X2:
      return add(TYPE_BF16, x & 0xffff, y & 0xffff, false) |
             add(TYPE_BF16, x >> 16 & 0xffff, y >> 16 & 0xffff, false) << 16;
    default: return x + y;
  }
}

static bool less(PtxType t, uint64_t x, uint64_t y) {
  switch (t) {
    case TYPE_S32: return (int32_t)x < (int32_t)y;
    case TYPE_U32:
    case TYPE_B32: return (uint32_t)x < (uint32_t)y;
    case TYPE_S64: return (int64_t)x < (int64_t)y;
    case TYPE_F32: return FLOAT_OF(float, (uint32_t)x) < FLOAT_OF(float, (uint32_t)y);
    default: return x < y;
  }
}

static uint64_t pick(PtxType t, uint64_t x, uint64_t y, bool max) {
  switch (t) {
    case TYPE_F16:
      return max ? f16_max((uint16_t)x, (uint16_t)y) : f16_min((uint16_t)x, (uint16_t)y);
    case TYPE_BF16:
      return max ? bf16_max((uint16_t)x, (uint16_t)y) : bf16_min((uint16_t)x, (uint16_t)y);
    case TYPE_F16X2:
    case TYPE_BF16X2: {
      PtxType half = t == TYPE_F16X2 ? TYPE_F16 : TYPE_BF16;
      return pick(half, x, y, max) | pick(half, x >> 16, y >> 16, max) << 16;
    }
    default: return (max ? less(t, x, y) : less(t, y, x)) ? y : x;
  }
}

// One element: old value -> new value.
static uint64_t combine(const AtomDesc *d, uint64_t old, uint64_t b, uint64_t c) {
  switch (d->op) {
    case AT_EXCH: return b;
    case AT_CAS: return old == b ? c : old;
    case AT_AND: return old & b;
    case AT_OR: return old | b;
    case AT_XOR: return old ^ b;
    case AT_INC: return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
    case AT_DEC: return old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1;
    case AT_ADD: return add(d->type, old, b, d->shared);
    default: return pick(d->type, old, b, d->op == AT_MAX);
  }
}

#define ATOMIC_UPDATE(T, p) \
  ({ \
    T old_ = __atomic_load_n((T *)(p), __ATOMIC_RELAXED); \
    while (!__atomic_compare_exchange_n((T *)(p), &old_, (T)combine(d, old_, b, c), false, \
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {} \
    (uint64_t) old_; \
  })

static uint64_t update(const AtomDesc *d, char *p, uint64_t b, uint64_t c) {
  switch (d->mem.size) {
    case 2: return ATOMIC_UPDATE(uint16_t, p);
    case 4: return ATOMIC_UPDATE(uint32_t, p);
    default: return ATOMIC_UPDATE(uint64_t, p);
  }
}

static uint64_t read_slot(Warp *w, uint32_t slot, unsigned width, unsigned lane) {
  const char *r = w->regs + slot + (size_t)lane * width;
  return width == 2   ? *(const uint16_t *)r
         : width == 4 ? *(const uint32_t *)r
                      : *(const uint64_t *)r;
}

static void write_slot(Warp *w, uint32_t slot, unsigned width, unsigned lane, uint64_t v) {
  char *r = w->regs + slot + (size_t)lane * width;
  if (width == 2) *(uint16_t *)r = (uint16_t)v;
  else if (width == 4) *(uint32_t *)r = (uint32_t)v;
  else *(uint64_t *)r = v;
}

static const Inst *exec_atomic_any(Warp *w, const Inst *in) {
  const AtomDesc *d = (const AtomDesc *)in->slots;
  unsigned bytes = d->mem.size * d->mem.count;
  // exch, cas, or an or that sets no bit: perhaps a lock that is taken
  bool poll = d->op == AT_CAS || d->op == AT_EXCH || (d->op == AT_OR && d->returns);
  w->mem_pc = in;
  FOR_LANES(i, w->exec) {
    char *p = memory_pointer(w, in, &d->mem, i, bytes, bytes);
    if (!p) return NULL;
    for (unsigned e = 0; e < d->mem.count; e++) {
      uint64_t b = read_slot(w, d->b[e], d->bwidth[e], i);
      uint64_t old = update(d, p + e * d->mem.size, b,
                            d->op == AT_CAS ? read_slot(w, d->c, d->cwidth, i) : 0);
      if (d->op == AT_OR && (old & b) != b) poll = false;
      if (d->returns && d->mem.slot[e] != UINT32_MAX)
        write_slot(w, d->mem.slot[e], d->mem.width[e], i, old);
    }
  }
  if (poll) vgpu_poll(w);
  w->atomics += d->returns;
  return in + 1;
}

// exch and cas of 128 bits. Nothing is locked: the access may end in a fault.
static const Inst *exec_atomic_128(Warp *w, const Inst *in) {
  const AtomDesc *d = (const AtomDesc *)in->slots;
  w->mem_pc = in;
  FOR_LANES(i, w->exec) {
    char *p = memory_pointer(w, in, &d->mem, i, 16, 16);
    if (!p) return NULL;
    uint64_t b[2], c[2], seen[2], old[2];
    memcpy(b, w->regs + d->b[0] + (size_t)i * 16, 16);
    if (d->op == AT_CAS) {
      memcpy(c, w->regs + d->c + (size_t)i * 16, 16);
      pair_compare_swap(p, b, c, old);
    } else {
      pair_load(p, old);
      do {
        memcpy(seen, old, 16);
        pair_compare_swap(p, seen, b, old);
      } while (memcmp(seen, old, 16));
    }
    if (d->returns) memcpy(w->regs + d->mem.slot[0] + (size_t)i * 16, old, 16);
  }
  vgpu_poll(w);
  return in + 1;
}

// --- the common case: 32-bit integer add in shared or global memory ---
static const Inst *exec_add_u32_shared(Warp *w, const Inst *in) {
  const AtomDesc *d = (const AtomDesc *)in->slots;
  const uint32_t *b = REG(w, uint32_t, d->b[0]);
  uint32_t end = w->block->shared_end, bad = 0;
  uint32_t at[LANES];
  if (d->mem.address_width == 4) {
    const uint32_t *a = REG(w, uint32_t, in->a);
    for (int i = 0; i < LANES; i++) at[i] = a[i] + (uint32_t)d->mem.offset;
  } else {
    const uint64_t *a = REG(w, uint64_t, in->a);
    for (int i = 0; i < LANES; i++) at[i] = (uint32_t)(a[i] + d->mem.offset);
  }
  FOR_LANES(i, w->exec) bad |= at[i] < SHARED_BASE || (uint64_t)at[i] + 4 > end || (at[i] & 3);
  if (bad) return exec_atomic_any(w, in);
  if (d->returns) {
    uint32_t *r = REG(w, uint32_t, d->mem.slot[0]);
    FOR_LANES(i, w->exec) {
      uint32_t *p = (uint32_t *)(w->shared + at[i]), old = *p;
      *p = old + b[i];
      r[i] = old;
    }
  } else {
    FOR_LANES(i, w->exec) *(uint32_t *)(w->shared + at[i]) += b[i];
  }
  return in + 1;
}

static const Inst *exec_add_u32_global(Warp *w, const Inst *in) {
  const AtomDesc *d = (const AtomDesc *)in->slots;
  const uint32_t *b = REG(w, uint32_t, d->b[0]);
  const uint64_t *a = REG(w, uint64_t, in->a);
  uint64_t off = d->mem.offset, bad = 0;
  FOR_LANES(i, w->exec) bad |= !vgpu_window_holds(a[i] + off, 4) || ((a[i] + off) & 3);
  if (bad) return exec_atomic_any(w, in);
  w->mem_pc = in;
  if (d->returns) {
    uint32_t *r = REG(w, uint32_t, d->mem.slot[0]);
    w->atomics++;
    FOR_LANES(i, w->exec)
      r[i] = __atomic_fetch_add((uint32_t *)(a[i] + off), b[i], __ATOMIC_SEQ_CST);
  } else {
    FOR_LANES(i, w->exec) __atomic_fetch_add((uint32_t *)(a[i] + off), b[i], __ATOMIC_SEQ_CST);
  }
  return in + 1;
}

static const struct {
  PtxMod mod;
  AtomicOp op;
} operations[] = {
    {MOD_ADD, AT_ADD}, {MOD_MIN, AT_MIN},   {MOD_MAX, AT_MAX}, {MOD_AND, AT_AND}, {MOD_OR, AT_OR},
    {MOD_XOR, AT_XOR}, {MOD_EXCH, AT_EXCH}, {MOD_CAS, AT_CAS}, {MOD_INC, AT_INC}, {MOD_DEC, AT_DEC},
};

bool VGPU_NAME(atomic_find_step)(const PtxInstr *in, PtxType t, AtomicStep *s) {
  *s = (AtomicStep){.type = t, .op = AT_COUNT, .size = (uint8_t)ptx_type_size(t)};
  for (unsigned k = 0; k < ARRAY_LEN(operations); k++)
    if (ptx_has(in, operations[k].mod)) s->op = operations[k].op;
  return s->op != AT_COUNT && s->op != AT_CAS && s->size >= 2 && s->size <= 8;
}

void VGPU_NAME(atomic_step)(const AtomicStep *s, char *p, uint64_t value) {
  AtomDesc d = {.type = s->type, .op = (AtomicOp)s->op, .shared = !s->flush};
  d.mem.size = s->size;
  update(&d, p, value, 0);
}

bool VGPU_NAME(bind_atomic)(Binder *b) {
  const PtxInstr *in = b->in;
  AtomDesc *d = bind_alloc(b, sizeof *d);
  d->op = AT_COUNT;
  for (unsigned k = 0; k < ARRAY_LEN(operations); k++)
    if (ptx_has(in, operations[k].mod)) d->op = operations[k].op;
  if (d->op == AT_COUNT) return bind_unsupported(b, "atomic operation");
  d->type = in->types[in->ntypes - 1];
  d->mem.size = (uint8_t)ptx_type_size(d->type);
  d->returns = in->op == OP_ATOM;
  unsigned o = d->returns ? 1 : 0;  // operands: [d,] [a], b [, c]
  const PtxOperand *dst = d->returns ? &in->ops[0] : NULL, *value = &in->ops[o + 1];
  d->mem.count = value->kind == OPD_VECTOR ? value->nlist : 1;
  if (d->mem.count > 8) return bind_unsupported(b, "vector of this length");
  for (unsigned e = 0; e < d->mem.count; e++) {
    const PtxOperand *v = value->kind == OPD_VECTOR ? &value->list[e] : value;
    d->b[e] = bind_src(b, v, d->type);
    d->bwidth[e] = (uint8_t)bind_width(b, v, d->type);
    const PtxOperand *r = !dst ? NULL : dst->kind == OPD_VECTOR ? &dst->list[e] : dst;
    d->mem.slot[e] = !r || r->kind == OPD_SINK ? UINT32_MAX : bind_dst(b, r, d->type);
    d->mem.width[e] = r ? (uint8_t)bind_width(b, r, d->type) : 0;
  }
  if (d->mem.slot[0] == UINT32_MAX && d->mem.count == 1) d->returns = false;
  if (d->op == AT_CAS) {
    d->c = bind_src(b, &in->ops[o + 2], d->type);
    d->cwidth = (uint8_t)bind_width(b, &in->ops[o + 2], d->type);
  }
  uint32_t slot;
  if (!memory_bind_address(b, &in->ops[o], in->space, &d->mem, &slot)) return false;
  d->shared = d->mem.space == SPACE_SHARED;
  ExecFn *fn = d->mem.size == 16 ? exec_atomic_128 : exec_atomic_any;
  bool int_add = d->op == AT_ADD && d->mem.count == 1 &&
                 (d->type == TYPE_U32 || d->type == TYPE_S32 || d->type == TYPE_B32);
  if (int_add && d->mem.space == SPACE_SHARED && !ptx_has(in, MOD_SHARED_CLUSTER))
    fn = exec_add_u32_shared;
  if (int_add && d->mem.space == SPACE_GLOBAL && d->mem.address_width == 8)
    fn = exec_add_u32_global;
  Inst *i = bind_emit(b, fn);
  i->a = slot;
  i->slots = (uint32_t *)d;
  return true;
}
