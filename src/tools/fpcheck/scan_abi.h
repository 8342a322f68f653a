// Arguments and results of the kernel that counts NaN and infinity in buffers, before and after a
// launch of machine code (tools/fpcheck/scan_kernel.cu).
#ifndef WG_FP_SCAN_ABI_H
#define WG_FP_SCAN_ABI_H

#include <stdint.h>

enum {
  WG_FP_SCAN_THREADS = 256,
  WG_FP_SCAN_AHEAD = 4,  // loads of 16 bytes that a thread has in flight
  WG_FP_SCAN_PARTS = 16,
  WG_FP_SCAN_INPUTS = 32,
  WG_FP_SCAN_BUFFERS = 1 << 16,
  WG_FP_SCAN_SUMS = 1 << 12,
  WG_FP_SCAN_EVENTS = 1 << 10,
};

// NaN and infinite numbers of a buffer when it was scanned last.
typedef struct WgFpHeld {
  uint32_t nan, inf;
} WgFpHeld;

typedef struct WgFpSum {      // of a scan in progress
  uint32_t blocks, reserved;  // blocks: those that have ended
  struct {
    uint32_t nan, inf;
    uint64_t last;  // distance of the first exception from the buffer's end; 0: there is none
  } parts[WG_FP_SCAN_PARTS];
} WgFpSum;

typedef struct WgFpPart {
  uint64_t address, bytes;
  uint32_t buffer;  // its WgFpHeld
  uint32_t format;  // WgFpFormat
} WgFpPart;

enum {
  WG_FP_INPUT_NAN = 1,  // a buffer that the launch may read held NaN before
  WG_FP_INPUT_INF = 2,
  WG_FP_INPUT_GUESSED = 4,  // shift: the same of buffers whose format is not known
};
enum { WG_FP_GUESSED = 1u << 31 };  // bit of WgFpScan.inputs

typedef struct WgFpScan {
  uint64_t held;          // device address of WgFpHeld[WG_FP_SCAN_BUFFERS]
  uint64_t sum;           // … of the WgFpSum of this scan, zero before and afterwards
  uint64_t events;        // … of a WgFpEvents in the host's memory
  uint64_t memory;        // … of the WgFpMemory; 0: none
  uint64_t stored;        // … of a counter that grows when something is noted there
  uint32_t launch, site;  // writer of the parts: site + WgFpFormat
  uint32_t nparts, ninputs;
  uint32_t behind;  // true: after the launch; reports what is new
  uint32_t reserved;
  WgFpPart parts[WG_FP_SCAN_PARTS];
  uint32_t inputs[WG_FP_SCAN_INPUTS];  // buffers; WG_FP_GUESSED: their format is not known
} WgFpScan;

typedef struct WgFpEvent {
  uint32_t sequence;  // its number, from 1 on; written last. 0: the host has read it
  uint32_t launch, buffer, inputs;
  uint32_t nan, inf, nan_before, inf_before;
  uint64_t first;  // address of the first one
  uint64_t reserved;
} WgFpEvent;

typedef struct WgFpEvents {
  uint32_t written;  // so far, including lost ones
  uint32_t lost;     // the host had not read the older event in its place yet
  uint64_t reserved;
  WgFpEvent list[WG_FP_SCAN_EVENTS];  // by number, modulo WG_FP_SCAN_EVENTS
} WgFpEvents;

#endif
