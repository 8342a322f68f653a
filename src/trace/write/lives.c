// When an allocation lived. Rows of a run file get their ids in the order in which things became
// known, so that ids of allocations and steps can be compared; an allocation has ended when another
// one begins at its addresses.
#include "trace/reader.h"

bool reader_life(TraceReader *t, uint32_t allocation, Life *out, Error *err) {
  sqlite3_stmt *s = reader_statement(
      t, "SELECT process, base, size, kind FROM allocation WHERE id=?", err);
  if (!s) return false;
  sqlite3_bind_int64(s, 1, allocation);
  bool found = sqlite3_step(s) == SQLITE_ROW;
  if (found) {
    *out = (Life){.process = (uint32_t)sqlite3_column_int64(s, 0),
                  .base = (uint64_t)sqlite3_column_int64(s, 1),
                  .size = (uint64_t)sqlite3_column_int64(s, 2),
                  .born = allocation,
                  .died = UINT64_MAX};
    const char *kind = (const char *)sqlite3_column_text(s, 3);
    snprintf(out->kind, sizeof out->kind, "%s", kind ? kind : "");
  }
  reader_done(t, s);
  if (!found) return error_set(err, "the run file has no allocation %u.", allocation);
  if (!(s = reader_statement(t,
                             "SELECT min(id) FROM allocation WHERE process=?1 AND id>?2 AND "
                             "base<?3+?4 AND base+size>?3",
                             err)))
    return false;
  sqlite3_bind_int64(s, 1, out->process);
  sqlite3_bind_int64(s, 2, allocation);
  sqlite3_bind_int64(s, 3, (int64_t)out->base);
  sqlite3_bind_int64(s, 4, (int64_t)out->size);
  if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_type(s, 0) == SQLITE_INTEGER)
    out->died = (uint64_t)sqlite3_column_int64(s, 0);
  reader_done(t, s);
  return true;
}

uint32_t reader_allocation_at(TraceReader *t, uint32_t process, uint64_t address, uint64_t before) {
  sqlite3_stmt *s = reader_statement(
      t, "SELECT max(id) FROM allocation WHERE process=? AND base<=?2 AND base+size>?2 AND id<=?3",
      NULL);
  if (!s) return 0;
  sqlite3_bind_int64(s, 1, process);
  sqlite3_bind_int64(s, 2, (int64_t)address);
  sqlite3_bind_int64(s, 3, (int64_t)MIN(before, (uint64_t)INT64_MAX));
  uint32_t id = sqlite3_step(s) == SQLITE_ROW ? (uint32_t)sqlite3_column_int64(s, 0) : 0;
  reader_done(t, s);
  return id;
}
