// mma.sync and wmma.mma: D = A*B + C by all lanes of a warp together.
//
// Products of 16-bit and narrower floats, and of tf32, are exact in double. Sums of floats are made
// as the hardware does (mma_aligned.h); others in double, rounded once at the end. f64 goes along k
// with fma. docs/semantics.md says more.
#include "vgpu/exec/mma.h"
#include "vgpu/exec/mma_aligned.h"
#include "vgpu/exec/mma_tile.h"

#define MAX_M 32
#define MAX_N 32
#define MAX_REGS 8

typedef struct MmaDesc {
  MmaShape shape;
  PtxType a, b, c, d;
  uint8_t na, nb, nc, nd;
  uint32_t sa[MAX_REGS], sb[MAX_REGS], sc[MAX_REGS], sd[MAX_REGS];
  bool satfinite, xor_bits;
} MmaDesc;

// --- fragments to matrices and back ---
#define UNPACK(T, name, convert) \
  static void name(Warp *w, const MmaDesc *d, bool is_b, T *out /* [rows][MMA_ROW] */) { \
    PtxType t = is_b ? d->b : d->a; \
    unsigned bk = mma_block_k(t), kblocks = d->shape.k / bk, \
             blocks = (is_b ? d->shape.n : d->shape.m) / 8u; \
    for (unsigned rb = 0; rb < blocks; rb++) \
      for (unsigned kb = 0; kb < kblocks; kb++) { \
        unsigned r = is_b ? mma_b_register(kblocks, rb, kb) \
                          : mma_a_register(d->shape, kblocks, rb, kb); \
        const void *block = w->regs + (is_b ? d->sb[r] : d->sa[r]); \
        convert(t, block, out + rb * 8 * MMA_ROW + kb * bk); \
      } \
  }
UNPACK(double, unpack_float, mma_block_to_double)
UNPACK(int32_t, unpack_int, mma_block_to_int)

// --- products, tile by tile: all of C is read before any of D is written, for they may share
// registers ---
#define MAX_TILES (MAX_M * MAX_N / 64)
#define FOR_TILES(d, rb, cb) \
  for (unsigned rb = 0; rb < (d)->shape.m / 8u; rb++) \
    for (unsigned cb = 0; cb < (d)->shape.n / 8u; cb++)

static const Inst *exec_mma_float(Warp *w, const Inst *in) {
  if (!vgpu_warp_converged(w, in, FULL_MASK)) return NULL;
  const MmaDesc *d = in->ptr;
  double a[MAX_M * MMA_ROW], bt[MAX_N * MMA_ROW], tiles[MAX_TILES][64];
  unsigned c_regs = mma_tile_registers(d->c), d_regs = mma_tile_registers(d->d);
  bool aligned = d->d == TYPE_F32 && mma_has_aligned_sum(d->a, d->b);
  unpack_float(w, d, false, a);
  unpack_float(w, d, true, bt);
  FOR_TILES(d, rb, cb) {
    unsigned t = mma_c_block(d->shape, rb, cb);
    mma_read_tile(w, d->c, d->sc + t * c_regs, tiles[t]);
  }
  for (unsigned cb = 0; cb < d->shape.n / 8u; cb++) {
    double b[MMA_ROW * 8];
    mma_turn_columns(bt + cb * 8 * MMA_ROW, d->shape.k, b);
    for (unsigned rb = 0; rb < d->shape.m / 8u; rb++) {
      double *tile = tiles[mma_c_block(d->shape, rb, cb)];
      const double *rows = a + rb * 8 * MMA_ROW;
      if (aligned) mma_multiply_aligned(rows, b, d->a, d->b, d->shape.k, tile);
      else mma_multiply_tile(rows, b, d->shape.k, d->d == TYPE_F64, tile);
    }
  }
  FOR_TILES(d, rb, cb) {
    unsigned t = mma_c_block(d->shape, rb, cb);
    mma_write_tile(w, d->d, d->sd + t * d_regs, tiles[t], d->satfinite);
  }
  return in + 1;
}

