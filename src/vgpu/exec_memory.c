// ld, st, address conversions, fences, cache hints.
#include <inttypes.h>

#include "vgpu/exec_memory.h"

#define memory_pointers VGPU_NAME(memory_pointers)
#define memory_pointer VGPU_NAME(memory_pointer)
#define memory_bind_address VGPU_NAME(memory_bind_address)

static const char *space_name(PtxSpace s) {
  return s == SPACE_SHARED ? "shared" : s == SPACE_LOCAL ? "local" : s == SPACE_GLOBAL ? "global" : "generic";
}

// --- addresses to pointers ---
char *memory_pointer(Warp *w, const Inst *in, const MemDesc *d, unsigned lane, unsigned bytes, unsigned align) {
  uint64_t a = address_of(w, in, d, lane);
  char *p = NULL;
  switch (d->space) {
  case SPACE_SHARED:
    if (a >= SHARED_BASE && a + bytes <= w->block->shared_end) p = w->shared + a;
    else if (a >> SHARED_RANK_SHIFT) p = vgpu_generic_pointer(w, lane, GENERIC_SHARED | a, bytes);   // shared::cluster
    break;
  case SPACE_LOCAL:
    if (a + bytes <= w->local_bytes) p = w->local + (uint64_t)lane * w->local_bytes + a;
    break;
  case SPACE_GLOBAL:
    if (vgpu_window_holds(a, bytes) || vgpu_host_reachable(a, bytes)) p = (char *)a;
    break;
  default:
    p = vgpu_generic_pointer(w, lane, a, bytes);
    break;
  }
  if (!p)
    return vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, lane, a, "illegal %s address 0x%" PRIx64 " (%u bytes)", space_name(d->space), a, bytes), NULL;
  if (a & (align - 1))
    return vgpu_fault(w, in, VGPU_MISALIGNED, lane, a, "misaligned %s address 0x%" PRIx64 " (%u bytes)", space_name(d->space), a, bytes), NULL;
  return p;
}

bool memory_pointers(Warp *w, const Inst *in, const MemDesc *d, unsigned bytes, unsigned align, char **out) {
  FOR_LANES(i, w->exec) {
    out[i] = memory_pointer(w, in, d, i, bytes, align);
    if (!out[i]) return false;
  }
  return true;
}

