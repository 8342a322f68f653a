// Reads the recorded inputs of a launch from a run file (--record=inputs).
#include "cli/expand.h"

#include "store/store.h"

static sqlite3_stmt *ask(sqlite3 *db, const char *sql, Error *err) {
  sqlite3_stmt *s = NULL;
  if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
    error_set(err, "the run file cannot be read: %s.", store_message(db));
  return s;
}

bool kept_next(sqlite3_stmt *s, bool *ok, Error *err) {
  int code = sqlite3_step(s);
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    *ok = error_set(err, "the run file cannot be read: %s.", store_message(sqlite3_db_handle(s)));
  return code == SQLITE_ROW;
}

static char *text_of(sqlite3_stmt *s, int i) {
  const char *text = (const char *)sqlite3_column_text(s, i);
  return mem_strdup(text ? text : "");
}

// Whether inputs of the launch are missing. Pages are recorded when they change, so every step up
// to the launch must be in the file, and so must its parameters, which precede its own step.
static bool is_cut(sqlite3 *db, const KeptLaunch *l) {
  if (sqlite3_table_column_metadata(db, "main", "step", "committed", NULL, NULL, NULL, NULL,
                                    NULL) != SQLITE_OK)
    return false;
  sqlite3_stmt *s = ask(
      db,
      "SELECT EXISTS (SELECT 1 FROM step WHERE process = ?1 AND number <= ?2 AND committed = 0) OR "
      "(NOT EXISTS (SELECT 1 FROM step WHERE launch = ?3 AND kind = 'launch') AND "
      "EXISTS (SELECT 1 FROM meta WHERE key = 'complete' AND value = 'no'))",
      &(Error){{0}});
  if (!s) return true;
  sqlite3_bind_int64(s, 1, l->process);
  sqlite3_bind_int64(s, 2, l->step);
  sqlite3_bind_int64(s, 3, l->id);
  bool cut = sqlite3_step(s) != SQLITE_ROW || sqlite3_column_int(s, 0);
  sqlite3_finalize(s);
  return cut;
}

// process 0: the first process that has such a launch.
bool kept_launch_load(sqlite3 *db, uint32_t process, uint32_t number, KeptLaunch *out, Error *err) {
  sqlite3_stmt *s = ask(
      db,
      "SELECT l.id, l.process, i.number, i.id, k.name, m.hash, grid_x, grid_y, grid_z, block_x, "
      "block_y, block_z, cluster_x, cluster_y, cluster_z, shared, cooperative, captured, i.value "
      "FROM launch l JOIN kernel k ON k.id = l.kernel JOIN module m ON m.id = k.module LEFT JOIN "
      "step i ON i.launch = l.id AND i.kind = 'inputs' "
      "WHERE l.number = ?1 AND (?2 = 0 OR l.process = ?2) ORDER BY l.process LIMIT 1",
      err);
  if (!s) return false;
  sqlite3_bind_int64(s, 1, number);
  sqlite3_bind_int64(s, 2, process);
  bool ok = true, found = kept_next(s, &ok, err),
       kept = found && sqlite3_column_type(s, 2) == SQLITE_INTEGER,
       captured = found && sqlite3_column_int(s, 17);
  if (kept) {
    *out = (KeptLaunch){.id = (uint32_t)sqlite3_column_int64(s, 0),
                        .number = number,
                        .process = (uint32_t)sqlite3_column_int64(s, 1),
                        .step = (uint32_t)sqlite3_column_int64(s, 2),
                        .row = (uint64_t)sqlite3_column_int64(s, 3),
                        .kernel = text_of(s, 4),
                        .hash = text_of(s, 5),
                        .shared = (uint32_t)sqlite3_column_int64(s, 15),
                        .cooperative = sqlite3_column_int(s, 16) != 0};
    for (int i = 0; i < 3; i++) {
      out->grid[i] = (uint32_t)sqlite3_column_int64(s, 6 + i);
      out->block[i] = (uint32_t)sqlite3_column_int64(s, 9 + i);
      out->cluster[i] = (uint32_t)sqlite3_column_int64(s, 12 + i);
    }
  }
  if (kept)
    out->since = sqlite3_column_int64(s, 18) ? (uint32_t)sqlite3_column_int64(s, 18) : number;
  sqlite3_finalize(s);
  if (!ok) return false;
  if (!found) return error_set(err, "the run file has no launch %u.", number);
  if (captured && !kept)
    return error_set(
        err,
        "launch %u was captured into a graph. On the virtual device each run of the graph makes "
        "a launch with a later number of its own; on a GPU what it reads is not kept.",
        number);
  if (kept && is_cut(db, out)) {
    kept_launch_free(out);
    return error_set(err, "what launch %u read is not in the file: recording was cut short.",
                     number);
  }
  return kept || error_set(err,
                           "what launch %u read was not kept: the run was made without "
                           "--record=inputs, or it was not one of those that were chosen.",
                           number);
}

void kept_launch_free(KeptLaunch *l) {
  free(l->kernel);
  free(l->hash);
  *l = (KeptLaunch){0};
}

bool kept_allocations_load(sqlite3 *db, const KeptLaunch *l, KeptAllocations *out, Error *err) {
  sqlite3_stmt *s = ask(
      db,
      "SELECT id, base, size, kind = 'variable', coalesce(name, '') FROM allocation WHERE process "
      "= ? AND id < ? AND kind <> 'array' AND size > 0 ORDER BY id DESC",
      err);
  if (!s) return false;
  sqlite3_bind_int64(s, 1, l->process);
  sqlite3_bind_int64(s, 2, (int64_t)l->row);
  bool ok = true;
  while (kept_next(s, &ok, err)) {
    KeptAllocation a = {.id = (uint32_t)sqlite3_column_int64(s, 0),
                        .base = (uint64_t)sqlite3_column_int64(s, 1),
                        .size = (uint64_t)sqlite3_column_int64(s, 2)};
    if (a.base + a.size < a.base) continue;  // wraps around: a damaged file
    bool covered = false;
    for (uint32_t i = 0; i < out->len && !covered; i++)
      covered = a.base < out->data[i].base + out->data[i].size &&
                out->data[i].base < a.base + a.size;
    if (covered) continue;
    a.is_variable = sqlite3_column_int(s, 3);
    a.name = text_of(s, 4);
    vec_push(out, a);
  }
  sqlite3_finalize(s);
  return ok;
}

void kept_allocations_free(KeptAllocations *a) {
  for (uint32_t i = 0; i < a->len; i++) free(a->data[i].name);
  vec_free(a);
}
