// ld and st.
//
// The common cases are specialised by memory type, register type and space. Addresses of a warp are
// usually side by side, or all the same, or so in each half of the warp (blocks 16 threads wide):
// that is tested first with a few samples and then for all lanes; other addresses are fetched one
// by one. Whatever is unusual (a lane outside the window, misaligned, cluster addresses) goes to
// exec_load_any and exec_store_any, which also find the words for a fault.
#include "vgpu/exec/memory.h"
#include "vgpu/exec/pair.h"

#define memory_pointers VGPU_NAME(memory_pointers)
#define memory_bind_address VGPU_NAME(memory_bind_address)

// --- any load or store, element by element ---
static inline void order_before(const MemDesc *d) {
  if (d->order >= ORDER_RELEASE) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void order_after(const MemDesc *d) {
  if (d->order == ORDER_ACQUIRE || d->order == ORDER_ACQ_REL)
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
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

// Vectors that threads exchange: a GPU reads and writes an aligned one in one piece, and CUB's
// blocks rely on it (a status and a value in a pair of words).
static inline bool in_one_piece(const MemDesc *d) {
  return d->order != ORDER_PLAIN && (d->count > 1 || d->size == 16) && d->size * d->count <= 16;
}

static inline void load_piece(char *p, unsigned bytes, uint64_t v[2]) {
  if (bytes == 16) pair_load(p, v);
  else v[0] = load_element(p, bytes);
}

static inline void store_piece(char *p, unsigned bytes, const uint64_t v[2]) {
  if (bytes == 16) pair_store(p, v);
  else store_element(p, bytes, v[0]);
}

static void put_register(Warp *w, const MemDesc *d, unsigned e, unsigned lane, uint64_t v) {
  char *r = w->regs + d->slot[e] + (size_t)lane * d->width[e];
  switch (d->width[e]) {
    case 2: *(uint16_t *)r = (uint16_t)v; break;
    case 4: *(uint32_t *)r = (uint32_t)v; break;
    case 8: *(uint64_t *)r = v; break;
    default: memcpy(r, (uint64_t[2]){v, 0}, 16); break;
  }
}

static const Inst *exec_load_any(Warp *w, const Inst *in) {
  const MemDesc *d = mem_desc(in);
  char *p[LANES];
  w->mem_pc = in;
  unsigned bytes = d->size * d->count;
  if (!memory_pointers(w, in, d, bytes, bytes, p)) return NULL;
  uint64_t pairs[LANES][2];
  if (in_one_piece(d))
    FOR_LANES(i, w->exec) {
      load_piece(p[i], bytes, pairs[i]);
      p[i] = (char *)pairs[i];
    }
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

static const Inst *store_any(Warp *w, const Inst *in) {
  const MemDesc *d = mem_desc(in);
  char *p[LANES];
  w->mem_pc = in;
  unsigned bytes = d->size * d->count;
  if (!memory_pointers(w, in, d, bytes, bytes, p)) return NULL;
  order_before(d);
  uint64_t pairs[LANES][2];
  char *to[LANES];
  bool one_piece = in_one_piece(d);
  if (one_piece)
    FOR_LANES(i, w->exec) {
      to[i] = p[i];
      p[i] = (char *)pairs[i];
    }
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
  if (one_piece)
    FOR_LANES(i, w->exec) store_piece(to[i], bytes, pairs[i]);
  return in + 1;
}

static const Inst *exec_store_any(Warp *w, const Inst *in) {
  const MemDesc *d = mem_desc(in);
  if ((d->space == SPACE_GLOBAL || d->space == SPACE_GENERIC) && vgpu_must_wait_before_store(w))
    return vgpu_give_way(w, in);
  if (d->space == SPACE_SHARED && vgpu_must_wait_before_shared_store(w))
    return vgpu_give_way(w, in);
  return store_any(w, in);
}

// --- specialised by space: how an address becomes a host address, and which ones are good ---
// A space macro set X has X_ADDR (type of the address elements), X_HOME (host address of address
// 0), X_AT(address) (its host address, from the locals `home` and `imm`), X_SPAN(first, bytes) (is
// this run of bytes accessible?), X_GOOD(bytes) (are all executing lanes' accesses accessible and
// aligned?), X_WAIT() before a store. The window is a power of two in size and ends in a page
// nobody owns, so high bits tell what is outside. Shared addresses have 32 bits: what is tested and
// what is accessed are both the sum modulo 2^32.
#define GLOBAL_ADDR uint64_t
#define GLOBAL_WAIT() \
  if (vgpu_must_wait_before_store(w)) return vgpu_give_way(w, in)
#define GLOBAL_HOME 0
#define GLOBAL_AT(address) (home + imm + (address))
#define GLOBAL_SPAN(first, bytes) vgpu_window_holds((first) + in->imm, bytes)
#define GLOBAL_GOOD(bytes) \
  ({ \
    uint64_t acc_ = 0, from_ = vgpu_window_base - in->imm; \
    if (w->exec == FULL_MASK) \
      for (int i = 0; i < LANES; i++) acc_ |= a[i] - from_; \
    else \
      for (int i = 0; i < LANES; i++) acc_ |= (a[i] - from_) & -(uint64_t)(w->exec >> i & 1); \
    !(acc_ & (~(VGPU_WINDOW_BYTES - 1) | ((bytes)-1))); \
  })
#define SHARED_HOME (uint64_t) w->shared
#define SHARED_AT(address) (home + (uint32_t)((uint32_t)(address) + (uint32_t)imm))
#define SHARED_SPAN(first, bytes) \
  ({ \
    uint32_t x_ = (uint32_t)(first) + (uint32_t)in->imm; \
    x_ >= SHARED_BASE && (uint64_t)x_ + (bytes) <= w->block->shared_end; \
  })
#define SHARED_GOOD(bytes) \
  ({ \
    uint32_t room_ = w->block->shared_end - SHARED_BASE, off_ = (uint32_t)in->imm, \
             bad_ = room_ < (bytes), low_ = 0; \
    if (w->exec == FULL_MASK) \
      for (int i = 0; i < LANES; i++) { \
        uint32_t x_ = (uint32_t)a[i] + off_; \
        bad_ |= x_ - SHARED_BASE > room_ - (bytes); \
        low_ |= x_; \
      } \
    else \
      for (int i = 0; i < LANES; i++) { \
        uint32_t x_ = (uint32_t)a[i] + off_, m_ = -(w->exec >> i & 1); \
        bad_ |= (x_ - SHARED_BASE > room_ - (bytes)) & m_; \
        low_ |= x_ & m_; \
      } \
    !bad_ && !(low_ & ((bytes)-1)); \
  })
#define SHARED32_WAIT() \
  if (vgpu_must_wait_before_shared_store(w)) return vgpu_give_way(w, in)
#define SHARED64_WAIT() SHARED32_WAIT()
#define SHARED32_ADDR uint32_t
#define SHARED32_HOME SHARED_HOME
#define SHARED32_AT SHARED_AT
#define SHARED32_GOOD SHARED_GOOD
#define SHARED32_SPAN SHARED_SPAN
#define SHARED64_ADDR uint64_t
#define SHARED64_HOME SHARED_HOME
#define SHARED64_AT SHARED_AT
#define SHARED64_GOOD SHARED_GOOD
#define SHARED64_SPAN SHARED_SPAN

// Accessible and aligned, for the runs of both halves.
#define HALVES_GOOD(SPACE, align, bytes) \
  (!((a[0] + in->imm) & ((align)-1)) && !((a[0] ^ a[16]) & ((align)-1)) && \
   SPACE##_SPAN(a[0], bytes) && SPACE##_SPAN(a[16], bytes))

// Are the addresses of each half of the warp `step` apart? Samples first.
#define HALVES_STEP(A, step) \
  ({ \
    bool yes_ = (A)(a[15] - a[0]) == (A)(15 * (step)) && (A)(a[31] - a[16]) == (A)(15 * (step)) && \
                (A)(a[5] - a[0]) == (A)(5 * (step)); \
    if (yes_) { \
      A acc_ = 0, lo_ = a[0], hi_ = a[16]; \
      for (int i = 0; i < 16; i++) \
        acc_ |= (a[i] ^ (A)(lo_ + (A)(i * (step)))) | (a[i + 16] ^ (A)(hi_ + (A)(i * (step)))); \
      yes_ = acc_ == 0; \
    } \
    yes_; \
  })

#define LOAD(name, SPACE, T, R) \
  static const Inst *name(Warp *w, const Inst *in) { \
    const SPACE##_ADDR *a = REG(w, SPACE##_ADDR, in->a); \
    const uint64_t home = SPACE##_HOME, imm = in->imm; \
    R *d = REG(w, R, in->d); \
    w->mem_pc = in; \
    if (w->exec == FULL_MASK) { \
      if (HALVES_STEP(SPACE##_ADDR, (int)sizeof(T)) && \
          HALVES_GOOD(SPACE, sizeof(T), 16 * sizeof(T))) { \
        const T *lo = (const T *)SPACE##_AT(a[0]), *hi = (const T *)SPACE##_AT(a[16]); \
        for (int i = 0; i < 16; i++) d[i] = (R)lo[i]; \
        for (int i = 0; i < 16; i++) d[i + 16] = (R)hi[i]; \
        return in + 1; \
      } \
      if (HALVES_STEP(SPACE##_ADDR, 0) && HALVES_GOOD(SPACE, sizeof(T), sizeof(T))) { \
        R lo = (R) * (const T *)SPACE##_AT(a[0]), hi = (R) * (const T *)SPACE##_AT(a[16]); \
        for (int i = 0; i < 16; i++) d[i] = lo; \
        for (int i = 16; i < 32; i++) d[i] = hi; \
        return in + 1; \
      } \
    } \
    if (!SPACE##_GOOD(sizeof(T))) return exec_load_any(w, in); \
    if (w->exec == FULL_MASK) \
      for (int i = 0; i < LANES; i++) d[i] = (R) * (const T *)SPACE##_AT(a[i]); \
    else \
      FOR_LANES(i, w->exec) d[i] = (R) * (const T *)SPACE##_AT(a[i]); \
    return in + 1; \
  }

#define STORE(name, SPACE, T, R) \
  static const Inst *name(Warp *w, const Inst *in) { \
    const SPACE##_ADDR *a = REG(w, SPACE##_ADDR, in->a); \
    const uint64_t home = SPACE##_HOME, imm = in->imm; \
    const R *d = REG(w, R, in->d); \
    SPACE##_WAIT(); \
    w->mem_pc = in; \
    if (w->exec == FULL_MASK && HALVES_STEP(SPACE##_ADDR, (int)sizeof(T)) && \
        HALVES_GOOD(SPACE, sizeof(T), 16 * sizeof(T))) { \
      T *lo = (T *)SPACE##_AT(a[0]), *hi = (T *)SPACE##_AT(a[16]); \
      for (int i = 0; i < 16; i++) lo[i] = (T)d[i]; \
      for (int i = 0; i < 16; i++) hi[i] = (T)d[i + 16]; \
      return in + 1; \
    } \
    if (!SPACE##_GOOD(sizeof(T))) return store_any(w, in); \
    FOR_LANES(i, w->exec) *(T *)SPACE##_AT(a[i]) = (T)d[i]; \
    return in + 1; \
  }

// Vectors of N elements as wide as their registers: slots from the descriptor.
#define VECTOR_LOAD(name, SPACE, T, N) \
  static const Inst *name(Warp *w, const Inst *in) { \
    const SPACE##_ADDR *a = REG(w, SPACE##_ADDR, in->a); \
    const uint64_t home = SPACE##_HOME, imm = in->imm; \
    const uint32_t *slot = mem_desc(in)->slot; \
    w->mem_pc = in; \
    T *d[N]; \
    for (int e = 0; e < N; e++) d[e] = REG(w, T, slot[e]); \
    if (w->exec == FULL_MASK && HALVES_STEP(SPACE##_ADDR, 0) && \
        HALVES_GOOD(SPACE, sizeof(T) * N, sizeof(T) * N)) { \
      T lo[N], hi[N]; \
      memcpy(lo, (const void *)SPACE##_AT(a[0]), sizeof lo); \
      memcpy(hi, (const void *)SPACE##_AT(a[16]), sizeof hi); \
      for (int e = 0; e < N; e++) { \
        for (int i = 0; i < 16; i++) d[e][i] = lo[e]; \
        for (int i = 16; i < 32; i++) d[e][i] = hi[e]; \
      } \
      return in + 1; \
    } \
    if (!SPACE##_GOOD(sizeof(T) * N)) return exec_load_any(w, in); \
    FOR_LANES(i, w->exec) { \
      T v[N]; \
      memcpy(v, (const void *)SPACE##_AT(a[i]), sizeof v); \
      for (int e = 0; e < N; e++) d[e][i] = v[e]; \
    } \
    return in + 1; \
  }

#define VECTOR_STORE(name, SPACE, T, N) \
  static const Inst *name(Warp *w, const Inst *in) { \
    const SPACE##_ADDR *a = REG(w, SPACE##_ADDR, in->a); \
    const uint64_t home = SPACE##_HOME, imm = in->imm; \
    const uint32_t *slot = mem_desc(in)->slot; \
    SPACE##_WAIT(); \
    w->mem_pc = in; \
    if (!SPACE##_GOOD(sizeof(T) * N)) return store_any(w, in); \
    const T *d[N]; \
    for (int e = 0; e < N; e++) d[e] = REG(w, T, slot[e]); \
    FOR_LANES(i, w->exec) { \
      T v[N]; \
      for (int e = 0; e < N; e++) v[e] = d[e][i]; \
      memcpy((void *)SPACE##_AT(a[i]), v, sizeof v); \
    } \
    return in + 1; \
  }

// Local memory: usually the same variable in every lane, one lane's memory after the other's.
#define LOCAL_ACCESS(T, R) \
  static const Inst *load_local_##T##_##R(Warp *w, const Inst *in) { \
    const MemDesc *m = mem_desc(in); \
    uint64_t first = address_of(w, in, m, 0), differ = 0; \
    if (w->exec != FULL_MASK) return exec_load_any(w, in); \
    for (int i = 1; i < LANES; i++) differ |= address_of(w, in, m, (unsigned)i) ^ first; \
    if (differ || first + sizeof(T) > w->local_bytes || first % sizeof(T)) \
      return exec_load_any(w, in); \
    R *d = REG(w, R, in->d); \
    const char *p = w->local + first; \
    for (int i = 0; i < LANES; i++, p += w->local_bytes) d[i] = (R) * (const T *)p; \
    return in + 1; \
  } \
  static const Inst *store_local_##T##_##R(Warp *w, const Inst *in) { \
    const MemDesc *m = mem_desc(in); \
    uint64_t first = address_of(w, in, m, 0), differ = 0; \
    if (w->exec != FULL_MASK) return store_any(w, in); \
    for (int i = 1; i < LANES; i++) differ |= address_of(w, in, m, (unsigned)i) ^ first; \
    if (differ || first + sizeof(T) > w->local_bytes || first % sizeof(T)) \
      return store_any(w, in); \
    const R *d = REG(w, R, in->d); \
    char *p = w->local + first; \
    for (int i = 0; i < LANES; i++, p += w->local_bytes) *(T *)p = (T)d[i]; \
    return in + 1; \
  }
LOCAL_ACCESS(uint32_t, uint32_t)
LOCAL_ACCESS(uint64_t, uint64_t)

// (memory type, register type) of scalar accesses. Signed loads extend the sign.
#define SCALAR_PAIRS(X, SPACE) \
  X(SPACE, uint8_t, uint16_t) \
  X(SPACE, uint8_t, uint32_t) \
  X(SPACE, uint16_t, uint16_t) \
  X(SPACE, uint16_t, uint32_t) \
  X(SPACE, uint32_t, uint32_t) X(SPACE, uint32_t, uint64_t) X(SPACE, uint64_t, uint64_t)
#define SIGNED_PAIRS(X, SPACE) \
  X(SPACE, int8_t, int16_t) \
  X(SPACE, int8_t, int32_t) X(SPACE, int16_t, int32_t) X(SPACE, int32_t, int64_t)
#define VECTOR_SHAPES(X, SPACE) \
  X(SPACE, uint16_t, 2) \
  X(SPACE, uint16_t, 4) X(SPACE, uint32_t, 2) X(SPACE, uint32_t, 4) X(SPACE, uint64_t, 2)
#define SPACES(X) X(GLOBAL) X(SHARED32) X(SHARED64)

#define DEFINE_LOAD(S, T, R) LOAD(load_##S##_##T##_##R, S, T, R)
#define DEFINE_STORE(S, T, R) STORE(store_##S##_##T##_##R, S, T, R)
#define DEFINE_VECTORS(S, T, N) \
  VECTOR_LOAD(load_##S##_##T##_x##N, S, T, N) \
  VECTOR_STORE(store_##S##_##T##_x##N, S, T, N)
#define DEFINE_SPACE(S) \
  SCALAR_PAIRS(DEFINE_LOAD, S) \
  SIGNED_PAIRS(DEFINE_LOAD, S) SCALAR_PAIRS(DEFINE_STORE, S) VECTOR_SHAPES(DEFINE_VECTORS, S)
SPACES(DEFINE_SPACE)

typedef enum { IN_GLOBAL, IN_SHARED32, IN_SHARED64 } AccessSpace;
typedef struct FastAccess {
  AccessSpace space;
  uint8_t size, width, count;
  bool is_signed;
  ExecFn *load, *store;
} FastAccess;
#define ROW_SCALAR(S, T, R) \
  {IN_##S, sizeof(T), sizeof(R), 1, false, load_##S##_##T##_##R, store_##S##_##T##_##R},
#define ROW_SIGNED(S, T, R) {IN_##S, sizeof(T), sizeof(R), 1, true, load_##S##_##T##_##R, NULL},
#define ROW_VECTOR(S, T, N) \
  {IN_##S, sizeof(T), sizeof(T), N, false, load_##S##_##T##_x##N, store_##S##_##T##_x##N},
#define ROWS(S) SCALAR_PAIRS(ROW_SCALAR, S) SIGNED_PAIRS(ROW_SIGNED, S) VECTOR_SHAPES(ROW_VECTOR, S)
static const FastAccess fast[] = {SPACES(ROWS)};

// --- kernel parameters: the same for all lanes ---
static const Inst *exec_load_param(Warp *w, const Inst *in) {
  const MemDesc *d = mem_desc(in);
  for (unsigned e = 0; e < d->count; e++) {
    if (d->slot[e] == UINT32_MAX) continue;
    const char *p = w->arguments + in->imm + e * d->size;
    uint64_t v = 0;
    memcpy(&v, p, MIN(d->size, 8u));
    if (d->sign_extend) v = (uint64_t)((int64_t)(v << (64 - 8 * d->size)) >> (64 - 8 * d->size));
    switch (d->width[e]) {
      case 2: ELEMENTWISE(w, uint16_t, d->slot[e], i, v); break;
      case 4: ELEMENTWISE(w, uint32_t, d->slot[e], i, v); break;
      case 8: ELEMENTWISE(w, uint64_t, d->slot[e], i, v); break;
      default:
        FOR_LANES(i, w->exec) memcpy(w->regs + d->slot[e] + (size_t)i * 16, p, 16);
        break;
    }
  }
  return in + 1;
}

#define PARAM_ONE(T) \
  static const Inst *load_param_##T(Warp *w, const Inst *in) { \
    T v; \
    memcpy(&v, w->arguments + in->imm, sizeof v); \
    ELEMENTWISE(w, T, in->d, i, v); \
    return in + 1; \
  }
PARAM_ONE(uint32_t)
PARAM_ONE(uint64_t)

// --- binding ---
static void bind_order(const PtxInstr *in, MemDesc *d) {
  if (ptx_has(in, MOD_ACQUIRE)) d->order = ORDER_ACQUIRE;
  else if (ptx_has(in, MOD_RELEASE)) d->order = ORDER_RELEASE;
  else if (ptx_has(in, MOD_ACQ_REL)) d->order = ORDER_ACQ_REL;
  else if (ptx_has(in, MOD_RELAXED) || ptx_has(in, MOD_VOLATILE) || ptx_has(in, MOD_MMIO))
    d->order = ORDER_RELAXED;
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
    if (d->width[e] < d->size && list[e].kind != OPD_SINK)
      return bind_unsupported(b, "register narrower than the access");
  }
  d->sign_extend = is_load && ptx_type_kind(t) == KIND_SIGNED && d->size < d->width[0];
  return d->size > 0;
}

static ExecFn *choose_fast(const PtxInstr *in, const MemDesc *d, bool is_load) {
  if (d->order != ORDER_PLAIN) return NULL;
  for (unsigned e = 0; e < d->count; e++)
    if (d->slot[e] == UINT32_MAX || d->width[e] != d->width[0]) return NULL;
  if (d->space == SPACE_LOCAL && d->count == 1 && d->size == d->width[0]) {
    if (d->size == 4) return is_load ? load_local_uint32_t_uint32_t : store_local_uint32_t_uint32_t;
    if (d->size == 8) return is_load ? load_local_uint64_t_uint64_t : store_local_uint64_t_uint64_t;
  }
  AccessSpace space;
  if ((d->space == SPACE_GLOBAL || d->space == SPACE_GENERIC) && d->address_width == 8)
    space = IN_GLOBAL;
  else if (d->space == SPACE_SHARED && !ptx_has(in, MOD_SHARED_CLUSTER))
    space = d->address_width == 4 ? IN_SHARED32 : IN_SHARED64;
  else return NULL;
  for (unsigned i = 0; i < ARRAY_LEN(fast); i++) {
    const FastAccess *f = &fast[i];
    if (f->space == space && f->size == d->size && f->width == d->width[0] &&
        f->count == d->count && f->is_signed == d->sign_extend)
      return is_load ? f->load : f->store;
  }
  return NULL;
}

static bool bind_access(Binder *b, bool is_load) {
  const PtxInstr *in = b->in;
  MemDesc *d = bind_alloc(b, sizeof *d);
  const PtxOperand *address = &in->ops[is_load ? 1 : 0], *value = &in->ops[is_load ? 0 : 1];
  bind_order(in, d);
  if (!bind_values(b, value, d, is_load)) return false;
  const PtxOperand *base = address->nlist ? &address->list[0] : address;
  uint32_t param;
  bool is_param = is_load && base->kind == OPD_VAR && bind_kernel_param(b, base->var, &param);
  uint64_t param_at = is_param ? param + (uint64_t)address->imm + (uint64_t)base->imm : 0;
  // Offsets outside of the parameters take the checked way below.
  if (is_param && bind_params_hold(b, param_at, d->size * d->count)) {
    bool one = d->count == 1 && d->size == d->width[0] && d->slot[0] != UINT32_MAX;
    Inst *i = bind_emit(b, one && d->size == 4   ? load_param_uint32_t
                           : one && d->size == 8 ? load_param_uint64_t
                                                 : exec_load_param);
    i->d = d->slot[0];
    i->imm = param_at;
    i->slots = (uint32_t *)d;
    return true;
  }
  uint32_t slot;
  if (!memory_bind_address(b, address, in->space, d, &slot)) return false;
  ExecFn *fn = choose_fast(in, d, is_load);
  Inst *i = bind_emit(b, fn ? fn : is_load ? exec_load_any : exec_store_any);
  i->d = d->slot[0];
  i->a = slot;
  i->imm = d->offset;
  i->slots = (uint32_t *)d;
  return true;
}

bool VGPU_NAME(bind_load)(Binder *b) { return bind_access(b, true); }
bool VGPU_NAME(bind_store)(Binder *b) { return bind_access(b, false); }
