// The parts of a recording that are loaded when it is opened (steps, launches, chunks, sites), and
// access to the rest.
#ifndef WG_TRACE_READER_H
#define WG_TRACE_READER_H

#include "probe/order_rules.h"
#include "trace/internal.h"

// told: it completes at an mbarrier
typedef struct ReaderSite {
  uint32_t process, number, id;
  uint32_t bytes, classes;
  uint8_t space;
  WgOrders orders;
  unsigned access;  // WG_ACCESS_…
  bool told;
  char *text;
} ReaderSite;
typedef struct ReaderChunk {
  uint64_t id, records, operations, low, high, first_warp, last_warp, first_record, bytes,
      directory;
  uint32_t launch, step;  // indexes
  uint32_t last_time;     // of its accesses
  bool has_global;
} ReaderChunk;
typedef struct ReaderLaunch {
  uint32_t id, process, number, step;  // step: index
  uint32_t grid[3], block[3];
  uint64_t blocks;
  uint32_t threads, warps;  // of a block
  bool cluster;             // blocks may write to each other's shared memory
  bool captured;            // into a graph
  uint32_t first_chunk, nchunks;
  uint64_t stream;
} ReaderLaunch;
// INPUTS: pages as they were before the next launch
typedef enum { STEP_LAUNCH, STEP_COPY, STEP_SET, STEP_INPUTS, STEP_OTHER } StepKind;
typedef struct ReaderStep {
  uint32_t id, process, number;  // id 0: the file does not have one
  StepKind kind;
  uint32_t launch;               // index plus 1; 0: none
  uint64_t first_record, order;  // order: a number that allocations can be compared with
  uint64_t destination, source, width, height, depth, to_pitch, to_rows, from_pitch, from_rows,
      value, stream;
  uint32_t value_bytes, stack;
  bool recorded, from_host, to_host;
  bool cut;  // recording ended before all that belongs to it was in the file
} ReaderStep;

typedef struct CacheEntry {
  uint64_t id;
  uint64_t used;
  size_t bytes;
  TraceBlock *block;
  ChunkDirectory *directory;
  Arena arena;
  uint8_t *contents;
  const Posting *postings;
  uint32_t npostings;
  uint8_t *points;
  size_t npoints;
} CacheEntry;

typedef struct Ahead Ahead;
struct TraceReader {
  sqlite3 *db;
  _Atomic bool given_up;
  void (*pause)(void *user);  // NULL: none
  void *pause_user;
  Ahead *ahead;  // threads that unpack; NULL: none yet
  ColumnCoder *coder;
  sqlite3_blob *blob;  // a row of trace_block; open during a question
  unsigned asking;
  struct {
    const char *sql;
    sqlite3_stmt *statement;
  } statements[8];
  Bytes piece;  // a part as the file has it
  ReaderStep *steps;
  uint32_t nsteps;
  ReaderLaunch *launches;
  uint32_t nlaunches;
  ReaderChunk *chunks;
  uint32_t nchunks;  // by step, then id
  ReaderSite *sites;
  uint32_t nsites;
  U64Map launch_of_id, site_of_number, step_of_id;  // index plus 1
  // how many operations each step has on the element that was asked for last, plus 1; 0: not known
  struct {
    uint32_t allocation, *of_step;
    uint64_t low, high;
  } counts;
  U64Map cache;
  uint64_t cache_bytes, clock, operations, records;
  unsigned scanning;  // scans in scans
};

// --- open.c ---
const ReaderLaunch *reader_launch(const TraceReader *t, uint32_t id);
const ReaderSite *reader_site(const TraceReader *t, uint32_t process, uint32_t number);
bool reader_damaged(const TraceReader *t, uint64_t part, Error *err);
sqlite3_stmt *reader_prepare(TraceReader *t, const char *sql, Error *err);
// Prepares each text once; the text must stay valid. The statement is the caller's until
// reader_done.
sqlite3_stmt *reader_statement(TraceReader *t, const char *sql, Error *err);
void reader_done(TraceReader *t, sqlite3_stmt *s);

