// wgmma.mma_async: a warpgroup multiplies 64 rows. Each of its four warps owns 16 of them and works
// alone: B, and A unless it is in registers, come from shared memory through a descriptor. The
// product is made at once, so fence, commit and wait have nothing to do.
#include "vgpu/exec/mma.h"
#include "vgpu/exec/mma_tile.h"

#define MAX_ACCUMULATORS 128

typedef struct WgmmaDesc {
  uint16_t n, k;
  PtxType a, b, d;
  uint8_t bits;  // of an element of A and B
  // by rows: the "transposed" order, neighbours along m or n
  bool a_in_registers, a_by_rows, b_by_rows;
  bool negate_a, negate_b, satfinite;
  uint32_t a_slots[4], a_desc, b_desc;
  uint32_t scale, scale_negate;  // predicate slot: keep the accumulator
  uint8_t nregs;
  uint32_t regs[MAX_ACCUMULATORS];
} WgmmaDesc;

// --- matrices in shared memory ---
// Start, the two strides, and the swizzle: which address bits (from bit 7 up) are mixed into bits 4
// to 6.
typedef struct SharedMatrix {
  uint32_t start, leading, stride, row_bytes, swizzle_mask;
} SharedMatrix;

static bool open_matrix(uint64_t desc, SharedMatrix *m) {
  static const uint32_t row_bytes[4] = {16, 128, 64, 32};
  static const uint8_t mixed_bits[4] = {0, 3, 2, 1};
  unsigned mode = (unsigned)(desc >> 62);
  m->start = (uint32_t)(desc & 0x3fff) << 4;
  m->leading = (uint32_t)(desc >> 16 & 0x3fff) << 4;
  m->stride = (uint32_t)(desc >> 32 & 0x3fff) << 4;
  m->row_bytes = row_bytes[mode];
  m->swizzle_mask = (1u << mixed_bits[mode]) - 1;
  // a base offset: the pattern does not start where its alignment says
  return (desc >> 49 & 7) == 0;
}

static const uint8_t *matrix_chunk(Warp *w, const Inst *in, const SharedMatrix *m,
                                   uint32_t offset) {
  uint32_t at = m->start + offset;
  at ^= (at >> 7 & m->swizzle_mask) << 4;
  if (at >= SHARED_BASE && at + 16 <= w->block->shared_end) return (const uint8_t *)w->shared + at;
  vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, (unsigned)__builtin_ctz(w->exec), at,
             "matrix descriptor reaches shared address 0x%x, which the block does not have", at);
  return NULL;
}

// Eight rows (of A; columns of B) from `first` on, two blocks of 8 x 16 bytes along k: 32 bytes of
// k are what one instruction takes.
static bool load_rows(Warp *w, const Inst *in, const SharedMatrix *m, bool by_rows, unsigned first,
                      uint8_t out[2][8][16]) {
  if (!by_rows) {
    for (unsigned r = 0; r < 8; r++)
      for (unsigned c = 0; c < 2; c++) {
        uint32_t next_chunk = m->row_bytes == 16 ? m->leading : 16;
        const uint8_t *p = matrix_chunk(w, in, m,
                                        first / 8 * m->stride + r * m->row_bytes + c * next_chunk);
        if (!p) return false;
        memcpy(out[c][r], p, 16);
      }
    return true;
  }
  // neighbours along m or n, 16-bit elements: a chunk holds these eight rows for one k
  unsigned chunk = first / 8, per_line = m->row_bytes / 16;
  for (unsigned k = 0; k < 16; k++) {
    uint32_t offset = m->row_bytes == 16 ? chunk * m->stride + k % 8 * 16 + k / 8 * m->leading
                                         : chunk % per_line * 16 + chunk / per_line * m->leading +
                                               k % 8 * m->row_bytes + k / 8 * m->stride;
    const uint8_t *p = matrix_chunk(w, in, m, offset);
    if (!p) return false;
    for (unsigned r = 0; r < 8; r++) memcpy(out[k / 8][r] + k % 8 * 2, p + r * 2, 2);
  }
  return true;
}

