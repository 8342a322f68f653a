// The exact test of one access against the table of all allocations.
#include "tools/memcheck/heap_abi.h"
#include "tools/memcheck/kinds.h"
#include "probe/ranges.h"

// WG_ACCESS_… is added to the kind of a read.
_Static_assert(KIND_OOB_WRITE == KIND_OOB_READ + WG_ACCESS_WRITE &&
                   KIND_OOB_ATOMIC == KIND_OOB_READ + WG_ACCESS_ATOMIC,
               "kinds of accesses");

// Memory that the driver allocates by itself (the device's heap, the workspace of a cooperative
// grid) is not in the table. So an address outside of everything is wrong only if it is null,
// larger than addresses are, or close to an allocation: then it was meant for that. Except close to
// a variable: unnamed variables of the module may lie beside it.
enum { CLOSE = 4096, ADDRESS_BITS = 57 };
DEVICE int is_stray(uint64_t table, const WgMemoryRange *below, uint64_t address) {
  const WgMemoryTable *t = (const WgMemoryTable *)table;
  const WgMemoryRange *first = (const WgMemoryRange *)(t + 1), *next = below ? below + 1 : first;
  if (address < WG_NULL_PAGE || address >> ADDRESS_BITS) return 1;
  if (below && !below->is_variable && address - (below->base + below->size) < CLOSE) return 1;
  return next < first + t->count && !next->is_variable && next->base - address < CLOSE;
}

uint32_t wg_memcheck(uint64_t table, uint64_t address, uint32_t bytes, uint32_t what, uint64_t base,
                     uint64_t size, uint32_t heap);
uint64_t wg_memory_last(uint64_t table, uint64_t address);

DEVICE int is_inside(uint64_t address, uint32_t bytes, uint64_t base, uint64_t size) {
  uint64_t at = address - base;
  return at < size && size - at >= bytes;
}

// Shared memory as a whole, for pointers of unknown origin. In a cluster the high bits are the
// number of a block.
DEVICE uint32_t check_shared(uint64_t address, uint32_t bytes, uint32_t what) {
  enum { WINDOW_BITS = 24 };
  if (address >> WINDOW_BITS && what & WG_WHAT_CLUSTERS) return 0;
  return is_inside(address, bytes, 0, (uint64_t)device_shared_size() + WG_SHARED_RESERVED)
             ? 0
             : KIND_OOB_READ + (what & 3);
}

DEVICE uint32_t check_global(uint64_t table, uint64_t address, uint32_t bytes, uint32_t what,
                             uint32_t heap) {
  const WgMemoryRange *r = range_below(table, address);
  if (!table) return 0;  // nothing is known of this launch
  if (!r || address - r->base >= r->size) {
    switch (heap ? wg_heap_look(heap, address, bytes) : WG_HEAP_UNKNOWN) {
      case WG_HEAP_GOOD: return 0;
      case WG_HEAP_FREED: return KIND_USE_AFTER_FREE;
      case WG_HEAP_OUTSIDE: return KIND_OOB_READ + (what & 3);
      default:
        return is_stray(table, r, address) || device_is_nobodys(address)
                   ? KIND_OOB_READ + (what & 3)
                   : 0;
    }
  }
  if (r->state == WG_MEMORY_FREED) return KIND_USE_AFTER_FREE;
  return r->size - (address - r->base) >= bytes ? 0 : KIND_OOB_READ + (what & 3);
}

DEVICE uint32_t check_object(uint64_t table, uint64_t address, uint32_t bytes, uint32_t what,
                             uint64_t base, uint64_t size) {
  if (is_inside(address, bytes, base, size)) return 0;
  if ((what >> WG_WHAT_SPACE & 3) <= WG_WHERE_GENERIC && is_freed(table, address))
    return KIND_USE_AFTER_FREE;
  return KIND_OOB_READ + (what & 3);
}

DEVICE uint32_t check_anything(uint64_t table, uint64_t address, uint32_t bytes, uint32_t what,
                               uint32_t heap) {
  switch (what >> WG_WHAT_SPACE & 3) {
    case WG_WHERE_GLOBAL: return check_global(table, address, bytes, what, heap);
    case WG_WHERE_SHARED: return check_shared(address, bytes, what);
    case WG_WHERE_GENERIC:
      // null is in no space
      if (address < WG_NULL_PAGE) return check_global(table, address, bytes, what, heap);
      if (device_is_shared(address)) return check_shared(device_to_shared(address), bytes, what);
      return device_is_global(address) ? check_global(table, address, bytes, what, heap) : 0;
    default: return 0;
  }
}