// --- fetch.c: parts of chunks, kept for a while. A returned part stays valid until the next call
// for a part of that kind, unless held ---
const ChunkDirectory *reader_directory(TraceReader *t, const ReaderChunk *c, Error *err);
TraceBlock *reader_block(TraceReader *t, const ReaderChunk *c, uint32_t block, bool values,
                         Error *err);
// Contents from a row of trace_contents; NULL: damaged
const uint8_t *reader_contents(TraceReader *t, uint64_t id, uint64_t n, sqlite3_stmt *row,
                               int column);
void reader_cache_free(TraceReader *t);
// Begins a question that needs several parts, up to reader_end: the file's state is looked at only
// once.
void reader_begin(TraceReader *t);
void reader_end(TraceReader *t);
void reader_idle(TraceReader *t);        // no statement is left open
void reader_cache_trim(TraceReader *t);  // no scan is under way
typedef struct BlockSet {
  uint32_t *list, n, cap;
} BlockSet;
struct RangeScan;
// The postings of a chunk that may touch [low, high), given as keys of postings. places: true for
// wanted places, NULL: all. scan: its `wanted` decides as well; NULL: not. open, of
// reader_postings: only these bytes; NULL: all
typedef struct PostingQuery {
  uint64_t low, high;
  const bool *places;
  const struct RangeScan *scan;
  const OpenBytes *open;
} PostingQuery;
// The blocks of these postings, ascending. false: damaged
bool reader_blocks_touching(TraceReader *t, const ReaderChunk *c, const PostingQuery *q,
                            BlockSet *out, Error *err);
// The postings themselves; q has places and no scan. false: damaged
bool reader_postings(TraceReader *t, const ReaderChunk *c, const PostingQuery *q, PostingVec *out,
                     Error *err);

// A part that will be needed; prefetch.c unpacks several at a time. reader_ahead_postings wants
// directories and postings of chunks that may touch the range. directory: of the chunk, unless it
// is the part itself; what: of a block, which rows of it are wanted; NULL: all
typedef struct Want {
  const ReaderChunk *chunk;
  const ChunkDirectory *directory;
  uint32_t part;
  bool values;
  const struct RangeScan *what;
} Want;
void reader_ahead_postings(TraceReader *t, const ReaderChunk *const *chunks, uint32_t n,
                           const struct RangeScan *what);
CacheEntry *reader_kept(TraceReader *t, const Want *w);
// The part's bytes, which the caller frees; NULL: they cannot be read.
uint8_t *reader_part(TraceReader *t, const Want *w, size_t *n);
bool reader_decode(ColumnCoder *c, const Want *w, const uint8_t *data, size_t n, CacheEntry *e);
void reader_keep(TraceReader *t, const Want *w, CacheEntry *e, bool ok);  // not ok: frees it
// --- prefetch.c ---
void reader_ahead(TraceReader *t, const Want *list, uint32_t n);
void ahead_free(Ahead *a);

// --- scan.c: rows, one after the other ---
typedef struct RowRef {
  const ReaderChunk *chunk;
  TraceBlock *block;
  const TraceRow *row;
  uint32_t index;
  uint64_t record;
} RowRef;
typedef enum { SCAN_GO_ON, SCAN_STOP, SCAN_FAILED } ScanResult;
typedef ScanResult RowVisitor(TraceReader *t, const RowRef *r, void *user, Error *err);
// All rows of a warp in order.
ScanResult reader_scan_warp(TraceReader *t, const ReaderLaunch *l, uint64_t warp, RowVisitor *f,
                            void *user, Error *err);
// --- scan_range.c ---
// Rows of a launch that touch a byte of the range. address: with the bits of the space; warp: whose
// shared or local memory; writes_only: no loads.
typedef struct LaneAccess {
  uint32_t lane, bytes;
  uint64_t address;
} LaneAccess;
typedef ScanResult LaneVisitor(TraceReader *t, const RowRef *r, const LaneAccess *at, void *user,
                               Error *err);
