// Finds an address in the table of allocations.
#ifndef WG_PROBE_RANGES_H
#define WG_PROBE_RANGES_H

#include "probe/device.h"
#include "probe/probe_abi.h"

// The last range that begins at or below the address. 0: none.
DEVICE const WgMemoryRange *range_below(uint64_t table, uint64_t address) {
  if (!table) return 0;
  const WgMemoryTable *t = (const WgMemoryTable *)table;
  const WgMemoryRange *ranges = (const WgMemoryRange *)(t + 1);
  uint32_t low = 0, high = t->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (ranges[middle].base <= address) low = middle + 1;
    else high = middle;
  }
  return low ? &ranges[low - 1] : 0;
}

DEVICE int is_freed(uint64_t table, uint64_t address) {
  const WgMemoryRange *r = range_below(table, address);
  return r && r->state == WG_MEMORY_FREED && address - r->base < r->size;
}

#endif