// 0: the access is good. Else the kind of finding. base, size: the object the address was computed
// from; 0: not known. base has WG_NO_READS and WG_NO_WRITES where the argument does not allow them.
__attribute__((noinline)) uint32_t wg_memcheck(uint64_t table, uint64_t address, uint32_t bytes,
                                               uint32_t what, uint64_t base, uint64_t size,
                                               uint32_t heap) {
  uint64_t forbidden = (what & 3) == WG_ACCESS_READ ? WG_NO_READS : WG_NO_WRITES;
  uint32_t is_forbidden = base & forbidden && !(what & (WG_WHAT_OBJECT | WG_WHAT_INSERTS));
  base &= ~(WG_NO_READS | WG_NO_WRITES);
  uint32_t kind = base || what & WG_WHAT_OBJECT
                      ? check_object(table, address, bytes, what, base, size)
                      : check_anything(table, address, bytes, what, heap);
  if (kind) return kind;
  if (is_forbidden) return KIND_NO_ACCESS;
  return address & ((1u << (what >> WG_WHAT_ALIGN & 15)) - 1) ? KIND_MISALIGNED : 0;
}

// The same, and reports what is bad: device code only.
#ifdef __NVPTX__
void wg_report(uint64_t channel, uint32_t launch, uint32_t site, uint32_t kind, uint32_t size,
               uint64_t address, uint64_t value, uint64_t extra);
uint32_t wg_memcheck_report(uint64_t table, uint64_t address, uint32_t bytes, uint32_t what,
                            uint64_t base, uint64_t size, uint32_t heap, uint64_t channel,
                            uint32_t launch, uint32_t site);
__attribute__((noinline)) uint32_t wg_memcheck_report(uint64_t table, uint64_t address,
                                                      uint32_t bytes, uint32_t what, uint64_t base,
                                                      uint64_t size, uint32_t heap,
                                                      uint64_t channel, uint32_t launch,
                                                      uint32_t site) {
  uint32_t kind = wg_memcheck(table, address, bytes, what, base, size, heap);
  base &= ~(WG_NO_READS | WG_NO_WRITES);
  if (kind) wg_report(channel, launch, site, kind, bytes, address, base, size);
  return kind;
}
#endif

// The range a good address is in, for accesses of up to 32 bytes; one that holds nothing where
// there is none or it is too small.
DEVICE const WgMemoryRange *range_around(uint64_t table, uint64_t address) {
  const WgMemoryRange *r = range_below(table, address);
  return r && r->size >= 32 && r->state == WG_MEMORY_LIVE && address - r->base < r->size ? r : 0;
}
__attribute__((noinline)) uint64_t wg_memory_base(uint64_t table, uint64_t address) {
  const WgMemoryRange *r = range_around(table, address);
  return r ? r->base : ~0ull;
}
__attribute__((noinline)) uint64_t wg_memory_last(uint64_t table, uint64_t address) {
  const WgMemoryRange *r = range_around(table, address);
  return r ? r->size - 32 : 0;
}

// Bytes at any address as one number. Device code only.
#ifdef __NVPTX__
uint64_t wg_load_bytes(uint64_t address, uint32_t n);
__attribute__((noinline)) uint64_t wg_load_bytes(uint64_t address, uint32_t n) {
  uint64_t value = 0;
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; i < n; i++)
    value |= (uint64_t)((const volatile uint8_t *)address)[i] << 8 * i;
  return value;
}
#endif

// The accesses that are bad, a bit for each; they are reported. Device code only.
#ifdef __NVPTX__
uint32_t wg_memcheck_region(uint64_t entries, uint32_t n, uint64_t table, uint32_t heap,
                            uint64_t channel, uint32_t launch);
__attribute__((noinline)) uint32_t wg_memcheck_region(uint64_t entries, uint32_t n, uint64_t table,
                                                      uint32_t heap, uint64_t channel,
                                                      uint32_t launch) {
  uint32_t wrong = 0;
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; i < n; i++) {
    WgRegionEntry *e = (WgRegionEntry *)entries + i;
    uint32_t kind = !e->bytes ? 0
                              : wg_memcheck_report(table, e->address, e->bytes, e->what, e->base,
                                                   e->size, e->what & WG_WHAT_HEAP ? heap : 0,
                                                   channel, launch, e->site);
    if (kind && kind != KIND_NO_ACCESS) wrong |= 1u << i;
    if (e->what & WG_WHAT_RANGE) {
      uint64_t base = wg_memory_base(table, e->address), last = wg_memory_last(table, e->address);
      e->base = kind ? ~0ull : base;
      e->size = kind ? 0 : last;
    }
  }
  return wrong;
}
#endif
