// thread: the threads of launches with their coordinates. Needs no recorded operation: the launches
// are enough.
#include "trace/sql/vtab.h"

enum { LAUNCH, THREAD, BLOCK, IN_BLOCK = BLOCK + 3, WARP = IN_BLOCK + 3, LANE, LAUNCH_ID };
enum { BY_LAUNCH = 1, BY_THREAD = 2, BY_LAUNCH_ID = 4 };  // bits of idxNum
typedef struct Cursor {
  sqlite3_vtab_cursor base;
  uint32_t launch, last_launch;
  uint64_t thread;
  bool one_thread;
} Cursor;

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                   char **message) {
  (void)argc;
  (void)argv;
  return vtab_connect(
      db, aux,
      "CREATE TABLE thread (launch INTEGER, thread INTEGER, block_x INTEGER, block_y INTEGER, "
      "block_z INTEGER, thread_x INTEGER, thread_y INTEGER, thread_z INTEGER, "
      "warp INTEGER, lane INTEGER, launch_id INTEGER)",
      0, out, message);
}

static int best_index(sqlite3_vtab *v, sqlite3_index_info *info) {
  (void)v;
  static const int columns[] = {LAUNCH, THREAD, LAUNCH_ID};
  int bits = 0, n = 0;
  for (int k = 0; k < (int)ARRAY_LEN(columns); k++)
    for (int i = 0; i < info->nConstraint; i++) {
      const struct sqlite3_index_constraint *c = &info->aConstraint[i];
      if (!c->usable || c->iColumn != columns[k] || c->op != SQLITE_INDEX_CONSTRAINT_EQ ||
          bits >> k & 1)
        continue;
      info->aConstraintUsage[i].argvIndex = ++n;
      bits |= 1 << k;
    }
  info->idxNum = bits;
  bool one_launch = bits & (BY_LAUNCH | BY_LAUNCH_ID);
  info->estimatedCost = one_launch && bits & BY_THREAD ? 1 : one_launch ? 1e5 : 1e7;
  return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out) {
  if (!vtab_open((Table *)v)) return SQLITE_ERROR;
  Cursor *c = mem_alloc(sizeof *c);
  *out = &c->base;
  return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
  vtab_close((Table *)cursor->pVtab);
  free(cursor);
  return SQLITE_OK;
}

static const ReaderLaunch *launch_at(const Cursor *c) {
  return &((Table *)c->base.pVtab)->connection->reader->launches[c->launch];
}

static void to_existing(Cursor *c) {
  while (c->launch < c->last_launch && c->thread >= launch_at(c)->blocks * launch_at(c)->threads) {
    c->launch++;
    if (!c->one_thread) c->thread = 0;
  }
}

static int filter(sqlite3_vtab_cursor *cursor, int bits, const char *name, int argc,
                  sqlite3_value **argv) {
  (void)name;
  Cursor *c = (Cursor *)cursor;
  TraceReader *t = ((Table *)c->base.pVtab)->connection->reader;
  c->launch = 0;
  c->last_launch = t->nlaunches;
  c->thread = 0;
  c->one_thread = bits & BY_THREAD;
  bool several = false;
  const ReaderLaunch *l = NULL;
  if (bits & BY_LAUNCH) l = vtab_launch(t, sqlite3_value_int64(argv[0]), 0, &several);
  if (bits & BY_LAUNCH_ID) {
    l = reader_launch(t, (uint32_t)sqlite3_value_int64(argv[argc - 1]));
    several = false;
  }
  if (bits & (BY_LAUNCH | BY_LAUNCH_ID) && !several) {
    c->launch = l ? (uint32_t)(l - t->launches) : 0;
    c->last_launch = l ? c->launch + 1 : 0;
  }
  if (c->one_thread) c->thread = (uint64_t)sqlite3_value_int64(argv[bits & BY_LAUNCH]);
  to_existing(c);
  return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *cursor) {
  Cursor *c = (Cursor *)cursor;
  if (c->one_thread) c->launch++;
  else c->thread++;
  to_existing(c);
  return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *cursor) {
  return ((Cursor *)cursor)->launch >= ((Cursor *)cursor)->last_launch;
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i) {
  Cursor *c = (Cursor *)cursor;
  const ReaderLaunch *l = launch_at(c);
  uint64_t block = c->thread / l->threads, inside = c->thread % l->threads, v = 0;
  if (i == LAUNCH) v = l->number;
  else if (i == LAUNCH_ID) v = l->id;
  else if (i == THREAD) v = c->thread;
  else if (i == WARP) v = block * l->warps + inside / 32;
  else if (i == LANE) v = inside % 32;
  else {
    const uint32_t *size = i < IN_BLOCK ? l->grid : l->block;
    uint64_t number = i < IN_BLOCK ? block : inside, x = MAX(size[0], 1u), y = MAX(size[1], 1u);
    int axis = (i - BLOCK) % 3;
    v = axis == 0 ? number % x : axis == 1 ? number / x % y : number / x / y;
  }
  sqlite3_result_int64(ctx, (int64_t)v);
  return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out) {
  const Cursor *c = (const Cursor *)cursor;
  *out = (sqlite3_int64)((uint64_t)c->launch << 40 | c->thread);
  return SQLITE_OK;
}

const sqlite3_module vtab_thread = {.xConnect = connect,
                                    .xBestIndex = best_index,
                                    .xDisconnect = vtab_disconnect,
                                    .xOpen = open_cursor,
                                    .xClose = close_cursor,
                                    .xFilter = filter,
                                    .xNext = next,
                                    .xEof = at_end,
                                    .xColumn = column,
                                    .xRowid = rowid};
