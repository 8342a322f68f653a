// channel: shared memory between the `warpgrind` command, which makes and owns it, and the
// processes of a run. Processes write events (events.def) and kernels write findings
// (probe/probe_abi.h); the command reads. Written data survives the process.
//
// One memory object, sparse, mapped in pieces:
//   header | lane 0 | lane 1 | … | device channel 0 | device channel 1 | … and with --record: sets
//   of rings, rings of contents
// It has room for thousands of each; only what is used takes memory.
// A lane belongs to one process: counters of its kernels and a ring of bytes. Its head moves only
// when an event is complete. The command believes nothing it reads: sizes and positions are its own
// constants, events are copied and then checked. docs/channel.md says more.
#ifndef WG_CHANNEL_H
#define WG_CHANNEL_H

#include <stdatomic.h>

#include "base/base.h"
#include "probe/probe_abi.h"
#include "tools/kinds.h"
#include "probe/trace_abi.h"

// --- events.c: events.def ---
typedef enum ChannelEvent {
  EVENT_NONE,  // filling at the end of the ring
#define NUM(name)
#define TEXT(name)
#define LIST(name)
#define EVENT(id, Name, fields) EVENT_##id,
#include "channel/events.def"
  EVENT_COUNT
} ChannelEvent;
#define NUM(name) uint64_t name;
#define TEXT(name) const char *name;
#define LIST(name) \
  const uint64_t *name; \
  uint64_t name##_count;
#define EVENT(id, Name, fields) \
  typedef struct Event##Name { \
    fields \
  } Event##Name;
#include "channel/events.def"
typedef union AnyEvent {
#define NUM(name)
#define TEXT(name)
#define LIST(name)
#define EVENT(id, Name, fields) Event##Name id;
#include "channel/events.def"
} AnyEvent;

enum { CHANNEL_TEXT_MAX = 16384, CHANNEL_LIST_MAX = 4096, CHANNEL_EVENT_MAX = 128 << 10 };
// a multiple of 8, the head included
size_t channel_encoded_size(ChannelEvent type, const void *event);
void channel_encode(ChannelEvent type, const void *event, void *to, size_t size);
// Texts and lists point into `from` afterwards. false: not an event as channel_encode writes them.
bool channel_decode(ChannelEvent type, const void *from, size_t size, AnyEvent *out);
typedef struct ChannelEventHead {
  uint32_t size, type;
} ChannelEventHead;

// Bits of EventLaunch.flags and EventFinding.flags.
enum { LAUNCH_COOPERATIVE = 1, LAUNCH_CAPTURED = 2, LAUNCH_API_SHIFT = 8 };  // from there: ApiId
enum { OUTPUTS_GUESSED = 1 };  // EventOutputs.flags: the code does not tell what it writes
// EventStep.kind and direction.
// INPUTS: pages as they were before the next launch
enum { STEP_LAUNCH, STEP_COPY, STEP_SET, STEP_GRAPH, STEP_INPUTS };
enum { STEP_ON_DEVICE, STEP_TO_DEVICE, STEP_TO_HOST, STEP_ON_HOST, STEP_WITH_ARRAY };
enum { FINDING_HAS_THREAD = 1, FINDING_HAS_ADDRESS = 2 };

