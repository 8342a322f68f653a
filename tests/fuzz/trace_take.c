// Fuzz target: anything a ring can hold, through the writer into a file, and questions about what
// came of it. Input: the first byte says how it is given; bit 0: words get the bits that records
// have, so that more of them are some.
// share: one in 20
#include "../trace/program.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(sqlite3 *db) {
  Error err;
  TraceReader *t = trace_open(db, &err);
  if (!t) return;
  TraceOps o;
  TraceRaces r;
  TraceRanges u;
  uint8_t value[64], known[64];
  for (uint64_t thread = 0; thread < 3; thread++)
    if (trace_of_thread(t, 3, thread * 31, (TracePage){0, 50}, &o, &err)) trace_ops_free(&o);
  if (trace_of_element(t, 2, (TraceBytes){0x10000, 8}, (TracePage){0, 50}, &o, &err))
    trace_ops_free(&o);
  for (uint64_t record = 1; record < 4; record++) {
    TraceWriters w;
    if (trace_writers(t, record, (uint32_t)record, false, &w, &err)) trace_ops_free(&w.ops);
    if (trace_readers(t, (TraceOpId){record, (uint32_t)record}, (TracePage){0, 5}, false, &o, &err))
      trace_ops_free(&o);
  }
  trace_contents(t, &(TraceSlice){2, 0, 0, sizeof value}, value, known, &err);
  if (trace_unwritten(t, 2, 0, 10, &u, &err)) trace_ranges_free(&u);
  if (trace_races(t, 0, &r, &err)) trace_races_free(&r);
  trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  Error err = {{0}};
  sqlite3 *db;
  CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK);
  program_sql(
      db,
      "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); CREATE TABLE launch (id INTEGER "
      "PRIMARY KEY, process, number, grid_x, grid_y, grid_z, block_x, block_y, block_z, stream);"
      "CREATE TABLE site (id INTEGER PRIMARY KEY, process, number, bytes, classes, space, text); "
      "CREATE TABLE allocation (id INTEGER PRIMARY KEY, process, base, size, kind);"
      "INSERT INTO allocation VALUES (2, 1, 65536, 1000000, 'device'); INSERT INTO site VALUES (1, "
      "1, 0, 4, 2, 'global', 'st.global.u32 [%%rd1], %%r1')");
  program_sql(db, "INSERT INTO launch VALUES (3, 1, %u, 4, 1, 1, 64, 1, 1, 0)",
              size > 16 ? (unsigned)data[13] | (unsigned)data[14] << 8 | (unsigned)data[15] << 16
                        : 0u);
  TraceWriter *w = trace_writer_new(&(TraceLimits){.threads = 1}, &err);
  if (!w) abort();
  uint8_t how = data[0];
  size_t n = (size - 1) / 4 * 4;
  uint32_t *words = malloc(n + 4);
  memcpy(words, data + 1, n);
  for (size_t i = 0; i < n / 4 && how & 1; i++) words[i] |= 0x80000000u;
  size_t at = 0, piece = how >> 2 ? (size_t)(how >> 2) * 16 : n;
  while (at < n) {  // cut somewhere: what is not complete is given again with more behind it
    size_t upto = MIN(n, at + piece),
           took = trace_take(w, 1, how & 2, (const uint8_t *)words + at, upto - at, upto == n);
    CHECK(took <= upto - at);
    at += took;
    if (!took && upto == n) break;
    if (!took) piece *= 2;
  }
  trace_save(w, db, true, &err);
  trace_writer_free(w);
  ask(db);
  sqlite3_close(db);
  free(words);
  return 0;
}
