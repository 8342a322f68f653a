// record's device code for tensor copies: where the pieces of a tile are. Code woven by
// tools/record/weave_tensor.c asks for one piece of 16 bytes after the other.
#include "probe/device.h"
#include "probe/trace_abi.h"

#ifdef __NVPTX__

typedef const WgTraceTensor *Map;

DEVICE uint32_t in_line(Map m) { return m->box[0] * m->element >> 4; }
// The offset from the start of the tensor's line; negative where the tile begins before it.
DEVICE int64_t in_row(Map m, uint32_t x, uint32_t piece) {
  return (int64_t)(int32_t)x * m->element + (int64_t)(piece % in_line(m)) * WG_TRACE_PIECE;
}

// The address of a piece in global memory; 0: its line is outside of the tensor.
uint64_t wg_tensor_at(uint64_t map, uint32_t x0, uint32_t x1, uint32_t x2, uint32_t x3, uint32_t x4,
                      uint32_t piece);
__attribute__((noinline)) uint64_t wg_tensor_at(uint64_t map, uint32_t x0, uint32_t x1, uint32_t x2,
                                                uint32_t x3, uint32_t x4, uint32_t piece) {
  Map m = (Map)map;
  uint32_t line = piece / in_line(m);
  uint64_t at = m->address + (uint64_t)in_row(m, x0, piece);
  int inside = 1;
#define ALONG(i, x) \
  { \
    int64_t c = (int64_t)(int32_t)(x) + (int64_t)(line % m->box[i]) * m->steps[i]; \
    line /= m->box[i]; \
    inside &= c >= 0 && c < (int64_t)m->dims[i]; \
    at += (uint64_t)c * m->strides[(i)-1]; \
  }
  ALONG(1, x1) ALONG(2, x2) ALONG(3, x3) ALONG(4, x4) return inside ? at : 0;
}

// The bytes of a piece that are inside along the first dimension: the first in bits 0 to 7, the end
// in the bits above.
uint32_t wg_tensor_inside(uint64_t map, uint32_t x0, uint32_t piece);
__attribute__((noinline)) uint32_t wg_tensor_inside(uint64_t map, uint32_t x0, uint32_t piece) {
  Map m = (Map)map;
  int64_t first = in_row(m, x0, piece), end = (int64_t)m->dims[0] * m->element - first,
          begin = -first;
  begin = begin < 0 ? 0 : begin > WG_TRACE_PIECE ? WG_TRACE_PIECE : begin;
  end = end < begin ? begin : end > WG_TRACE_PIECE ? WG_TRACE_PIECE : end;
  return (uint32_t)begin | (uint32_t)end << 8;
}

uint32_t wg_tensor_shared(uint64_t map, uint32_t base, uint32_t piece);
__attribute__((noinline)) uint32_t wg_tensor_shared(uint64_t map, uint32_t base, uint32_t piece) {
  uint32_t at = base + piece * WG_TRACE_PIECE;
  return at ^ (at >> 7 & ((Map)map)->swizzle_mask) << 4;
}

// A word of a piece as it arrives in shared memory. Elements may be unaligned; those outside of the
// tensor are filled in.
uint32_t wg_tensor_word(uint64_t map, uint64_t at, uint32_t inside, uint32_t word);
__attribute__((noinline)) uint32_t wg_tensor_word(uint64_t map, uint64_t at, uint32_t inside,
                                                  uint32_t word) {
  uint32_t value = ((Map)map)->fill[word & 1];
  for (uint32_t i = 4 * word; i < 4 * word + 4; i++) {
    if (i < (inside & 255) || i >= inside >> 8) continue;
    uint32_t shift = i % 4 * 8;
    value = (value & ~(255u << shift)) | (uint32_t) * (const uint8_t *)(at + i) << shift;
  }
  return value;
}

#endif
