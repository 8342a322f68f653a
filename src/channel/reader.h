// Declarations that the files of the command's side share.
#ifndef WG_CHANNEL_READER_H
#define WG_CHANNEL_READER_H

#include <pthread.h>

#include "channel/internal.h"

typedef struct CountsTold {
  uint64_t launches, checked;
} CountsTold;
typedef struct LaneState {
  ChannelLane *memory;  // NULL: free
  int pid;
  uint32_t process;                     // our number of it
  uint64_t tail;                        // authoritative; the one in the lane is for the writer
  uint64_t quiet_since;                 // END was read, and nothing since
  bool damaged, ended, replaced, left;  // ended: it said so
  uint32_t kernels;                     // that it has reported
  VEC(CountsTold) told;                 // kernel_counts.c: of each kernel
} LaneState;

enum { SKIPPED_MAX = 64 };
typedef struct DeviceState {
  WgChannel *memory;  // NULL: free
  uint32_t lane, process;
  uint32_t tail;
  uint64_t stuck_since;  // when the slot at the tail was first seen unfinished; 0: it is not
  uint32_t skipped[SKIPPED_MAX], nskipped;  // slots that were passed over unfinished
  bool damaged;
  Str held;  // findings that wait until the launches before them have been read
} DeviceState;

// --- trace_drain.c ---
typedef struct TraceDrain TraceDrain;

typedef struct TraceMark TraceMark;  // trace_marks.c

struct ChannelReader {
  TraceDrain *trace;     // NULL: nothing is recorded
  ChannelCounts counts;  // authoritative; those in the header are for the processes
  uint32_t lanes_used, devices_used;
  VEC(TraceMark *) marks;  // launches that have ended, whose records are not all read; oldest first
  uint64_t bytes;          // of the memory
  int fd;
  ChannelHeader *header;
  Queue *queue;
  LaneState lanes[CHANNEL_LANES];
  DeviceState devices[CHANNEL_DEVICES];
  bool hold;  // findings wait in their device's list
  uint32_t last_process, still_running;
  _Atomic bool damaged, ended;  // damaged: the header. ended: no reader is left
  pthread_t thread;
  pthread_mutex_t lock;  // the two below
  bool stop;
  uint64_t deadline;
  bool started;
};

// --- reader.c ---
uint64_t reader_now_ms(void);
void *reader_map(ChannelReader *r, uint64_t offset, size_t size);
void reader_clear(ChannelReader *r, uint64_t offset, size_t size);
// one look at everything: how much was found. Instead of channel_start, in tests
size_t reader_round(ChannelReader *r);
// --- drain.c: how much was found ---
size_t reader_drain_lane(ChannelReader *r, uint32_t lane);
void reader_look_for_devices(ChannelReader *r);
size_t reader_drain_device(ChannelReader *r, uint32_t device);
// Whether the device channel belongs to the lane; the reader may not have opened it yet.
bool reader_device_is_of(ChannelReader *r, uint32_t device, uint32_t lane);
void reader_close_device(ChannelReader *r, uint32_t device);

// --- kernel_counts.c: sends what was added since the last time ---
void reader_tell_counts(ChannelReader *r, uint32_t lane, bool last);
void reader_tell_all_counts(ChannelReader *r);

// --- trace_drain.c: rings of --record. On the reader's thread: ---
// rings and their size; wanted: bytes of one set
void reader_trace_size(uint64_t wanted, ChannelCounts *n);
void reader_trace_look(ChannelReader *r);               // sets that processes have claimed
void reader_trace_end(ChannelReader *r, uint32_t set);  // its context has ended
void reader_trace_lane_ended(ChannelReader *r, uint32_t lane);
void reader_trace_stop(ChannelReader *r);  // reads the rest and ends the threads
// everything before it was taken
bool reader_trace_reached(const ChannelReader *r, uint32_t set, uint32_t ring, uint64_t head);
// Whether no other set of the process is being read.
bool reader_trace_others_free(const ChannelReader *r, uint32_t process, uint32_t set);
// the sink wants nothing more: records are dropped
bool reader_trace_discards(const ChannelReader *r);

// --- trace_marks.c: EVENT_TRACE_MARK; on the reader's thread ---
void reader_mark_add(ChannelReader *r, uint32_t lane, const void *bytes, size_t size);
// Reports the launches whose records have all been read.
void reader_marks_look(ChannelReader *r);
// The set's rings go to another context: records not read by now are lost.
void reader_marks_drop(ChannelReader *r, uint32_t set);

#endif
