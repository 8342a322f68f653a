// fpcheck inside the program: what its files share.
#ifndef WG_TOOLS_FPCHECK_HOST_H
#define WG_TOOLS_FPCHECK_HOST_H

#include "session/internal.h"
#include "tools/fpcheck/abi.h"
#include "tools/tool.h"

typedef struct FpDevice {
  uint64_t memory;            // device address of its WgFpMemory; 0: none
  uint64_t *pages, pages_at;  // its pages as they were when WgFpMemory.changes was this
  uint64_t stored;            // device address of WgChannel.tool_count
  struct FpClosed *closed;    // host_closed.c; NULL: none
} FpDevice;

// --- host_copies.c: exceptions that leave for the host ---
void fp_copies_open(ToolDevice *d, const WgChannel *channel);
void fp_copies_close(ToolDevice *d);
bool fp_wants_copy(const SessionCopy *c);
void fp_copied(const SessionCopy *c);
// --- host_library_calls.c ---
void fp_library_begins(const LibraryCall *c, const Operand *o, uint32_t n);
void fp_library_ran(const LibraryCall *c);

// --- host_closed.c: kernels that are machine code only ---
void fp_closed_open(ToolDevice *d);
void fp_closed_close(ToolDevice *d);
void fp_closed_begins(ToolDevice *d, const SessionClosedLaunch *l);
void fp_closed_ends(ToolDevice *d, const SessionClosedLaunch *l);
void fp_closed_allocated(uint64_t base, uint64_t size, const char *name);
void fp_closed_contents_kept(uint64_t base);
void fp_closed_copied(const SessionCopy *c);
void fp_closed_unknown_writes(void);
void fp_closed_synchronised(const void *stream, bool every);
void fp_closed_tell(void);  // what the device has found so far

#endif
