// The parameter of the kernel that copies changed pages (changed_pages_kernel.cu), and the rings
// through which pages leave the device.
//
// A page has changed if its hash differs from that of its last copy, which a table in device memory
// keeps. Pages count from the start of their allocation. A block reserves a place, writes the page
// and then its head. Places are in two rings. One has its pages in device memory, where they wait
// for the bus while kernels run on. When it is full, blocks use one in host memory, and wait until
// a place is free.
#ifndef WG_PAGES_ABI_H
#define WG_PAGES_ABI_H

#include <stdint.h>

enum { WG_PAGE_BYTES = 1 << 16, WG_PAGES_PARTS = 16, WG_PAGES_THREADS = 256 };

typedef struct WgPagesPart {
  uint64_t base, bytes;  // an allocation
  uint64_t first;        // its first page to hash
  uint64_t pages;        // to hash, of all parts up to this one
  uint64_t table;        // device address: uint64_t for each page; 0: none was kept yet
} WgPagesPart;
typedef struct WgPagesHead {
  uint64_t sequence;  // position plus 1, written last
  uint64_t address, bytes;
  uint32_t step, reserved;
} WgPagesHead;
// Both rings are in memory of the host. tail: positions that the host has read.
typedef struct WgPagesSlot {
  WgPagesHead head;
  uint8_t pad[96];
  uint8_t data[WG_PAGE_BYTES];
} WgPagesSlot;
typedef struct WgPagesRing {
  uint64_t tail;
  uint8_t pad[120];
  WgPagesSlot slots[];
} WgPagesRing;
// its pages lie elsewhere
typedef struct WgPagesStage {
  uint64_t tail;
  uint8_t pad[120];
  WgPagesHead heads[];
} WgPagesStage;
typedef struct WgPagesWork {
  // device addresses: of a WgPagesRing, of a WgPagesStage and of its pages
  uint64_t ring, stage, pages;
  uint64_t head;           // … of two words of device memory: the next position of each ring
  uint32_t slots, staged;  // places of both rings: powers of two; staged 0: no stage
  uint32_t step, count;
  WgPagesPart parts[WG_PAGES_PARTS];
} WgPagesWork;
#endif
