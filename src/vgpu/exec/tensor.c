// Copies and reductions between shared memory and a box of a tensor, described by a tensor map
// (tensormap.h). Done at once, as the other asynchronous copies. Tiled boxes only; image-to-column
// and gather modes are refused by name.
#include "vgpu/exec/mbarrier.h"
#include "vgpu/tensormap.h"

#define memory_bind_address VGPU_NAME(memory_bind_address)

typedef struct TensorDesc {
  MemAt map, shared, bar;
  uint32_t mask_slot, at[5];
  uint8_t rank;
  bool load, writes, has_bar, has_mask, reduce;  // writes: the tensor
  AtomicStep step;
} TensorDesc;

// --- the box: lines along dimension 0 ---
typedef struct Box {
  TensorMap map;
  int64_t start[5];
  uint32_t count[5];   // elements taken along each dimension
  uint64_t stride[5];  // bytes
  uint32_t line_bytes, bytes;
  uint32_t swizzle_mask;
} Box;

// false: an H200 refuses this box.
static bool is_accepted(Warp *w, const Inst *in, const TensorDesc *d, unsigned lane, const Box *b) {
  int64_t first = b->start[0] * b->map.element;
  if (first % 16)
    vgpu_fault(w, in, VGPU_ILLEGAL_INSTRUCTION, lane, (uint64_t)b->start[0],
               "the first tensor coordinate, %lld, is byte %lld of its line, no multiple of 16",
               (long long)b->start[0], (long long)first);
  else
    for (unsigned i = 0; i < d->rank; i++)
      if (d->writes && b->start[i] < 0)
        return vgpu_fault(
            w, in, VGPU_ILLEGAL_INSTRUCTION, lane, (uint64_t)b->start[i],
            "tensor coordinate %u, %lld, is negative, which only copies to shared memory may have",
            i, (long long)b->start[i]);
  return first % 16 == 0;
}

enum { MOST_BOX = 256, MOST_ELEMENT_STRIDE = 8, MOST_BOX_BYTES = 1 << 20 };

// A kernel can write the bytes of a map: they are data to be checked.
static bool is_sound(const TensorMap *m) {
  bool ok = m->element == 1 || m->element == 2 || m->element == 4 || m->element == 8;
  for (unsigned i = 0; i < m->rank && i < 5; i++)
    ok &= m->box[i] && m->box[i] <= MOST_BOX && m->element_strides[i] &&
          m->element_strides[i] <= MOST_ELEMENT_STRIDE;
  return ok;
}

static bool open_box(Warp *w, const Inst *in, const TensorDesc *d, unsigned lane, Box *b) {
  *b = (Box){0};
  const char *p = pointer_at(w, in, &d->map, lane, sizeof b->map, 16);
  if (!p) return false;
  memcpy(&b->map, p, sizeof b->map);
  if (b->map.magic != TENSOR_MAP_MAGIC || b->map.rank != d->rank) {
    vgpu_fault(w, in, VGPU_ILLEGAL_INSTRUCTION, lane, (uint64_t)p,
               "the tensor map does not describe a tensor of %u dimensions", d->rank);
    return false;
  }
  if (b->map.mode != TENSOR_MAP_TILED || b->map.interleave || !b->map.element ||
      b->map.swizzle > 3) {
    vgpu_fault(w, in, VGPU_UNSUPPORTED, lane, 0,
               "tensor maps with image-to-column, interleaved, sub-byte or 16-byte-atom layouts "
               "are not executed by the virtual device");
    return false;
  }
  if (!is_sound(&b->map)) {
    vgpu_fault(w, in, VGPU_ILLEGAL_INSTRUCTION, lane, (uint64_t)p,
               "the tensor map has been damaged: sizes of its box are none that "
               "cuTensorMapEncodeTiled gives");
    return false;
  }
  uint64_t bytes = b->map.element;
  for (unsigned i = 0; i < d->rank; i++) {
    b->start[i] = REG(w, int32_t, d->at[i])[lane];
    b->count[i] = (b->map.box[i] + b->map.element_strides[i] - 1u) / b->map.element_strides[i];
    b->stride[i] = i ? b->map.strides[i - 1] * 16 : b->map.element;
    bytes *= b->count[i];
  }
  if (bytes > MOST_BOX_BYTES) {
    vgpu_fault(w, in, VGPU_ILLEGAL_INSTRUCTION, lane, (uint64_t)p,
               "the tensor map's box has %llu bytes, more than shared memory",
               (unsigned long long)bytes);
    return false;
  }
  b->bytes = (uint32_t)bytes;
  b->line_bytes = b->count[0] * b->map.element;
  b->swizzle_mask = (1u << b->map.swizzle) - 1;  // 32, 64, 128 bytes: one, two, three bits
  return is_accepted(w, in, d, lane, b);
}

