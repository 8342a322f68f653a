// The tables of recorded operations. They are beside those of src/run, in the same file, and made when something is recorded.
#include "trace/internal.h"

bool sql_fail(sqlite3 *db, Error *err, const char *doing) { return error_set(err, "%s: %s.", doing, sqlite3_errmsg(db)); }

bool tables_create(sqlite3 *db, Error *err) {
  static const char *const statements[] = {
    "CREATE TABLE IF NOT EXISTS trace_chunk (id INTEGER PRIMARY KEY, process INTEGER, launch INTEGER, records INTEGER, operations INTEGER, low INTEGER, high INTEGER, first_warp INTEGER, last_warp INTEGER, bytes INTEGER, directory INTEGER, last_time INTEGER)",
    "CREATE TABLE IF NOT EXISTS trace_block (id INTEGER PRIMARY KEY, data BLOB)",
    "CREATE TABLE IF NOT EXISTS trace_contents (id INTEGER PRIMARY KEY, process INTEGER, step INTEGER, address INTEGER, bytes INTEGER, data BLOB)",
    "CREATE INDEX IF NOT EXISTS trace_contents_step ON trace_contents(process, step)",
  };
  for (size_t i = 0; i < ARRAY_LEN(statements); i++)
    if (sqlite3_exec(db, statements[i], NULL, NULL, NULL) != SQLITE_OK) return sql_fail(db, err, "the tables of recorded operations cannot be made");
  return true;
}
