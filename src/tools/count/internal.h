// count's table: written by count.c while it weaves, read by tools/count/rows.c.
#ifndef WG_INSTRUMENT_COUNT_H
#define WG_INSTRUMENT_COUNT_H

#include "weave/pass.h"

enum { COUNT_CLASSES = 24, COUNT_NONE = UINT32_MAX };

// The counters of a block: three in a row, so that a warp with all its lanes needs only one
// addition. threads and number of warps with fewer lanes; warps with 32
enum { BLOCK_THREADS, BLOCK_WARPS, BLOCK_FULL, BLOCK_COUNTERS };

// Some instructions of one source line that run equally often: as often as their block, or as
// `guard` if it has a counter, less as often as the block but_not.
typedef struct CountItem {
  const char *kernel, *file;
  uint32_t line;
  // first counters of blocks, a counter of threads; COUNT_NONE: none
  uint32_t block, guard, but_not;
  uint32_t warps;  // the block that says how many warps come there
  uint16_t n, by_class[COUNT_CLASSES], loads, stores, atomics;
  uint32_t load_bytes, store_bytes, atomic_bytes;
} CountItem;
typedef struct CountTable {
  CountItem *items;
  uint32_t nitems;
  uint32_t ncounters, replicas;  // counter i is the sum of counters[i + r * ncounters]
} CountTable;

// --- count.c ---
typedef struct Count {  // one program
  VEC(CountItem) items;
  uint32_t ncounters;
  VEC(PtxOperand *) strides;  // operands to be filled with the size of one replica …
  VEC(PtxOperand *) masks;    // … and with the number of replicas less 1
  // of the unit at hand, by .file index
  struct CountFile {
    const char *path;
    bool is_toolkit;
  } * files;
  uint32_t nfiles;
  uint32_t unit;
} Count;

typedef struct Counting {  // one function
  Count *count;
  Body *body;
  PtxReg *counters;  // address of this multiprocessor's counters
  PtxReg *lower;     // lanes below this one; all lanes when nothing is to be counted
  const char *kernel;
  uint32_t *entry;           // block -> the counters at its beginning, COUNT_NONE: it has none
  struct CountLoops *loops;  // NULL: no loops
} Counting;

// --- tools/count/weave_loops.c: counters of blocks in loops are kept in registers and added to
// memory when the loop is left ---
void count_loops_choose(Counting *w);
// NULL: straight to memory
PtxReg *count_loops_register(Counting *w, uint32_t block, uint32_t counter);
void count_loops_flush(Counting *w);  // after everything else has been woven

#endif
