// Finding a page of the device's heap. See tools/initcheck/probe_heap.c.
#ifndef WG_PROBE_INIT_HEAP_H
#define WG_PROBE_INIT_HEAP_H

#include "probe/device.h"
#include "tools/initcheck/abi.h"

DEVICE WgInitHeap *init_heap(uint64_t table) {
  return table ? (WgInitHeap *)((const WgMemoryTable *)table)->heap : 0;
}

// 0: the page is not known. claim: make it if there is room.
DEVICE WgMemoryRange *init_heap_page(WgInitHeap *h, uint64_t address, int claim) {
  enum { TRIES = 64 };
  uint64_t base = address & ~(WG_INIT_HEAP_PAGE - 1ull);
  uint32_t at = (uint32_t)(base * 0x9e3779b97f4a7c15ull >> 40);
  for (uint32_t i = 0; i < TRIES; i++, at++) {
    WgMemoryRange *page = &h->pages[at % WG_INIT_HEAP_PAGES];
    uint64_t there = *(volatile uint64_t *)&page->base;
    if (!there && claim) {
      there = device_swap_if64(&page->base, 0, base);
      if (!there) there = base;
    }
    if (there == base) return page;
    if (!there) return 0;
  }
  return 0;
}

DEVICE uint64_t init_heap_place(const WgInitHeap *h, const WgMemoryRange *page) {
  return (uint64_t)(page - h->pages);
}

#endif
