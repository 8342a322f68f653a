// What a tool does inside the program, beside its weaving (weave/pass.h). The session calls these
// functions for the tools that --tool names; each may be NULL. A tool that has something to do
// there defines `const Tool tool_<name>` in src/tools/<name>/host.c.
#ifndef WG_TOOLS_TOOL_H
#define WG_TOOLS_TOOL_H

#include "session/session.h"

typedef struct ToolDevice {  // a context, as one tool sees it
  SessionDevice *device;
  const SessionDeviceOps *ops;
  void *user;  // how to reach its memory
  int ordinal;
  void *state;  // Tool.device_bytes bytes of the tool's own, zero at first
} ToolDevice;

typedef struct ToolLaunch {
  SessionKernel *kernel;
  const SessionParams *params;
  WgLaunch *record;  // the part of the launch record that all kernels have
} ToolLaunch;

typedef struct Tool {
  size_t device_bytes;
  // its counts grow so fast that one word for each would be waited for (WgSpread)
  bool spreads_counts;
  // --- devices and launches ---
  // Device memory is taken for the first launch that is checked: room for what the tool keeps
  // there. May change what kernels find. with session_lock held
  void (*reports_open)(ToolDevice *d, const WgChannel *channel, WgReports *reports);
  void (*reports_ready)(ToolDevice *d, const WgChannel *channel);  // afterwards, without it
  // A launch that is to be checked is about to begin: fills the tool's fields of the launch record.
  // false: it cannot be checked.
  bool (*launch)(ToolDevice *d, ToolLaunch *l);
  bool (*leaves_out)(SessionKernel *k);  // the tool runs alone and need not check this launch
  // Reads what kernels of a module left in device memory, before it is unloaded. With session_lock
  // held.
  void (*collect)(ToolDevice *d, SessionModule *m);
  void (*device_closing)(ToolDevice *d);  // its memory is about to go. Without session_lock
  // alive: its memory can still be read and freed. With session_lock held
  void (*device_close)(ToolDevice *d, bool alive);
  // --- copies to the host ---
  bool (*wants_copy)(const SessionCopy *c);
  // one that it wants has been done, and the host's memory is as it left it
  void (*copied)(const SessionCopy *c);
  // --- hangs ---
  // The watchdog looks for launches without progress for `patience` nanoseconds, and reports them.
  // true: it is known where some warp waits.
  bool (*find_stuck)(uint64_t now, uint64_t patience, bool asked);
} Tool;

// host.c; NULL: the tool has nothing to do inside the program
extern const Tool *const tool_table[TOOL_COUNT_];

// The tool with this ToolId if --tool names it and it has something to do inside the program, else
// NULL.
static inline const Tool *tool_running(unsigned t) {
  return session_tools() >> t & 1 ? tool_table[t] : NULL;
}
// for each of them: t is its ToolId
#define EACH_RUNNING_TOOL(t, tool) \
  for (unsigned t = 0; t < TOOL_COUNT_; t++) \
    for (const Tool *tool = tool_running(t); tool; tool = NULL)

#endif
