// Declarations that initcheck's weaving, its device-side code and its halves on the host share.
#ifndef WG_INITCHECK_ABI_H
#define WG_INITCHECK_ABI_H

#include "probe/probe_abi.h"

// Shadow memory: one byte for each 4 bytes of memory. Bit i: byte i was written with an initialised
// value. Bit 4 + i: it was written with a value computed from uninitialised memory. Neither bit: it
// was never written.
enum { WG_SHADOW_GOOD = 0x0f, WG_SHADOW_DERIVED = 0xf0 };
enum { WG_INIT_MARK_GOOD, WG_INIT_MARK_UNWRITTEN, WG_INIT_MARK_ASK };  // wg_init_said
// WgFinding.value[0] of UNINIT_USE: what depends on it; address: where it was
enum { WG_INIT_BRANCH, WG_INIT_ADDRESS, WG_INIT_WARP, WG_INIT_OTHER };
// read, extra[0]: at which site (0xffffffff: not known), and from bit 32 on which malloc
// of device code made that memory (its site plus 1; 0: none, or not known)

// The device's heap; see probe_heap.c. As the host makes it, no page is known (base 0), and all
// shadow is good. sites: of the malloc that returned these 16 bytes, plus 1.
enum { WG_INIT_HEAP_PAGES = 8192, WG_INIT_HEAP_PAGE = 4096, WG_INIT_HEAP_GRANULE = 16 };
typedef struct WgInitHeap {
  WgMemoryRange pages[WG_INIT_HEAP_PAGES];
  uint32_t sites[WG_INIT_HEAP_PAGES][WG_INIT_HEAP_PAGE / WG_INIT_HEAP_GRANULE];
  uint8_t shadow[WG_INIT_HEAP_PAGES][WG_INIT_HEAP_PAGE / 4];
} WgInitHeap;
// WgLaunch.flags, for the host: it may write to the heap through a parameter, and such stores are
// not marked
enum { WG_LAUNCH_HEAP_UNSEEN = 1 << 11 };

#endif
