// Which buffers recorded launches read and wrote: looked up once, when the recording ends.
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

// The viewer looks itself where this could not be done.
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
    vec_free(&launches);
  }
  trace_uses_free(uses);
  trace_close(t);
}
