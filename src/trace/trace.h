// trace: recorded memory operations. A TraceWriter takes raw records (probe/trace_abi.h) from the
// rings and keeps them in a run file as compressed columns with indexes (docs/run-file.md); a
// TraceReader answers questions about them. Files of a run are opened with SQLite, so that the
// tables of src/run are beside; trace knows those only by the ids it is given.
#ifndef WG_TRACE_H
#define WG_TRACE_H

#include "base/base.h"
#include "store/store.h"

// An operation of one thread, or of the host. `record` counts the warp operations (and host
// operations) of a file from 1, in an order that agrees with what is known: launches and copies in
// order, each thread's operations in order. A copy's lane 0 is what it writes, 1 what it reads.
// VALUE: wg_record; COPY, SET: by the host
typedef enum {
  TRACE_LOAD,
  TRACE_STORE,
  TRACE_ATOMIC,
  TRACE_SYNC,
  TRACE_VALUE,
  TRACE_COPY,
  TRACE_SET
} TraceKind;
typedef struct TraceOp {
  uint64_t record;
  uint32_t lane;  // with record: the name of the operation
  TraceKind kind;
  uint32_t step;    // the launch or host operation it belongs to: id of `step` in the run file
  uint32_t launch;  // id of `launch`; 0: by the host
  // number in its launch: block (x fastest) * threads per block + thread (x fastest)
  uint64_t thread;
  uint32_t site;  // id of `site`; 0: by the host
  uint32_t bytes;
  uint64_t address;
  // 0: global; 1: shared memory of its block; 2: local memory of the thread: then the address
  // counts from its start
  uint8_t space;
  // STORE: what was written; LOAD: what was read; ATOMIC: operand and what it found
  uint8_t value[16], old[16];
  bool value_known, old_known, has_address;
  bool refused;      // STORE, ATOMIC: a tool found it to be bad, and memory was not written
  bool from_replay;  // the value was not recorded but follows from what was written before
  uint16_t gave;  // an answer of trace_writers: bytes of the read that come from it, a bit for each
} TraceOp;

// --- writing: in the command, while the program runs. Chunks name a launch by its process and
// number (tables `process` and `launch` of the run file), so that nothing needs to be announced
// before its records arrive. ---
typedef struct TraceWriter TraceWriter;
typedef struct TraceLimits {
  uint64_t memory, disk;
  unsigned threads;  // 0: a sensible one
  bool ahead;        // memory for the first records is allocated before they arrive
} TraceLimits;
TraceWriter *trace_writer_new(const TraceLimits *limits, Error *err);
// Takes the complete records at the start of `data`; returns how many bytes they have, to be zeroed
// and given back to the device. Called by several threads, one for each ring; waits while too much
// is in memory. ended: the program has; what is incomplete will stay so and is counted as lost.
// SIZE_MAX: recording has stopped (trace_stopped).
size_t trace_take(TraceWriter *w, uint32_t process, uint32_t ring, const uint8_t *data, size_t n,
                  bool ended);
// Bytes that came from the host, as they were on the device after that step of the process:
// contents of a copy to the device.
void trace_contents_set(TraceWriter *w, uint32_t process, uint32_t step, uint64_t address,
                        const void *bytes, size_t n);
// Saves what is finished; called by the thread that owns the database, within its transaction if
// one is open. Needed now and then for trace_take to go on; last: after every trace_take has
// returned.
bool trace_save(TraceWriter *w, sqlite3 *db, bool last, Error *err);
// trace_launch_ended, on the thread that saves: the launch has ended, and trace_take has had all of
// its records. trace_contents_ended: no more contents of the step will come. If recording has
// stopped before, the launch or step will never be complete.
void trace_launch_ended(TraceWriter *w, uint32_t process, uint32_t launch);
void trace_contents_ended(TraceWriter *w, uint32_t process, uint32_t step);
// Launches and steps (inputs) that the last trace_save has completed in the database: the caller
// marks them there in the same transaction. false: no more.
typedef struct TraceComplete {
  uint32_t process, number;
  bool inputs;
} TraceComplete;
bool trace_take_complete(TraceWriter *w, TraceComplete *out);
// why nothing more is kept ("the limit of 10 GB …"); NULL: it goes on
const char *trace_stopped(const TraceWriter *w);
bool trace_is_damaged(const TraceWriter *w);  // … since the program has overwritten its rings
void trace_written(const TraceWriter *w, uint64_t *operations, uint64_t *bytes);  // so far
void trace_writer_free(TraceWriter *w);