// --- any load or store, element by element ---
static inline void order_before(const MemDesc *d) {
  if (d->order >= ORDER_RELEASE) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void order_after(const MemDesc *d) {
  if (d->order == ORDER_ACQUIRE || d->order == ORDER_ACQ_REL) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// An aligned element is read and written in one piece, as on the GPU.
static inline uint64_t load_element(const char *p, unsigned size) {
  switch (size) {
  case 1: return *(const volatile uint8_t *)p;
  case 2: return *(const volatile uint16_t *)p;
  case 4: return *(const volatile uint32_t *)p;
  default: return *(const volatile uint64_t *)p;
  }
}

static inline void store_element(char *p, unsigned size, uint64_t v) {
  switch (size) {
  case 1: *(volatile uint8_t *)p = (uint8_t)v; break;
  case 2: *(volatile uint16_t *)p = (uint16_t)v; break;
  case 4: *(volatile uint32_t *)p = (uint32_t)v; break;
  default: *(volatile uint64_t *)p = v; break;
  }
}

static void put_register(Warp *w, const MemDesc *d, unsigned e, unsigned lane, uint64_t v) {
  char *r = w->regs + d->slot[e] + (size_t)lane * d->width[e];
  switch (d->width[e]) {
  case 2: *(uint16_t *)r = (uint16_t)v; break;
  case 4: *(uint32_t *)r = (uint32_t)v; break;
  default: *(uint64_t *)r = v; break;
  }
}

static const Inst *exec_load_any(Warp *w, const Inst *in) {
  const MemDesc *d = mem_desc(in);
  char *p[LANES];
  w->mem_pc = in;
  unsigned bytes = d->size * d->count;
  if (!memory_pointers(w, in, d, bytes, bytes, p)) return NULL;
  for (unsigned e = 0; e < d->count; e++) {
    if (d->slot[e] == UINT32_MAX) continue;
    if (d->size == 16) {
      FOR_LANES(i, w->exec) memcpy(w->regs + d->slot[e] + (size_t)i * 16, p[i] + e * 16, 16);
      continue;
    }
    FOR_LANES(i, w->exec) {
      uint64_t v = load_element(p[i] + e * d->size, d->size);
      if (d->sign_extend) v = (uint64_t)((int64_t)(v << (64 - 8 * d->size)) >> (64 - 8 * d->size));
      put_register(w, d, e, i, v);
    }
  }
  order_after(d);
  if (d->poll) vgpu_poll(w);
  return in + 1;
}

static const Inst *exec_store_any(Warp *w, const Inst *in) {
  const MemDesc *d = mem_desc(in);
  char *p[LANES];
  w->mem_pc = in;
  unsigned bytes = d->size * d->count;
  if (!memory_pointers(w, in, d, bytes, bytes, p)) return NULL;
  order_before(d);
  for (unsigned e = 0; e < d->count; e++) {
    if (d->size == 16) {
      FOR_LANES(i, w->exec) memcpy(p[i] + e * 16, w->regs + d->slot[e] + (size_t)i * 16, 16);
      continue;
    }
    FOR_LANES(i, w->exec) {
      const char *r = w->regs + d->slot[e] + (size_t)i * d->width[e];
      store_element(p[i] + e * d->size, d->size, load_element(r, MIN(d->width[e], d->size)));
    }
  }
  return in + 1;
}

// --- the common cases: one element as wide as its register, global or generic, plain ---
// in->d register slot, in->a address slot (64 bits), in->imm offset.
// Lanes side by side are one copy, all lanes at one address one load; everything irregular goes to exec_*_any.
#define SCAN_ADDRESSES(T) \
  const uint64_t *a = REG(w, uint64_t, in->a); \
  uint64_t first = a[0] + in->imm, apart = 0, differ = 0; \
  for (int i = 0; i < LANES; i++) apart |= a[i] ^ (a[0] + (uint64_t)i * sizeof(T)), differ |= a[i] ^ a[0]
#define LANES_BAD(T) \
  ({ \
    uint64_t bad_ = 0, base_ = vgpu_window_base - in->imm; \
    for (int i = 0; i < LANES; i++) bad_ |= (a[i] - base_ > VGPU_WINDOW_BYTES - sizeof(T)) | ((a[i] + in->imm) & (sizeof(T) - 1)); \
    bad_; \
  })

#define FAST_GLOBAL(T) \
  static const Inst *exec_load_##T(Warp *w, const Inst *in) { \
    if (w->exec != FULL_MASK) return exec_load_any(w, in); \
    SCAN_ADDRESSES(T); \
    T *d = REG(w, T, in->d); \
    w->mem_pc = in; \
    if (!(first & (sizeof(T) - 1)) && vgpu_window_holds(first, LANES * sizeof(T))) { \
      if (!apart) { \
        memcpy(d, (const void *)first, LANES * sizeof(T)); \
        return in + 1; \
      } \
      if (!differ) { \
        T v = *(const volatile T *)first; \
        for (int i = 0; i < LANES; i++) d[i] = v; \
        return in + 1; \
      } \
    } \
    if (LANES_BAD(T)) return exec_load_any(w, in); \
    for (int i = 0; i < LANES; i++) d[i] = *(const T *)(a[i] + in->imm); \
    return in + 1; \
  } \
  static const Inst *exec_store_##T(Warp *w, const Inst *in) { \
    if (w->exec != FULL_MASK) return exec_store_any(w, in); \
    SCAN_ADDRESSES(T); \
    (void)differ; \
    const T *d = REG(w, T, in->d); \
    w->mem_pc = in; \
    if (!apart && !(first & (sizeof(T) - 1)) && vgpu_window_holds(first, LANES * sizeof(T))) { \
      memcpy((void *)first, d, LANES * sizeof(T)); \
      return in + 1; \
    } \
    if (LANES_BAD(T)) return exec_store_any(w, in); \
    for (int i = 0; i < LANES; i++) *(T *)(a[i] + in->imm) = d[i]; \
    return in + 1; \
  }
FAST_GLOBAL(uint32_t)
FAST_GLOBAL(uint64_t)

// Shared memory, 32-bit addresses.
#define SCAN_SHARED(T, A) \
  const A *a = REG(w, A, in->a); \
  uint32_t off = (uint32_t)in->imm, first = (uint32_t)a[0] + off, apart = 0, differ = 0, end = w->block->shared_end; \
  for (int i = 0; i < LANES; i++) apart |= (uint32_t)a[i] ^ ((uint32_t)a[0] + (uint32_t)(i * (int)sizeof(T))), differ |= (uint32_t)a[i] ^ (uint32_t)a[0]
