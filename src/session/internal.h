// Declarations that the files of this folder share. One lock guards the tables; numbers that every
// launch needs are atomic.
#ifndef WG_SESSION_INTERNAL_H
#define WG_SESSION_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "channel/channel.h"
#include "probe/closed_abi.h"
#include "session/session.h"
#include "where/where.h"

// One instrumented piece of a module.
typedef struct Piece {
  Woven code;
  uint32_t site_base;
  SessionModule *module;
  struct PieceCounters *_Atomic counters;  // counters.c
  struct Piece *next;
} Piece;

// `sent` is the generation in which it was sent to the command: a forked child starts a new one and
// sends it again.
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
  ApiId api;    // of the program's call that loaded it
  bool wanted;  // --kernel, --kernel-exclude
  _Atomic bool launched, numerics_said;
  void *_Atomic tool_data[TOOL_MOST];  // by ToolId: what a tool keeps for it; NULL at first
  const WovenKernel *_Atomic code;
  Piece *piece;  // set before code
  // closed.c: names of the tools that check its machine code; NULL: none
  const char *patched_by;
  atomic_bool maps_named;            // the report says that its tensor maps are not known
  unsigned closed_tools;             // TOOL_BIT()s of all that check it, by comparison too
  _Atomic uint64_t closed_launches;  // that could have been checked
  uint32_t closed_sites;
  // launch.c: lines of Python that it was made from; NULL: not known
  char *lines;
  _Atomic bool looked_for_lines;
};

typedef struct SessionOptions {
  unsigned tools;
  unsigned running, wants;  // tools that take part; SESSION_WANTS_… of all of them
  bool has_findings;        // session_has_findings
  bool wants_launches;      // session_wants_launches
  bool only_counts;         // session_only_counts_launches
  bool keeps_run, host_stacks;
  uint64_t launch_skip, launch_count;
  uint64_t hang_ns;
  bool hang_stop;
  bool hash;
  uint32_t hash_every;      // --hash
  struct DumpOption *dump;  // --dump-buffers; NULL: none
  bool closed;              // not --closed=skip
  bool closed_repeats;      // --closed=check: launches that repeat a checked one are not patched
  uint64_t closed_every;    // --closed-every
  const char *closed_library;
  const char *launch_log;  // the name, with % in it; NULL: none
} SessionOptions;

