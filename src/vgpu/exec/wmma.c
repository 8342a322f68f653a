// wmma.load and wmma.store: a matrix in memory, row- or column-major with a stride, to and from a
// fragment. The manual leaves the layout of these fragments open; ours is that of mma with the same
// types (exec/mma.h).
#include "vgpu/exec/mma.h"

#define memory_pointer VGPU_NAME(memory_pointer)
#define memory_bind_address VGPU_NAME(memory_bind_address)

typedef struct WmmaDesc {
  MemDesc mem;  // first: mem_desc() works
  MmaShape shape;
  PtxType type;
  uint8_t nregs, width;  // registers and bytes per lane of each
  uint32_t slot[8];
  uint32_t stride_slot;
  bool has_stride, by_row;  // by_row: lines of memory are rows of the matrix
  bool is_accumulator, is_b;
} WmmaDesc;

// The matrix as rows of elements; B as columns, so that k always runs along a line. 8x8 blocks come
// out of it.
typedef struct Stage {
  uint8_t data[32][256];
} Stage;

// Lines of memory: how many, and elements in each. `turned`: a line is a column of the stage.
typedef struct Lines {
  unsigned count, length;
  bool turned;
} Lines;

static Lines lines_of(const WmmaDesc *d) {
  if (d->is_accumulator)
    return d->by_row ? (Lines){d->shape.m, d->shape.n, false}
                     : (Lines){d->shape.n, d->shape.m, true};
  unsigned outer = d->is_b ? d->shape.n : d->shape.m;
  bool along_k = d->is_b ? !d->by_row : d->by_row;
  return along_k ? (Lines){outer, d->shape.k, false} : (Lines){d->shape.k, outer, true};
}

static bool visit_lines(Warp *w, const Inst *in, const WmmaDesc *d, Stage *s, bool load) {
  unsigned lane = (unsigned)__builtin_ctz(w->exec), bits = mma_type_bits(d->type), size = bits / 8;
  Lines lines = lines_of(d);
  uint64_t stride = d->has_stride ? REG(w, uint32_t, d->stride_slot)[lane] : lines.length;
  unsigned bytes = lines.length * bits / 8;
  MemDesc at = d->mem;
  for (unsigned l = 0; l < lines.count;
       l++, at.offset = d->mem.offset + (uint64_t)l * stride * bits / 8) {
    char *p = memory_pointer(w, in, &at, lane, bytes, size ? size : 4);
    if (!p) return false;
    if (!lines.turned) {
      if (load) memcpy(s->data[l], p, bytes);
      else memcpy(p, s->data[l], bytes);
    } else {
      for (unsigned e = 0; e < lines.length; e++) {
        uint8_t *cell = s->data[e] + l * size;
        if (load) memcpy(cell, p + e * size, size);
        else memcpy(p + e * size, cell, size);
      }
    }
  }
  return true;
}

static void put_block(Warp *w, const WmmaDesc *d, unsigned reg, const void *block) {
  if (d->width == 8) {
    const uint64_t *v = block;
    ELEMENTWISE(w, uint64_t, d->slot[reg], i, v[i]);
  } else {
    const uint32_t *v = block;
    ELEMENTWISE(w, uint32_t, d->slot[reg], i, v[i]);
  }
}

static void stage_to_operand(Warp *w, const WmmaDesc *d, const Stage *s) {
  unsigned row_bytes = 4u * d->width;  // of a block
  unsigned kblocks = d->shape.k * mma_type_bits(d->type) / 8 / row_bytes,
           blocks = (d->is_b ? d->shape.n : d->shape.m) / 8u;
  unsigned distinct = kblocks * blocks;
  for (unsigned rb = 0; rb < blocks; rb++)
    for (unsigned kb = 0; kb < kblocks; kb++) {
      uint8_t block[256];
      for (unsigned i = 0; i < 8; i++)
        memcpy(block + i * row_bytes, s->data[rb * 8 + i] + kb * row_bytes, row_bytes);
      unsigned r = d->is_b ? mma_b_register(kblocks, rb, kb)
                           : mma_a_register(d->shape, kblocks, rb, kb);
      for (; r < d->nregs; r += distinct) put_block(w, d, r, block);
    }
}

