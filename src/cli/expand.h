// warpgrind expand: what its two processes share. expand.c starts a run with --record of replay.c,
// which runs the launches again.
#ifndef WG_CLI_EXPAND_H
#define WG_CLI_EXPAND_H

#include "cli/cli.h"

#include "run/run.h"
#include "store/store.h"

#define CLI_REPLAY "replay-inputs"  // argv[1] of the second one, which users do not call

// A launch of the run file whose inputs were kept.
typedef struct KeptLaunch {
  uint32_t id, number, process, step;  // step: number of the step that holds its inputs
  uint32_t since;  // the launch whose inputs were kept whole; those between have written the rest
  uint64_t row;    // of that step: allocations with a smaller id came before it
  char *kernel, *hash;  // hash: of its module
  uint32_t grid[3], block[3], cluster[3], shared;
  bool cooperative;
} KeptLaunch;
// the next row; *ok becomes false where it cannot be read
bool kept_next(sqlite3_stmt *s, bool *ok, Error *err);
bool kept_launch_load(sqlite3 *db, uint32_t process, uint32_t number, KeptLaunch *out, Error *err);
void kept_launch_free(KeptLaunch *l);

// Allocations as they were then; the newest of those that overlap.
// now: where it is in this process
typedef struct KeptAllocation {
  uint32_t id;
  uint64_t base, size, now;
  bool is_variable;
  char *name;
} KeptAllocation;
typedef struct KeptAllocations {
  KeptAllocation *data;
  uint32_t len, cap;
} KeptAllocations;
bool kept_allocations_load(sqlite3 *db, const KeptLaunch *l, KeptAllocations *out, Error *err);
void kept_allocations_free(KeptAllocations *a);

int cli_replay(int argc, char **argv);

#endif
