// Fuzz target: run files of a stranger who knows how to make checksums. Rows of a whole file
// change, its pages are sealed again, and every reader opens it as the command does. Input: changes
// of 8 bytes each: table (1), column (1), row (2), what (1), value (3). The last byte says which
// questions are asked.
// seeds: tests/fuzz/seeds/run_file/*
// share: one in 60
// needs: run file
#include <unistd.h>

#include "report/report.h"
#include "run/run.h"
#include "store/internal.h"
#include "trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *whole;                     // the file that is changed
static size_t whole_size;
static VEC(char *) tables;
static char path[] = "/dev/shm/warpgrind-fuzz-XXXXXX";

static void leave(void) { unlink(path); }

static void prepare(void) {
  FILE *f = fopen(getenv("FUZZ_RUN_FILE") ? getenv("FUZZ_RUN_FILE") : "", "rb");
  if (!f) abort();
  fseek(f, 0, SEEK_END);
  whole_size = (size_t)ftell(f);
  rewind(f);
  whole = malloc(whole_size);
  CHECK(fread(whole, 1, whole_size, f) == whole_size);
  fclose(f);
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  atexit(leave);
}

// A database in memory with the file's contents.
static sqlite3 *load(void) {
  sqlite3 *db;
  CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK);
  uint8_t *copy = sqlite3_malloc64(whole_size);
  memcpy(copy, whole, whole_size);
  CHECK(sqlite3_deserialize(db, "main", copy, (sqlite3_int64)whole_size, (sqlite3_int64)whole_size,
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) ==
        SQLITE_OK);
  if (tables.len) return db;
  sqlite3_stmt *s;
  CHECK(sqlite3_prepare_v2(db,
                           "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE "
                           "'sqlite_%' ORDER BY name",
                           -1, &s, NULL) == SQLITE_OK);
  while (sqlite3_step(s) == SQLITE_ROW)
    vec_push(&tables, mem_strdup((const char *)sqlite3_column_text(s, 0)));
  sqlite3_finalize(s);
  CHECK(tables.len);
  return db;
}

static void execute(sqlite3 *db, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  char *sql = sqlite3_vmprintf(format, ap);
  va_end(ap);
  sqlite3_exec(db, sql, NULL, NULL, NULL);
  sqlite3_free(sql);
}

static void column_of(sqlite3 *db, const char *table, unsigned number, char out[64]) {
  sqlite3_stmt *s;
  char *sql = sqlite3_mprintf("SELECT name FROM pragma_table_info(%Q)", table);
  VEC(char *) names = {0};
  CHECK(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK);
  while (sqlite3_step(s) == SQLITE_ROW)
    vec_push(&names, mem_strdup((const char *)sqlite3_column_text(s, 0)));
  sqlite3_finalize(s);
  sqlite3_free(sql);
  snprintf(out, 64, "%s", names.len ? names.data[number % names.len] : "rowid");
  for (uint32_t i = 0; i < names.len; i++) free(names.data[i]);
  vec_free(&names);
}

static void change_blob(sqlite3 *db, const char *table, const char *column, unsigned row,
                        const uint8_t *c) {
  sqlite3_blob *b;
  if (sqlite3_blob_open(db, "main", table, column, row, 1, &b) != SQLITE_OK) return;
  int n = sqlite3_blob_bytes(b), at = n ? (c[6] | c[7] << 8) % n : 0;
  if (n) sqlite3_blob_write(b, c + 5, 1, at);
  sqlite3_blob_close(b);
}

