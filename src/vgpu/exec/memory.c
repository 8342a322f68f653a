// Addresses: to host pointers, between state spaces; fences and cache hints. ld and st are in
// access.c.
#include <inttypes.h>

#include "vgpu/exec/memory.h"

#define memory_pointers VGPU_NAME(memory_pointers)
#define memory_pointer VGPU_NAME(memory_pointer)
#define memory_bind_address VGPU_NAME(memory_bind_address)

static const char *space_name(PtxSpace s) {
  return s == SPACE_SHARED   ? "shared"
         : s == SPACE_LOCAL  ? "local"
         : s == SPACE_GLOBAL ? "global"
                             : "generic";
}

// --- addresses to pointers ---
char *memory_pointer(Warp *w, const Inst *in, const MemDesc *d, unsigned lane, unsigned bytes,
                     unsigned align) {
  uint64_t a = address_of(w, in, d, lane);
  char *p = NULL;
  switch (d->space) {
    case SPACE_SHARED:
      if (a >= SHARED_BASE && a + bytes <= w->block->shared_end) p = w->shared + a;
      else if (a >> SHARED_RANK_SHIFT)
        p = vgpu_generic_pointer(w, lane, GENERIC_SHARED | a, bytes);  // shared::cluster
      break;
    case SPACE_LOCAL:
      if (a + bytes <= w->local_bytes) p = w->local + (uint64_t)lane * w->local_bytes + a;
      break;
    case SPACE_GLOBAL:
      if (vgpu_window_holds(a, bytes) || vgpu_host_reachable(a, bytes)) p = (char *)a;
      break;
    default: p = vgpu_generic_pointer(w, lane, a, bytes); break;
  }
  if (!p) {
    vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, lane, a, "illegal %s address 0x%" PRIx64 " (%u bytes)",
               space_name(d->space), a, bytes);
    return NULL;
  }
  if (a & (align - 1)) {
    vgpu_fault(w, in, VGPU_MISALIGNED, lane, a, "misaligned %s address 0x%" PRIx64 " (%u bytes)",
               space_name(d->space), a, bytes);
    return NULL;
  }
  return p;
}

bool memory_pointers(Warp *w, const Inst *in, const MemDesc *d, unsigned bytes, unsigned align,
                     char **out) {
  FOR_LANES(i, w->exec) {
    out[i] = memory_pointer(w, in, d, i, bytes, align);
    if (!out[i]) return false;
  }
  return true;
}

// --- binding ---
bool memory_bind_address(Binder *b, const PtxOperand *o, PtxSpace space, MemDesc *d,
                         uint32_t *slot) {
  const PtxOperand *base = o->kind == OPD_ADDR && o->nlist ? &o->list[0] : o;
  d->offset = o->kind == OPD_ADDR ? (uint64_t)o->imm : 0;
  d->space = space == SPACE_CONST ? SPACE_GLOBAL : space == SPACE_NONE ? SPACE_GENERIC : space;
  uint32_t at;
  if (base->kind == OPD_VAR) {
    if (bind_local_offset(b, base->var, &at))
      d->space = space == SPACE_GENERIC ? SPACE_GENERIC : SPACE_LOCAL;
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
  // a register that holds the address of a parameter: kernels have real addresses, functions keep
  // them in local memory
  if (d->space == SPACE_PARAM) { d->space = vgpu_code_is_entry(b) ? SPACE_GLOBAL : SPACE_LOCAL; }
  d->address_width = base->kind == OPD_REG ? (uint8_t)bind_width(b, base, TYPE_B64) : 8;
  if (d->address_width != 4 && d->address_width != 8)
    return bind_unsupported(b, "address register of this size");
  *slot = bind_src(b, base, TYPE_B64);
  return true;
}

// --- address conversions: generic addresses of shared and local memory lie in windows of their own
// ---
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
                x >> SHARED_RANK_SHIFT == own ? x &OFFSET_MASK : x;
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
                             case SPACE_SHARED:
                               yes = window == GENERIC_SHARED &&
                                     (in->flag[0] || (uint32_t)((a[i] & ~GENERIC_WINDOW_MASK) >>
                                                                SHARED_RANK_SHIFT) == own);
                               break;
                             case SPACE_LOCAL: yes = window == GENERIC_LOCAL; break;
                             case SPACE_PARAM: yes = a[i] - params < 4096; break;
                             case SPACE_CONST: yes = false; break;
                             default:
                               yes = window != GENERIC_SHARED && window != GENERIC_LOCAL &&
                                     !(a[i] - params < 4096);
                               break;
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

// mapa: the same shared variable in another block of the cluster. Register form: shared addresses;
// generic with .u64 without .shared
static const Inst *exec_mapa(Warp *w, const Inst *in) {
  const uint32_t *rank = REG(w, uint32_t, in->b);
  if (in->flag[0] == 4) {
    const uint32_t *a = REG(w, uint32_t, in->a);
    ELEMENTWISE(w, uint32_t, in->d, i, (a[i] & OFFSET_MASK) | (rank[i] + 1) << SHARED_RANK_SHIFT);
  } else {
    const uint64_t *a = REG(w, uint64_t, in->a);
    ELEMENTWISE(w, uint64_t, in->d, i,
                (a[i] & (GENERIC_WINDOW_MASK | OFFSET_MASK)) | (uint64_t)(rank[i] + 1)
                                                                   << SHARED_RANK_SHIFT);
  }
  return in + 1;
}

static const Inst *exec_getctarank(Warp *w, const Inst *in) {
  uint32_t own = w->block->cluster_rank;
  if (in->flag[0] == 4) {
    const uint32_t *a = REG(w, uint32_t, in->a);
    ELEMENTWISE(w, uint32_t, in->d, i,
                a[i] >> SHARED_RANK_SHIFT ? (a[i] >> SHARED_RANK_SHIFT) - 1 : own);
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
static bool bind_createpolicy(Binder *b) {  // cache policies do not matter here: any value will do
  uint32_t d = bind_dst(b, &b->in->ops[0], TYPE_B64), zero = bind_constant(b, 0, 8);
  Inst *i = bind_emit(b, exec_copy64);
  i->d = d;
  i->a = zero;
  return true;
}

bool VGPU_NAME(vgpu_bind_memory)(Binder *b) {
  switch (b->in->op) {
    case OP_LD:
    case OP_LDU: return VGPU_NAME(bind_load)(b);
    case OP_ST: return VGPU_NAME(bind_store)(b);
    case OP_ATOM:
    case OP_RED: return VGPU_NAME(bind_atomic)(b);
    case OP_CVTA: return bind_cvta(b);
    case OP_ISSPACEP: return bind_isspacep(b);
    case OP_MAPA:
    case OP_GETCTARANK: return bind_cluster_address(b);
    case OP_MEMBAR:
    case OP_FENCE: bind_emit(b, exec_fence); return true;
    case OP_PREFETCH:
    case OP_PREFETCHU:
    case OP_APPLYPRIORITY:
    case OP_DISCARD:
    case OP_CP_ASYNC_BULK_PREFETCH: bind_emit(b, exec_nop); return true;
    case OP_CREATEPOLICY: return bind_createpolicy(b);
    case OP_LDMATRIX:
    case OP_STMATRIX: return VGPU_NAME(bind_matrix_move)(b);
    case OP_STACKSAVE:
    case OP_STACKRESTORE:
    case OP_ALLOCA: return VGPU_NAME(bind_stack)(b);
    default: return VGPU_NAME(bind_async)(b);
  }
}
