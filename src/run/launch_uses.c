// Saves which buffers recorded launches read and wrote, and, for short runs, their races. Computed
// once, when the recording ends.
#include "run/internal.h"

#include <sqlite3.h>

#include "trace/trace.h"

typedef struct Use {
  Run *run;
  int64_t launch;
} Use;

static void save(void *user, uint32_t allocation, unsigned how) {
  const Use *u = user;
  run_save(u->run, TABLE_launch_use, "iii", u->launch, (int64_t)allocation, (int64_t)how);
}

// In longer runs the viewer looks for races itself, while the page is open.
enum { RACES_OPERATIONS = 1000000 };
static void save_races(Run *r, TraceReader *t, uint32_t launch) {
  TraceRaces races = {0};
  Error err = {{0}};
  if (!trace_races(t, launch, &races, &err)) return;
  for (uint32_t i = 0; i < races.n; i++) {
    const TraceRace *x = &races.list[i];
    run_save(r, TABLE_race_found, "iiiiiii", (int64_t)launch, (int64_t)x->first.record,
             (int64_t)x->first.lane, (int64_t)x->second.record, (int64_t)x->second.lane,
             (int64_t)x->count, (int64_t)x->class);
  }
  trace_races_free(&races);
}

// If this fails, the viewer computes the uses itself.
void run_save_uses(Run *r) {
  sqlite3 *db = run_file_database(r);
  sqlite3_stmt *s = NULL;
  Error err = {{0}};
  TraceReader *t = db && r->trace && !r->records_inputs ? trace_open(db, &err) : NULL;
  TraceUses *uses = t ? trace_uses_new(t, &err) : NULL;
  if (uses && sqlite3_prepare_v2(db,
                                 "SELECT launch FROM step WHERE kind = 'launch' AND launch > 0 AND "
                                 "recorded > 0 ORDER BY id",
                                 -1, &s, NULL) == SQLITE_OK) {
    VEC(int64_t) launches = {0};
    while (sqlite3_step(s) == SQLITE_ROW) vec_push(&launches, sqlite3_column_int64(s, 0));
    sqlite3_finalize(s);
    bool ok = true;
    for (uint32_t i = 0; ok && i < launches.len; i++)
      ok = trace_uses_of(uses, (uint32_t)launches.data[i], save, &(Use){r, launches.data[i]}, &err);
    bool few = trace_count(t) <= RACES_OPERATIONS;
    for (uint32_t i = 0; few && i < launches.len; i++) save_races(r, t, (uint32_t)launches.data[i]);
    if (few) run_save(r, TABLE_meta, "tt", "races_found", "yes");
    vec_free(&launches);
  }
  trace_uses_free(uses);
  if (t) run_place_variables(db, t);
  trace_close(t);
}