// --- reading ---
typedef struct TraceReader TraceReader;
// for a process that asks many questions: changes how malloc works in all of it
void trace_prepare_memory(void);
bool trace_has_operations(sqlite3 *db);  // the file has recorded operations
// the database stays the caller's; NULL: nothing was recorded, or damaged
TraceReader *trace_open(sqlite3 *db, Error *err);
void trace_close(TraceReader *t);
uint64_t trace_count(const TraceReader *t);  // operations of threads
// From any thread: the question that is being worked on ends soon with an error. false: questions
// are answered again.
void trace_give_up(TraceReader *t, bool yes);
// f is called before each part of the file that a question reads, by the thread that asks; it may
// wait, so that others come first
void trace_pause_with(TraceReader *t, void (*f)(void *user), void *user);

// Answers come in order, as many as asked for; `more` says that there are others after. false: err
// says why. some: not all operations were looked at (trace_readers); cut: not all are in the file
typedef struct TraceOps {
  TraceOp *list;
  uint32_t n;
  bool more, some, cut;
  uint64_t total;
  bool total_known;
} TraceOps;
void trace_ops_free(TraceOps *o);
// A page of answers: the first `skip` are left out, at most `most` returned.
typedef struct TracePage {
  uint64_t skip;
  uint32_t most;
} TracePage;
bool trace_of_thread(TraceReader *t, uint32_t launch, uint64_t thread, TracePage page,
                     TraceOps *out, Error *err);
// The operations of a thread that match, each with its number among all of its operations. total:
// how many match; all: how many there are.
typedef struct TraceThreadSearch {
  uint32_t launch;
  uint64_t thread, skip;
  uint32_t most;
  uint32_t kinds;         // bits of TraceKind; 0: any
  const uint32_t *sites;  // ids; NULL: any
  uint32_t nsites;
  uint64_t low, high;  // addresses of global memory; high 0: any
} TraceThreadSearch;
typedef struct TraceThreadFound {
  TraceOps ops;
  uint64_t *numbers, all;
} TraceThreadFound;
bool trace_thread_search(TraceReader *t, const TraceThreadSearch *what, TraceThreadFound *out,
                         Error *err);
void trace_thread_found_free(TraceThreadFound *f);
// All operations that touched a byte of [address, address + bytes) while that allocation (id in the
// run file) lived, copies and sets too. Steps come in order; operations within a launch by the
// clock of the device, or, if more than 256 of them did, warp by warp.
typedef struct TraceBytes {
  uint64_t address;
  uint32_t bytes;
} TraceBytes;
bool trace_of_element(TraceReader *t, uint32_t allocation, TraceBytes at, TracePage page,
                      TraceOps *out, Error *err);
// Names one of an element's operations: by record and lane, or (record 0) the last one, or the last
// write, up to that step (id). After `first` operations the search ends at `deadline` (clock_ns),
// and after `most` in any case.
typedef struct TraceSought {
  uint64_t record;
  uint32_t lane, step;
  bool writes_only;
  uint64_t first, most, deadline;
} TraceSought;
// Its number among all of them; -1: it was not found
bool trace_element_index(TraceReader *t, uint32_t allocation, TraceBytes at,
                         const TraceSought *sought, int64_t *index, Error *err);
bool trace_one(TraceReader *t, uint64_t record, uint32_t lane, TraceOp *out, Error *err);

// Finds who wrote what a read saw. ambiguous: nothing orders the candidates, and the value does not
// decide. all: looks at every write of the launch. Else, if very many operations touched the bytes,
// it looks only at those recorded near the read, provided one of them wrote what was read: then it
// sets some and ambiguous.
typedef struct TraceWriters {
  TraceOps ops;
  bool ambiguous, never_written, some;
  const char *why;
} TraceWriters;
bool trace_writers(TraceReader *t, uint64_t record, uint32_t lane, bool all, TraceWriters *out,
                   Error *err);
