// Records of several launches that take turns in one ring: each belongs to its own.
#include "program.h"

enum { LAUNCHES = 3, RECORDS = 5000 };

static uint64_t records_of(sqlite3 *db, uint32_t launch) {
  sqlite3_stmt *s;
  CHECK(sqlite3_prepare_v2(db, "SELECT total(records) FROM trace_chunk WHERE launch=?", -1, &s,
                           NULL) == SQLITE_OK);
  sqlite3_bind_int64(s, 1, launch);
  CHECK(sqlite3_step(s) == SQLITE_ROW);
  uint64_t n = (uint64_t)sqlite3_column_int64(s, 0);
  sqlite3_finalize(s);
  return n;
}

int main(void) {
  Error err = {{0}};
  sqlite3 *db = program_database(":memory:");
  TraceWriter *w = trace_writer_new(NULL, &err);
  CHECK(w);
  Out out = {0};
  Rng rng = {1};
  uint64_t expected[LAUNCHES + 1] = {0};
  for (uint32_t i = 0; i < RECORDS; i++) {
    uint32_t launch = 1 + (uint32_t)below(&rng, LAUNCHES);
    WarpOp op = {.site = launch * 2 + (uint32_t)below(&rng, 2),
                 .launch = launch,
                 .lanes = UINT32_MAX,
                 .time = i + 1,
                 .has_address = 1,
                 .planes = 1,
                 .values = 1};
    for (uint32_t lane = 0; lane < 32; lane++) {
      op.address[lane] = 0x10000 + i * 128 + lane * 4;
      op.value[0][lane] = i + lane;
    }
    record_write(&out, &op);
    expected[launch]++;
  }
  CHECK(trace_take(w, PROCESS, 0, out.data, out.len, true) == out.len);
  CHECK(trace_save(w, db, true, &err));
  int wrong = 0;
  for (uint32_t i = 1; i <= LAUNCHES; i++) {
    uint64_t n = records_of(db, i);
    if (n != expected[i]) {
      wrong++;
      printf("launch %u: %llu records, not %llu\n", i, (unsigned long long)n,
             (unsigned long long)expected[i]);
    }
  }
  trace_writer_free(w);
  sqlite3_close(db);
  free(out.data);
  return wrong != 0;
}