static bool load_a(Warp *w, const Inst *in, const WgmmaDesc *d, uint8_t out[2][2][8][16]) {
  if (d->a_in_registers) {  // as for mma: rows 0-7, 8-15, then the second half of k
    for (unsigned r = 0; r < 4; r++)
      memcpy(out[r % 2][r / 2], REG(w, uint32_t, d->a_slots[r]), 128);
    return true;
  }
  SharedMatrix m;
  unsigned lane = (unsigned)__builtin_ctz(w->exec);
  if (!open_matrix(REG(w, uint64_t, d->a_desc)[lane], &m)) {
    vgpu_fault(w, in, VGPU_UNSUPPORTED, lane, 0,
               "matrix descriptors with a base offset are not executed by the virtual device");
    return false;
  }
  unsigned first = w->index % 4 * 16;
  return load_rows(w, in, &m, d->a_by_rows, first, out[0]) &&
         load_rows(w, in, &m, d->a_by_rows, first + 8, out[1]);
}

// --- the product ---
static void multiply_floats(Warp *w, const WgmmaDesc *d, const double *a, uint8_t b[2][8][16],
                            const uint32_t *regs, bool keep) {
  unsigned half = 128u / d->bits, per_tile = mma_tile_registers(d->d);
  double columns[8 * MMA_ROW], rows[MMA_ROW * 8];
  for (unsigned c = 0; c < 2; c++) mma_block_to_double(d->b, b[c], columns + c * half);
  mma_turn_columns(columns, d->k, rows);
  if (d->negate_b)
    for (unsigned i = 0; i < d->k * 8u; i++) rows[i] = -rows[i];
  for (unsigned rb = 0; rb < 2; rb++) {
    double tile[64] = {0};
    if (keep) mma_read_tile(w, d->d, regs + rb * per_tile, tile);
    mma_multiply_tile(a + rb * 8 * MMA_ROW, rows, d->k, false, tile);
    mma_write_tile(w, d->d, regs + rb * per_tile, tile, false);
  }
}

static void multiply_ints(Warp *w, const WgmmaDesc *d, uint8_t a[2][2][8][16], uint8_t b[2][8][16],
                          const uint32_t *regs, bool keep) {
  int32_t columns[8 * MMA_ROW], rows[MMA_ROW * 8], am[8 * MMA_ROW];
  if (d->bits == 8) {
    for (unsigned c = 0; c < 2; c++) mma_block_to_int(d->b, b[c], columns + c * 16);
    mma_turn_int_columns(columns, d->k, rows);
  }
  for (unsigned rb = 0; rb < 2; rb++) {
    int32_t product[64] = {0}, old[2][LANES] = {{0}};
    for (unsigned c = 0; c < 2; c++) {
      if (d->bits == 1) mma_multiply_bit_tile(a[rb][c], b[c], false, product);
      else mma_block_to_int(d->a, a[rb][c], am + c * 16);
      if (keep) memcpy(old[c], REG(w, int32_t, regs[rb * 2 + c]), sizeof old[c]);
    }
    if (d->bits == 8) mma_multiply_int_tile(am, rows, d->k, product);
    mma_add_int_tile(w, (const int32_t(*)[LANES])old, regs + rb * 2, product, d->satfinite);
  }
}