#define SHARED_BAD(T) \
  ({ \
    uint32_t bad_ = 0; \
    for (int i = 0; i < LANES; i++) { \
      uint32_t x_ = (uint32_t)a[i] + off; \
      bad_ |= (x_ - SHARED_BASE > end - SHARED_BASE - (uint32_t)sizeof(T)) | (x_ & (sizeof(T) - 1)); \
    } \
    bad_; \
  })
#define FAST_SHARED(T, A, name) \
  static const Inst *exec_load_shared_##name(Warp *w, const Inst *in) { \
    if (w->exec != FULL_MASK || w->block->shared_end < SHARED_BASE + sizeof(T)) return exec_load_any(w, in); \
    SCAN_SHARED(T, A); \
    T *d = REG(w, T, in->d); \
    if (!(first & (sizeof(T) - 1)) && first >= SHARED_BASE) { \
      if (!apart && first + LANES * sizeof(T) <= end) { \
        memcpy(d, w->shared + first, LANES * sizeof(T)); \
        return in + 1; \
      } \
      if (!differ && first + sizeof(T) <= end) { \
        T v = *(const T *)(w->shared + first); \
        for (int i = 0; i < LANES; i++) d[i] = v; \
        return in + 1; \
      } \
    } \
    if (SHARED_BAD(T)) return exec_load_any(w, in); \
    for (int i = 0; i < LANES; i++) d[i] = *(const T *)(w->shared + ((uint32_t)a[i] + off)); \
    return in + 1; \
  } \
  static const Inst *exec_store_shared_##name(Warp *w, const Inst *in) { \
    if (w->exec != FULL_MASK || w->block->shared_end < SHARED_BASE + sizeof(T)) return exec_store_any(w, in); \
    SCAN_SHARED(T, A); \
    (void)differ; \
    const T *d = REG(w, T, in->d); \
    if (!apart && !(first & (sizeof(T) - 1)) && first >= SHARED_BASE && first + LANES * sizeof(T) <= end) { \
      memcpy(w->shared + first, d, LANES * sizeof(T)); \
      return in + 1; \
    } \
    if (SHARED_BAD(T)) return exec_store_any(w, in); \
    for (int i = 0; i < LANES; i++) *(T *)(w->shared + ((uint32_t)a[i] + off)) = d[i]; \
    return in + 1; \
  }
FAST_SHARED(uint32_t, uint32_t, u32_a32)
FAST_SHARED(uint64_t, uint32_t, u64_a32)
FAST_SHARED(uint32_t, uint64_t, u32_a64)
FAST_SHARED(uint64_t, uint64_t, u64_a64)

// Kernel parameters: the same for all lanes.
static const Inst *exec_load_param(Warp *w, const Inst *in) {
  const MemDesc *d = mem_desc(in);
  for (unsigned e = 0; e < d->count; e++) {
    if (d->slot[e] == UINT32_MAX) continue;
    const char *p = (const char *)vgpu_launch_params(w) + in->imm + e * d->size;
    uint64_t v = 0;
    memcpy(&v, p, MIN(d->size, 8u));
    if (d->sign_extend) v = (uint64_t)((int64_t)(v << (64 - 8 * d->size)) >> (64 - 8 * d->size));
    switch (d->width[e]) {
    case 2: ELEMENTWISE(w, uint16_t, d->slot[e], i, v); break;
    case 4: ELEMENTWISE(w, uint32_t, d->slot[e], i, v); break;
    case 8: ELEMENTWISE(w, uint64_t, d->slot[e], i, v); break;
    default: FOR_LANES(i, w->exec) memcpy(w->regs + d->slot[e] + (size_t)i * 16, p, 16); break;
    }
  }
  return in + 1;
}

// --- binding ---
bool memory_bind_address(Binder *b, const PtxOperand *o, PtxSpace space, MemDesc *d, uint32_t *slot) {
  const PtxOperand *base = o->kind == OPD_ADDR && o->nlist ? &o->list[0] : o;
  d->offset = o->kind == OPD_ADDR ? (uint64_t)o->imm : 0;
  d->space = space == SPACE_CONST ? SPACE_GLOBAL : space == SPACE_NONE ? SPACE_GENERIC : space;
  uint32_t at;
  if (base->kind == OPD_VAR) {
    if (bind_local_offset(b, base->var, &at)) d->space = space == SPACE_GENERIC ? SPACE_GENERIC : SPACE_LOCAL;
    else if (bind_kernel_param(b, base->var, &at)) d->space = SPACE_GLOBAL;
    else if (base->var->space == SPACE_SHARED) d->space = SPACE_SHARED;
    else d->space = SPACE_GLOBAL;
    d->offset += (uint64_t)base->imm;
    PtxOperand plain = *base;
    plain.imm = 0;
    *slot = bind_src(b, &plain, TYPE_B64);
    d->address_width = 8;
    return true;
  }
  // a register that holds the address of a parameter: kernels have real addresses, functions keep them in local memory
  if (d->space == SPACE_PARAM) {
    d->space = vgpu_code_is_entry(b) ? SPACE_GLOBAL : SPACE_LOCAL;
  }
  d->address_width = base->kind == OPD_REG ? (uint8_t)bind_width(b, base, TYPE_B64) : 8;
  if (d->address_width != 4 && d->address_width != 8) return bind_unsupported(b, "address register of this size");
  *slot = bind_src(b, base, TYPE_B64);
  return true;
}

