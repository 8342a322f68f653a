// Counters of a module on a device (Woven.ncounters): words that woven code adds to, for any tool.
#ifndef WG_SESSION_COUNTERS_H
#define WG_SESSION_COUNTERS_H

#include "session/internal.h"

typedef struct PieceCounters {
  SessionDevice *device;  // NULL: it is closed
  uint64_t address;       // 0: the device had no memory for them
  uint64_t *seen;         // as they were when they were last read; NULL: never
  struct PieceCounters *next;
} PieceCounters;

PieceCounters *session_counters_find(Piece *p, const SessionDevice *d);  // NULL: none
// device address, made when first needed; 0: none. Without the lock
uint64_t session_counters(SessionDevice *d, Piece *p);
void session_counters_close(SessionDevice *d, bool alive);  // with the lock held

#endif