// Address of element 0 of a line, and whether the line lies inside along the outer dimensions.
static uint64_t line_address(const Box *b, uint32_t line, bool *inside) {
  uint64_t a = b->map.address;
  *inside = true;
  for (unsigned i = 1; i < b->map.rank; i++) {
    int64_t c = b->start[i] + (int64_t)(line % b->count[i]) * b->map.element_strides[i];
    line /= b->count[i];
    if (c < 0 || c > (int64_t)b->map.dims[i]) *inside = false;
    a += (uint64_t)c * b->stride[i];
  }
  return a;
}

static uint32_t swizzled(const Box *b, uint32_t at) {
  return at ^ (at >> 7 & b->swizzle_mask) << 4;
}

static void fill_value(const Box *b, char *p) {
  static const uint64_t nan[] = {
      [6] = 0x7fff,      [7] = 0x7fffffff,  [8] = 0x7fffffffffffffff, [9] = 0x7fff,
      [10] = 0x7fffffff, [11] = 0x7fffffff, [12] = 0x7fffffff};
  uint64_t v = b->map.nan_fill && b->map.type < ARRAY_LEN(nan) ? nan[b->map.type] : 0;
  memcpy(p, &v, b->map.element);
}

static PtxType element_type(const Box *b) {
  static const PtxType types[] = {TYPE_NONE, TYPE_U16, TYPE_U32, TYPE_S32, TYPE_U64,
                                  TYPE_S64,  TYPE_F16, TYPE_F32, TYPE_F64, TYPE_BF16,
                                  TYPE_F32,  TYPE_F32, TYPE_F32};
  return b->map.type < ARRAY_LEN(types) ? types[b->map.type] : TYPE_NONE;
}

// Shared memory of the block that a box is copied from or to, and the box's offset there: the
// swizzle works on shared addresses.
typedef struct BoxPlace {
  char *shared;
  uint32_t end, at;
} BoxPlace;

static const Inst *move_box(Warp *w, const Inst *in, const TensorDesc *d, const Box *b,
                            unsigned lane, BoxPlace place) {
  AtomicStep step = d->step;
  if (d->reduce) {
    step.type = element_type(b);
    step.size = b->map.element;
    if (step.type == TYPE_NONE || step.size < 2)
      return vgpu_fault(w, in, VGPU_UNSUPPORTED, lane, 0,
                        "tensor reductions of this type are not executed by the virtual device");
  }
  uint32_t size = b->map.element, lines = b->bytes / b->line_bytes, chunk = 16 / size;
  for (uint32_t l = 0; l < lines; l++) {
    bool inside;
    uint64_t line = line_address(b, l, &inside);
    for (uint32_t e = 0; e < b->count[0]; e++) {
      uint32_t at = swizzled(b, place.at + l * b->line_bytes + e * size);
      char *s = place.shared + at;
      int64_t c = b->start[0] + (int64_t)e * b->map.element_strides[0];
      bool here = inside && c >= 0 && c <= (int64_t)b->map.dims[0];
      uint64_t g = line + (uint64_t)c * size;
      if (here && !vgpu_kernel_reaches(g, size))
        return vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, lane, g,
                          "the tensor map reaches address 0x%llx, which is not allocated",
                          (unsigned long long)g);
      // whole chunks of 16 bytes at a time; a swizzle moves only those
      bool whole = here && !d->reduce && b->map.element_strides[0] == 1 && e % chunk == 0 &&
                   e + chunk <= b->count[0];
      whole = whole && c + chunk - 1 <= (int64_t)b->map.dims[0] && vgpu_kernel_reaches(g, 16);
      uint32_t n = whole ? 16 : size;
      if (at > place.end - n)
        return vgpu_fault(
            w, in, VGPU_ILLEGAL_ADDRESS, lane, at,
            "the swizzled box reaches shared address 0x%x, which the block does not have", at);
      if (whole) e += chunk - 1;
      if (d->load && here) memcpy(s, (const char *)g, n);
      else if (d->load) fill_value(b, s);
      else if (here && d->reduce) {
        uint64_t v = 0;
        memcpy(&v, s, size);
        VGPU_NAME(atomic_step)(&step, (char *)g, v);
      } else if (here) memcpy((char *)g, s, n);
    }
  }
  return in + 1;
}