static void bind_order(const PtxInstr *in, MemDesc *d) {
  if (ptx_has(in, MOD_ACQUIRE)) d->order = ORDER_ACQUIRE;
  else if (ptx_has(in, MOD_RELEASE)) d->order = ORDER_RELEASE;
  else if (ptx_has(in, MOD_ACQ_REL)) d->order = ORDER_ACQ_REL;
  else if (ptx_has(in, MOD_RELAXED) || ptx_has(in, MOD_VOLATILE) || ptx_has(in, MOD_MMIO)) d->order = ORDER_RELAXED;
  d->poll = d->order != ORDER_PLAIN;
}

static bool bind_values(Binder *b, const PtxOperand *o, MemDesc *d, bool is_load) {
  PtxType t = b->in->types[b->in->ntypes - 1];
  const PtxOperand *list = o->kind == OPD_VECTOR ? o->list : o;
  d->count = o->kind == OPD_VECTOR ? o->nlist : 1;
  if (d->count > 8) return bind_unsupported(b, "vector of this length");
  d->size = (uint8_t)ptx_type_size(t);
  for (unsigned e = 0; e < d->count; e++) {
    d->width[e] = (uint8_t)bind_width(b, &list[e], t);
    if (list[e].kind == OPD_SINK) d->slot[e] = UINT32_MAX;
    else d->slot[e] = is_load ? bind_dst(b, &list[e], t) : bind_src(b, &list[e], t);
    if (d->width[e] < d->size && list[e].kind != OPD_SINK) return bind_unsupported(b, "register narrower than the access");
  }
  d->sign_extend = is_load && ptx_type_kind(t) == KIND_SIGNED && d->size < d->width[0];
  return d->size > 0;
}

static bool bind_access(Binder *b, bool is_load) {
  const PtxInstr *in = b->in;
  MemDesc *d = bind_alloc(b, sizeof *d);
  const PtxOperand *address = &in->ops[is_load ? 1 : 0], *value = &in->ops[is_load ? 0 : 1];
  bind_order(in, d);
  if (!bind_values(b, value, d, is_load)) return false;
  const PtxOperand *base = address->nlist ? &address->list[0] : address;
  uint32_t param;
  if (is_load && base->kind == OPD_VAR && bind_kernel_param(b, base->var, &param)) {
    Inst *i = bind_emit(b, exec_load_param);
    i->imm = param + (uint64_t)address->imm + (uint64_t)base->imm;
    i->slots = (uint32_t *)d;
    return true;
  }
  uint32_t slot;
  if (!memory_bind_address(b, address, in->space, d, &slot)) return false;
  ExecFn *fn = is_load ? exec_load_any : exec_store_any;
  bool simple = d->count == 1 && d->size == d->width[0] && d->slot[0] != UINT32_MAX && d->order == ORDER_PLAIN;
  if (simple && d->address_width == 8 && (d->space == SPACE_GLOBAL || d->space == SPACE_GENERIC)) {
    if (d->size == 4) fn = is_load ? exec_load_uint32_t : exec_store_uint32_t;
    if (d->size == 8) fn = is_load ? exec_load_uint64_t : exec_store_uint64_t;
  }
  if (simple && d->space == SPACE_SHARED && !ptx_has(in, MOD_SHARED_CLUSTER)) {
    if (d->size == 4 && d->address_width == 4) fn = is_load ? exec_load_shared_u32_a32 : exec_store_shared_u32_a32;
    if (d->size == 8 && d->address_width == 4) fn = is_load ? exec_load_shared_u64_a32 : exec_store_shared_u64_a32;
    if (d->size == 4 && d->address_width == 8) fn = is_load ? exec_load_shared_u32_a64 : exec_store_shared_u32_a64;
    if (d->size == 8 && d->address_width == 8) fn = is_load ? exec_load_shared_u64_a64 : exec_store_shared_u64_a64;
  }
  Inst *i = bind_emit(b, fn);
  i->d = d->slot[0];
  i->a = slot;
  i->imm = d->offset;
  i->slots = (uint32_t *)d;
  return true;
}

