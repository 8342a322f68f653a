// What the files of this folder share. One lock guards the tables; numbers that every launch needs are atomic.
#ifndef WG_SESSION_INTERNAL_H
#define WG_SESSION_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "channel/channel.h"
#include "session/session.h"
#include "where/where.h"

// One instrumented piece of a module, and its counters on each device.
typedef struct PieceCounters { SessionDevice *device; uint64_t address; uint64_t *seen; struct PieceCounters *next; } PieceCounters;
typedef struct Piece {
  Instrumented code;
  uint32_t site_base;
  SessionModule *module;
  PieceCounters *_Atomic counters;         // never removed from the list while a launch may look at it
  struct Piece *next;
} Piece;

// `sent` is the generation in which the command was told of it: a forked child starts a new one and tells again.
struct SessionModule {
  uint32_t id, sent;
  char *name, *what;
  uint64_t hash;
  Piece *pieces;
  StrMap kernels;
};
struct SessionKernel {
  uint32_t id;
  _Atomic uint32_t sent;
  SessionModule *module;
  char *name, *reason, *cure;
  bool wanted;                             // --kernel, --kernel-exclude
  _Atomic bool launched;
  _Atomic uint64_t sampled;                // --fp-every: launches so far
  const InstrumentedKernel *_Atomic code;
  Piece *piece;                            // set before code
};

typedef struct SessionOptions {
  unsigned tools;
  bool keeps_run, host_stacks;
  uint64_t launch_skip, launch_count, fp_every;
} SessionOptions;

// --- start.c ---
extern pthread_mutex_t session_lock;
const SessionOptions *session_options(void);
const char *session_device_name(void);
bool session_wants_kernel(const char *name, void *user);
// --- send.c: everything that goes to the command. Claims the lane at the first event. ---
uint32_t session_generation(void);
bool session_is_open(void);                                      // something was sent already
bool session_send(ChannelEvent type, const void *event);         // false: there is no command, or the event was lost
void session_note(Severity severity, const char *fmt, ...) PRINTF_LIKE(2, 3);   // a line in the report; without a command a line of our own
uint64_t session_string(const char *s);                          // its id, sent when new; 0: NULL. With the lock held
uint64_t *session_places(const SitePlace *places, uint32_t n, uint64_t *out);   // 4 numbers each, as LIST(places). With the lock held
// --- launch.c ---
uint64_t session_threads_launched(void);                         // by the calling thread's last launch
// --- stack.c ---
uint64_t session_stack(void);                                    // id of the calling thread's host stack; 0: not asked for
// --- code.c ---
void session_announce_kernel(SessionKernel *k);                  // with the lock held
void session_each_piece(void (*each)(void *user, Piece *p), void *user);        // with the lock held
// --- ranges.c: the allocations of the process, for checks ---
void session_ranges_add(uint64_t base, uint64_t size);
void session_ranges_free(uint64_t base);
bool session_ranges_find(uint64_t address, WgMemoryRange *out);
uint64_t session_ranges_version(void);
size_t session_ranges_table(void *to, size_t room, uint64_t *its_version);
// --- facts.c, fp.c ---
bool session_fact_pointer(const InstrumentFact *f, const SessionParams *p, uint64_t *pointer);
bool session_fp_apart(const InstrumentedKernel *code, const SessionParams *params);
void session_fill_facts(const InstrumentedKernel *code, const SessionParams *params, void *record);
// --- table.c: the allocations as the device sees them ---
typedef struct MemoryTables { struct TableChunk *chunks; uint64_t version, address; size_t bytes; bool full; } MemoryTables;
uint64_t session_table(MemoryTables *t, const SessionDeviceOps *ops, void *user);       // device address of the table of now; 0: none. With the lock held
void session_tables_free(MemoryTables *t, const SessionDeviceOps *ops, void *user, bool alive);

#endif
