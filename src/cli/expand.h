// warpgrind expand: declarations that its two processes share. expand.c starts replay.c as a
// program under --record; replay.c repeats the launches.
#ifndef WG_CLI_EXPAND_H
#define WG_CLI_EXPAND_H

#include "cli/cli.h"

#include "run/run.h"
#include "store/store.h"

#define CLI_REPLAY "replay-inputs"  // argv[1] of the replaying process; not for users

// --- recorded_inputs.c: a launch whose inputs are in the run file ---
typedef struct KeptLaunch {
  uint32_t id, number, process, step;  // step: number of the step that holds its inputs
  uint32_t
      since;  // the last launch before it with complete inputs; replaying from there gives the rest
  uint64_t row;         // id of that step; allocations with a smaller id are older
  char *kernel, *hash;  // hash: of its module
  uint32_t grid[3], block[3], cluster[3], shared;
  bool cooperative;
} KeptLaunch;
// the next row; *ok becomes false on a read error
bool kept_next(sqlite3_stmt *s, bool *ok, Error *err);
bool kept_launch_load(sqlite3 *db, uint32_t process, uint32_t number, KeptLaunch *out, Error *err);
void kept_launch_free(KeptLaunch *l);

// An allocation that lived when the inputs were kept; of overlapping ones, the newest. now: its
// address in this process
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
