// Shadow memory of initcheck: one byte for each 4 bytes. See WG_SHADOW_GOOD.
#include "probe/ranges.h"
#include "tools/initcheck/abi.h"

uint64_t wg_init_heap_find(uint64_t table, uint64_t address);

// The live range that contains an address, as the address of its WgMemoryRange; 0: none.
uint64_t wg_init_find(uint64_t table, uint64_t address);
__attribute__((noinline)) uint64_t wg_init_find(uint64_t table, uint64_t address) {
  const WgMemoryRange *r = range_below(table, address);
  if (r && address - r->base < r->size && r->state == WG_MEMORY_LIVE) return (uint64_t)r;
  return wg_init_heap_find(table, address);
}

// The length of the part of p … p + n that lies in the range.
DEVICE uint64_t held(const WgMemoryRange *r, uint64_t p, uint64_t n) {
  uint64_t left = r->size - (p - r->base);
  return n < left ? n : left;
}

// Sets the state of the bytes of one word. A byte with both bits set counts as good. So in the
// order below, no thread that reads between the two steps takes a good byte for a bad one.
DEVICE void set_state(uint64_t at, uint32_t good, uint32_t derived, uint32_t covered, int atomic) {
  if (covered == 15 || !atomic) {
    uint32_t state = covered == 15 ? 0 : *(volatile uint8_t *)at;
    state = (state & ~(covered * 17u)) | good | derived << 4;
    *(volatile uint8_t *)at = (uint8_t)state;
    return;
  }
  uint32_t *word = (uint32_t *)(at & ~3ull), shift = (uint32_t)(at & 3) * 8;
  uint32_t set = (good | derived << 4) << shift, clear = ((covered * 17u) & ~(good | derived << 4))
                                                         << shift;
  if (set) device_or32(word, set);
  if (clear) device_and32(word, ~clear);
}

// --- warpgrind.h: marks that the program sets itself ---

DEVICE void fill(uint64_t shadow, uint64_t offset, uint64_t n, int good) {
  for (uint64_t at = offset & ~3ull; at < offset + n; at += 4) {
    uint32_t covered = 0;
    for (uint32_t i = 0; i < 4; i++)
      if (at + i >= offset && at + i < offset + n) covered |= 1u << i;
    set_state(shadow + (at >> 2), good ? covered : 0, 0, covered, 1);
  }
}

DEVICE uint32_t all_good(uint64_t shadow, uint64_t offset, uint64_t n) {
  for (uint64_t at = offset; at < offset + n; at++)
    if (!(*(const volatile uint8_t *)(shadow + (at >> 2)) >> (at & 3) & 1)) return 0;
  return 1;
}

// what: WG_INIT_MARK_…; memory is global, or shared with `shadow` of the block and p its offset
// there.
uint32_t wg_init_said(uint64_t table, uint64_t shadow, uint64_t p, uint64_t n, uint32_t what);
__attribute__((noinline)) uint32_t wg_init_said(uint64_t table, uint64_t shadow, uint64_t p,
                                                uint64_t n, uint32_t what) {
  uint32_t good = 1;
  while (n) {
    uint64_t offset = p, part = n;
    if (!shadow) {
      const WgMemoryRange *r = (const WgMemoryRange *)wg_init_find(table, p);
      if (!r) return good;  // memory that is not followed counts as initialised
      part = held(r, p, n);
      offset = p - r->base;
      uint64_t of_range = r->tools.shadow;
      if (of_range && what == WG_INIT_MARK_ASK) good &= all_good(of_range, offset, part);
      else if (of_range) fill(of_range, offset, part, what == WG_INIT_MARK_GOOD);
    } else if (what == WG_INIT_MARK_ASK) good &= all_good(shadow, offset, part);
    else fill(shadow, offset, part, what == WG_INIT_MARK_GOOD);
    p += part;
    n -= part;
  }
  return good;
}