typedef struct LaneCall {
  LaneVisitor *visit;
  void *user;
} LaneCall;
// wanted: if not NULL, whether the question is still open for some of these bytes.
typedef struct RangeScan {
  uint64_t low, high, first_warp, last_warp;
  // few_values: only values of blocks that have few of the accesses
  bool writes_only, values, few_values;
  bool (*wanted)(const void *user, uint64_t start, uint64_t end);
  const void *user;
} RangeScan;
// Whether the chunk may touch some of the range.
bool chunk_in_range(const ReaderChunk *c, const RangeScan *what);
// The caller frees the list.
const ReaderChunk **reader_chunks_in_range(const TraceReader *t, const ReaderLaunch *l,
                                           const RangeScan *what, uint32_t *n);
// Scans these chunks, in this order.
ScanResult reader_scan_chunks(TraceReader *t, const ReaderChunk *const *chunks, uint32_t n,
                              const RangeScan *what, const LaneCall *call, Error *err);
ScanResult reader_scan_range(TraceReader *t, const ReaderLaunch *l, const RangeScan *what,
                             LaneVisitor *f, void *user, Error *err);
// Scans one block, for global memory.
ScanResult reader_scan_range_block(TraceReader *t, const ReaderChunk *c, uint32_t block,
                                   const RangeScan *what, const LaneCall *call, Error *err);
// Unpacks the postings of the next chunks, *window of them, and raises *window; returns the first
// chunk that was not unpacked.
uint32_t reader_chunks_ahead(TraceReader *t, const ReaderChunk *const *chunks, uint32_t n,
                             uint32_t from, uint32_t *window, const RangeScan *what);
// --- scan.c ---
// Decoded parts stay in memory until the scan ends, or until `between` if it is the only scan.
void reader_scan_begin(TraceReader *t);
void reader_scan_between(TraceReader *t);
void reader_scan_end(TraceReader *t);
// Scans all rows.
ScanResult reader_scan_launch(TraceReader *t, const ReaderLaunch *l, RowVisitor *f, void *user,
                              Error *err);
bool place_writes(const TraceReader *t, uint32_t process, const TracePlace *p);
// Ranges of global memory that writes of a launch touch, within [low, high): as far as postings
// know.
typedef bool RangeVisitor(TraceReader *t, const ReaderChunk *c, const TracePlace *place,
                          uint64_t start, uint64_t end, void *user);
typedef struct AddressRange {
  uint64_t low, high;
} AddressRange;
bool reader_written_ranges(TraceReader *t, const ReaderLaunch *l, AddressRange within,
                           RangeVisitor *f, void *user, Error *err);
TraceKind row_kind(const TraceReader *t, const RowRef *r, const ReaderSite **site);
uint32_t place_bytes_of(const TracePlace *p, const ReaderSite *site);
uint32_t row_bytes(const RowRef *r, const ReaderSite *site);
bool row_writes(const TraceReader *t, const RowRef *r);
bool row_is_refused(const ReaderSite *site);  // a value at this site is a store that was not made
bool reader_op(TraceReader *t, const RowRef *r, uint32_t lane, TraceOp *out, Error *err);
// the block that has the record, with its values
bool reader_want_of(TraceReader *t, uint64_t record, Want *out);
bool reader_row(TraceReader *t, uint64_t record, RowRef *out, const ReaderStep **host, Error *err);
uint64_t reader_thread(const ReaderLaunch *l, uint64_t warp, uint32_t lane);

// --- scan_latest.c ---
// Whether an access up to that time may still decide something about these bytes.
typedef bool OpenAt(const void *user, uint64_t start, uint64_t end, uint32_t last_time);
// Visits writes of a launch to global memory in [low, high), blocks with the latest accesses first,
// as long as `open` says yes. state: by byte, as in OpenBytes; where it is not open, `open` never
// says yes
typedef struct LatestScan {
  uint64_t low, high;
  const uint8_t *state;
  OpenAt *open;
  LaneVisitor *visit;
  void *user;  // of both
} LatestScan;
ScanResult reader_scan_latest(TraceReader *t, const ReaderLaunch *l, const LatestScan *scan,
                              Error *err);

