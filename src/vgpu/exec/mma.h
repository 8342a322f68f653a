// Shared by mma and wmma: fragments and their values.
//
// All layouts of the manual but one (mma.m8n8k4 with f16) are built from blocks: a register slot,
// 32 lanes of 4 bytes (f64: 8 bytes), is a row-major block of 8 rows of 16 (32) bytes of A, or of 8
// columns of B. Two slots of the accumulator (f16: one) are the even and odd columns of an 8x8
// block. If a fragment has more registers than the matrix has blocks (as wmma with f16), the
// registers repeat.
#ifndef WG_VGPU_EXEC_MMA_H
#define WG_VGPU_EXEC_MMA_H

#include "vgpu/exec/memory.h"
#include "vgpu/exec/half.h"

typedef struct MmaShape {
  uint16_t m, n, k;
} MmaShape;

// The order of blocks in registers. Of A: two blocks of 8 rows, then the same rows further along k,
// then the next 16 rows. Of B: all blocks along k for 8 columns, then the next 8 columns.
static inline unsigned mma_a_register(MmaShape s, unsigned kblocks, unsigned row_block,
                                      unsigned k_block) {
  return s.m == 8 ? k_block : row_block / 2 * 2 * kblocks + row_block % 2 + 2 * k_block;
}
static inline unsigned mma_b_register(unsigned kblocks, unsigned column_block, unsigned k_block) {
  return column_block * kblocks + k_block;
}
// 8x8 blocks of the accumulator: pairs of row blocks, then along n.
static inline unsigned mma_c_block(MmaShape s, unsigned row_block, unsigned column_block) {
  if (s.m == 8) return column_block;
  return (row_block / 2 * (s.n / 8u) + column_block) * 2 + row_block % 2;
}

static inline unsigned mma_type_bits(PtxType t) {
  switch (t) {
    case TYPE_B1: return 1;
    case TYPE_U4:
    case TYPE_S4: return 4;
    case TYPE_F16:
    case TYPE_BF16: return 16;
    case TYPE_TF32:
    case TYPE_F32:
    case TYPE_S32: return 32;
    case TYPE_F64: return 64;
    default: return 8;  // 6- and 4-bit floats are kept in bytes
  }
}
// Elements along k in one block.
static inline unsigned mma_block_k(PtxType t) { return t == TYPE_F64 ? 4 : 128 / mma_type_bits(t); }

MmaShape VGPU_NAME(mma_shape)(const PtxInstr *in);  // m == 0: no shape among the modifiers
BindFn VGPU_NAME(bind_sparse);                      // mma_sparse.c
BindFn VGPU_NAME(bind_wgmma);                       // wgmma.c
BindFn VGPU_NAME(bind_wmma_move);                   // wmma.c: wmma.load, wmma.store

#endif
