// Counters of a module on a device (Woven.ncounters): words that woven code adds to, for any tool.
#ifndef WG_SESSION_COUNTERS_H
#define WG_SESSION_COUNTERS_H

#include "session/internal.h"

typedef struct PieceCounters {
  SessionDevice *device;  // NULL: it is closed
  uint64_t address;       // 0: the device had no memory for them
  // by ToolId: as they were when the tool last read them; NULL: never
  uint64_t *seen[TOOL_MOST];
  struct PieceCounters *next;
} PieceCounters;

PieceCounters *session_counters_find(Piece *p, const SessionDevice *d);  // NULL: none
// device address, made when first needed; 0: none. Without the lock
uint64_t session_counters(SessionDevice *d, Piece *p);
// Counts since the tool last asked, then the counters' current values: Woven.ncounters numbers
// each. The caller frees them. NULL: nothing was counted. lost: the counters cannot be read any
// more. With the lock held
uint64_t *session_counters_since(SessionDevice *d, Piece *p, unsigned tool, bool *lost);
// Sends execution counts by kernel and source line (weave/execution_rows.h); returns how many rows.
uint64_t session_send_executions(const Piece *p, const uint64_t *counters, int device);
// Collects the counters of each piece before a device is closed; calls `lost` where they are gone.
struct ToolDevice;
typedef struct SessionCollect {
  void (*piece)(struct ToolDevice *d, Piece *p);
  void (*lost)(struct ToolDevice *d);
} SessionCollect;
void session_counters_collect(struct ToolDevice *d, bool alive, const SessionCollect *how);
void session_counters_close(SessionDevice *d, bool alive);  // with the lock held

#endif
