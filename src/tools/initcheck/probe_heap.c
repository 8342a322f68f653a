// Memory from malloc in device code: pages of 4 KB, found by a hash of the address, each with a
// shadow like any other memory's. A page is a WgMemoryRange that never changes once it has its
// base, so that a thread may keep a page it found. Only malloc makes pages. free changes nothing:
// the next malloc that returns the block marks it unwritten again. When all pages are used, blocks
// that need more count as initialised.
#include "tools/initcheck/probe_heap.h"

// The page that contains an address, in the form that wg_init_find returns; 0: none. Not inlined,
// since it is rarely called.
uint64_t wg_init_heap_find(uint64_t table, uint64_t address);
__attribute__((noinline)) uint64_t wg_init_heap_find(uint64_t table, uint64_t address) {
  WgInitHeap *h = init_heap(table);
  return h ? (uint64_t)init_heap_page(h, address, 0) : 0;
}

// malloc returned a block: marks it unwritten.
void wg_init_born(uint64_t table, uint64_t address, uint64_t bytes, uint32_t site);
__attribute__((noinline)) void wg_init_born(uint64_t table, uint64_t address, uint64_t bytes,
                                            uint32_t site) {
  // one block must not take the pages of all others
  enum { MOST = WG_INIT_HEAP_PAGES / 2 * WG_INIT_HEAP_PAGE };
  WgInitHeap *h = init_heap(table);
  if (!h || !address || !bytes || bytes > MOST || address % WG_INIT_HEAP_GRANULE) return;
  uint64_t end = address + bytes, place = 0;
  for (uint64_t a = address & ~(WG_INIT_HEAP_PAGE - 1ull); a < end; a += WG_INIT_HEAP_PAGE)
    if (!init_heap_page(h, a, 1)) return;
  for (uint64_t a = address; a < end; a += WG_INIT_HEAP_GRANULE) {
    uint64_t in_page = a % WG_INIT_HEAP_PAGE, left = end - a;
    if (a == address || !in_page) place = init_heap_place(h, init_heap_page(h, a, 0));
    // the bytes after the block
    uint32_t good = left >= WG_INIT_HEAP_GRANULE ? 0 : 0x0f0f0f0fu << left / 4 * 8;
    if (good) good ^= ((1u << left % 4) - 1) << left / 4 * 8;
    *(volatile uint32_t *)&h->shadow[place][in_page / 4] = good;
    *(volatile uint32_t *)&h->sites[place][in_page / WG_INIT_HEAP_GRANULE] = site + 1;
  }
}

// The site of the malloc that made this memory, plus 1; 0: none did.
uint32_t wg_init_source(uint64_t table, uint64_t address);
__attribute__((noinline)) uint32_t wg_init_source(uint64_t table, uint64_t address) {
  WgInitHeap *h = init_heap(table);
  const WgMemoryRange *page = h && address ? init_heap_page(h, address, 0) : 0;
  return page ? *(volatile uint32_t *)&h->sites[init_heap_place(h, page)]
                                               [address % WG_INIT_HEAP_PAGE / WG_INIT_HEAP_GRANULE]
              : 0;
}