// --- block_lines.c: which rows of a block touch which lines of 128 bytes ---
typedef struct RowList {
  uint32_t *list, n, cap;
} RowList;
// Rows that may touch a byte of [low, high) in global memory, ascending; false: look at all rows.
// bytes: of an access of each place; 0: none
bool block_rows_at(TraceBlock *b, const uint32_t *bytes, uint64_t low, uint64_t high, RowList *out);

// --- block_find.c: finds what a question needs of a decoded block ---
// Finds the rows that may touch [low, high): TraceBlock.found.
void block_find(TraceBlock *b, const uint32_t *bytes, uint64_t low, uint64_t high);
// Also decodes the values of the lanes that touch the range, or all if these are many; false:
// damaged
bool block_find_values(ColumnCoder *c, TraceBlock *b, const ChunkDirectory *d,
                       const RangeScan *what);
// The words of a lane, of all planes: what it wrote or read, what it found; false: damaged
bool block_lane_words(ColumnCoder *c, TraceBlock *b, uint32_t row, uint32_t lane, uint32_t *out);
void block_free(TraceBlock *b);

// --- write/host.c: copies and sets ---
typedef struct HostRange {
  uint64_t address, bytes;
} HostRange;
// The part of [low, high) that the step writes (or reads), in the first row that does; false: none
bool step_touches(const ReaderStep *s, bool reads, uint64_t low, uint64_t high, uint64_t *address,
                  uint64_t *bytes);
bool reader_host_op(TraceReader *t, const ReaderStep *s, uint32_t lane, HostRange at, TraceOp *out,
                    Error *err);

// --- order/step_order.c ---
// Visits, in order, each step that has unordered steps before it; beside: their indexes, the
// nearest first.
typedef bool BesideVisitor(TraceReader *t, uint32_t step, const uint32_t *beside, uint32_t n,
                           void *user, Error *err);
bool reader_steps_beside(TraceReader *t, BesideVisitor *f, void *user, Error *err);

// --- write/lives.c ---
// born, died: compared with ReaderStep.order
typedef struct Life {
  uint32_t process;
  uint64_t base, size, born, died;
  char kind[16];
} Life;
bool reader_life(TraceReader *t, uint32_t allocation, Life *out, Error *err);

// --- questions/replay.c ---
// Contents of [address, address + bytes) of a process after so many steps, as far as they follow
// from steps between born and died. outside: others write to this memory, too
typedef struct Replay {
  uint32_t process, steps;
  uint64_t address, bytes;
  uint64_t born, died;
  bool outside;
  unsigned depth;
  uint32_t *last_writers;  // if not NULL: for each byte the step, from 1; 0: none
} Replay;
bool reader_replay(TraceReader *t, const Replay *what, uint8_t *value, uint8_t *known, Error *err);
// --- order/atomic.c ---
// What memory holds after an atomic operation; false: not known
bool atomic_result(const ReaderSite *site, const uint8_t *operand, const uint8_t *old,
                   uint32_t bytes, uint8_t *out);

