// race: what racecheck needs of the host. Shared by the files race*.c and order.c.
#ifndef WG_SESSION_RACE_H
#define WG_SESSION_RACE_H

#include "session/internal.h"

// --- race.c ---
void session_race_cover(SessionDevice *d, SessionKernel *k);     // before it is told of all allocations: they have entries, if it needs them
// Fills the racecheck part of a record; the launch's number in entries, 0: it is not checked.
uint64_t session_race_record(SessionDevice *d, SessionKernel *k, const SessionLaunch *l, const SessionParams *params, void *record);
void session_race_done(SessionDevice *d, uint64_t number);       // that launch has ended
void session_races_close(SessionDevice *d, bool alive);
void session_race_free(uint64_t base);                           // the allocation is freed

#endif
