// racecheck inside the program: entries in device memory that remember the last accesses to each
// word (abi.h), the numbers of launches and copies in these entries, and which of them are
// unordered.
#ifndef WG_RACECHECK_HOST_H
#define WG_RACECHECK_HOST_H

#include "session/order.h"
#include "tools/racecheck/abi.h"
#include "tools/racecheck/kernel.h"
#include "tools/tool.h"

// A copy or set that has a number, or a launch of a closed kernel, which is entered like a copy.
typedef struct RaceCopy {
  uint64_t unordered, stack;
  const char *call;
  SessionKernel *kernel;  // the launched closed kernel; NULL: a copy or set
  uint32_t launch;
  int device;
  bool in_graph;
  bool looks;  // it only reads entries and leaves none
} RaceCopy;
// Host memory that the device reads for its reports, and where it writes races of copies.
typedef struct RaceTold {
  WgRaceLaunch launches[WG_RACE_LAUNCHES];
  WgRaceMet met[WG_RACE_LAUNCHES];
  uint64_t count;
} RaceTold;
typedef struct RaceDevice {  // racecheck's state of a context
  SessionDevice *device;
  uint32_t id;  // unique
  uint64_t slots, shared;
  size_t shared_bytes;
  uint32_t number;  // of the last launch or copy, in entries
  RaceTold *told;
  uint64_t told_at;  // its address on the device
  uint64_t heard;    // how much of told->count the host has read
  RaceCopy copies[WG_RACE_LAUNCHES];
  uint32_t running[2];      // running launches of each half, if the device reports when they end
  SessionOwnKernel kernel;  // enters copies and sets, on a GPU; function NULL: there is none
  struct RaceDevice *next;
} RaceDevice;
// Entries of one allocation. leaving: it was freed, and launches made before that may still run
typedef struct RaceEntries {
  uint64_t base, size, address;
  size_t bytes;
  SessionDevice *device;
  bool leaving;
} RaceEntries;

// --- host.c ---
extern pthread_mutex_t race_lock;  // guards everything here, unless stated otherwise
RaceDevice *race_device(SessionDevice *d);
const RaceKernel *race_kernel(const WovenKernel *code);
bool race_wants_pairs(void);     // --race=full: two entries for each word
RaceDevice *race_devices(void);  // the first of a list
const SessionDeviceOps *race_ops(const RaceDevice *r, void **user);

// --- host_entries.c ---
// NULL: there is no memory for them, or they belong to another device
RaceEntries *race_entries(SessionDevice *d, uint64_t base, uint64_t size);
void race_clear_entries(RaceDevice *r);      // of all allocations of the device
void race_drop_leaving(SessionDevice *d);    // call when no launch made before the free is running
void race_forget_entries(SessionDevice *d);  // the memory is freed with the device
void race_clear(SessionDevice *d, uint64_t address, size_t bytes);
// Without the lock:
void race_freed(uint64_t base, bool in_order);
void race_benign(uint64_t address, uint64_t n);
void race_before_table(ToolDevice *d, SessionKernel *k, const SessionLaunch *shape);

// --- host_numbers.c: numbers of launches and copies in entries ---
// 0: none is free, or nothing could be reported
uint32_t race_next_number(RaceDevice *r);
void race_launch_done(ToolDevice *d, const WgLaunch *record);  // without the lock
void race_close_told(RaceDevice *r, bool alive);

// --- host_launch.c; without the lock ---
bool race_launch(ToolDevice *d, ToolLaunch *l);
void race_facts(ToolDevice *d, ToolLaunch *l);
bool race_is_settled(SessionKernel *k, const void *record);
bool race_may_settle(const WovenKernel *code);

// --- host_disjoint.c: whether each thread is known to access only bytes of its own ---
// in all of these accesses
bool race_disjoint(const RaceKernel *k, const SessionLaunch *launch, const SessionParams *params,
                   const RaceReaches *const *reaches, uint32_t n);
// among the threads of a block
bool race_group_disjoint(const RaceKernel *k, const SessionLaunch *launch,
                         const SessionParams *params, const RaceGroup *g);

// --- host_rehearsal.c: no two threads of a block race in shared memory; false: not known ---
bool race_rehearse(const RaceRehearsal *r, const SessionLaunch *l, const SessionParams *params);

// --- host_copies.c ---
void race_heard(RaceDevice *r);  // keeps what the device has reported of copies
// Assigns the copy to this number. Returns its tag
uint64_t race_new_copy(RaceDevice *r, uint32_t number, const RaceCopy *copy);
uint64_t race_unordered(const SessionUnordered *o);  // as in WgRaceRecord
// Without the lock:
void race_report_copies(void);  // makes findings of reported races
void race_host_waited(void);
void race_copy_asked(const SessionCopy *c);
uint64_t race_copy_tag(void);
void race_copy_begins(uint64_t tag);
void race_copy_runs(SessionDevice *d, const SessionCopy *c);
// --- host_library_calls.c ---
void race_library_asked(LibraryCall *c, SessionDevice *on);
void race_library_ran(const LibraryCall *c);
void race_library_done(const LibraryCall *c);
uint64_t race_graph_copy(ToolDevice *d, const SessionCopy *c, const SessionBeside *beside,
                         uint32_t *number);
void race_graph_copy_ran(SessionDevice *d, const SessionCopy *c);
void race_graph_copies_unordered(const SessionCopy *a, const SessionCopy *b);
// on a GPU, after the copy, in its stream
void race_enter_on_device(RaceDevice *r, uint32_t number, const SessionCopy *c);

// --- host_closed.c; without the lock ---
const char *race_refuses_closed(SessionKernel *k, const SassStores *stores);
void race_stream_created(const void *stream, bool non_blocking);
void race_closed_begins(ToolDevice *d, const SessionClosedLaunch *l);
void race_closed_ends(ToolDevice *d, const SessionClosedLaunch *l);

// --- host_natives.c ---
void race_add_natives(void);

#endif