// --- order/timeline.c: what orders a warp's rows against those of other warps ---
typedef struct SyncEvent {
  uint64_t record;
  uint32_t lanes;
} SyncEvent;
// cp.async: commits a group; or waits for all but the last `leaves` groups, or (all) for all copies
typedef struct CopyEvent {
  uint64_t record;
  uint32_t lanes, leaves;
  bool commits, all;
} CopyEvent;
// phase: of a wait, the last one that is known to be over; of a copy, the one it is counted in
typedef struct MbarrierEvent {
  uint64_t record;
  uint32_t place, lanes;
  int32_t phase;
} MbarrierEvent;
typedef struct MbarrierSeen {  // one mbarrier, lane by lane
  uint32_t place;
  int32_t over[32];                 // the last phase that it knows to be over
  int32_t asked[32];                // the phase of the last copy; MBARRIER_UNKNOWN: lost
  uint64_t waits_then[32];          // waits of the warp, when the copy was issued
  uint32_t has_asked, has_arrived;  // lanes; arrived: since it last waited
} MbarrierSeen;
typedef struct Timeline {
  VEC(SyncEvent) barriers;  // of the whole block
  VEC(SyncEvent) all;       // of any kind, fences too
  VEC(CopyEvent) copies;
  // met: mbarriers of the block that were waited for; told: those at which copies complete
  VEC(MbarrierEvent) met, told;
  VEC(MbarrierSeen) mbarriers;
  uint64_t waits;  // mbarriers.c
  bool uniform;    // all lanes passed all barriers together
  // Releases and acquires that are not matched with each other: records of the last release and the
  // first acquire. [0]: of block scope, [1]: of a wider one. A release is a fence with an atomic or
  // volatile write after it; last_release is the fence
  uint64_t last_release[2];
  uint64_t last_strong[2];  // of that write
  uint64_t last_flag;       // the last such write for other blocks, with or without a fence
  uint64_t last_fence[2], first_acquire[2], first_strong_read[2];
  bool strong_read[2];  // an atomic (or volatile …) was read: a later fence acquires
} Timeline;
typedef struct Timelines {
  U64Map by_warp;
  const ReaderLaunch *launch;
} Timelines;
const Timeline *timeline_of(TraceReader *t, Timelines *all, uint64_t warp, Error *err);
// Barriers that the lane passed before the record.
uint64_t timeline_passed(const Timeline *l, uint64_t record, uint32_t lane);
// Whether both lanes of a warp took part in a synchronising operation between two of its records.
typedef struct LaneAt {
  uint64_t record;
  uint32_t lane;
} LaneAt;
bool timeline_met(const Timeline *l, LaneAt a, LaneAt b);
// Whether races between lanes of one warp can be judged: not if something unrecorded may order
// them.
bool timeline_judges_lanes(TraceReader *t, const ReaderLaunch *l);
// The record by which this cp.async is known to be complete; UINT64_MAX: none.
uint64_t timeline_copied(const Timeline *l, uint64_t record, uint32_t lane);
void timelines_free(Timelines *all);
// Counted in barriers of a block: when one of its warps last released to other blocks (released),
// first acquired (acquired), or first read a flag without acquiring it (told); flagged: when one
// last wrote a flag, 0: never
typedef struct BlockOrder {
  uint64_t released, acquired, told, flagged;
  bool releases;
} BlockOrder;
BlockOrder *block_order_new(void);
void block_order_note(BlockOrder *b, const Timeline *l);  // a warp of the block
// block_passes_on: whether other blocks may know what a warp did after `passed` barriers.
// block_is_told: whether the warp may know what they did. within: the warp released to another warp
// of its block later, or acquired from one before
bool block_passes_on(const BlockOrder *b, bool within, uint64_t passed);
bool block_is_told(const BlockOrder *b, bool read_only, bool within, uint64_t passed);
bool timeline_note(TraceReader *t, const RowRef *r, Timeline *l);  // a row of the warp, in order
Timeline *timelines_at(Timelines *all, uint64_t warp);

// --- order/mbarriers.c ---
enum { MBARRIER_UNKNOWN = INT32_MAX };
// Notes a row of kind sync.
void mbarriers_note(TraceReader *t, const RowRef *r, const ReaderSite *site, Timeline *l);
// The phase that completes with the copy of this row; NULL: mbarrier or phase is not known.
const MbarrierEvent *mbarriers_told(const Timeline *l, uint64_t record, uint32_t lane);
// Whether the warp had waited for the phase before this record.
bool mbarriers_knows(const Timeline *l, const MbarrierEvent *told, uint64_t record);

