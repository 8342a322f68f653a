// Shadow memory of initcheck: one byte for each 4 bytes. See WG_SHADOW_GOOD.
#include "probe/device.h"
#include "probe/probe_abi.h"

// The live range an address is in, as the address of its WgMemoryRange; 0: none.
uint64_t wg_init_find(uint64_t table, uint64_t address);
__attribute__((noinline)) uint64_t wg_init_find(uint64_t table, uint64_t address) {
  if (!table) return 0;
  const WgMemoryTable *t = (const WgMemoryTable *)table;
  const WgMemoryRange *ranges = (const WgMemoryRange *)(t + 1);
  uint32_t low = 0, high = t->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (ranges[middle].base <= address) low = middle + 1;
    else high = middle;
  }
  if (!low || address - ranges[low - 1].base >= ranges[low - 1].size || ranges[low - 1].state != WG_MEMORY_LIVE) return 0;
  return (uint64_t)&ranges[low - 1];
}

// Bit i: byte offset + i was never written, or with something bad.
uint32_t wg_init_bad(uint64_t shadow, uint64_t offset, uint32_t bytes);
__attribute__((noinline)) uint32_t wg_init_bad(uint64_t shadow, uint64_t offset, uint32_t bytes) {
  uint32_t bad = 0;
  for (uint32_t i = 0; i < bytes; i++) {
    uint64_t at = offset + i;
    uint32_t state = *(const volatile uint8_t *)(shadow + (at >> 2));
    if (!(state >> (at & 3) & 1)) bad |= 1u << i;
  }
  return bad;
}

// Sets the state of the bytes of one word. Good wins over derived where both are seen, so the order below never makes
// a good byte look bad to somebody who reads between the two steps.
DEVICE void set_state(uint64_t at, uint32_t good, uint32_t derived, uint32_t covered, int atomic) {
  if (covered == 15 || !atomic) {
    uint32_t state = covered == 15 ? 0 : *(volatile uint8_t *)at;
    state = (state & ~(covered * 17u)) | good | derived << 4;
    *(volatile uint8_t *)at = (uint8_t)state;
    return;
  }
  uint32_t *word = (uint32_t *)(at & ~3ull), shift = (uint32_t)(at & 3) * 8;
  uint32_t set = (good | derived << 4) << shift, clear = ((covered * 17u) & ~(good | derived << 4)) << shift;
  if (set) device_or32(word, set);
  if (clear) device_and32(word, ~clear);
}

// bad: bit i: byte i of what is written is bad. copied: it was moved only; then the bytes count as never written, not as computed.
uint32_t wg_init_write(uint64_t shadow, uint64_t offset, uint32_t bytes, uint32_t bad, uint32_t flags);
__attribute__((noinline)) uint32_t wg_init_write(uint64_t shadow, uint64_t offset, uint32_t bytes, uint32_t bad, uint32_t flags) {
  for (uint64_t at = offset & ~3ull; at < offset + bytes; at += 4) {
    uint32_t good = 0, derived = 0, covered = 0;
    for (uint32_t i = 0; i < 4; i++) {
      uint64_t byte = at + i - offset;
      if (at + i < offset || byte >= bytes) continue;
      covered |= 1u << i;
      if (!(bad >> byte & 1)) good |= 1u << i;
      else if (!(flags & WG_INIT_COPIED)) derived |= 1u << i;
    }
    set_state(shadow + (at >> 2), good, derived, covered, !(flags & WG_INIT_PRIVATE));
  }
  return 0;
}