// --- layout of the memory: layout.c says where each piece begins ---
enum {
  CHANNEL_MAGIC = 0x5747434C,
  CHANNEL_VERSION = 2,
  CHANNEL_RING = 1 << 20,
  CHANNEL_KERNELS = 8192,
  CHANNEL_PAGE = 1 << 16,
  // Most pieces of each kind in one shared memory. An unused piece takes no memory.
  CHANNEL_LANES = 4096,
  CHANNEL_DEVICES = 4096,
  CHANNEL_TRACES = 256,  // contexts that are recorded at a time
  // processes that are; bytes on their way from each
  CHANNEL_CONTENTS = 256,
  CHANNEL_CONTENTS_RING = 8 << 20,
  CHANNEL_PID_UNKNOWN = 0x7fffffff,
  CHANNEL_LANE_REPLACED = (int)0x80000000,  // in lane_pid
};
typedef struct ChannelCounts {
  uint32_t lanes, devices, traces, contents;
  uint32_t trace_rings, trace_ring_size;  // --record: of each set; 0: nothing is recorded
} ChannelCounts;
typedef enum { COMMAND_DRAINS = 1, COMMAND_ENDED = 2 } ChannelCommandState;
typedef struct ChannelHeader {
  uint32_t magic, version;
  uint32_t command_pid;
  _Atomic uint32_t command;  // ChannelCommandState
  ChannelCounts counts;
  uint64_t pid_namespace;                     // of the command; 0: not known
  _Atomic uint32_t beat;                      // grows while the command reads
  _Atomic uint32_t doorbell, sleeping;        // a futex: the command sleeps on the doorbell
  _Atomic uint32_t unrecorded;                // processes that found no lane
  _Atomic uint32_t lanes_used, devices_used;  // no piece from this number on was ever claimed
  // 0: free. Set by the process, cleared by the command. REPLACED: it has called exec
  _Atomic uint32_t lane_pid[CHANNEL_LANES];
  // which program the process ran: another one after exec
  _Atomic uint32_t lane_image[CHANNEL_LANES];
  // lane + 1; 0: free. Set by the process, cleared by the command
  _Atomic uint32_t device_lane[CHANNEL_DEVICES];
  _Atomic uint32_t trace_lane[CHANNEL_TRACES], contents_lane[CHANNEL_CONTENTS];  // as device_lane
} ChannelHeader;
_Static_assert(sizeof(ChannelHeader) <= CHANNEL_PAGE, "the header is one piece");
typedef struct ChannelKernelCounts {
  _Atomic uint64_t launches, checked;
} ChannelKernelCounts;
typedef struct ChannelLane {
  _Atomic uint64_t head;  // bytes written since the start, by the process
  uint8_t pad0[120];
  _Atomic uint64_t tail;  // bytes read, by the command
  uint8_t pad1[120];
  _Atomic uint64_t lost;  // events that found no room in time
  // the command's answer to the last CHOOSE: its sequence times 2, plus 1 for yes
  _Atomic uint64_t reply;
  uint8_t pad2[CHANNEL_PAGE - 272];
  ChannelKernelCounts kernels[CHANNEL_KERNELS];  // by kernel id; [0]: all whose id is too large
  uint8_t ring[CHANNEL_RING];
} ChannelLane;
enum {
  CHANNEL_SLOTS_AT = CHANNEL_PAGE,  // within a device channel
  CHANNEL_COUNTS_AT = CHANNEL_SLOTS_AT +
                      (WG_CHANNEL_SLOTS * (int)sizeof(WgFinding) + CHANNEL_PAGE - 1) /
                          CHANNEL_PAGE * CHANNEL_PAGE,
  CHANNEL_DEVICE_BYTES = CHANNEL_COUNTS_AT + WG_CHANNEL_SITES * 8,
};
// Recorded operations: sets of rings (probe/trace_abi.h), one set for a context; and the contents
// of copies from the host, one ring for a process.
#define CHANNEL_TRACE_STRIDE(size) (sizeof(WgTraceRing) + (uint64_t)(size) + WG_TRACE_ROOM)
#define CHANNEL_TRACE_BYTES(rings, size) \
  (((rings)*CHANNEL_TRACE_STRIDE(size) + CHANNEL_PAGE - 1) / CHANNEL_PAGE * CHANNEL_PAGE)
typedef struct ChannelContents {
  _Atomic uint64_t head;  // bytes written since the start, by the process
  uint8_t pad0[120];
  _Atomic uint64_t tail;  // bytes read, by the command
  uint8_t pad1[CHANNEL_PAGE - 136];
  uint8_t data[CHANNEL_CONTENTS_RING];
} ChannelContents;
// --- layout.c ---
uint64_t channel_lane_offset(uint32_t i);
uint64_t channel_device_offset(const ChannelCounts *n, uint32_t i);
uint64_t channel_trace_offset(const ChannelCounts *n, uint32_t i);
uint64_t channel_contents_offset(const ChannelCounts *n, uint32_t i);
uint64_t channel_bytes(const ChannelCounts *n);  // all of it
bool channel_counts_are_good(const ChannelCounts *n);
// Bytes of device memory after a step. `stored` bytes follow, then up to 15 bytes of filling.
typedef struct ChannelPiece {
  uint32_t stored, step;    // step 0: filling up to the end of the ring
  uint64_t address, bytes;  // more than stored: the stored bytes repeat
  uint64_t end;             // 1: no bytes; the step has no more
} ChannelPiece;
// --record=inputs: the PTX of modules goes the same way, as contents of a step that does not exist.
#define CHANNEL_CODE_STEP UINT32_MAX
#define CHANNEL_CODE_ADDRESS(hash) (((uint64_t)(hash)&0x7FFFFFFF) << 32)  // 32 bits of offset
_Static_assert(sizeof(ChannelPiece) % 16 == 0, "positions are multiples of 16");

// --- attach.c: inside the program. Called when the library is loaded, and again where that could
// not find the memory. ---
bool channel_attach(void);  // finds the command's memory (WARPGRIND_CHANNEL); false: there is none
bool channel_is_offered(void);    // there is a command, whether or not its memory could be found
bool channel_in_new_child(void);  // in a process made by an unannounced fork