static void add_int_tiles(Warp *w, const MmaDesc *d, int32_t (*products)[64]) {
  int32_t c[MAX_TILES * 2][LANES];
  unsigned tiles = d->shape.m * d->shape.n / 64u;
  for (unsigned i = 0; i < tiles * 2; i++) memcpy(c[i], REG(w, int32_t, d->sc[i]), sizeof c[i]);
  for (unsigned t = 0; t < tiles; t++)
    mma_add_int_tile(w, (const int32_t(*)[LANES])(c + t * 2), d->sd + t * 2, products[t],
                     d->satfinite);
}

static const Inst *exec_mma_int(Warp *w, const Inst *in) {
  if (!vgpu_warp_converged(w, in, FULL_MASK)) return NULL;
  const MmaDesc *d = in->ptr;
  int32_t a[MAX_M * MMA_ROW], bt[MAX_N * MMA_ROW], products[MAX_TILES][64];
  unpack_int(w, d, false, a);
  unpack_int(w, d, true, bt);
  for (unsigned cb = 0; cb < d->shape.n / 8u; cb++) {
    int32_t b[MMA_ROW * 8];
    mma_turn_int_columns(bt + cb * 8 * MMA_ROW, d->shape.k, b);
    for (unsigned rb = 0; rb < d->shape.m / 8u; rb++)
      mma_multiply_int_tile(a + rb * 8 * MMA_ROW, b, d->shape.k,
                            products[mma_c_block(d->shape, rb, cb)]);
  }
  add_int_tiles(w, d, products);
  return in + 1;
}

// One bit per element: 128 of them are a row of a block.
static const Inst *exec_mma_bits(Warp *w, const Inst *in) {
  if (!vgpu_warp_converged(w, in, FULL_MASK)) return NULL;
  const MmaDesc *d = in->ptr;
  unsigned kblocks = d->shape.k / 128;
  int32_t products[MAX_TILES][64] = {{0}};
  FOR_TILES(d, rb, cb) {
    int32_t *product = products[mma_c_block(d->shape, rb, cb)];
    for (unsigned kb = 0; kb < kblocks; kb++)
      mma_multiply_bit_tile(w->regs + d->sa[mma_a_register(d->shape, kblocks, rb, kb)],
                            w->regs + d->sb[mma_b_register(kblocks, cb, kb)], d->xor_bits, product);
  }
  add_int_tiles(w, d, products);
  return in + 1;
}

// --- mma.m8n8k4 with f16: four products at a time, each by lanes 4q..4q+3 and 4q+16..4q+19 ---
typedef struct QuadDesc {
  uint32_t sa[2], sb[2], sc[8], sd[8];
  PtxType c, d;
  bool a_column, b_row;
} QuadDesc;

static float quad_half(Warp *w, const uint32_t *slots, unsigned lane, unsigned i) {
  return half_to_float((uint16_t)(REG(w, uint32_t, slots[i / 2])[lane] >> i % 2 * 16));
}

// Row and column of accumulator element i (0..7) of a lane.
static void quad_place(PtxType t, unsigned lane, unsigned i, unsigned *row, unsigned *column) {
  unsigned upper = lane >= 16 ? 4 : 0;
  if (t == TYPE_F16) {
    *row = lane % 4 + upper;
    *column = i;
  } else {
    *row = (lane & 1) + (i & 2) + upper;
    *column = (i & 4) + (lane & 2) + (i & 1);
  }
}

