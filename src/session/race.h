// race: what racecheck needs of the host. Shared by the files race*.c and order.c.
#ifndef WG_SESSION_RACE_H
#define WG_SESSION_RACE_H

#include "tools/racecheck/abi.h"
#include "session/internal.h"

// --- order.c ---
enum { RACE_UNORDERED = 7 };
// numbers in entries of launches that nothing orders before this one; all launches were made by one
// thread
typedef struct RaceOrder {
  uint32_t n, number[RACE_UNORDERED];
  bool one_thread;
} RaceOrder;
// number 0: it leaves no entries. overlaps: it may begin before the launch before it has ended.
// tells_host: what it does may be known to the host before it ends.
void session_order_launch(SessionDevice *d, const void *stream, uint32_t number, bool overlaps,
                          bool tells_host, RaceOrder *out);
void session_order_uses(const void *stream);  // a launch is about to be made on it
void session_order_forget(SessionDevice *d, uint32_t from, uint32_t to);
bool session_order_concurrent(void);  // there are streams that do not wait for each other
// number 0: it leaves no entries
void session_order_copy(const SessionCopy *c, SessionDevice *d, uint32_t number, RaceOrder *out);

// --- race_apart.c ---
// All accesses through these pointers: is it known that no two threads come to the same byte? With
// the lock of race.c.
bool session_race_apart(const WovenKernel *code, const SessionLaunch *launch,
                        const SessionParams *params, const WeaveFact *const *facts, uint32_t n);
// … of the same block
bool session_race_group_apart(const WovenKernel *code, const SessionLaunch *launch,
                              const SessionParams *params, const RaceGroup *g);

// --- race.c ---
// A copy that was asked for, by its number.
typedef struct RaceCopy {
  uint64_t unordered, stack;
  const char *call;
  int device;
  bool in_graph, looks;
} RaceCopy;
// What the device reads when it reports, and what it tells of copies: memory of the host.
typedef struct RaceTold {
  WgRaceLaunch launches[WG_RACE_LAUNCHES];
  WgRaceMet met[WG_RACE_LAUNCHES];
  uint64_t count;
} RaceTold;
typedef struct RaceDevice {
  SessionDevice *device;
  uint32_t id;  // no other one has it
  uint64_t slots, shared;
  size_t shared_bytes;
  uint32_t number;  // of the last launch, in entries
  RaceTold *told;
  uint64_t told_at;  // the device sees it there
  uint64_t heard;    // of told->count
  RaceCopy copies[WG_RACE_LAUNCHES];
  uint32_t running[2];  // launches of each half, where the device tells of their end
  struct RaceDevice *next;
} RaceDevice;
// leaving: the allocation is freed, launches before that may still run
typedef struct RaceEntries {
  uint64_t base, size, address;
  size_t bytes;
  SessionDevice *device;
  bool leaving;
} RaceEntries;
extern pthread_mutex_t session_race_lock;                     // for what follows
RaceDevice *session_race_device(SessionDevice *d, bool add);  // NULL: not known yet
RaceDevice *session_race_devices(void);                       // the first
// a number; 0: none is free, or nobody could be told of what is found
uint32_t session_race_next(RaceDevice *r);
// NULL: there is no memory for them, or they are another device's
RaceEntries *session_race_entries(SessionDevice *d, uint64_t base, uint64_t size);

// --- race_copy.c ---
void session_race_copy(const SessionCopy *c);  // the program asks for it
void session_race_heard(RaceDevice *r);  // keeps what the device has told of copies, with the lock
void session_race_tell(void);            // … and makes findings of it, without
// before it is told of all allocations: they have entries, if it needs them
void session_race_cover(SessionDevice *d, SessionKernel *k);
// Fills the racecheck part of a record; the launch's number in entries, 0: it is not checked.
uint64_t session_race_record(SessionDevice *d, SessionKernel *k, const SessionLaunch *l,
                             uint32_t launch, uint64_t channel, const SessionParams *params,
                             void *record);
void session_race_done(SessionDevice *d, uint64_t number);  // that launch has ended
void session_races_close(SessionDevice *d, bool alive);
// the allocation is freed; in_order: of a stream, which nobody has waited for
void session_race_free(uint64_t base, bool in_order);

#endif