// --- address conversions: generic addresses of shared and local memory lie in windows of their own ---
static const Inst *exec_add_window(Warp *w, const Inst *in) {
  const uint64_t *a = REG(w, uint64_t, in->a);
  ELEMENTWISE(w, uint64_t, in->d, i, a[i] | in->imm);
  return in + 1;
}
static const Inst *exec_strip_window(Warp *w, const Inst *in) {
  const uint64_t *a = REG(w, uint64_t, in->a);
  ELEMENTWISE(w, uint64_t, in->d, i, a[i] & ~GENERIC_WINDOW_MASK);
  return in + 1;
}
static const Inst *exec_copy64(Warp *w, const Inst *in) {
  const uint64_t *a = REG(w, uint64_t, in->a);
  ELEMENTWISE(w, uint64_t, in->d, i, a[i]);
  return in + 1;
}

#define OFFSET_MASK ((1u << SHARED_RANK_SHIFT) - 1)
#define OWN_RANK(w) ((w)->block->cluster_rank + 1)

// Addresses of the own block lose their rank, so that they equal the addresses of its variables.
static const Inst *exec_to_shared(Warp *w, const Inst *in) {
  const uint64_t *a = REG(w, uint64_t, in->a);
  uint32_t own = OWN_RANK(w);
  ELEMENTWISE(w, uint64_t, in->d, i, ({
                uint64_t x = a[i] & ~GENERIC_WINDOW_MASK;
                x >> SHARED_RANK_SHIFT == own ? x & OFFSET_MASK : x;
              }));
  return in + 1;
}
static const Inst *exec_from_shared(Warp *w, const Inst *in) {
  const uint64_t *a = REG(w, uint64_t, in->a);
  uint64_t own = (uint64_t)OWN_RANK(w) << SHARED_RANK_SHIFT;
  ELEMENTWISE(w, uint64_t, in->d, i, GENERIC_SHARED | a[i] | (a[i] >> SHARED_RANK_SHIFT ? 0 : own));
  return in + 1;
}

static bool bind_cvta(Binder *b) {
  const PtxInstr *in = b->in;
  if (ptx_type_size(in->types[0]) != 8) return bind_unsupported(b, "32-bit generic addresses");
  PtxSpace space = in->space;
  const PtxOperand *src = &in->ops[1];
  uint32_t a = bind_src(b, src, TYPE_B64), d = bind_dst(b, &in->ops[0], TYPE_B64);
  bool to = ptx_has(in, MOD_TO);
  if (space == SPACE_PARAM) space = vgpu_code_is_entry(b) ? SPACE_GLOBAL : SPACE_LOCAL;
  ExecFn *fn = exec_copy64;
  if (space == SPACE_SHARED) fn = to ? exec_to_shared : exec_from_shared;
  if (space == SPACE_LOCAL) fn = to ? exec_strip_window : exec_add_window;
  Inst *i = bind_emit(b, fn);
  i->a = a;
  i->d = d;
  i->imm = GENERIC_LOCAL;
  return true;
}

static const Inst *exec_isspacep(Warp *w, const Inst *in) {
  const uint64_t *a = REG(w, uint64_t, in->a);
  uint32_t own = OWN_RANK(w);
  uint64_t params = vgpu_launch_params(w);
  uint32_t r = LANE_MASK(i, ({
                           uint64_t window = a[i] & GENERIC_WINDOW_MASK;
                           bool yes;
                           switch (in->imm) {
                           case SPACE_SHARED: yes = window == GENERIC_SHARED && (in->flag[0] || (uint32_t)((a[i] & ~GENERIC_WINDOW_MASK) >> SHARED_RANK_SHIFT) == own); break;
                           case SPACE_LOCAL: yes = window == GENERIC_LOCAL; break;
                           case SPACE_PARAM: yes = a[i] - params < 4096; break;
                           case SPACE_CONST: yes = false; break;
                           default: yes = window != GENERIC_SHARED && window != GENERIC_LOCAL && !(a[i] - params < 4096); break;
                           }
                           yes;
                         }));
  pred_write(w, in->d, w->exec, r);
  return in + 1;
}

