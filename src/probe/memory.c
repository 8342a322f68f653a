// The exact test of one access against the table of all allocations.
#include "probe/device.h"
#include "probe/probe_abi.h"

// WG_ACCESS_… is added to the kind of a read.
_Static_assert(DEVICE_KIND_OOB_WRITE == DEVICE_KIND_OOB_READ + WG_ACCESS_WRITE && DEVICE_KIND_OOB_ATOMIC == DEVICE_KIND_OOB_READ + WG_ACCESS_ATOMIC, "kinds of accesses");

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

// Memory that nobody told us about (the device's heap, what the driver gives a cooperative grid) is not in the table. So an address
// outside of everything is wrong only if it is null or close to something: then it was meant for that.
enum { NULL_PAGE = 65536, CLOSE = 4096 };
DEVICE int is_stray(uint64_t table, const WgMemoryRange *below, uint64_t address) {
  const WgMemoryTable *t = (const WgMemoryTable *)table;
  const WgMemoryRange *first = (const WgMemoryRange *)(t + 1), *next = below ? below + 1 : first;
  if (address < NULL_PAGE) return 1;
  if (below && address - (below->base + below->size) < CLOSE) return 1;
  return next < first + t->count && next->base - address < CLOSE;
}

uint32_t wg_memcheck(uint64_t table, uint64_t address, uint32_t bytes, uint32_t what, uint64_t base, uint64_t last);
uint64_t wg_memory_base(uint64_t table, uint64_t address);
uint64_t wg_memory_last(uint64_t table, uint64_t address);

// 0: the access is good. Else the kind of finding. base, last: the object the address was computed from; 0: not known.
__attribute__((noinline)) uint32_t wg_memcheck(uint64_t table, uint64_t address, uint32_t bytes, uint32_t what, uint64_t base, uint64_t last) {
  const WgMemoryRange *r = range_below(table, address);
  if (base) {
    if (address - base <= last) return 0;
    return r && r->state == WG_MEMORY_FREED && address - r->base < r->size ? DEVICE_KIND_USE_AFTER_FREE : DEVICE_KIND_OOB_READ + what;
  }
  if (!table) return 0;                      // nothing is known of this launch
  if (!r || address - r->base >= r->size) return is_stray(table, r, address) ? DEVICE_KIND_OOB_READ + what : 0;
  if (r->state == WG_MEMORY_FREED) return DEVICE_KIND_USE_AFTER_FREE;
  return r->size - (address - r->base) >= bytes ? 0 : DEVICE_KIND_OOB_READ + what;
}

// The range a good address is in, for accesses of up to 32 bytes; one that holds nothing where it is too small.
__attribute__((noinline)) uint64_t wg_memory_base(uint64_t table, uint64_t address) {
  const WgMemoryRange *r = range_below(table, address);
  return r && r->size >= 32 ? r->base : ~0ull;
}
__attribute__((noinline)) uint64_t wg_memory_last(uint64_t table, uint64_t address) {
  const WgMemoryRange *r = range_below(table, address);
  return r && r->size >= 32 ? r->size - 32 : 0;
}