// Accumulators. f16: a lane's two columns share a register; otherwise two registers have one each.
static void stage_and_accumulator(Warp *w, const WmmaDesc *d, Stage *s, bool load) {
  for (unsigned rb = 0; rb < d->shape.m / 8u; rb++)
    for (unsigned cb = 0; cb < d->shape.n / 8u; cb++) {
      unsigned block = mma_c_block(d->shape, rb, cb), size = mma_type_bits(d->type) / 8;
      FOR_LANES(l, w->exec) {
        uint8_t *cell = s->data[rb * 8 + l / 4] + (cb * 8 + l % 4 * 2) * size;
        if (size == 2) {
          uint32_t *r = &REG(w, uint32_t, d->slot[block])[l];
          if (load) memcpy(r, cell, 4);
          else memcpy(cell, r, 4);
          continue;
        }
        for (unsigned j = 0; j < 2; j++) {
          char *r = w->regs + d->slot[block * 2 + j] + l * size;
          if (load) memcpy(r, cell + j * size, size);
          else memcpy(cell + j * size, r, size);
        }
      }
    }
}

static const Inst *exec_wmma_load(Warp *w, const Inst *in) {
  if (!vgpu_warp_converged(w, in, FULL_MASK)) return NULL;
  const WmmaDesc *d = (const WmmaDesc *)in->slots;
  Stage s;
  w->mem_pc = in;
  if (!visit_lines(w, in, d, &s, true)) return NULL;
  if (d->is_accumulator) stage_and_accumulator(w, d, &s, true);
  else stage_to_operand(w, d, &s);
  return in + 1;
}

static const Inst *exec_wmma_store(Warp *w, const Inst *in) {
  if (!vgpu_warp_converged(w, in, FULL_MASK)) return NULL;
  const WmmaDesc *d = (const WmmaDesc *)in->slots;
  Stage s;
  memset(&s, 0, sizeof s);
  w->mem_pc = in;
  stage_and_accumulator(w, d, &s, false);
  if (!visit_lines(w, in, d, &s, false)) return NULL;
  return in + 1;
}

bool VGPU_NAME(bind_wmma_move)(Binder *b) {
  const PtxInstr *in = b->in;
  bool load = in->op == OP_WMMA_LOAD;
  WmmaDesc *d = bind_alloc(b, sizeof *d);
  d->shape = VGPU_NAME(mma_shape)(in);
  if (!d->shape.m || !in->ntypes) return bind_unsupported(b, "matrix shape");
  d->type = in->types[0];
  d->is_b = load && ptx_has(in, MOD_B);
  d->is_accumulator = !load || ptx_has(in, MOD_C);
  d->by_row = ptx_has(in, MOD_ROW);
  d->width = d->type == TYPE_F64 ? 8 : 4;
  const PtxOperand *regs = &in->ops[load ? 0 : 1];
  d->nregs = regs->kind == OPD_VECTOR ? regs->nlist : 1;
  unsigned bits = mma_type_bits(d->type);
  unsigned values = d->is_accumulator ? d->shape.m * d->shape.n
                                      : (d->is_b ? d->shape.n : d->shape.m) * d->shape.k;
  unsigned distinct = d->is_accumulator && bits >= 32 ? values / LANES
                                                      : values * bits / 8 / (LANES * d->width);
  if (d->nregs > 8 || !distinct || d->nregs % distinct)
    return bind_unsupported(b, "fragments of this size");
  if (bits < 8 && lines_of(d).turned)
    return bind_unsupported(b, "this layout of elements smaller than a byte");
  PtxType t = d->type == TYPE_F64 ? TYPE_F64 : TYPE_B32;
  for (unsigned r = 0; r < d->nregs; r++) {
    const PtxOperand *o = regs->kind == OPD_VECTOR ? &regs->list[r] : regs;
    d->slot[r] = load ? bind_dst(b, o, t) : bind_src(b, o, t);
  }
  if (in->nops > 2) {
    d->has_stride = true;
    d->stride_slot = bind_src(b, &in->ops[2], TYPE_U32);
  }
  uint32_t slot;
  if (!memory_bind_address(b, &in->ops[load ? 1 : 0], in->space, &d->mem, &slot)) return false;
  Inst *i = bind_emit(b, load ? exec_wmma_load : exec_wmma_store);
  i->a = slot;
  i->slots = (uint32_t *)d;
  return true;
}
