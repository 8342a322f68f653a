// Fuzz target: a recording in which bytes have changed. Every question must end, with an answer or
// an error. Input: changes of 6 bytes each: which row of trace_block (2), where (2), what (1), and
// 1: 0 sets the byte, 1 adds to it, 2 cuts the row there, others change a number of trace_chunk or
// trace_contents.
// share: one in 20
#include "../trace/program.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sqlite3 *db;
static Program program;
static VEC(int64_t) rows;

static void prepare(void) {
  Error err = {{0}};
  db = program_database(":memory:");
  TraceWriter *w = trace_writer_new(&(TraceLimits){.threads = 1}, &err);
  if (!w) abort();
  program_make(&program, 3, 5, 20, db, w);
  CHECK(program.launches.len && trace_save(w, db, true, &err));
  trace_writer_free(w);
  sqlite3_stmt *s;
  CHECK(sqlite3_prepare_v2(db, "SELECT id FROM trace_block ORDER BY id", -1, &s, NULL) ==
        SQLITE_OK);
  while (sqlite3_step(s) == SQLITE_ROW) vec_push(&rows, sqlite3_column_int64(s, 0));
  sqlite3_finalize(s);
}

static void change(const uint8_t *c) {
  int64_t row = rows.data[((unsigned)c[0] | (unsigned)c[1] << 8) % rows.len];
  if (c[5] > 2) {
    static const char *const what[] = {"trace_chunk SET records",
                                       "trace_chunk SET operations",
                                       "trace_chunk SET low",
                                       "trace_chunk SET first_warp",
                                       "trace_chunk SET launch",
                                       "trace_chunk SET bytes",
                                       "trace_chunk SET directory",
                                       "trace_contents SET bytes",
                                       "trace_contents SET address",
                                       "launch SET block_x",
                                       "launch SET grid_x",
                                       "step SET width",
                                       "step SET to_pitch",
                                       "step SET height",
                                       "site SET bytes",
                                       "site SET classes",
                                       "allocation SET size"};
    const char *name = what[c[5] % ARRAY_LEN(what)];
    static const char *const columns[] = {"=0", "=%d", "=-%d", "=%d<<40", "=NULL", "='%d'"};
    char text[200], value[50];
    snprintf(value, sizeof value, columns[c[0] % ARRAY_LEN(columns)], c[4]);
    snprintf(text, sizeof text, "UPDATE %s %s WHERE rowid%%3=%d", name, value, c[1] % 3);
    program_sql(db, "%s", text);
    return;
  }
  sqlite3_stmt *s;
  CHECK(sqlite3_prepare_v2(db, "SELECT data FROM trace_block WHERE id=?", -1, &s, NULL) ==
        SQLITE_OK);
  sqlite3_bind_int64(s, 1, row);
  size_t n = sqlite3_step(s) == SQLITE_ROW ? (size_t)sqlite3_column_bytes(s, 0) : 0;
  uint8_t *bytes = malloc(n + 1);
  if (n) memcpy(bytes, sqlite3_column_blob(s, 0), n);
  sqlite3_finalize(s);
  size_t at = n ? ((size_t)c[2] | (size_t)c[3] << 8) % n : 0;
  if (c[5] == 2) n = at;
  else if (n) bytes[at] = c[5] ? (uint8_t)(bytes[at] + c[4]) : c[4];
  CHECK(sqlite3_prepare_v2(db, "UPDATE trace_block SET data=? WHERE id=?", -1, &s, NULL) ==
        SQLITE_OK);
  sqlite3_bind_blob(s, 1, bytes, (int)n, SQLITE_TRANSIENT);
  sqlite3_bind_int64(s, 2, row);
  CHECK(sqlite3_step(s) == SQLITE_DONE);
  sqlite3_finalize(s);
  free(bytes);
}

// Which question: the input's last byte.
static void ask(unsigned which) {
  Error err;
  TraceReader *t = trace_open(db, &err);
  if (!t) return;
  TraceOps o;
  TraceRaces r;
  TraceRanges u;
  static uint8_t value[4096], known[4096];
  const MLaunch *l = &program.launches.data[0];
  for (uint64_t thread = 0; thread < 3 && which == 0; thread++)
    if (trace_of_thread(t, l->id, thread * 17, (TracePage){0, 50}, &o, &err)) trace_ops_free(&o);
  for (int i = 0; i < BUFFERS; i++) {
    const Buffer *b = &program.buffers[i];
    if (which == 1 &&
        trace_of_element(t, b->id, (TraceBytes){b->base + 64, 8}, (TracePage){0, 20}, &o, &err))
      trace_ops_free(&o);
    if (which == 2)
      trace_contents(t, &(TraceSlice){b->id, 0, 0, MIN(b->size, sizeof value)}, value, known, &err);
    if (which == 3 && trace_unwritten(t, b->id, 0, 10, &u, &err)) trace_ranges_free(&u);
  }
  for (uint64_t record = 1; record < 120 && which >= 4; record += 13) {
    TraceWriters w;
    if (which == 4 && trace_writers(t, record, (uint32_t)record % 32, false, &w, &err))
      trace_ops_free(&w.ops);
    if (which == 5 && trace_readers(t, (TraceOpId){record, (uint32_t)record % 32},
                                    (TracePage){0, 5}, false, &o, &err))
      trace_ops_free(&o);
  }
  if (which == 6 && trace_races(t, l->id, &r, &err)) trace_races_free(&r);
  trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!db) prepare();
  program_sql(db, "BEGIN");
  for (size_t at = 0; at + 6 <= size && at < 60; at += 6) change(data + at);
  ask(size ? data[size - 1] % 7 : 0);
  program_sql(db, "ROLLBACK");
  return 0;
}
