// mma.sp: half of the elements of A are stored, and the metadata say where in its row each belongs.
//
// A row is made of groups. A group's code of four bits is two numbers, each the place of one stored
// unit: of four places in groups of 4 elements (8 of four bits, which are stored in pairs), of two
// in groups of 2 (tf32). A is filled up with zeros, and multiplied as by mma.
#include "vgpu/exec/mma.h"
#include "vgpu/exec/mma_aligned.h"
#include "vgpu/exec/mma_tile.h"

enum { ROWS = 16, COLUMNS = 8, MOST_REGS = 4, TILES = 2, PART = MMA_ROW };

typedef struct SparseDesc {
  MmaShape shape;
  PtxType a, b, c, d;
  uint32_t sa[MOST_REGS], sb[MOST_REGS], sc[MOST_REGS], sd[MOST_REGS];
  uint32_t meta;
  uint8_t selector;            // which lanes of four have the metadata
  uint8_t group, units, unit;  // elements in a group, units stored of it, elements in a unit
  bool satfinite;
} SparseDesc;

// --- metadata ---

// 16-bit elements and tf32: a lane has four groups of row r and four of row r + 8. Narrower ones:
// neighbouring lanes have eight groups of one of these rows each.
static unsigned group_code(Warp *w, const SparseDesc *d, unsigned row, unsigned group) {
  unsigned groups = d->shape.k / d->group, upper = row / 8, lane, place;
  if (mma_type_bits(d->a) >= 16) {
    lane = groups == 4 ? d->selector : d->selector * 2u + group / 4;
    place = upper * 4 + group % 4;
  } else {
    lane = groups == 8 ? d->selector * 2u + upper : group / 8 * 2 + upper;
    place = group % 8;
  }
  return REG(w, uint32_t, d->meta)[row % 8 * 4 + lane] >> place * 4 & 15;
}

static unsigned place_of_unit(const SparseDesc *d, unsigned code, unsigned unit) {
  if (d->units == 1) return code >> 1 & 1;  // 0b0100 and 0b1110 are the codes of tf32
  return (code >> unit * 2 & 3) * d->unit;
}

// PART elements of each row from `first` on, with zeros where none is stored.
#define FILL_UP(T, name) \
  static void name(Warp *w, const SparseDesc *d, const T *stored, unsigned first, T *out) { \
    unsigned k = MIN(d->shape.k - first, (unsigned)PART), kept = d->units * d->unit; \
    memset(out, 0, sizeof *out *ROWS *MMA_ROW); \
    for (unsigned row = 0; row < ROWS; row++) \
      for (unsigned g = 0; g < k / d->group; g++) { \
        unsigned group = first / d->group + g, code = group_code(w, d, row, group); \
        const T *from = stored + row * MMA_ROW + group * kept; \
        for (unsigned u = 0; u < d->units; u++) \
          memcpy(out + row * MMA_ROW + g * d->group + place_of_unit(d, code, u), \
                 from + u * d->unit, sizeof *out * d->unit); \
      } \
  }
FILL_UP(double, fill_up_floats)
FILL_UP(int32_t, fill_up_ints)

// --- products ---

// The stored elements of A are the fragment of a matrix with half of the columns.
#define UNPACK_A(T, name, convert) \
  static void name(Warp *w, const SparseDesc *d, T *out) { \
    unsigned bk = mma_block_k(d->a), kblocks = d->shape.k / 2u / bk; \
    for (unsigned rb = 0; rb < ROWS / 8; rb++) \
      for (unsigned kb = 0; kb < kblocks; kb++) \
        convert(d->a, w->regs + d->sa[mma_a_register(d->shape, kblocks, rb, kb)], \
                out + rb * 8 * MMA_ROW + kb * bk); \
  }
UNPACK_A(double, unpack_floats, mma_block_to_double)
UNPACK_A(int32_t, unpack_ints, mma_block_to_int)

static const Inst *exec_sparse_float(Warp *w, const Inst *in) {
  if (!vgpu_warp_converged(w, in, FULL_MASK)) return NULL;
  const SparseDesc *d = in->ptr;
  double stored[ROWS * MMA_ROW], a[ROWS * MMA_ROW], columns[COLUMNS * MMA_ROW],
      rows[MMA_ROW * COLUMNS], tiles[TILES][64];
  unsigned bk = mma_block_k(d->b), c_regs = mma_tile_registers(d->c),
           d_regs = mma_tile_registers(d->d);
  unpack_floats(w, d, stored);
  fill_up_floats(w, d, stored, 0, a);
  for (unsigned kb = 0; kb < d->shape.k / bk; kb++)
    mma_block_to_double(d->b, w->regs + d->sb[kb], columns + kb * bk);
  mma_turn_columns(columns, d->shape.k, rows);
  for (unsigned t = 0; t < TILES; t++) mma_read_tile(w, d->c, d->sc + t * c_regs, tiles[t]);
  for (unsigned t = 0; t < TILES; t++) {
    const double *of_tile = a + t * 8 * MMA_ROW;
    if (d->d == TYPE_F32 && mma_has_aligned_sum(d->a, d->b))
      mma_multiply_aligned(of_tile, rows, d->a, d->b, d->shape.k, tiles[t]);
    else mma_multiply_tile(of_tile, rows, d->shape.k, false, tiles[t]);
    mma_write_tile(w, d->d, d->sd + t * d_regs, tiles[t], d->satfinite);
  }
  return in + 1;
}

