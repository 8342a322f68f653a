// Declarations that memcheck's weaving, its device-side code and its half inside the program share.
#ifndef WG_MEMCHECK_ABI_H
#define WG_MEMCHECK_ABI_H

#include "probe/probe_abi.h"

enum { WG_ACCESS_READ, WG_ACCESS_WRITE, WG_ACCESS_ATOMIC };
// An access in one word, for the exact test: WG_ACCESS_… | WG_WHERE_… << WG_WHAT_SPACE | log2 of
// its alignment << WG_WHAT_ALIGN.
enum { WG_WHERE_GLOBAL, WG_WHERE_GENERIC, WG_WHERE_SHARED, WG_WHERE_OTHER };
// CLUSTERS: a shared address may be another block's. OBJECT: its base may be 0
// INSERTS: a load that is made for a store
enum {
  WG_WHAT_SPACE = 2,
  WG_WHAT_CLUSTERS = 1 << 5,
  WG_WHAT_OBJECT = 1 << 6,
  WG_WHAT_INSERTS = 1 << 7,
  WG_WHAT_ALIGN = 8
};
// Several accesses at once: tools/memcheck/weave_region.c. bytes 0: it is not made.
// HEAP: the device's heap counts. RANGE: base and size become the range it is in, as wg_memory_base
// and wg_memory_last say
enum { WG_REGION_MOST = 16, WG_WHAT_HEAP = 1 << 12, WG_WHAT_RANGE = 1 << 13 };
typedef struct WgRegionEntry {
  uint64_t address, base, size;
  uint32_t what, bytes, site, unused;
} WgRegionEntry;

// the extent of a surface in one word: shifts
enum { WG_IMAGE_HEIGHT = 24, WG_IMAGE_SLICES = 44 };

// The state of device malloc and free, kept by device code; see probe_heap.c. Zero when it is new.
// WgLaunch.heap is its address, shifted by SHIFT. BEHIND: bytes by which blocks are made longer
enum { WG_HEAP_PAGES = 8192, WG_HEAP_SHIFT = 21, WG_HEAP_BEHIND = 16 };
typedef struct WgHeap {
  uint64_t keys[WG_HEAP_PAGES];
  uint8_t states[WG_HEAP_PAGES][256];
} WgHeap;

#endif