static const Inst *exec_tensor(Warp *w, const Inst *in) {
  const TensorDesc *d = (const TensorDesc *)in->slots;
  w->mem_pc = in;
  FOR_LANES(l, w->exec) {
    Box b;
    if (!open_box(w, in, d, l, &b)) return NULL;
    char *own = pointer_at(w, in, &d->shared, l, b.bytes, 128);
    Mbarrier *m = d->has_bar ? (Mbarrier *)pointer_at(w, in, &d->bar, l, 8, 8) : NULL;
    if (!own || (d->has_bar && !m)) return NULL;
    uint32_t at = vgpu_shared_offset(w, own), bar_at = m ? vgpu_shared_offset(w, (char *)m) : 0;
    uint32_t blocks = d->has_mask ? REG(w, uint16_t, d->mask_slot)[l] : 1;
    FOR_LANES(r, blocks) {
      BoxPlace place = {own - at, w->block->shared_end, at};  // blocks of a cluster have as much
      if (d->has_mask) place.shared = vgpu_cluster_shared(w, r, &place.end);
      if (!place.shared)
        return vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, l, r,
                          "multicast to block %u, which the cluster does not have", r);
      if (!move_box(w, in, d, &b, l, place)) return NULL;
      if (!m) continue;
      Mbarrier *there = d->has_mask ? (Mbarrier *)(place.shared + bar_at) : m;
      there->tx -= b.bytes;
      mbarrier_settle(there);
    }
  }
  return in + 1;
}

// Fetches nothing, but refuses whatever the copy itself would be refused for.
static const Inst *exec_tensor_prefetch(Warp *w, const Inst *in) {
  w->mem_pc = in;
  FOR_LANES(l, w->exec) {
    Box b;
    if (!open_box(w, in, (const TensorDesc *)in->slots, l, &b)) return NULL;
  }
  return in + 1;
}

