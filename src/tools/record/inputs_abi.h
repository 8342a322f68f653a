// What the kernel behind --record=inputs (inputs_kernel.cu) is given, and the ring through which
// pages leave the device.
//
// A page is kept if its hash is another one than that of the page that was kept last, which stands
// in a table of the device's memory. Pages count from the start of their allocation. A block takes
// a place for it, writes the page and then its head. Places are in two rings: one whose pages lie
// in device memory, where they wait for the bus while kernels run on; and, when that is full, one
// in memory of the host, where the block waits until a place is free.
#ifndef WG_INPUTS_ABI_H
#define WG_INPUTS_ABI_H

#include <stdint.h>

enum { WG_INPUTS_PAGE = 1 << 16, WG_INPUTS_PARTS = 16, WG_INPUTS_THREADS = 256 };

typedef struct WgInputsPart {
  uint64_t base, bytes;  // an allocation
  uint64_t first;        // its first page that is looked at
  uint64_t pages;        // of all parts up to and with this one, that are looked at
  uint64_t table;        // device address: uint64_t for each page; 0: none was kept yet
} WgInputsPart;
typedef struct WgInputsHead {
  uint64_t sequence;  // position plus 1, written last
  uint64_t address, bytes;
  uint32_t step, reserved;
} WgInputsHead;
// Both in memory of the host. tail: positions that it has read
typedef struct WgInputsSlot {
  WgInputsHead head;
  uint8_t pad[96];
  uint8_t data[WG_INPUTS_PAGE];
} WgInputsSlot;
typedef struct WgInputsRing {
  uint64_t tail;
  uint8_t pad[120];
  WgInputsSlot slots[];
} WgInputsRing;
// its pages lie elsewhere
typedef struct WgInputsStage {
  uint64_t tail;
  uint8_t pad[120];
  WgInputsHead heads[];
} WgInputsStage;
typedef struct WgInputsWork {
  // device addresses: of a WgInputsRing, of a WgInputsStage and of its pages
  uint64_t ring, stage, pages;
  uint64_t head;           // … of two words of device memory: the next position of each
  uint32_t slots, staged;  // places of both: powers of two; staged 0: there are none
  uint32_t step, count;
  WgInputsPart parts[WG_INPUTS_PARTS];
} WgInputsWork;
#endif
