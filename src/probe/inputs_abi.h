// What the kernel behind --record=inputs (inputs_kernel.cu) is given, and the ring through which pages leave the device.
//
// A page is kept if its hash is another one than that of the page that was kept last, which stands in a table of the device's memory. Pages count from the start of their
// allocation. A block takes a place in the ring by adding to its head, waits until the place is free, writes the page and then its head.
#ifndef WG_INPUTS_ABI_H
#define WG_INPUTS_ABI_H

#include <stdint.h>

enum { WG_INPUTS_PAGE = 1 << 16, WG_INPUTS_PARTS = 16, WG_INPUTS_THREADS = 256 };

typedef struct WgInputsPart {
  uint64_t base, bytes;                    // an allocation
  uint64_t first;                          // its first page that is looked at
  uint64_t pages;                          // of all parts up to and with this one, that are looked at
  uint64_t table;                          // device address: uint64_t for each page; 0: none was kept yet
} WgInputsPart;
typedef struct WgInputsSlot {              // in memory of the host
  uint64_t sequence;                       // position plus 1, written last
  uint64_t address, bytes;
  uint32_t step, reserved;
  uint8_t pad[96];
  uint8_t data[WG_INPUTS_PAGE];
} WgInputsSlot;
typedef struct WgInputsRing { uint64_t tail; uint8_t pad[120]; WgInputsSlot slots[]; } WgInputsRing;   // tail: positions that the host has read
typedef struct WgInputsWork {
  uint64_t ring, head;                     // device addresses: of a WgInputsRing, and of a uint64_t in device memory
  uint32_t slots, step, count, reserved;   // slots: a power of two
  WgInputsPart parts[WG_INPUTS_PARTS];
} WgInputsWork;
#endif