static void change(sqlite3 *db, const uint8_t *c) {
  static const char *const values[] = {
      "NULL",      "0",  "-1",  "9223372036854775807", "-9223372036854775808", "4294967296",
      "1e300",     "''", "'x'", "zeroblob(0)",         "zeroblob(100000)",     "x'FF'",
      "2147483648"};
  const char *table = tables.data[c[0] % tables.len];
  char column[64];
  column_of(db, table, c[1], column);
  unsigned row = (unsigned)c[2] | (unsigned)c[3] << 8,
           value = (unsigned)c[5] | (unsigned)c[6] << 8 | (unsigned)c[7] << 16;
  switch (c[4] % 6) {
    case 0:
      execute(db, "UPDATE \"%w\" SET \"%w\" = %s WHERE rowid %% %u = %u", table, column,
              values[value % ARRAY_LEN(values)], row % 7 + 1, row % 3);
      break;
    case 1:
      execute(db, "UPDATE \"%w\" SET \"%w\" = %u WHERE rowid %% %u = 0", table, column, value,
              row % 7 + 1);
      break;
    case 2:
      execute(db, "UPDATE \"%w\" SET \"%w\" = \"%w\" + %d WHERE rowid %% %u = 0", table, column,
              column, (int)value - (1 << 23), row % 7 + 1);
      break;
    case 3:
      execute(db, "DELETE FROM \"%w\" WHERE rowid %% %u = %u", table, row % 7 + 1, value % 3);
      break;
    case 4:
      execute(db, "UPDATE \"%w\" SET \"%w\" = \"%w\" || 'x' WHERE rowid %% %u = 0", table, column,
              column, row % 7 + 1);
      break;
    default: change_blob(db, table, column, row % 64 + 1, c); break;
  }
}

static void save(sqlite3 *db) {
  sqlite3_int64 n = 0;
  uint8_t *bytes = sqlite3_serialize(db, "main", &n, 0);
  PageFormat format;
  CHECK(bytes && page_format(bytes, &format));
  for (uint64_t i = 0; format.checked && i < (uint64_t)n / format.bytes; i++)
    page_seal(bytes + i * format.bytes, format.bytes, i + 1);
  FILE *f = fopen(path, "wb");
  CHECK(f && fwrite(bytes, 1, (size_t)n, f) == (size_t)n);
  fclose(f);
  sqlite3_free(bytes);
}

static void ask_report(void) {
  Error err = {{0}};
  Run run = {0};
  Str out = {0};
  if (run_load(path, &run, &err)) {
    for (uint32_t i = 0; i < run.findings.len; i++)
      report_finding(&run, run.findings.data[i], &out);
    report_results(&run, true, true, &out);
    report_results(&run, false, true, &out);
    report_coverage(&run, true, &out);
    report_summary(&run, true, &out);
    report_json(&run, &out);
    report_sarif(&run, &out);
  }
  str_free(&out);
  run_free(&run);
}

static void ask_trace(unsigned which) {
  Error err = {{0}};
  Store *store = run_open(path, false, &err);
  TraceReader *t = store ? trace_open(store->db, &err) : NULL;
  TraceOps o;
  TraceRaces races;
  TraceRanges ranges;
  TraceWriters w;
  uint8_t value[256], known[256];
  for (uint32_t id = 1; t && id < 4; id++) {
    if (which == 1 && trace_of_thread(t, id, id * 3, (TracePage){0, 50}, &o, &err))
      trace_ops_free(&o);
    if (which == 2) trace_contents(t, &(TraceSlice){id, 0, 0, sizeof value}, value, known, &err);
    if (which == 2 && trace_unwritten(t, id, 0, 10, &ranges, &err)) trace_ranges_free(&ranges);
    if (which == 3 && trace_writers(t, id * 7, id, false, &w, &err)) trace_ops_free(&w.ops);
    if (which == 4 && trace_readers(t, (TraceOpId){id * 7, id}, (TracePage){0, 5}, false, &o, &err))
      trace_ops_free(&o);
    if (which == 5 && trace_races(t, id, &races, &err)) trace_races_free(&races);
  }
  if (t) trace_close(t);
  store_close(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!whole) prepare();
  sqlite3 *db = load();
  for (size_t at = 0; at + 8 <= size && at < 80; at += 8) change(db, data + at);
  save(db);
  sqlite3_close(db);
  unsigned which = size ? data[size - 1] % 6 : 0;
  if (which == 0) ask_report();
  else ask_trace(which);
  return 0;
}
