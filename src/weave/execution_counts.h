// count's table: written by execution_counts.c while it weaves, read by weave/execution_rows.c.
#ifndef WG_WEAVE_EXECUTION_COUNTS_H
#define WG_WEAVE_EXECUTION_COUNTS_H

#include "weave/pass.h"

enum { COUNT_CLASSES = 24, COUNT_NONE = UINT32_MAX };

// The counters of a block: threads of warps with fewer lanes, the number of such warps, and warps
// with all 32, so that these need only one addition. Counters of one kind of 32 blocks are
// together: a warp adds them to memory with one request of the fewest sectors.
enum {
  COUNT_GROUP = 32,
  BLOCK_THREADS = 0,
  BLOCK_WARPS = COUNT_GROUP,
  BLOCK_FULL = 2 * COUNT_GROUP,
  COUNT_GROUP_SIZE = 3 * COUNT_GROUP
};

// Some instructions of one source line that run equally often: as often as `guard` if that has a
// counter, else as often as their block, minus the executions of the block but_not.
typedef struct CountItem {
  const char *kernel, *file;
  uint32_t line;
  // first counters of blocks, a counter of threads; COUNT_NONE: none
  uint32_t block, guard, but_not;
  uint32_t warps;  // the block whose counters give the number of warps
  uint16_t n, by_class[COUNT_CLASSES], loads, stores, atomics;
  uint32_t load_bytes, store_bytes, atomic_bytes;
} CountItem;
typedef struct CountTable {
  CountItem *items;
  uint32_t nitems;
  uint32_t ncounters, replicas;  // counter i is the sum of counters[i + r * ncounters]
} CountTable;

// --- execution_counts.c ---
typedef struct Count {  // one program
  VEC(CountItem) items;
  uint32_t ncounters;
  uint32_t next_block, end_of_group;  // first counters of blocks that are free
  VEC(PtxOperand *) strides;          // operands to be filled with the size of one replica …
  VEC(PtxOperand *) masks;            // … and with the number of replicas less 1
  // of the unit at hand, by .file index
  struct CountFile {
    const char *path;
    bool is_toolkit;
  } * files;
  uint32_t nfiles;
  uint32_t unit;
  bool keeps_lanes;  // some pass wants Counting.lanes; set before the first function
} Count;

// short_sides.c: a block with short sides, or a part of one.
typedef struct ShortSide {
  bool has_sides;
  uint32_t of;     // the block with the branch; IR_NONE: in no short side
  uint32_t first;  // the first block of the side; all its blocks run equally often
} ShortSide;

typedef struct Counting {  // one function
  Count *count;
  Body *body;
  // address of this multiprocessor's counters; 0: nothing is to be counted in this launch
  PtxReg *counters;
  PtxReg *lower;     // mask of the lanes below this one; all bits set when nothing is to be counted
  PtxReg *is_first;  // lane 0, and this launch is to be counted
  const char *kernel;
  uint32_t *entry;              // block -> the counters at its beginning, COUNT_NONE: it has none
  PtxReg **lanes;               // block -> the lanes that reach its beginning; NULL: not kept
  struct CountLoops *loops;     // NULL: no loops
  struct CountLanes *in_lanes;  // NULL: counters are in memory
  ShortSide *sides;             // by block
} Counting;

// The passes of all tools that count call these; only the first call does the work.
void execution_counts_begin(Program *p);
Counting *execution_counts_weave(Body *b);  // NULL: the function has no instructions
void execution_counts_flush(Body *b);       // weave.c: when all passes have seen the function
bool execution_counts_end(Program *p);
uint32_t count_reserve(Count *t, uint32_t n);  // n counters in a row; 32-byte aligned
// The source line that an instruction counts for. file NULL: line is a PTX line
typedef struct CountPlace {
  const char *file;
  uint32_t line;
} CountPlace;
CountPlace count_place(const Count *t, const PtxInstr *in);

// --- execution_rows.c ---
uint64_t count_read(const CountTable *t, const uint64_t *counters, uint32_t i);
uint64_t count_block_threads(const CountTable *t, const uint64_t *counters, uint32_t block);
uint64_t count_block_warps(const CountTable *t, const uint64_t *counters, uint32_t block);

// --- loop_counters.c: counters of blocks in loops are kept in registers and added to
// memory when the loop is left ---
void count_loops_choose(Counting *w);
// Returns NULL if the counter goes straight to memory. only: a predicate, true in lanes whose
// register counts; NULL: all lanes.
PtxReg *count_loops_register(Counting *w, uint32_t block, uint32_t counter, PtxReg *only);
// A register of 32 bits, for counters that grow by less than 2^32 while a loop runs.
PtxReg *count_loops_short_register(Counting *w, uint32_t block, uint32_t counter, PtxReg *only);
// The same for a counter to which every lane adds its own part: their sum goes to memory.
PtxReg *count_loops_lanes_register(Counting *w, uint32_t block, uint32_t counter);
// Whether n more registers are free there.
bool count_loops_has_room(const Counting *w, uint32_t block, uint32_t n);
// --- lane_counters.c: counters of blocks in the lanes of full warps ---
void count_lanes_open(Counting *w, uint32_t first);  // counters from `first` on are of blocks
// The register that holds the counter in one lane. Sets `mine` in that lane, where the caller adds.
// NULL: the counter has no lane.
PtxReg *count_lanes_choose(Counting *w, Code *c, uint32_t block, uint32_t counter, PtxReg *mine);
// the same, where the lane is known already
PtxReg *count_lanes_register(Counting *w, uint32_t block, uint32_t counter);
void count_lanes_flush(Counting *w);  // before threads end

// --- short_sides.c: sides of branches that a compiler predicates ---
void short_sides_find(Counting *w);
// Counts the executions of a block's sides; lanes: those that reached the block.
void short_sides_count(Counting *w, uint32_t block, PtxReg *lanes);

// --- execution_counts.c ---
void count_add_to_memory(Counting *w, Code *c, uint32_t counter, PtxOperand by);

bool count_may_reduce(const Body *b);  // its module may use redux.sync
void count_loops_flush(Counting *w);   // after everything else has been woven

#endif