// --- start.c ---
extern pthread_mutex_t session_lock;
const SessionOptions *session_options(void);
const char *session_device_name(void);
bool session_wants_kernel(const char *name, void *user);
// --- send.c: everything that goes to the command. Claims the lane at the first event. ---
uint32_t session_generation(void);
bool session_is_open(void);  // something was sent already
// false: there is no command, or the event was lost
bool session_send(ChannelEvent type, const void *event);
// a line in the report; without a command a line of our own
void session_note(Severity severity, const char *fmt, ...) PRINTF_LIKE(2, 3);
uint64_t session_string(const char *s);  // its id, sent when new; 0: NULL. With the lock held
// writes 4 numbers for each place, as LIST(places). With the lock held
uint64_t *session_places(const SitePlace *places, uint32_t n, uint64_t *out);
// --- launch.c ---
uint64_t session_threads_launched(void);                 // by the calling thread's last launch
const SessionLaunch *session_launched(void);             // the calling thread's last one
uint32_t session_launch_number(const SessionLaunch *l);  // of one execution of a captured launch
bool session_launch_captured(void);                      // it was captured
bool session_launch_cooperative(void);                   // it is cooperative
// --- stack.c ---
void session_stream_created(const void *stream, bool non_blocking);  // events.c
uint64_t session_stack(void);  // id of the calling thread's host stack; 0: not asked for
// … with these Python frames before its own; NULL: none
uint64_t session_stack_below(const char *lines);
// --- code.c ---
void session_announce_kernel(SessionKernel *k);  // with the lock held
// false: no such site. With the lock held
bool session_site(uint32_t number, const Piece **piece, const Site **site);
// NULL: not known. With the lock held
SessionKernel *session_site_kernel(const Piece *p, const Site *s);
// takes it over. With the lock held
Piece *session_add_piece(SessionModule *m, Woven *r);
uint32_t session_sites(void);  // site numbers given so far. With the lock held
void session_each_piece(void (*each)(void *user, Piece *p), void *user);  // with the lock held
// --- ranges.c: the allocations of the process, for checks ---
typedef struct HeapRange {
  WgMemoryRange memory;
  uint64_t stack, free_stack, order;  // order: of all allocations so far
  SessionMemoryKind kind;
  int device;
  uint32_t generation;  // of the process: what a parent allocated is not its child's
} HeapRange;
typedef struct TablePart {
  uint64_t leaf, version;
  uint32_t at;
} TablePart;
typedef struct TableImage {
  VEC(TablePart) parts;
} TableImage;  // what a table holds now
void session_ranges_add(const HeapRange *r);
// false: no live range begins there
bool session_ranges_free(uint64_t base, uint64_t stack, HeapRange *was);
void session_ranges_remove(uint64_t base);  // as if it had never been
// a freed range is allocated again; false: there is none
bool session_ranges_revive(uint64_t base, HeapRange *out);
// Sets an address that a tool keeps for an allocation: the uint64_t at this offset of its
// WgMemoryRange. false: no range begins there
bool session_ranges_set_address(uint64_t base, size_t offset, uint64_t value);
bool session_ranges_find(uint64_t address, WgMemoryRange *out);  // live ones only
bool session_ranges_look(uint64_t address, HeapRange *out);      // freed ones too
// by address; it must not call back
void session_ranges_each(void (*each)(void *user, const HeapRange *r), void *user);
uint64_t session_ranges_version(void);
void session_ranges_outdated(void);  // something else in the table has changed
size_t session_ranges_table_bytes(void);
// writes the current table to `to`; false: no room
bool session_ranges_write(TableImage *image, void *to, size_t room, uint64_t *its_version);
// --- closed.c: parameters of a launch ---
enum { WG_TENSOR_MAP_BYTES = 128, WG_TENSOR_MAP_ALIGNMENT = 64 };
// One parameter's bytes. offset: its place among the bytes of all parameters
typedef void SessionEachParam(void *user, const uint8_t *at, size_t offset, size_t size);
void session_each_param(const SessionCall *call, SessionEachParam *each, void *user);
bool session_may_be_pointer(uint64_t word);
// --- images.c: the second part of the table ---
size_t session_images_bytes(void);
bool session_images_write(void *to, size_t room, uint32_t *count);
// --- pools.c ---
// removes the program's pool in an allocation that is being freed: the allocation is whole again
bool session_pool_parent_freed(uint64_t base);
bool session_pool_has_parent(uint64_t base);
// --- memory.c ---
void session_free_object(uint64_t base);  // a piece of a program's own pool, too
// session_ranges_look that also knows arrays without an address, by their handle
bool session_memory_look(uint64_t address, HeapRange *out);
// calls `each` for objects without an address: a GPU's arrays
void session_handles_each(void (*each)(void *user, const HeapRange *r), void *user);
// --- device.c ---
const SessionDeviceOps *session_device_ops(const SessionDevice *d, void **user);
int session_device_ordinal(const SessionDevice *d);
// fills in the record's channel and memory
void session_device_closed(SessionDevice *d, SessionKernel *k, const SessionLaunch *l, WgClosed *c);
// allocates device memory for findings and for the tools' own data, before the first launch
void session_device_open_reports(SessionDevice *d);
struct ToolDevice;
struct ToolDevice *session_tool_device(SessionDevice *d, ToolId tool);
// sets WgMemoryTable.heap for the next launches
void session_device_set_heap(SessionDevice *d, uint64_t address);
// --- reports.c: WgReports of a device, and the counts that it keeps. Opened and closed with the
// lock held ---
typedef struct Reports {
  uint64_t channel_address;
  uint64_t near;  // device memory; 0: the channel's is used
  _Atomic uint64_t address;
  _Atomic bool settled;
  uint64_t spread;  // WgSpread; 0: none
} Reports;
void session_reports_open(Reports *r, WgChannel *channel, const SessionDeviceOps *ops);
// tools: TOOL_COUNT_ of them. Device address, for a launch. Without the lock
uint64_t session_reports(Reports *r, WgChannel *channel, struct ToolDevice *tools);
void session_reports_close(Reports *r, WgChannel *channel, const SessionDeviceOps *ops, void *user,
                           bool alive);
// --- facts.c ---
bool session_fact_pointer(const WeaveFact *f, const SessionParams *p, uint64_t *pointer);
void session_fill_facts(const WovenKernel *code, const SessionParams *params, void *record);
// --- table.c: the allocations as the device sees them. With the lock held ---
typedef struct MemoryTables {
  struct TableChunk *chunks;
  struct Table *all, *current;
  uint64_t launches, settled;  // launches with a table so far; number up to which all have ended
  size_t bytes;
  bool full;
  _Atomic uint64_t heap;  // WgMemoryTable.heap; 0: none
} MemoryTables;
// device address of the current table, for one launch; 0: none
uint64_t session_table(MemoryTables *t, const SessionDeviceOps *ops, void *user);
// the next launch may get no table: too many launches still use one
bool session_table_crowded(MemoryTables *t);
void session_table_done(MemoryTables *t, uint64_t address);  // that launch has ended
void session_tables_free(MemoryTables *t, const SessionDeviceOps *ops, void *user, bool alive);

#endif
