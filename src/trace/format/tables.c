// The tables of recorded operations. They are beside those of src/run, in the same file, and made
// when something is recorded.
#include "trace/internal.h"

bool sql_fail(sqlite3 *db, Error *err, const char *doing) {
  return error_set(err, "%s: %s.", doing, store_message(db));
}

const char *const trace_tables[] = {
    "CREATE TABLE trace_chunk (id INTEGER PRIMARY KEY, process INTEGER, launch INTEGER, records "
    "INTEGER, operations INTEGER, low INTEGER, high INTEGER, first_warp INTEGER, last_warp "
    "INTEGER, bytes INTEGER, directory INTEGER, last_time INTEGER)",
    "CREATE TABLE trace_block (id INTEGER PRIMARY KEY, data BLOB)",
    "CREATE TABLE trace_contents (id INTEGER PRIMARY KEY, process INTEGER, step INTEGER, address "
    "INTEGER, bytes INTEGER, data BLOB)",
    "CREATE INDEX trace_contents_step ON trace_contents(process, step)",
};
const unsigned trace_ntables = ARRAY_LEN(trace_tables);

static bool are_there(sqlite3 *db) {
  sqlite3_stmt *s = NULL;
  bool yes = sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_schema WHERE name = 'trace_chunk'", -1,
                                &s, NULL) == SQLITE_OK &&
             sqlite3_step(s) == SQLITE_ROW;
  sqlite3_finalize(s);
  return yes;
}

bool tables_create(sqlite3 *db, Error *err) {
  if (are_there(db)) return true;
  for (size_t i = 0; i < ARRAY_LEN(trace_tables); i++)
    if (sqlite3_exec(db, trace_tables[i], NULL, NULL, NULL) != SQLITE_OK)
      return sql_fail(db, err, "the tables of recorded operations cannot be made");
  return true;
}
