// watchdog.c inside session/: see there.
#ifndef WG_SESSION_WATCHDOG_H
#define WG_SESSION_WATCHDOG_H

#include "session/internal.h"

typedef struct WatchedLaunch {
  uint32_t number;
  SessionKernel *kernel;
  uint32_t grid[3], block[3];
  bool said;
} WatchedLaunch;

void session_watch_launch(const SessionLaunch *l, uint32_t number);
WatchedLaunch *session_watched_launch(uint32_t number);  // NULL: it is too long ago
void session_watchdog_start(void);  // a tool has something to look at (Tool.find_stuck)

#endif
