// Arguments of the kernel that finds out before a launch whether everything the launch reads is
// initialised (tools/initcheck/all_initialised_kernel.cu).
#ifndef WG_WHOLE_ABI_H
#define WG_WHOLE_ABI_H

#include <stdint.h>

// AHEAD: loads of 16 bytes that a thread has in flight
enum { WG_WHOLE_PARTS = 8, WG_WHOLE_THREADS = 256, WG_WHOLE_AHEAD = 4 };

// The shadow of `bytes` bytes of memory; its address is a multiple of 16
typedef struct WgWholePart {
  uint64_t shadow, bytes;
} WgWholePart;
typedef struct WgWholeWork {
  uint64_t answer;  // device address of a uint32_t, 0 before: 1 if something is not initialised
  uint64_t later;   // … of an answer that is zeroed for a later launch
  uint64_t told;    // … of a word in the host's memory that is set to `number` then
  uint32_t number, count;
  WgWholePart parts[WG_WHOLE_PARTS];
} WgWholeWork;

#endif
