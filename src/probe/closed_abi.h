// Data that patches in machine code (src/closed) share with the host: the record of a launch. It
// lies in device memory, one for each stream, and is filled in the order of the stream.
#ifndef WG_CLOSED_ABI_H
#define WG_CLOSED_ABI_H

#include <stdint.h>

enum { WG_CLOSED_WINDOWS = 12, WG_CLOSED_INSTRUCTION_BYTES = 16 };
// A kernel's sites: one for each part of its code, then one for each format that it stores.
enum { WG_CLOSED_SITES = 64, WG_CLOSED_FORMATS = 8 };

// A live allocation that a parameter of the launch points into: nearly every access lies in one. An
// access at address a, of at most WG_CLOSED_WIDEST bytes, is inside if a - base <= last.
enum { WG_CLOSED_WIDEST = 16 };
typedef struct WgWindow {
  uint64_t base, last;
} WgWindow;

// Of a watched launch: an allocation that its parameters point into. base 0 ends a list.
typedef struct WgExtent {
  uint64_t base, bytes;
} WgExtent;

typedef struct WgClosed {
  uint64_t channel;      // device address of the context's WgReports
  uint64_t memory;       // … of a WgMemoryTable; 0: there is none, and nothing is looked up
  uint64_t code;         // … of the kernel's first instruction
  uint32_t launch;       // number of the launch in its process
  uint32_t site_base;    // of the kernel's sites
  uint32_t tools;        // bit ToolId: the tools that look at this launch
  uint32_t reserved[3];  // so that each window is read by one load
  uint64_t outside;  // device address of a word that an access outside of `extents` sets; 0: none
  uint64_t extents;  // … of the launch's WgExtents, by address
  WgWindow windows[WG_CLOSED_WINDOWS + 1];  // base 0 ends them
} WgClosed;  // what is behind the end of the windows is not copied to the device

// WgFinding.value[3] of a finding in machine code: the offset of its instruction from `code`.
#endif