// Finds who saw what was written. all: as for writers. Else, if very many operations of its launch
// touched the bytes, it looks only at those near it that saw what it left: then it sets some.
typedef struct TraceOpId {
  uint64_t record;
  uint32_t lane;
} TraceOpId;
bool trace_readers(TraceReader *t, TraceOpId write, TracePage page, bool all, TraceOps *out,
                   Error *err);
// Each thread of a launch that touched the bytes: its first operation there.
bool trace_touching(TraceReader *t, uint32_t launch, TraceBytes at, TracePage page, TraceOps *out,
                    Error *err);

// A part of a buffer after a step (id; 0: at the end of the run).
typedef struct TraceSlice {
  uint32_t allocation, step;
  uint64_t offset, bytes;
} TraceSlice;
// Its contents. known[i]: 0 never written, 1 known, 2 written by something that was not recorded.
bool trace_contents(TraceReader *t, const TraceSlice *of, uint8_t *value, uint8_t *known,
                    Error *err);
// For each byte which step of the run wrote it last, counted from 1 in the order of their ids; 0:
// none. known as above.
bool trace_last_writers(TraceReader *t, const TraceSlice *of, uint32_t *step, uint8_t *known,
                        Error *err);

// --- questions/private_memory.c ---
// Bytes of the shared memory of a block (space 1), or of the local memory of a thread of it (2).
typedef struct TracePrivate {
  uint32_t launch;
  uint8_t space;
  uint64_t block;
  uint32_t thread;  // in its block
  uint64_t address;
  uint32_t bytes;
} TracePrivate;
// phases: for each, barriers of the block before it
typedef struct TracePrivateOps {
  TraceOps ops;
  uint64_t *phases;
} TracePrivateOps;
// All operations on these bytes: phase for phase, within a phase by the clock of the device.
bool trace_of_private(TraceReader *t, const TracePrivate *of, uint64_t skip, uint32_t most,
                      TracePrivateOps *out, Error *err);
void trace_private_free(TracePrivateOps *o);
// The contents of the bytes at the end of a phase, as far as they were recorded. known: as of
// contents; touched: TRACE_READS, TRACE_WRITES, in that phase; phases: how many there are
typedef struct TracePrivateContents {
  uint8_t *value, *known, *touched;
  uint64_t phases;
} TracePrivateContents;
bool trace_private_contents(TraceReader *t, const TracePrivate *of, uint64_t phase,
                            TracePrivateContents *out, Error *err);

// --- write/counts.c ---
// divergent: records in which some lanes of the warp did not take part
typedef struct TraceSiteCount {
  uint32_t site;
  uint64_t operations, records, divergent;
  uint64_t passes;  // over the banks of shared memory, beyond the one that each access needs
} TraceSiteCount;
typedef struct TraceCounts {
  TraceSiteCount *sites;
  uint32_t n;
  uint64_t *blocks, nblocks;  // operations of each
  // For each block, in nanoseconds of the device's clock: the time from the launch's first access
  // to the block's first, and from the block's first to its last. UINT32_MAX: it made none
  uint32_t *began, *took;
} TraceCounts;
bool trace_counts(TraceReader *t, uint32_t launch, TraceCounts *out, Error *err);
void trace_counts_free(TraceCounts *c);
// Operations of a launch at one of these sites (ids); false: stop
typedef bool TraceOpVisitor(void *user, const TraceOp *op);
typedef struct TraceAtSites {
  uint32_t launch;
  const uint32_t *sites;
  uint32_t n;
} TraceAtSites;
bool trace_at_sites(TraceReader *t, const TraceAtSites *where, TraceOpVisitor *f, void *user,
                    Error *err);

// Finds what blocks of a launch stored into a piece of memory: for each element base + i * stride
// its first `bytes` bytes, and the block.
typedef struct TraceStored {
  uint32_t launch, bytes;
  uint64_t base, stride, count;
} TraceStored;
typedef void TraceStoredVisitor(void *user, uint64_t block, const uint8_t *value);
bool trace_stored(TraceReader *t, const TraceStored *what, TraceStoredVisitor *f, void *user,
                  Error *err);