static const Inst *exec_wgmma(Warp *w, const Inst *in) {
  if (!vgpu_warp_converged(w, in, FULL_MASK)) return NULL;
  const WgmmaDesc *d = in->ptr;
  unsigned lane = (unsigned)__builtin_ctz(w->exec);
  SharedMatrix m;
  if (!open_matrix(REG(w, uint64_t, d->b_desc)[lane], &m))
    return vgpu_fault(
        w, in, VGPU_UNSUPPORTED, lane, 0,
        "matrix descriptors with a base offset are not executed by the virtual device");
  bool keep = (PRED(w, d->scale) ^ d->scale_negate) >> lane & 1, is_float = d->d != TYPE_S32;
  uint8_t a[2][2][8][16], b[2][8][16];
  if (!load_a(w, in, d, a)) return NULL;
  double am[16 * MMA_ROW];
  if (is_float)
    for (unsigned rb = 0; rb < 2; rb++)
      for (unsigned c = 0; c < 2; c++)
        mma_block_to_double(d->a, a[rb][c], am + rb * 8 * MMA_ROW + c * (128u / d->bits));
  if (d->negate_a)
    for (unsigned i = 0; i < ARRAY_LEN(am); i++) am[i] = -am[i];
  unsigned regs_per_block = 2 * mma_tile_registers(d->d);
  for (unsigned nb = 0; nb < d->n / 8u; nb++) {
    if (!load_rows(w, in, &m, d->b_by_rows, nb * 8, b)) return NULL;
    if (is_float) multiply_floats(w, d, am, b, d->regs + nb * regs_per_block, keep);
    else multiply_ints(w, d, a, b, d->regs + nb * regs_per_block, keep);
  }
  return in + 1;
}

static const Inst *exec_nothing_left(Warp *w, const Inst *in) { return in + 1; }

static bool find_shape(const PtxInstr *in, WgmmaDesc *d) {  // ".m64n128k16"
  for (unsigned i = 0; i < in->nmods; i++) {
    unsigned n, k;
    if (sscanf(ptx_mod_name(in->mods[i]), ".m64n%uk%u", &n, &k) == 2) {
      d->n = (uint16_t)n;
      d->k = (uint16_t)k;
      return true;
    }
  }
  return false;
}

// d, a, b, scale-d, scale-a, scale-b, {trans-a,} {trans-b}: the last ones as the types have them.
bool VGPU_NAME(bind_wgmma)(Binder *b) {
  const PtxInstr *in = b->in;
  if (in->op != OP_WGMMA_MMA_ASYNC) {
    bind_emit(b, exec_nothing_left);
    return true;
  }
  if (ptx_has(in, MOD_SP) || ptx_has(in, MOD_SP_ORDERED))
    return bind_unsupported(b, "sparse matrix products");
  WgmmaDesc *d = bind_alloc(b, sizeof *d);
  if (!find_shape(in, d) || in->ntypes < 3 || in->nops < 4)
    return bind_unsupported(b, "matrix shape");
  d->d = in->types[0];
  d->a = in->types[1];
  d->b = in->types[2];
  d->bits = (uint8_t)(256 / d->k);  // an instruction takes 32 bytes of k
  d->satfinite = ptx_has(in, MOD_SATFINITE);
  const PtxOperand *regs = &in->ops[0], *a = &in->ops[1];
  d->nregs = regs->kind == OPD_VECTOR ? regs->nlist : 1;
  if (d->nregs > MAX_ACCUMULATORS || d->nregs != d->n / (d->d == TYPE_F16 ? 4 : 2))
    return bind_unsupported(b, "fragments of this size");
  for (unsigned i = 0; i < d->nregs; i++)
    d->regs[i] = bind_dst(b, regs->kind == OPD_VECTOR ? &regs->list[i] : regs, TYPE_B32);
  d->a_in_registers = a->kind == OPD_VECTOR;
  if (d->a_in_registers) {
    if (a->nlist != 4) return bind_unsupported(b, "fragments of this size");
    for (unsigned i = 0; i < 4; i++) d->a_slots[i] = bind_src(b, &a->list[i], TYPE_B32);
  } else d->a_desc = bind_src(b, a, TYPE_B64);
  d->b_desc = bind_src(b, &in->ops[2], TYPE_B64);
  d->scale = bind_pred(b, &in->ops[3], &d->scale_negate);
  if (in->nops > 5) {
    d->negate_a = in->ops[4].imm < 0;
    d->negate_b = in->ops[5].imm < 0;
  }
  if (d->bits == 16) {
    unsigned o = 6;
    if (!d->a_in_registers && o < in->nops) d->a_by_rows = in->ops[o++].imm;
    if (o < in->nops) d->b_by_rows = in->ops[o].imm;
  }
  bind_emit(b, exec_wgmma)->ptr = d;
  return true;
}
