// Hashes of buffers (--hash): the same numbers from the kernel that runs on a GPU (hash_kernel.cu)
// and from the host (session/hash_buffers.c), so that runs on both can be compared.
//
// - ordered: sum over the 8-byte words of the buffer of mix(word + (index + 1) * STEP), modulo
//   2^64; the last word is filled up with zeros
// - unordered: sum over the elements of mix(element + OFFSET): the same for the same elements in
//   any order. Bytes after the last whole element count as one element each
//
// Both begin at the number of bytes.
#ifndef WG_HASH_ABI_H
#define WG_HASH_ABI_H

#include <stdint.h>

#ifdef __CUDA__
#define WG_HASH_FUNCTION static __attribute__((device)) inline __attribute__((always_inline))
#else
#define WG_HASH_FUNCTION static inline
#endif

#define WG_HASH_STEP 0x9E3779B97F4A7C15ull
#define WG_HASH_OFFSET 0xD1B54A32D192ED03ull

WG_HASH_FUNCTION uint64_t wg_hash_mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xE9846AF9B1A615Dull;
  x ^= x >> 29;
  x *= 0x9E6C63D0676A9A99ull;
  return x ^ (x >> 32);
}

WG_HASH_FUNCTION uint64_t wg_hash_ordered(uint64_t word, uint64_t index) {
  return wg_hash_mix(word + (index + 1) * WG_HASH_STEP);
}

WG_HASH_FUNCTION uint64_t wg_hash_element(uint64_t value) {
  return wg_hash_mix(value + WG_HASH_OFFSET);
}

// Hashes the elements of a whole word. Elements of 16 bytes use wg_hash_pair.
WG_HASH_FUNCTION uint64_t wg_hash_elements(uint64_t w, uint32_t element) {
  uint64_t sum = 0;
  if (element == 4) return wg_hash_element(w & 0xffffffffu) + wg_hash_element(w >> 32);
  if (element == 2) {
    for (int i = 0; i < 4; i++, w >>= 16) sum += wg_hash_element(w & 0xffffu);
    return sum;
  }
  if (element == 1) {
    for (int i = 0; i < 8; i++, w >>= 8) sum += wg_hash_element(w & 0xffu);
    return sum;
  }
  return wg_hash_element(w);
}

WG_HASH_FUNCTION uint64_t wg_hash_pair(uint64_t low, uint64_t high) {
  return wg_hash_element(low ^ wg_hash_mix(high + WG_HASH_STEP));
}

// The parameter of the kernels of hash_kernel.cu, by value. Buffers are cut into tiles; a block
// hashes every gridDim-th.
enum { WG_HASH_BUFFERS = 8, WG_HASH_TILE = 16384, WG_HASH_THREADS = 256 };
typedef struct WgHashBuffer {
  uint64_t base, bytes;
  uint64_t tiles;    // to hash, of all buffers up to and including this one
  uint64_t table;    // device address of a WgHashTable; 0: hash the whole buffer
  uint64_t first;    // the first tile to hash
  uint32_t element;  // bytes: 1, 2, 4, 8 or 16
  uint32_t fresh;    // the table is still empty: hash the whole buffer
} WgHashBuffer;
// Keeps what each tile of a buffer last added to the buffer's hashes, so that only tiles that may
// have changed are hashed again. The sums over all tiles come first.
typedef struct WgHashTable {
  uint64_t total[2];
} WgHashTable;  // then uint64_t[2] for each tile
typedef struct WgHashWork {
  // device addresses of a WgHashScratch that is zero, and of a WgHashResult in memory of the host
  uint64_t scratch, result;
  uint64_t sequence;  // written after the result, when all of it is there
  uint32_t count, reserved;
  WgHashBuffer buffers[WG_HASH_BUFFERS];
} WgHashWork;
// zero again when the kernel has ended
typedef struct WgHashScratch {
  uint64_t sums[WG_HASH_BUFFERS][2];
  uint32_t done, reserved;
  uint8_t pad[120];
} WgHashScratch;
typedef struct WgHashResult {
  uint64_t sums[WG_HASH_BUFFERS][2];
  uint64_t sequence;
  uint8_t pad[120];
} WgHashResult;
#endif
