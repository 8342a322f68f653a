// race: what racecheck needs of the host. Shared by the files race*.c and order.c.
#ifndef WG_SESSION_RACE_H
#define WG_SESSION_RACE_H

#include "session/internal.h"

// --- order.c ---
enum { RACE_UNORDERED = 7 };
typedef struct RaceOrder { uint32_t n, number[RACE_UNORDERED]; bool one_thread; } RaceOrder;     // numbers in entries of launches that nothing orders before this one; all launches were made by one thread
// number 0: it leaves no entries. overlaps: it may begin before the launch before it has ended. tells_host: what it does may be known to the host before it ends.
void session_order_launch(SessionDevice *d, const void *stream, uint32_t number, bool overlaps, bool tells_host, RaceOrder *out);
void session_order_uses(const void *stream);                     // a launch is about to be made on it
void session_order_forget(SessionDevice *d, uint32_t from, uint32_t to);
bool session_order_concurrent(void);                             // there is more than one stream
void session_order_copy(const SessionCopy *c, SessionDevice *d, uint32_t number, RaceOrder *out);      // number 0: it leaves no entries

// --- race_apart.c ---
// All accesses through these pointers: is it known that no two threads come to the same byte? With the lock of race.c.
bool session_race_apart(const InstrumentedKernel *code, const SessionLaunch *launch, const SessionParams *params, const InstrumentFact *const *facts, uint32_t n);

// --- race.c ---
void session_race_copy(const SessionCopy *c);                    // the program asks for it
void session_race_cover(SessionDevice *d, SessionKernel *k);     // before it is told of all allocations: they have entries, if it needs them
// Fills the racecheck part of a record; the launch's number in entries, 0: it is not checked.
uint64_t session_race_record(SessionDevice *d, SessionKernel *k, const SessionLaunch *l, uint32_t launch, uint64_t channel, const SessionParams *params, void *record);
void session_race_done(SessionDevice *d, uint64_t number);       // that launch has ended
void session_races_close(SessionDevice *d, bool alive);
void session_race_free(uint64_t base);                           // the allocation is freed

#endif