// --- writer.c: inside the program. One lane per process. ---
bool channel_claim(Error *err);       // a lane for this process; false: none to be had
void channel_release_in_child(void);  // after a fork: the lane is the parent's
void channel_lock(bool lock);         // around a fork
bool channel_write(ChannelEvent type, const void *event);
ChannelKernelCounts *channel_kernel_counts(uint32_t kernel);  // never NULL
bool channel_reply(uint32_t sequence, bool *yes);  // false: the command has not answered yet
// A device channel, mapped and ready. NULL: there is no command, or none is free.
WgChannel *channel_device_claim(uint32_t *index, Error *err);
void channel_device_unmap(WgChannel *c);  // the command frees it after EVENT_DEVICE_END

// --- trace.c: inside the program, --record ---
typedef struct ChannelTrace {
  uint32_t set, rings, ring_size;
  void *memory;
  size_t bytes;
} ChannelTrace;
// false: there is no command, it does not record, or all sets are in use
bool channel_trace_claim(ChannelTrace *out, Error *err);
void channel_trace_unmap(const ChannelTrace *t);  // the command frees it after EVENT_TRACE_END
void channel_trace_close(const ChannelTrace *t);  // no reader is left: kernels go on
bool channel_command_lives(void);
// Waits for room as long as the command lives.
bool channel_contents(uint32_t step, uint64_t address, const void *bytes, size_t n);
bool channel_contents_end(uint32_t step);  // no more contents of this step will come
bool channel_contents_fill(uint32_t step, uint64_t address, const void *pattern,
                           uint32_t pattern_bytes, uint64_t n);

// --- reader.c: the command's side. A thread of its own copies what arrives, so that no writer
// waits for what the command does with it; receive.c hands it out. Processes are numbered from 1,
// because lanes and process ids are reused. ---
typedef struct ChannelReader ChannelReader;
// trace_bytes: of the rings of each context, --record; 0: nothing is recorded. Also sets
// WARPGRIND_CHANNEL
ChannelReader *channel_create(uint64_t trace_bytes, Error *err);
// A new reader after r was stopped; the numbering of processes continues.
ChannelReader *channel_create_after(const ChannelReader *r, Error *err);
bool channel_start(ChannelReader *r, Error *err);  // the thread
// --- trace_drain.c: what is recorded goes to these functions, on threads of the reader's. Before
// channel_start. ---
typedef struct ChannelTraceSink {
  // Takes complete records at the start of data; returns their bytes, or SIZE_MAX to get nothing
  // more. As trace_take of src/trace.
  size_t (*take)(void *user, uint32_t process, uint32_t ring, const uint8_t *data, size_t n,
                 bool ended);
  void (*contents)(void *user, uint32_t process, uint32_t step, uint64_t address, const void *bytes,
                   size_t n);
  void (*contents_end)(void *user, uint32_t process, uint32_t step);  // that was all of the step
  void *user;
} ChannelTraceSink;
bool channel_record(ChannelReader *r, const ChannelTraceSink *sink, Error *err);
// The main program has ended: waits up to grace_ms for other processes of the run, reads the rest
// and ends the thread. Later writes of such a process are not read; *still_running says how many
// there are.
void channel_stop(ChannelReader *r, unsigned grace_ms, uint32_t *still_running);
// Whether a process has overwritten the header, which all processes share.
bool channel_was_damaged(const ChannelReader *r);
// Answers a CHOOSE of that process.
void channel_answer(ChannelReader *r, uint32_t process, uint32_t sequence, bool yes);
uint32_t channel_unrecorded(const ChannelReader *r);  // processes that found no lane
void channel_destroy(ChannelReader *r);

// REPLACED: the process called exec
typedef enum { CLOSED_ENDED, CLOSED_REPLACED, CLOSED_RUNNING } ChannelClosed;
typedef struct ChannelSink {
  void (*opened)(void *user, uint32_t process, int pid);
  void (*event)(void *user, uint32_t process, ChannelEvent type, const AnyEvent *e);
  void (*finding)(void *user, uint32_t process, uint32_t device, const WgFinding *f);
  // For every site that reported, when its device channel ends: how often.
  void (*site_count)(void *user, uint32_t process, uint32_t device, uint32_t site, uint64_t count);
  // at_least: counts may be too low, wg_far_count
  void (*device_closed)(void *user, uint32_t process, uint32_t device, uint32_t lost,
                        bool at_least);
  // since the last report; kernel 0: all others
  void (*kernel_counts)(void *user, uint32_t process, uint32_t kernel, uint64_t launches,
                        uint64_t checked);
  void (*closed)(void *user, uint32_t process, ChannelClosed how, uint64_t lost, bool damaged);
  void (*damaged)(void *user, uint32_t process);  // an event that does not decode; it is left out
  // --record: the launch has ended, and the trace sink has all its records. launch 0: this holds
  // for all launches.
  void (*drained)(void *user, uint32_t process, uint32_t launch);
  void *user;
} ChannelSink;
// Hands out everything that has arrived; waits for it up to the given time. false: the reader was
// stopped and this was all.
bool channel_receive(ChannelReader *r, const ChannelSink *sink, unsigned wait_ms);
#endif