// tensormap.cp_fenceproxy: 128 bytes of a tensor map from shared to global memory.
static const Inst *exec_map_copy(Warp *w, const Inst *in) {
  const TensorDesc *d = (const TensorDesc *)in->slots;
  w->mem_pc = in;
  FOR_LANES(l, w->exec) {
    char *to = pointer_at(w, in, &d->map, l, 128, 16),
         *from = to ? pointer_at(w, in, &d->shared, l, 128, 16) : NULL;
    if (!from) return NULL;
    memcpy(to, from, 128);
    break;  // all lanes name the same map
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return in + 1;
}

static const Inst *exec_map_replace(Warp *w, const Inst *in) {
  const TensorDesc *d = (const TensorDesc *)in->slots;
  w->mem_pc = in;
  FOR_LANES(l, w->exec) {
    TensorMap *m = (TensorMap *)pointer_at(w, in, &d->map, l, sizeof *m, 16);
    if (!m) return NULL;
    uint64_t v = in->flag[0] == 8 ? REG(w, uint64_t, in->a)[l] : REG(w, uint32_t, in->a)[l];
    unsigned ord = in->flag[1] % 5;
    switch (in->imm) {
      case MOD_GLOBAL_ADDRESS: m->address = v; break;
      case MOD_GLOBAL_DIM: m->dims[ord] = (uint32_t)v - 1; break;
      case MOD_GLOBAL_STRIDE: m->strides[ord % 4] = v / 16; break;
      case MOD_BOX_DIM: m->box[ord] = (uint16_t)v; break;
      case MOD_ELEMENT_STRIDE: m->element_strides[ord] = (uint8_t)v; break;
      default: m->rank = (uint8_t)(v + 1); break;
    }
  }
  return in + 1;
}

static bool bind_map_replace(Binder *b, TensorDesc *d) {
  static const PtxMod fields[] = {MOD_GLOBAL_ADDRESS, MOD_GLOBAL_DIM,     MOD_GLOBAL_STRIDE,
                                  MOD_BOX_DIM,        MOD_ELEMENT_STRIDE, MOD_RANK};
  const PtxInstr *in = b->in;
  PtxMod field = MOD_NONE;
  for (unsigned i = 0; i < ARRAY_LEN(fields); i++)
    if (ptx_has(in, fields[i])) field = fields[i];
  if (field == MOD_NONE) return bind_unsupported(b, "this field of a tensor map");
  bool has_ord = in->nops > 2;
  const PtxOperand *value = &in->ops[has_ord ? 2 : 1];
  PtxType t = field == MOD_GLOBAL_ADDRESS || field == MOD_GLOBAL_STRIDE ? TYPE_B64 : TYPE_B32;
  if (!memory_bind_address(b, &in->ops[0], in->space, &d->map.desc, &d->map.slot)) return false;
  uint32_t slot = bind_src(b, value, t);
  uint8_t width = (uint8_t)bind_width(b, value, t);
  Inst *i = bind_emit(b, exec_map_replace);
  i->a = slot;
  i->imm = field;
  i->flag[0] = width;
  i->flag[1] = has_ord ? (uint8_t)in->ops[1].imm : 0;
  i->slots = (uint32_t *)d;
  return true;
}

bool VGPU_NAME(bind_tensor)(Binder *b) {
  const PtxInstr *in = b->in;
  TensorDesc *d = bind_alloc(b, sizeof *d);
  switch (in->op) {
    case OP_TENSORMAP_REPLACE: return bind_map_replace(b, d);
    case OP_TENSORMAP_CP_FENCEPROXY:
      if (!memory_bind_address(b, &in->ops[0], SPACE_GLOBAL, &d->map.desc, &d->map.slot))
        return false;
      if (!memory_bind_address(b, &in->ops[1], SPACE_SHARED, &d->shared.desc, &d->shared.slot))
        return false;
      bind_emit(b, exec_map_copy)->slots = (uint32_t *)d;
      return true;
    default: break;
  }
  static const PtxMod refused[] = {MOD_IM2COL,         MOD_IM2COL_W,     MOD_IM2COL_W_128,
                                   MOD_IM2COL_NO_OFFS, MOD_TILE_GATHER4, MOD_TILE_SCATTER4};
  for (unsigned i = 0; i < ARRAY_LEN(refused); i++)
    if (ptx_has(in, refused[i])) return bind_unsupported(b, "only tiled tensor copies");
  d->load = ptx_has(in, MOD_COMPLETE_TX_BYTES);
  d->writes = !d->load && in->op != OP_CP_ASYNC_BULK_PREFETCH_TENSOR;
  d->reduce = in->op == OP_CP_REDUCE_ASYNC_BULK_TENSOR;
  if (d->reduce && !VGPU_NAME(atomic_find_step)(in, TYPE_U32, &d->step))
    return bind_unsupported(b, "reduction");
  bool prefetch = in->op == OP_CP_ASYNC_BULK_PREFETCH_TENSOR;
  const PtxOperand *tensor = &in->ops[d->load ? 1 : 0], *shared = &in->ops[d->load ? 0 : 1];
  if (tensor->nlist < 2) return bind_unsupported(b, "tensor coordinates");
  const PtxOperand *at = &tensor->list[1];
  d->rank = at->kind == OPD_VECTOR ? at->nlist : 1;
  if (d->rank > 5) return bind_unsupported(b, "tensor coordinates");
  for (unsigned i = 0; i < d->rank; i++)
    d->at[i] = bind_src(b, at->kind == OPD_VECTOR ? &at->list[i] : at, TYPE_S32);
  if (!memory_bind_address(b, tensor, SPACE_GENERIC, &d->map.desc, &d->map.slot)) return false;
  if (!prefetch && !memory_bind_address(b, shared, SPACE_SHARED, &d->shared.desc, &d->shared.slot))
    return false;
  if (d->load) {
    d->has_bar = true;
    if (!memory_bind_address(b, &in->ops[2], SPACE_SHARED, &d->bar.desc, &d->bar.slot))
      return false;
    if (ptx_has(in, MOD_MULTICAST_CLUSTER)) {
      d->has_mask = true;
      d->mask_slot = bind_src(b, &in->ops[3], TYPE_U16);
    }
  }
  bind_emit(b, prefetch ? exec_tensor_prefetch : exec_tensor)->slots = (uint32_t *)d;
  return true;
}
