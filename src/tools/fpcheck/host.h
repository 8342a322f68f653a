// fpcheck inside the program: what its files share.
#ifndef WG_TOOLS_FPCHECK_HOST_H
#define WG_TOOLS_FPCHECK_HOST_H

#include "session/internal.h"
#include "tools/fpcheck/abi.h"
#include "tools/tool.h"

typedef struct FpDevice {
  uint64_t memory;            // device address of its WgFpMemory; 0: none
  uint64_t *pages, pages_at;  // its pages as they were when WgFpMemory.changes was this
} FpDevice;

// --- host_copies.c: exceptions that leave for the host ---
void fp_copies_open(ToolDevice *d, const WgChannel *channel);
void fp_copies_close(ToolDevice *d);
bool fp_wants_copy(const SessionCopy *c);
void fp_copied(const SessionCopy *c);

#endif