// --- questions/accesses.c: all accesses of a launch to some bytes, and which came first ---
typedef struct Access {
  uint64_t record, warp, address;
  uint32_t lane, bytes, time;
  TraceKind kind;
  bool value_known, old_known;
  bool told;                   // a write that completes on an mbarrier: performed some time later
  uint8_t value[16], old[16];  // value of a write: what memory holds afterwards, if known
} Access;
typedef VEC(Access) Accesses;
// Limits where very many accesses touched the bytes. ACCESSES_MOST: if all of them are wanted;
// GATHERED_BLOCKS_MOST: blocks that are unpacked else, as many as a user waits for; READS_MOST: if
// each access needs a question of its own.
enum { ACCESSES_MOST = 1 << 20, GATHERED_BLOCKS_MOST = 120, READS_MOST = 1024 };
// Searches from `near` on, in both directions, or (NULL) from the end of the launch; until there
// are very many accesses and, unless `value` is NULL, one of them left it. most 0: the usual limit
typedef struct Sought {
  const Access *near;
  uint64_t address;
  uint32_t bytes;
  const uint8_t *value;
  uint64_t most;
} Sought;
// all accesses; of a part, those that left the value; a part, none of which did
typedef enum { GATHERED_ALL, GATHERED_FITTING, GATHERED_SOME } Gathered;
typedef struct GatheredAccesses {
  Accesses list;
  Gathered how;
} GatheredAccesses;
// Gathers accesses, sorted by record. sought NULL: all of them.
bool accesses_gather(TraceReader *t, const ReaderLaunch *l, const RangeScan *what,
                     const Sought *sought, GatheredAccesses *out, Error *err);
bool access_of(TraceReader *t, const RowRef *r, const LaneAccess *at, Access *out, Error *err);
void accesses_sort(Accesses *all);
const ReaderChunk **reader_chunks_near(const TraceReader *t, const ReaderLaunch *l,
                                       const RangeScan *what, const Access *near, uint32_t *n);
// --- questions/overwritten_writes.c ---
// Writes; for each, whether it is ordered before the read, and which bytes it wrote (bits).
// overwritten, the answer: bytes of it that a later write overwrote which is also ordered before
// the read.
typedef struct WritesToHide {
  const Accesses *all;
  const bool *before;
  const uint32_t *bytes;
  uint32_t *overwritten;
} WritesToHide;
bool accesses_hide(TraceReader *t, Timelines *lines, const WritesToHide *w, Error *err);
// --- questions/writes_kept.c ---
// launch, write: the write whose readers are looked for; NULL: a copy. some: not all writes were
// gathered; many: more than READS_MOST of a launch
typedef struct WritesKept {
  TraceReader *reader;
  uint64_t low, high;
  const ReaderLaunch *launch;
  const Access *write;
  bool all, some, many;
  U64Map launches;
} WritesKept;
bool writes_kept(WritesKept *k, const ReaderLaunch *l, bool inside, const RangeScan *scan,
                 GatheredAccesses *out, Error *err);
void writes_kept_free(WritesKept *k);
// NOT_TOLD: unordered, and the first is a copy that the second's warp had not waited for: without a
// race it was not done yet
typedef enum {
  RELATION_NONE,
  RELATION_BEFORE,
  RELATION_AFTER,
  RELATION_NOT_TOLD,
  RELATION_FAILED
} Relation;
Relation access_relation(TraceReader *t, Timelines *lines, const Access *a, const Access *b,
                         Error *err);
static inline bool access_writes(const Access *a) {
  return a->kind == TRACE_STORE || a->kind == TRACE_ATOMIC;
}
// --- order/order.c ---
// Whether a launch whose operations are not all in the file was given a pointer to the allocation.
bool reader_may_have_written(TraceReader *t, const ReaderLaunch *l, uint64_t address);
bool reader_writers_of(TraceReader *t, const TraceOp *op, bool all, WritesKept *kept,
                       TraceWriters *out, Error *err);
// Sets the value of a load that was not recorded, if it follows from writes.
bool reader_fill_load(TraceReader *t, TraceOp *op, Error *err);
// id; 0: none
uint32_t reader_allocation_at(TraceReader *t, uint32_t process, uint64_t address, uint64_t before);

void ops_push(TraceOps *o, const TraceOp *op, uint32_t *cap);
#endif