static const Inst *exec_mma_quads(Warp *w, const Inst *in) {
  if (!vgpu_warp_converged(w, in, FULL_MASK)) return NULL;
  const QuadDesc *d = in->ptr;
  for (unsigned q = 0; q < 4; q++) {
    double a[8][4], b[4][8], c[8][8];
    for (unsigned half = 0; half < 2; half++)
      for (unsigned x = 0; x < 4; x++) {
        unsigned lane = q * 4 + half * 16 + x;
        for (unsigned i = 0; i < 4; i++) {
          double va = quad_half(w, d->sa, lane, i), vb = quad_half(w, d->sb, lane, i);
          if (d->a_column) a[i + half * 4][x] = va;
          else a[x + half * 4][i] = va;
          if (d->b_row) b[x][i + half * 4] = vb;
          else b[i][x + half * 4] = vb;
        }
        for (unsigned i = 0; i < 8; i++) {
          unsigned row, column;
          quad_place(d->c, lane, i, &row, &column);
          c[row][column] = d->c == TYPE_F16 ? quad_half(w, d->sc, lane, i)
                                            : REG(w, float, d->sc[i])[lane];
        }
      }
    for (unsigned i = 0; i < 8; i++)
      for (unsigned k = 0; k < 4; k++)
        for (unsigned j = 0; j < 8; j++) c[i][j] += a[i][k] * b[k][j];
    FOR_LANES(lane, w->exec & 0x000f000fu << q * 4)
      for (unsigned i = 0; i < 8; i++) {
        unsigned row, column;
        quad_place(d->d, lane, i, &row, &column);
        double v = c[row][column];
        if (d->d == TYPE_F16) {
          uint32_t *r = &REG(w, uint32_t, d->sd[i / 2])[lane];
          *r = i % 2 ? (*r & 0xffff) | (uint32_t)half_from_double(v) << 16 : half_from_double(v);
        } else REG(w, uint32_t, d->sd[i])[lane] = v != v ? 0x7fffffff : half_float_bits((float)v);
      }
  }
  return in + 1;
}

// --- binding ---
static const struct {
  PtxMod mod;
  MmaShape shape;
} shapes[] = {
    {MOD_M8N8K4, {8, 8, 4}},       {MOD_M8N8K16, {8, 8, 16}},     {MOD_M8N8K32, {8, 8, 32}},
    {MOD_M8N8K128, {8, 8, 128}},   {MOD_M16N8K4, {16, 8, 4}},     {MOD_M16N8K8, {16, 8, 8}},
    {MOD_M16N8K16, {16, 8, 16}},   {MOD_M16N8K32, {16, 8, 32}},   {MOD_M16N8K64, {16, 8, 64}},
    {MOD_M16N8K128, {16, 8, 128}}, {MOD_M16N8K256, {16, 8, 256}}, {MOD_M16N16K16, {16, 16, 16}},
    {MOD_M16N16K8, {16, 16, 8}},   {MOD_M8N32K16, {8, 32, 16}},   {MOD_M32N8K16, {32, 8, 16}},
};

MmaShape VGPU_NAME(mma_shape)(const PtxInstr *in) {
  for (unsigned i = 0; i < ARRAY_LEN(shapes); i++)
    if (ptx_has(in, shapes[i].mod)) return shapes[i].shape;
  return (MmaShape){0};
}

static bool bind_fragment(Binder *b, const PtxOperand *o, PtxType t, bool is_dst, uint32_t *slots,
                          uint8_t *n) {
  unsigned count = o->kind == OPD_VECTOR ? o->nlist : 1;
  if (count > MAX_REGS) return bind_unsupported(b, "more registers than a fragment has");
  // several values in a register
  if (t != TYPE_F64 && t != TYPE_F32 && t != TYPE_S32) t = TYPE_B32;
  for (unsigned i = 0; i < count; i++) {
    const PtxOperand *e = o->kind == OPD_VECTOR ? &o->list[i] : o;
    slots[i] = is_dst ? bind_dst(b, e, t) : bind_src(b, e, t);
  }
  *n = (uint8_t)count;
  return true;
}

static bool bind_quads(Binder *b, PtxType d_type, PtxType c_type) {
  const PtxInstr *in = b->in;
  QuadDesc *d = bind_alloc(b, sizeof *d);
  PtxMod layout[2];
  unsigned n = 0;
  for (unsigned i = 0; i < in->nmods && n < 2; i++)
    if (in->mods[i] == MOD_ROW || in->mods[i] == MOD_COL) layout[n++] = in->mods[i];
  if (n != 2) return bind_unsupported(b, "matrix layouts missing");
  d->a_column = layout[0] == MOD_COL;
  d->b_row = layout[1] == MOD_ROW;
  d->c = c_type;
  d->d = d_type;
  uint8_t na, nb, nc, nd;
  if (in->ops[1].nlist != 2 || in->ops[2].nlist != 2)
    return bind_unsupported(b, "fragments of this size");
  if (!bind_fragment(b, &in->ops[1], TYPE_F16, false, d->sa, &na) ||
      !bind_fragment(b, &in->ops[2], TYPE_F16, false, d->sb, &nb) ||
      !bind_fragment(b, &in->ops[3], c_type, false, d->sc, &nc) ||
      !bind_fragment(b, &in->ops[0], d_type, true, d->sd, &nd))
    return false;
  if (nc != (c_type == TYPE_F16 ? 4 : 8) || nd != (d_type == TYPE_F16 ? 4 : 8))
    return bind_unsupported(b, "fragments of this size");
  bind_emit(b, exec_mma_quads)->ptr = d;
  return true;
}

