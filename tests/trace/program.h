// A made-up program: launches, copies and sets on some buffers, executed one operation after the
// other, and everything remembered as plainly as possible.
#ifndef PROGRAM_H
#define PROGRAM_H

#include <sqlite3.h>

#include "base/base.h"
#include "records.h"
#include "trace/trace.h"

typedef struct Rng { uint64_t s; } Rng;
static inline uint64_t rnd(Rng *r) {
  r->s += 0x9E3779B97F4A7C15ull;
  uint64_t z = r->s;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}
static inline uint64_t below(Rng *r, uint64_t n) { return rnd(r) % n; }

#define HOST 0x80000000u
enum { BUFFERS = 4, SITES = 16, SHARED_BYTES = 1024, PROCESS = 7 };
typedef struct Site { int kind, bytes, shared; const char *text; } Site;        // kind: TraceKind
typedef struct Buffer {
  uint32_t id;
  uint64_t base, size;
  uint8_t *data, *known;
  uint32_t *writer;
} Buffer;  // writer: index plus 1 in ops, or HOST | step
typedef struct MOp {
  uint32_t step, launch, launch_number;
  uint64_t thread, warp;
  uint32_t lane, order, site, bytes, record_order, time;
  int kind, shared, values;                // values: of how many the record has
  uint64_t address, block;
  uint8_t value[16], old[16];
  uint32_t saw[16];                        // who wrote each byte that was read; 0: nobody
} MOp;
typedef struct MStep {
  uint32_t id, number, launch;
  int kind;
  uint64_t destination, source, width;
  uint8_t *after[BUFFERS], *known[BUFFERS];
} MStep;  // kind: 0 launch, 1 copy in, 2 copy on the device, 3 set, 4 copy out
typedef struct MLaunch {
  uint32_t id, number, threads, warps, step;
  uint64_t blocks;
  uint32_t *barriers;
} MLaunch;

typedef struct Program {
  Rng rng;
  Site sites[SITES];
  Buffer buffers[BUFFERS];
  VEC(MOp) ops;
  VEC(MStep) steps;
  VEC(MLaunch) launches;
  uint32_t next_id, time, rings;
  Out *ring;                               // raw records not yet taken
  uint64_t warp_records;
} Program;

void program_make(Program *p, uint64_t seed, unsigned nsteps, unsigned rounds, sqlite3 *db,
                  TraceWriter *w);  // runs it; everything has been taken
void program_free(Program *p);
void program_give(Program *p, TraceWriter *w, bool all);
sqlite3 *program_database(const char *path);
void program_sql(sqlite3 *db, const char *fmt, ...) PRINTF_LIKE(2, 3);        // or ends
#endif
