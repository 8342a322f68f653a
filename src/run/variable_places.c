// Finds where variables in shared and local memory lie on a GPU. ptxas decides that, so it is
// inferred from the recorded accesses; the place is certain only if these cover the variable
// exactly.
#include "run/internal.h"

#include <sqlite3.h>

#include "trace/trace.h"

enum { SITES = 256, OPERATIONS = 4 << 20 };

typedef struct Extent {
  uint64_t low, high, wanted, seen;
} Extent;

static bool extend(void *user, const TraceOp *op) {
  Extent *e = user;
  if (op->has_address && op->space && !op->refused) {
    e->low = MIN(e->low, op->address);
    e->high = MAX(e->high, op->address + op->bytes);
  }
  return ++e->seen < OPERATIONS && (e->high <= e->low || e->high - e->low <= e->wanted);
}

typedef struct Unplaced {
  int64_t row, kernel;
  uint64_t bytes, offset;  // of its frame; its offset in the frame
  char object[512];
} Unplaced;
typedef VEC(Unplaced) UnplacedList;

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
  sqlite3_stmt *s = NULL;
  return sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK ? s : NULL;
}

static void find_unplaced(sqlite3 *db, UnplacedList *out) {
  sqlite3_stmt *s = prepare(db, "SELECT rowid, kernel, coalesce(frame_bytes, bytes), object, "
                                "coalesce(frame_offset, 0) FROM kernel_variable WHERE "
                                "address IS NULL AND bytes > 0 AND object IS NOT NULL");
  while (s && sqlite3_step(s) == SQLITE_ROW) {
    Unplaced u = {.row = sqlite3_column_int64(s, 0),
                  .kernel = sqlite3_column_int64(s, 1),
                  .bytes = (uint64_t)sqlite3_column_int64(s, 2),
                  .offset = (uint64_t)sqlite3_column_int64(s, 4)};
    snprintf(u.object, sizeof u.object, "%s", (const char *)sqlite3_column_text(s, 3));
    vec_push(out, u);
  }
  sqlite3_finalize(s);
}

static uint32_t sites_of(sqlite3 *db, const char *object, uint32_t *out) {
  uint32_t n = 0;
  sqlite3_stmt *s = prepare(db, "SELECT id FROM site WHERE object = ?");
  if (s) sqlite3_bind_text(s, 1, object, -1, SQLITE_STATIC);
  while (s && n < SITES && sqlite3_step(s) == SQLITE_ROW)
    out[n++] = (uint32_t)sqlite3_column_int64(s, 0);
  sqlite3_finalize(s);
  return n;
}

static uint32_t first_launch(sqlite3 *db, int64_t kernel) {
  sqlite3_stmt *s = prepare(db, "SELECT min(l.id) FROM launch l JOIN step s ON s.launch = l.id "
                                "WHERE l.kernel = ? AND s.kind = 'launch' AND s.recorded > 0");
  if (s) sqlite3_bind_int64(s, 1, kernel);
  uint32_t id = s && sqlite3_step(s) == SQLITE_ROW ? (uint32_t)sqlite3_column_int64(s, 0) : 0;
  sqlite3_finalize(s);
  return id;
}

static void save_place(sqlite3 *db, int64_t row, uint64_t address) {
  sqlite3_stmt *s = prepare(db, "UPDATE kernel_variable SET address = ? WHERE rowid = ?");
  if (s) sqlite3_bind_int64(s, 1, (int64_t)address);
  if (s) sqlite3_bind_int64(s, 2, row);
  if (s) sqlite3_step(s);
  sqlite3_finalize(s);
}

void run_place_variables(sqlite3 *db, TraceReader *t) {
  UnplacedList list = {0};
  find_unplaced(db, &list);
  for (uint32_t i = 0; i < list.len; i++) {
    const Unplaced *u = &list.data[i];
    uint32_t sites[SITES], n = sites_of(db, u->object, sites), launch = first_launch(db, u->kernel);
    Extent e = {.low = UINT64_MAX, .wanted = u->bytes};
    Error err = {{0}};
    if (n && launch && trace_at_sites(t, &(TraceAtSites){launch, sites, n}, extend, &e, &err) &&
        e.seen < OPERATIONS && e.high > e.low && e.high - e.low == u->bytes)
      save_place(db, u->row, e.low + u->offset);
  }
  vec_free(&list);
}
