// The device's heap as memcheck knows it: shared by device code and host. See probe_heap.c.
#ifndef WG_PROBE_HEAP_ABI_H
#define WG_PROBE_HEAP_ABI_H

#include "probe/device.h"
#include "tools/memcheck/abi.h"

static inline WgHeap *wg_heap_at(uint32_t where) {
  return (WgHeap *)((uint64_t)where << WG_HEAP_SHIFT);
}

enum { WG_HEAP_UNKNOWN, WG_HEAP_GOOD, WG_HEAP_OUTSIDE, WG_HEAP_FREED };
uint32_t wg_heap_look(uint32_t heap, uint64_t address, uint32_t bytes);
uint32_t wg_heap_add(uint32_t heap, uint64_t address, uint64_t bytes);
uint32_t wg_heap_free(uint32_t heap, uint64_t table, uint64_t address);
uint64_t wg_memory_base(uint64_t table, uint64_t address);

#endif
