// count's table: written by count.c while it weaves, read by count_rows.c.
#ifndef WG_INSTRUMENT_COUNT_H
#define WG_INSTRUMENT_COUNT_H

#include "instrument/pass.h"

enum { COUNT_CLASSES = 24, COUNT_NONE = UINT32_MAX };

// Some instructions of one source line that run equally often: `threads - but_not` times, in `warps` warp executions.
typedef struct CountItem {
  const char *kernel, *file; uint32_t line;
  uint32_t threads, but_not, warps;        // counters; but_not COUNT_NONE: nothing to subtract
  uint32_t n, by_class[COUNT_CLASSES];
  uint32_t loads, stores, atomics, load_bytes, store_bytes, atomic_bytes;
} CountItem;
typedef struct CountTable {
  CountItem *items; uint32_t nitems;
  uint32_t ncounters, replicas;            // counter i is the sum of counters[i + r * ncounters]
} CountTable;

#endif