static const Inst *exec_sparse_int(Warp *w, const Inst *in) {
  if (!vgpu_warp_converged(w, in, FULL_MASK)) return NULL;
  const SparseDesc *d = in->ptr;
  int32_t stored[ROWS * MMA_ROW], a[ROWS * MMA_ROW], columns[COLUMNS * MMA_ROW],
      rows[MMA_ROW * COLUMNS], products[TILES][64] = {{0}}, part[64], c[TILES * 2][LANES];
  unsigned bk = mma_block_k(d->b);
  unpack_ints(w, d, stored);
  for (unsigned first = 0; first < d->shape.k; first += PART) {
    unsigned k = MIN(d->shape.k - first, (unsigned)PART);
    fill_up_ints(w, d, stored, first, a);
    for (unsigned kb = 0; kb < k / bk; kb++)
      mma_block_to_int(d->b, w->regs + d->sb[first / bk + kb], columns + kb * bk);
    mma_turn_int_columns(columns, k, rows);
    for (unsigned t = 0; t < TILES; t++) {
      mma_multiply_int_tile(a + t * 8 * MMA_ROW, rows, k, part);
      for (unsigned i = 0; i < 64; i++) products[t][i] += part[i];
    }
  }
  for (unsigned i = 0; i < TILES * 2; i++) memcpy(c[i], REG(w, int32_t, d->sc[i]), sizeof c[i]);
  for (unsigned t = 0; t < TILES; t++)
    mma_add_int_tile(w, (const int32_t(*)[LANES])(c + t * 2), d->sd + t * 2, products[t],
                     d->satfinite);
  return in + 1;
}

// --- binding ---

static bool bind_fragment(Binder *b, const PtxOperand *o, bool is_dst, unsigned n,
                          uint32_t *slots) {
  if (o->kind != OPD_VECTOR || o->nlist != n || n > MOST_REGS)
    return bind_unsupported(b, "fragments of this size");
  for (unsigned i = 0; i < n; i++)
    slots[i] = is_dst ? bind_dst(b, &o->list[i], TYPE_B32) : bind_src(b, &o->list[i], TYPE_B32);
  return true;
}

static unsigned accumulators(PtxType t) { return t == TYPE_F16 ? 2 : 4; }

static void find_groups(SparseDesc *d) {
  unsigned bits = mma_type_bits(d->a);
  d->unit = bits == 4 ? 2 : 1;
  d->units = bits == 32 ? 1 : 2;
  d->group = (uint8_t)(2 * d->units * d->unit);
}

// d, a, b, c, metadata, selector
bool VGPU_NAME(bind_sparse)(Binder *b) {
  const PtxInstr *in = b->in;
  SparseDesc *d = bind_alloc(b, sizeof *d);
  d->shape = VGPU_NAME(mma_shape)(in);
  if (d->shape.m != ROWS || d->shape.n != COLUMNS || in->nops < 6 || in->ntypes < 4)
    return bind_unsupported(b, "matrix shape");
  d->d = in->types[0];
  d->a = in->types[1];
  d->b = in->types[2];
  d->c = in->types[3];
  find_groups(d);
  unsigned ka = mma_block_k(d->a), kb = mma_block_k(d->b), groups = d->shape.k / d->group;
  bool is_int = d->d == TYPE_S32, wide = mma_type_bits(d->a) >= 16;
  if (d->shape.k / 2 % ka || d->shape.k % kb || groups < (wide ? 4 : 8) ||
      groups > (wide ? 8 : 16) || (!is_int && d->shape.k > PART))
    return bind_unsupported(b, "matrix shape for this type");
  if (!bind_fragment(b, &in->ops[1], false, d->shape.k / ka, d->sa) ||
      !bind_fragment(b, &in->ops[2], false, d->shape.k / kb, d->sb) ||
      !bind_fragment(b, &in->ops[3], false, accumulators(d->c), d->sc) ||
      !bind_fragment(b, &in->ops[0], true, accumulators(d->d), d->sd))
    return false;
  d->meta = bind_src(b, &in->ops[4], TYPE_B32);
  d->selector = (uint8_t)in->ops[5].imm;
  if (d->selector >= 16 / groups) return bind_unsupported(b, "sparsity selector");
  d->satfinite = ptx_has(in, MOD_SATFINITE);
  bind_emit(b, is_int ? exec_sparse_int : exec_sparse_float)->ptr = d;
  return true;
}
