// The counters of one module as rows, one for each kernel and source line.
#ifndef WG_TOOLS_COUNT_ROWS_H
#define WG_TOOLS_COUNT_ROWS_H

#include "weave/weave.h"

typedef struct CountRow {
  const char *kernel, *file;
  uint32_t line;  // file NULL: line is a PTX line
  // by class: bit number of PtxClass; an instruction counts in each of its classes
  uint64_t instructions[24];
  uint64_t total;       // thread instructions
  uint64_t warp_total;  // warp instructions: total / warp_total / 32 is the share of active lanes
  uint64_t loads, stores, atomics, load_bytes, store_bytes, atomic_bytes;
} CountRow;
void count_rows(const Woven *r, const uint64_t *counters, void (*row)(void *user, const CountRow *),
                void *user);

#endif