// --- questions/touched.c: which elements of [base, base + count * stride) threads first to last of
// a launch touched: TRACE_READS, TRACE_WRITES for each in out ---
typedef struct TraceTouched {
  uint32_t launch;
  uint64_t first, last, base, stride, count;
} TraceTouched;
bool trace_touched(TraceReader *t, const TraceTouched *what, uint8_t *out, Error *err);

// --- write/uses.c: which allocations a launch read and wrote ---
enum { TRACE_READS = 1, TRACE_WRITES = 2 };
typedef struct TraceUses TraceUses;
TraceUses *trace_uses_new(TraceReader *t, Error *err);  // for all launches; NULL: err says why
typedef void TraceUseVisitor(void *user, uint32_t allocation, unsigned how);
// a launch (id) without recorded operations uses none
bool trace_uses_of(TraceUses *u, uint32_t launch, TraceUseVisitor *f, void *user, Error *err);
void trace_uses_free(TraceUses *u);

// Values of wg_watch and wg_record at a site (id), of every thread that came there, each thread's
// in order.
typedef void TraceValueVisitor(void *user, uint64_t thread, const uint8_t *value);
bool trace_values_of(TraceReader *t, uint32_t launch, uint32_t site, TraceValueVisitor *f,
                     void *user, Error *err);

// Ranges of an allocation that nothing wrote up to a step (0: the end); `bytes`: of all of them.
typedef struct TraceRange {
  uint64_t offset, bytes;
} TraceRange;
typedef struct TraceRanges {
  TraceRange *list;
  uint32_t n;
  bool more;
  uint64_t bytes;
} TraceRanges;
bool trace_unwritten(TraceReader *t, uint32_t allocation, uint32_t step, uint32_t most,
                     TraceRanges *out, Error *err);
void trace_ranges_free(TraceRanges *r);

// Accesses of different threads of a launch, or of steps that nothing orders, to the same bytes,
// one of them a write, not both atomic: one for each pair of sites, or of a site and the place that
// asked for a copy. count: words where it was found. one_warp: first and second are of one warp.
// same_value: all of them are writes of the same value. docs/run-file.md says what orders.
typedef enum {
  RACE_IN_GLOBAL,
  RACE_IN_SHARED,
  RACE_BETWEEN_STEPS,  // of a launch and a copy, set or launch of another stream
  RACE_SAME_VALUE,
  RACE_NO_ACQUIRE,  // the second has read a flag that the first has set, without acquiring it
  RACE_CLASSES
} TraceRaceClass;
// The tool that finds races in a live run names them (src/tools/*/recorded_races.def).
extern const char *const trace_race_names[];
typedef struct TraceRace {
  TraceOp first, second;
  uint64_t count;
  bool same_value, one_warp;
  TraceRaceClass class;
} TraceRace;
// order_known: of steps; else the file is of an older Warpgrind, and only races within launches are
// found
typedef struct TraceRaces {
  TraceRace *list;
  uint32_t n;
  bool order_known;
} TraceRaces;
bool trace_races(TraceReader *t, uint32_t launch, TraceRaces *out, Error *err);  // launch 0: all
void trace_races_free(TraceRaces *r);
bool trace_knows_order(sqlite3 *db);      // the file has what orders steps
extern const char trace_order_unknown[];  // … a sentence, without its full stop, if it has not

// --- order/pairs.c: the same question for a few pairs of accesses. Barriers decide; where fences
// and the like may order them, and where the file cannot be read, it says no. ---
typedef struct TracePairs TracePairs;
TracePairs *trace_pairs_new(TraceReader *t, uint32_t launch);  // NULL: it was not recorded
// both touch the same bytes, one writes, not both are atomic, and nothing orders them
bool trace_pair_unordered(TracePairs *p, const TraceOp *a, const TraceOp *b);
void trace_pairs_free(TracePairs *p);

// --- sql/*.c: tables access, thread, writer, reader, race, unwritten and contents in this
// connection (docs/run-file.md) ---
bool trace_register(sqlite3 *db, Error *err);
extern const char *const trace_virtual_tables[];  // their names
extern const unsigned trace_nvirtual_tables;

// --- format/tables.c: statements that make the tables of recorded operations ---
extern const char *const trace_tables[];
extern const unsigned trace_ntables;
#endif
