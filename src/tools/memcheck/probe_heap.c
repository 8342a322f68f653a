// The device's heap: what malloc returned and free got back, in a table that all kernels of a
// context share.
//
// One byte for each 16 bytes of the heap: how many of them belong to a block, whether a block
// begins there, whether it was freed. A page of 256 such bytes stands for 4 KB and is found by a
// hash of the address. Blocks are made 16 bytes longer than the program asks for; the rest stays
// unused, so that the byte after a block is never in the next one. When the pages are used up,
// blocks that need more are not known.
#include "tools/memcheck/heap_abi.h"
#include "tools/memcheck/kinds.h"

enum { FREED = 0x20, START = 0x40, BEHIND = 0x80, VALID = 0x1f };
enum { GRANULE = 16, PAGE_BITS = 12, TRIES = 64 };

DEVICE uint64_t key_of(uint64_t address) { return (address >> PAGE_BITS) + 1; }

// The bytes of a page, or 0. claim: make it if it is not there.
DEVICE uint8_t *page_of(WgHeap *h, uint64_t address, int claim) {
  uint64_t key = key_of(address);
  uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 40);
  for (uint32_t i = 0; i < TRIES; i++, at++) {
    uint64_t *slot = &h->keys[at % WG_HEAP_PAGES], there = *(volatile uint64_t *)slot;
    if (!there && claim) {
      there = device_swap_if64(slot, 0, key);
      if (!there) there = key;
    }
    if (there == key) return h->states[at % WG_HEAP_PAGES];
    if (!there) return 0;
  }
  return 0;
}

DEVICE uint32_t granule_of(uint64_t address) { return (uint32_t)(address >> 4) & 255; }

DEVICE int claim_pages(WgHeap *h, uint64_t address, uint64_t bytes) {
  for (uint64_t a = address & ~4095ull; a < address + bytes; a += 4096)
    if (!page_of(h, a, 1)) return 0;
  return 1;
}

// malloc returned a block of `bytes` and WG_HEAP_BEHIND more. 1: there was none.
__attribute__((noinline)) uint32_t wg_heap_add(uint32_t heap, uint64_t address, uint64_t bytes) {
  WgHeap *h = wg_heap_at(heap);
  if (!address) return bytes != 0;
  if (!h || !bytes || address % GRANULE || !claim_pages(h, address, bytes + WG_HEAP_BEHIND))
    return 0;
  uint64_t end = address + bytes;
  uint8_t *page = 0;
  for (uint64_t a = address; a < end + WG_HEAP_BEHIND; a += GRANULE) {
    if (!page || !granule_of(a)) page = page_of(h, a, 0);
    uint32_t valid = a >= end ? BEHIND : end - a < GRANULE ? (uint32_t)(end - a) : GRANULE;
    *(volatile uint8_t *)&page[granule_of(a)] = (uint8_t)(valid | (a == address ? START : 0));
  }
  return 0;
}

DEVICE void mark_freed(WgHeap *h, uint64_t address) {
  uint8_t *page = 0;
  for (uint64_t a = address;; a += GRANULE) {
    if (!page || !granule_of(a)) page = page_of(h, a, 0);
    volatile uint8_t *state = page ? &page[granule_of(a)] : 0;
    if (!state || !(*state & VALID) || (a != address && *state & (START | FREED))) return;
    if (a != address) *state |= FREED;
  }
}

// Is what free was given a block of the heap? Then it is none from now on. table: the allocations
// made by the host.
__attribute__((noinline)) uint32_t wg_heap_free(uint32_t heap, uint64_t table, uint64_t address) {
  WgHeap *h = wg_heap_at(heap);
  if (!address) return 0;
  uint8_t *page = h ? page_of(h, address, 0) : 0;
  uint32_t state = page ? page[granule_of(address)] : 0;
  if (!state)
    return wg_memory_base(table, address) != ~0ull || !device_is_global(address) ? KIND_INVALID_FREE
                                                                                 : 0;
  if (!(state & START) || address % GRANULE) return KIND_INVALID_FREE;
  uint32_t at = granule_of(address), shift = at % 4 * 8;
  uint32_t before = device_swap_or32((uint32_t *)(page + at - at % 4), (uint32_t)FREED << shift);
  if (before >> shift & FREED) return KIND_INVALID_FREE;
  mark_freed(h, address);
  return 0;
}

uint32_t wg_heap_look(uint32_t heap, uint64_t address, uint32_t bytes) {
  WgHeap *h = wg_heap_at(heap);
  if (!h) return WG_HEAP_UNKNOWN;
  for (uint64_t a = address; a < address + bytes; a = (a | (GRANULE - 1)) + 1) {
    uint8_t *page = page_of(h, a, 0);
    uint32_t state = page ? page[granule_of(a)] : 0, inside = (uint32_t)(a % GRANULE);
    if (!state) {  // before a block is what the heap keeps there
      uint8_t *next = page_of(h, a + GRANULE, 0);
      uint32_t follows = next ? next[granule_of(a + GRANULE)] : 0;
      return a != address || (follows & (START | FREED)) == START ? WG_HEAP_OUTSIDE
                                                                  : WG_HEAP_UNKNOWN;
    }
    if (state & FREED) return WG_HEAP_FREED;
    uint64_t last = (a | (GRANULE - 1)) < address + bytes - 1 ? GRANULE
                                                              : (address + bytes - 1) % GRANULE + 1;
    if (state & BEHIND || inside >= (state & VALID) || last > (state & VALID))
      return WG_HEAP_OUTSIDE;
  }
  return WG_HEAP_GOOD;
}
