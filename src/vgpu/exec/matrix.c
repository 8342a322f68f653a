// ldmatrix, stmatrix, movmatrix: small matrices between shared memory and the registers of a warp.
//
// A register slot (32 lanes of 32 bits) holds an 8x8 matrix of 16-bit elements, and lane 4r+c holds
// elements 2c and 2c+1 of row r: the slot is the row-major matrix, byte for byte. The same slot is
// 8 rows of 16 bytes for 8-bit elements.
#include "vgpu/exec/memory.h"

#define memory_pointer VGPU_NAME(memory_pointer)
#define memory_bind_address VGPU_NAME(memory_bind_address)

typedef struct MatrixDesc {
  MemDesc mem;  // first: mem_desc() works
  uint32_t slot[4];
  uint8_t count;  // registers
  uint8_t rows;   // lanes that give a row's address
  uint8_t bits;   // of one element in shared memory: 16, 8, 6, 4
  bool transposed;
} MatrixDesc;

static void transpose16(uint16_t m[64]) {
  for (int r = 0; r < 8; r++)
    for (int c = 0; c < r; c++) {
      uint16_t t = m[r * 8 + c];
      m[r * 8 + c] = m[c * 8 + r];
      m[c * 8 + r] = t;
    }
}

static void write_lanes(Warp *w, uint32_t slot, const void *values) {
  const uint32_t *v = values;
  ELEMENTWISE(w, uint32_t, slot, i, v[i]);
}

// 16 elements of one row as 16 bytes. Packed sources hold them without gaps in the first 12 or 8 of
// 16 bytes.
static void load_row(const MatrixDesc *d, const uint8_t *p, uint8_t out[16]) {
  if (d->bits >= 8) {
    memcpy(out, p, 16);
    return;
  }
  for (unsigned e = 0; e < 16; e++) {
    unsigned at = e * d->bits;
    uint32_t pair = p[at / 8] | (uint32_t)p[at / 8 + 1] << 8;
    out[e] = (uint8_t)(pair >> at % 8 & ((1u << d->bits) - 1));
  }
}

static const Inst *exec_ldmatrix(Warp *w, const Inst *in) {
  if (!vgpu_warp_converged(w, in, FULL_MASK)) return NULL;
  const MatrixDesc *d = (const MatrixDesc *)in->slots;
  w->mem_pc = in;
  uint8_t row[LANES][16];
  for (unsigned i = 0; i < d->rows; i++) {
    char *p = memory_pointer(w, in, &d->mem, i, 16, 16);
    if (!p) return NULL;
    load_row(d, (const uint8_t *)p, row[i]);
  }
  for (unsigned r = 0; r < d->count; r++) {
    uint16_t m[64];
    memcpy(m, row[r * 8], sizeof m);
    if (d->transposed) transpose16(m);
    write_lanes(w, d->slot[r], m);
  }
  return in + 1;
}

static const Inst *exec_stmatrix(Warp *w, const Inst *in) {
  if (!vgpu_warp_converged(w, in, FULL_MASK)) return NULL;
  const MatrixDesc *d = (const MatrixDesc *)in->slots;
  w->mem_pc = in;
  for (unsigned r = 0; r < d->count; r++) {
    uint16_t m[64];
    memcpy(m, REG(w, uint32_t, d->slot[r]), sizeof m);
    if (d->transposed) transpose16(m);
    for (unsigned i = 0; i < 8; i++) {
      char *p = memory_pointer(w, in, &d->mem, r * 8 + i, 16, 16);
      if (!p) return NULL;
      memcpy(p, m + i * 8, 16);
    }
  }
  return in + 1;
}

static const Inst *exec_movmatrix(Warp *w, const Inst *in) {
  if (!vgpu_warp_converged(w, in, FULL_MASK)) return NULL;
  uint16_t m[64];
  memcpy(m, REG(w, uint32_t, in->a), sizeof m);
  transpose16(m);
  write_lanes(w, in->d, m);
  return in + 1;
}

bool VGPU_NAME(bind_matrix_move)(Binder *b) {
  const PtxInstr *in = b->in;
  if (in->op == OP_MOVMATRIX) {
    uint32_t d = bind_dst(b, &in->ops[0], TYPE_B32), a = bind_src(b, &in->ops[1], TYPE_B32);
    Inst *i = bind_emit(b, exec_movmatrix);
    i->d = d;
    i->a = a;
    return true;
  }
  bool load = in->op == OP_LDMATRIX;
  MatrixDesc *d = bind_alloc(b, sizeof *d);
  const PtxOperand *regs = &in->ops[load ? 0 : 1];
  d->count = regs->kind == OPD_VECTOR ? regs->nlist : 1;
  d->bits = ptx_has(in, MOD_B6X16_P32) ? 6 : ptx_has(in, MOD_B4X16_P64) ? 4 : 16;
  d->transposed = ptx_has(in, MOD_TRANS);
  if (d->count != 1 && d->count != 2 && d->count != 4)
    return bind_unsupported(b, "this number of registers");
  if (!ptx_has(in, MOD_M8N8) && !(load && ptx_has(in, MOD_M8N16) && d->bits < 8))
    return bind_unsupported(b, "transposed 8-bit matrices");
  for (unsigned r = 0; r < d->count; r++) {
    const PtxOperand *o = regs->kind == OPD_VECTOR ? &regs->list[r] : regs;
    d->slot[r] = load ? bind_dst(b, o, TYPE_B32) : bind_src(b, o, TYPE_B32);
  }
  d->rows = (uint8_t)(d->count * 8);
  PtxSpace space = in->space == SPACE_NONE ? SPACE_GENERIC : in->space;
  uint32_t slot;
  if (!memory_bind_address(b, &in->ops[load ? 1 : 0], space, &d->mem, &slot)) return false;
  Inst *i = bind_emit(b, load ? exec_ldmatrix : exec_stmatrix);
  i->a = slot;
  i->slots = (uint32_t *)d;
  return true;
}
