// The writer's parts: rings give pieces of raw records, threads make chunks of them, trace_save
// puts those into the file.
#ifndef WG_TRACE_WRITER_H
#define WG_TRACE_WRITER_H

#include <stdatomic.h>

#include "trace/internal.h"
#include "trace/write/pack.h"

// first … last: all pieces that will be one chunk
typedef struct OpenPiece {
  uint32_t launch;
  RawPiece *first, *last;
  size_t bytes;
  uint64_t records, used_ns;
} OpenPiece;
// Records that were looked at and are still in a processor's cache.
enum {
  WINDOW = 1 << 14,
  WINDOW_RECORDS = WINDOW / 16 + 1,
  WINDOW_PACKED = PACK_MOST(WINDOW + WG_TRACE_MAX, WINDOW_RECORDS) + PACK_BEHIND
};
typedef struct Window {
  PackRecord records[WINDOW_RECORDS];
  uint32_t n;
  uint8_t packed[WINDOW_PACKED];
} Window;
typedef struct Ring {
  pthread_mutex_t lock;
  Window window;
  uint32_t process, number;  // process: whose records it holds; another one may have the ring later
  VEC(OpenPiece) open;
  // the last round that closed all pieces of launches that had ended by then: complete.c
  _Atomic uint64_t closed_round;
  bool damaged;
} Ring;

// Pieces of a launch that are too small for a chunk of their own.
typedef struct LaunchRest {
  uint32_t process, launch;
  RawPiece *first, *last;
  size_t bytes;
  uint64_t records, used;
} LaunchRest;

// A segment that holds several contents until they are compressed.
// used: how many there are; one more while it is being filled
typedef struct Slab {
  uint8_t *data;
  uint32_t used;
} Slab;
typedef struct ContentsOut {
  struct ContentsOut *next;
  uint32_t process, step;
  uint64_t address;
  size_t n, len;
  uint8_t *data;
  Slab *slab;
} ContentsOut;
typedef struct Job {
  struct Job *next;
  uint64_t id;
  uint32_t process, launch;
  RawPiece *pieces;       // a chunk
  ContentsOut *contents;  // or bytes to be compressed
} Job;

// A launch that will send no more records, or (inputs) a step that will send no more contents.
typedef struct Ended {
  uint32_t process, number;
  bool inputs, closed;
  uint64_t round;
} Ended;

typedef struct Buffers {
  Bytes list[1024];
  uint32_t n;
  uint64_t bytes;
} Buffers;
typedef struct Region {
  uint8_t *start;
  size_t bytes;
} Region;
enum { SEGMENT = 2 << 20 };  // bytes of a piece that is no longer small: one large page

struct TraceWriter {
  // of everything below; taken while a ring's lock is held, never the other way round
  pthread_mutex_t lock;
  pthread_cond_t work, room;
  uint64_t memory_limit, disk_limit;
  uint64_t rests_ns;   // when rests were last handed on; of the thread that saves
  size_t piece_bytes;  // a piece of this size is full
  U64Map rings, rests;
  VEC(Ring *) ring_list;
  VEC(LaunchRest *) rest_list;
  Job *first_job, *last_job;
  ChunkOut *done;
  ContentsOut *contents_done;
  uint32_t busy;  // jobs being worked on
  // changed with the lock held, but for the last two; read without it
  _Atomic uint64_t in_memory, lost, raw_records, raw_bytes;
  // disk_left: bytes that stay free
  uint64_t next_chunk, next_contents, records, operations, saved_bytes, checked_bytes, disk_left;
  _Atomic(Ring *) known[256];  // rings that were asked for, by number
  Slab *slab;
  size_t slab_used;  // slab: memory for contents; slab_used: bytes of it
  // by process and launch or step: how many jobs are not in the database yet
  U64Map unsaved_chunks, unsaved_contents;
  // those of `ended`, by process and number; changed on the thread that saves only
  U64Map ended_launches;
  VEC(Ended) ended;  // ended, but not complete yet; ends of contents come from other threads
  VEC(TraceComplete) complete;  // for trace_take_complete; of the thread that saves
  uint64_t round;               // see complete.c; of the thread that saves
  char stopped[512];
  _Atomic bool has_stopped, damaged;  // damaged: a ring held something that is no record
  bool ending;
  pthread_t *threads;
  unsigned nthreads;
  Buffers spare;
  VEC(Region) regions;
  uint8_t *fresh, *fresh_end;  // the untouched rest of the last region
  VEC(uint8_t *) segments;     // that were touched and are free
  uint64_t ahead;              // bytes of free segments that are to be ready before they are needed
  _Atomic uint64_t pressed_ns;  // when much was last found in a ring
};

// --- memory.c ---
uint64_t writer_default_memory(void);
// --- take.c ---
void writer_stop(TraceWriter *w, const char *fmt, ...) PRINTF_LIKE(2, 3);
// Closes pieces that were not used for so long; held: the ring that the caller has locked.
void writer_flush_rings(TraceWriter *w, uint64_t unused_ns, const Ring *held);
void writer_wait_for_room(TraceWriter *w, Ring *r);  // waits while more is in memory than the limit
void writer_submit_rests(TraceWriter *w);
void writer_pieces_free(RawPiece *p);
// Called without the lock. Closes the pieces of launches that `ended` names, in all rings that are
// not at work.
void writer_close_pieces(TraceWriter *w,
                         bool (*ended)(const TraceWriter *w, uint32_t process, uint32_t launch),
                         uint64_t round);
void writer_submit_rest_of(TraceWriter *w, uint32_t process, uint32_t launch);  // the lock is held
// --- complete.c ---
void writer_job_submitted(TraceWriter *w, const Job *j);  // the lock is held
// these three: the lock is held
void writer_chunk_saved(TraceWriter *w, uint32_t process, uint32_t launch);
void writer_contents_saved(TraceWriter *w, uint32_t process, uint32_t step);
void writer_complete_free(TraceWriter *w);
void writer_close_ended(TraceWriter *w);  // hands on the remaining records of ended launches
void writer_find_complete(TraceWriter *w);
// --- segments.c; the lock is held ---
uint8_t *writer_segment_take(TraceWriter *w);
void writer_segment_give(TraceWriter *w, uint8_t *data);
// Whether there are fewer segments than there should be.
bool writer_segments_wanted(const TraceWriter *w, bool pressed);
void writer_segments_more(TraceWriter *w);  // gives up the lock for a while
void writer_segments_free(TraceWriter *w);
// These take the lock themselves, except writer_slab_left.
uint8_t *writer_slab_room(TraceWriter *w, size_t n, Slab **slab);
void writer_slab_leave(TraceWriter *w, Slab *s);
void writer_slab_left(TraceWriter *w, Slab *s);
// --- buffers.c; the lock is held ---
void writer_buffers_free(TraceWriter *w);
Bytes writer_buffer_take(TraceWriter *w);  // some memory, or none
void writer_buffer_give(TraceWriter *w, uint8_t *data, size_t cap);
// --- encode.c ---
void writer_submit(TraceWriter *w, Job *job);  // the lock is held
void *writer_work(void *writer);
void writer_job_free(TraceWriter *w, Job *job);
#endif
