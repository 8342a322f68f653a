// Run files that lie about sizes: every question must end, with an answer or an error, and without
// the memory that is promised.
#include <sys/resource.h>

#include "program.h"

// Each makes a table say something that cannot be. SQLite's own keys do not hold: the file may come
// from anybody.
static const struct { const char *name, *change;
} lies[] = {
    {"chunks_twice", "CREATE TABLE other AS SELECT * FROM trace_chunk; INSERT INTO other SELECT * "
                     "FROM trace_chunk; UPDATE other SET records=records+1000 WHERE rowid>(SELECT "
                     "count(*) FROM trace_chunk); "
                     "DROP TABLE trace_chunk; ALTER TABLE other RENAME TO trace_chunk"},
    {"large_directory", "UPDATE trace_chunk SET bytes=1<<31, directory=0"},
    {"far_directory", "UPDATE trace_chunk SET directory=1<<60"},
    {"no_rows", "DELETE FROM trace_block"},
    {"short_rows", "UPDATE trace_block SET data=substr(data, 1, length(data) / 2)"},
    {"rows_of_numbers", "UPDATE trace_block SET data=12"},
};

static uint64_t answers;
static void ask_all(Program *p, TraceReader *t) {
  Error err = {{0}};
  TraceOps o;
  TraceRaces r;
  TraceRanges u;
  TraceWriters w;
  static uint8_t value[4096], known[4096];
  for (uint32_t i = 0; i < p->launches.len; i++) {
    if (trace_of_thread(t, p->launches.data[i].id, 5, (TracePage){0, 50}, &o, &err)) {
      answers++;
      trace_ops_free(&o);
    }
    if (trace_races(t, p->launches.data[i].id, &r, &err)) {
      answers++;
      trace_races_free(&r);
    }
  }
  for (int i = 0; i < BUFFERS; i++) {
    const Buffer *b = &p->buffers[i];
    for (uint64_t at = 0; at + 8 <= b->size; at += 512)
      if (trace_of_element(t, b->id, (TraceBytes){b->base + at, 8}, (TracePage){0, 20}, &o, &err)) {
        answers++;
        trace_ops_free(&o);
      }
    answers += trace_contents(t, &(TraceSlice){b->id, 0, 0, MIN(b->size, sizeof value)}, value,
                              known, &err);
    if (trace_unwritten(t, b->id, 0, 10, &u, &err)) {
      answers++;
      trace_ranges_free(&u);
    }
  }
  for (uint64_t record = 1; record < 3000; record += 13) {
    if (trace_writers(t, record, (uint32_t)record % 32, false, &w, &err)) {
      answers++;
      trace_ops_free(&w.ops);
    }
    if (trace_readers(t, (TraceOpId){record, (uint32_t)record % 32}, (TracePage){0, 5}, false, &o,
                      &err)) {
      answers++;
      trace_ops_free(&o);
    }
  }
}

int main(void) {
  for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
    Error err = {{0}};
    sqlite3 *db = program_database(":memory:");
    TraceWriter *w = trace_writer_new(&(TraceLimits){.threads = 1}, &err);
    Program p;
    program_make(&p, 3, 12, 300, db, w);
    CHECK(trace_save(w, db, true, &err));
    trace_writer_free(w);
    TraceReader *t = trace_open(db, &err);
    CHECK(t);
    uint64_t count = trace_count(t);
    trace_close(t);
    CHECK(sqlite3_exec(db, lies[i].change, NULL, NULL, NULL) == SQLITE_OK);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    setrlimit(RLIMIT_AS, &(struct rlimit){1 << 30, 1 << 30});
#endif
    answers = 0;
    t = trace_open(db, &err);
    bool same = t && trace_count(t) == count;
    if (t) {
      ask_all(&p, t);
      trace_close(t);
    }
    printf("%s %s: %llu answers\n", same ? "ok" : "FAIL", lies[i].name,
           (unsigned long long)answers);
    program_free(&p);
    sqlite3_close(db);
  }
  return 0;
}
