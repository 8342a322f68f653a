// One access of machine code outside of all windows of the launch: the arguments of a tool's
// patch.h on the device.
#ifndef WG_PROBE_CLOSED_ACCESS_H
#define WG_PROBE_CLOSED_ACCESS_H

#include "probe/closed_abi.h"
#include "probe/device.h"
#include "probe/probe_abi.h"

typedef struct ClosedAccess {
  uint64_t address, pc;
  uint32_t bytes;
  uint32_t what;  // WG_ACCESS_…
} ClosedAccess;

// The site of an instruction. Two instructions of a kernel may share one.
DEVICE uint32_t closed_site(const WgClosed *c, uint64_t pc) {
  return c->site_base + (uint32_t)((pc - c->code) / WG_CLOSED_INSTRUCTION_BYTES) % WG_CLOSED_SITES;
}

#endif