static bool is_mma_int(PtxType t) {
  return t == TYPE_S8 || t == TYPE_U8 || t == TYPE_S4 || t == TYPE_U4;
}
static unsigned accumulator_registers(MmaShape s, PtxType t) {
  return s.m * s.n / (t == TYPE_F16 ? 64u : 32u);
}

static bool bind_product(Binder *b) {
  const PtxInstr *in = b->in;
  if (ptx_has(in, MOD_BLOCK_SCALE)) return bind_unsupported(b, "block-scaled matrix products");
  if (ptx_has(in, MOD_SP) || ptx_has(in, MOD_SP_ORDERED)) return VGPU_NAME(bind_sparse)(b);
  MmaDesc *d = bind_alloc(b, sizeof *d);
  d->shape = VGPU_NAME(mma_shape)(in);
  if (!d->shape.m || in->nops < 4) return bind_unsupported(b, "matrix shape");
  if (in->ntypes >= 4) {
    d->d = in->types[0];
    d->a = in->types[1];
    d->b = in->types[2];
    d->c = in->types[3];
  } else if (in->ntypes == 2) {
    d->d = in->types[0];
    d->a = d->b = TYPE_F16;
    d->c = in->types[1];
  }  // wmma with f16 names only these
  else
    return bind_unsupported(b, "matrix types");
  if (in->op == OP_MMA && d->a == TYPE_F16 && d->shape.k == 4) return bind_quads(b, d->d, d->c);
  if (!bind_fragment(b, &in->ops[1], d->a, false, d->sa, &d->na) ||
      !bind_fragment(b, &in->ops[2], d->b, false, d->sb, &d->nb) ||
      !bind_fragment(b, &in->ops[3], d->c, false, d->sc, &d->nc) ||
      !bind_fragment(b, &in->ops[0], d->d, true, d->sd, &d->nd))
    return false;
  d->satfinite = ptx_has(in, MOD_SATFINITE);
  d->xor_bits = ptx_has(in, MOD_XOR);
  unsigned ka = mma_block_k(d->a), kb = mma_block_k(d->b);
  if (d->shape.k % ka || d->shape.k % kb) return bind_unsupported(b, "matrix shape for this type");
  bool fits = d->na >= d->shape.m / 8u * (d->shape.k / ka) &&
              d->nb >= d->shape.n / 8u * (d->shape.k / kb) &&
              d->nc == accumulator_registers(d->shape, d->c) &&
              d->nd == accumulator_registers(d->shape, d->d);
  if (!fits) return bind_unsupported(b, "fragments of this size");
  bind_emit(b, d->a == TYPE_B1    ? exec_mma_bits
               : is_mma_int(d->a) ? exec_mma_int
                                  : exec_mma_float)
      ->ptr = d;
  return true;
}

bool VGPU_NAME(vgpu_bind_mma)(Binder *b) {
  switch (b->in->op) {
    case OP_MMA:
    case OP_WMMA_MMA: return bind_product(b);
    case OP_WMMA_LOAD:
    case OP_WMMA_STORE: return VGPU_NAME(bind_wmma_move)(b);
    case OP_WGMMA_MMA_ASYNC:
    case OP_WGMMA_FENCE:
    case OP_WGMMA_COMMIT_GROUP:
    case OP_WGMMA_WAIT_GROUP: return VGPU_NAME(bind_wgmma)(b);
    case OP_MOVMATRIX: return VGPU_NAME(bind_matrix_move)(b);
    default: return bind_unsupported(b, "not executed by the virtual device");
  }
}
