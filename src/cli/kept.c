// What a run file with --record=inputs holds of a launch.
#include "cli/expand.h"

#include <unistd.h>

#include "run/run.h"

sqlite3 *kept_open(const char *path, bool writable, Error *err) {
  sqlite3 *db = NULL;
  if (access(path, R_OK) != 0) {
    error_set(err, "%s: there is no such file, or it may not be read.", path);
    return NULL;
  }
  if (sqlite3_open_v2(path, &db, writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, NULL) == SQLITE_OK && run_file_check(db, path, err)) return db;
  if (!err->text[0]) error_set(err, "%s: %s.", path, sqlite3_errmsg(db));
  sqlite3_close(db);
  return NULL;
}

static sqlite3_stmt *ask(sqlite3 *db, const char *sql, Error *err) {
  sqlite3_stmt *s = NULL;
  if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) error_set(err, "the run file cannot be read: %s.", sqlite3_errmsg(db));
  return s;
}

static char *text_of(sqlite3_stmt *s, int i) {
  const char *text = (const char *)sqlite3_column_text(s, i);
  return mem_strdup(text ? text : "");
}

// process 0: the first that has such a launch.
bool kept_launch_load(sqlite3 *db, uint32_t process, uint32_t number, KeptLaunch *out, Error *err) {
  sqlite3_stmt *s = ask(db, "SELECT l.id, l.process, i.number, i.id, k.name, m.hash, grid_x, grid_y, grid_z, block_x, block_y, block_z, cluster_x, cluster_y, cluster_z, shared, cooperative, captured, i.value "
                            "FROM launch l JOIN kernel k ON k.id = l.kernel JOIN module m ON m.id = k.module LEFT JOIN step i ON i.launch = l.id AND i.kind = 'inputs' "
                            "WHERE l.number = ?1 AND (?2 = 0 OR l.process = ?2) ORDER BY l.process LIMIT 1", err);
  if (!s) return false;
  sqlite3_bind_int64(s, 1, number);
  sqlite3_bind_int64(s, 2, process);
  bool found = sqlite3_step(s) == SQLITE_ROW, kept = found && sqlite3_column_type(s, 2) == SQLITE_INTEGER, captured = found && sqlite3_column_int(s, 17);
  if (kept) {
    *out = (KeptLaunch){.id = (uint32_t)sqlite3_column_int64(s, 0), .number = number, .process = (uint32_t)sqlite3_column_int64(s, 1), .step = (uint32_t)sqlite3_column_int64(s, 2),
                        .row = (uint64_t)sqlite3_column_int64(s, 3), .kernel = text_of(s, 4), .hash = text_of(s, 5), .shared = (uint32_t)sqlite3_column_int64(s, 15),
                        .cooperative = sqlite3_column_int(s, 16) != 0};
    for (int i = 0; i < 3; i++) {
      out->grid[i] = (uint32_t)sqlite3_column_int64(s, 6 + i);
      out->block[i] = (uint32_t)sqlite3_column_int64(s, 9 + i);
      out->cluster[i] = (uint32_t)sqlite3_column_int64(s, 12 + i);
    }
  }
  if (kept) out->since = sqlite3_column_int64(s, 18) ? (uint32_t)sqlite3_column_int64(s, 18) : number;
  sqlite3_finalize(s);
  if (!found) return error_set(err, "the run file has no launch %u.", number);
  if (captured && !kept) return error_set(err, "launch %u was captured into a graph. On the virtual device each run of it is a launch of its own, with a number behind it; on a GPU what it reads is not kept.", number);
  return kept || error_set(err, "what launch %u read was not kept: the run was made without --record=inputs, or it was not one of those that were chosen.", number);
}

void kept_launch_free(KeptLaunch *l) {
  free(l->kernel);
  free(l->hash);
  *l = (KeptLaunch){0};
}

bool kept_allocations_load(sqlite3 *db, const KeptLaunch *l, KeptAllocations *out, Error *err) {
  sqlite3_stmt *s = ask(db, "SELECT id, base, size, kind, coalesce(name, '') FROM allocation WHERE process = ? AND id < ? AND kind <> 'array' AND size > 0 ORDER BY id DESC", err);
  if (!s) return false;
  sqlite3_bind_int64(s, 1, l->process);
  sqlite3_bind_int64(s, 2, (int64_t)l->row);
  while (sqlite3_step(s) == SQLITE_ROW) {
    KeptAllocation a = {.id = (uint32_t)sqlite3_column_int64(s, 0), .base = (uint64_t)sqlite3_column_int64(s, 1), .size = (uint64_t)sqlite3_column_int64(s, 2)};
    bool covered = false;
    for (uint32_t i = 0; i < out->len && !covered; i++) covered = a.base < out->data[i].base + out->data[i].size && out->data[i].base < a.base + a.size;
    if (covered) continue;
    a.is_variable = !strcmp((const char *)sqlite3_column_text(s, 3), "variable");
    a.name = text_of(s, 4);
    vec_push(out, a);
  }
  sqlite3_finalize(s);
  return true;
}

void kept_allocations_free(KeptAllocations *a) {
  for (uint32_t i = 0; i < a->len; i++) free(a->data[i].name);
  vec_free(a);
}