static bool bind_isspacep(Binder *b) {
  uint32_t a = bind_src(b, &b->in->ops[1], TYPE_B64), d = bind_dst(b, &b->in->ops[0], TYPE_PRED);
  Inst *i = bind_emit(b, exec_isspacep);
  i->a = a;
  i->d = d;
  i->imm = b->in->space;
  i->flag[0] = ptx_has(b->in, MOD_SHARED_CLUSTER);
  return true;
}

// mapa: the same shared variable in another block of the cluster. Register form: shared addresses; generic with .u64 without .shared
static const Inst *exec_mapa(Warp *w, const Inst *in) {
  const uint32_t *rank = REG(w, uint32_t, in->b);
  if (in->flag[0] == 4) {
    const uint32_t *a = REG(w, uint32_t, in->a);
    ELEMENTWISE(w, uint32_t, in->d, i, (a[i] & OFFSET_MASK) | (rank[i] + 1) << SHARED_RANK_SHIFT);
  } else {
    const uint64_t *a = REG(w, uint64_t, in->a);
    ELEMENTWISE(w, uint64_t, in->d, i, (a[i] & (GENERIC_WINDOW_MASK | OFFSET_MASK)) | (uint64_t)(rank[i] + 1) << SHARED_RANK_SHIFT);
  }
  return in + 1;
}

static const Inst *exec_getctarank(Warp *w, const Inst *in) {
  uint32_t own = w->block->cluster_rank;
  if (in->flag[0] == 4) {
    const uint32_t *a = REG(w, uint32_t, in->a);
    ELEMENTWISE(w, uint32_t, in->d, i, a[i] >> SHARED_RANK_SHIFT ? (a[i] >> SHARED_RANK_SHIFT) - 1 : own);
  } else {
    const uint64_t *a = REG(w, uint64_t, in->a);
    ELEMENTWISE(w, uint32_t, in->d, i, ({
                  uint64_t r = (a[i] & ~GENERIC_WINDOW_MASK) >> SHARED_RANK_SHIFT;
                  r ? r - 1 : own;
                }));
  }
  return in + 1;
}

static bool bind_cluster_address(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType t = in->types[0];
  bool mapa = in->op == OP_MAPA;
  uint32_t a = bind_src(b, &in->ops[1], t), r = mapa ? bind_src(b, &in->ops[2], TYPE_U32) : 0;
  uint32_t d = bind_dst(b, &in->ops[0], mapa ? t : TYPE_U32);
  Inst *i = bind_emit(b, mapa ? exec_mapa : exec_getctarank);
  i->a = a;
  i->b = r;
  i->d = d;
  i->flag[0] = (uint8_t)ptx_type_size(t);
  return true;
}

static const Inst *exec_fence(Warp *w, const Inst *in) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return in + 1;
}
static const Inst *exec_hint(Warp *w, const Inst *in) { return in + 1; }

static bool bind_createpolicy(Binder *b) {     // cache policies do not matter here: any value will do
  uint32_t d = bind_dst(b, &b->in->ops[0], TYPE_B64), zero = bind_constant(b, 0, 8);
  Inst *i = bind_emit(b, exec_copy64);
  i->d = d;
  i->a = zero;
  return true;
}

bool VGPU_NAME(vgpu_bind_memory)(Binder *b) {
  switch (b->in->op) {
  case OP_LD: case OP_LDU: return bind_access(b, true);
  case OP_ST: return bind_access(b, false);
  case OP_ATOM: case OP_RED: return VGPU_NAME(bind_atomic)(b);
  case OP_CVTA: return bind_cvta(b);
  case OP_ISSPACEP: return bind_isspacep(b);
  case OP_MAPA: case OP_GETCTARANK: return bind_cluster_address(b);
  case OP_MEMBAR: case OP_FENCE: return bind_emit(b, exec_fence), true;
  case OP_PREFETCH: case OP_PREFETCHU: case OP_APPLYPRIORITY: case OP_DISCARD: case OP_CP_ASYNC_BULK_PREFETCH:
    return bind_emit(b, exec_hint), true;
  case OP_CREATEPOLICY: return bind_createpolicy(b);
  case OP_LDMATRIX: case OP_STMATRIX: return VGPU_NAME(bind_matrix_move)(b);
  case OP_STACKSAVE: case OP_STACKRESTORE: case OP_ALLOCA: return VGPU_NAME(bind_stack)(b);
  default: return VGPU_NAME(bind_async)(b);
  }
}
