// access: one row for each operation of a thread. Fast with launch and thread, with a range of
// addresses, with a record; otherwise everything is gone through.
#include "trace/sql/vtab.h"

enum {
  RECORD,
  LANE,
  KIND,
  STEP,
  LAUNCH,
  THREAD,
  SITE,
  SPACE,
  ADDRESS,
  BYTES,
  VALUE,
  INTEGER,
  REAL,
  OLD,
  OLD_INTEGER,
  FILE_NAME,
  LINE,
  LAUNCH_ID,
  PROCESS,
  BUFFER,
  OFFSET,
  ALLOCATION
};
static const char *const COLUMNS =
    "CREATE TABLE access (record INTEGER, lane INTEGER, kind TEXT, step INTEGER, launch INTEGER, "
    "thread INTEGER, site INTEGER, space TEXT, address INTEGER, "
    "bytes INTEGER, value TEXT, integer INTEGER, real REAL, old TEXT, old_integer INTEGER, file "
    "TEXT, line INTEGER, launch_id INTEGER, process INTEGER, buffer TEXT, \"offset\" INTEGER, "
    "allocation INTEGER)";
static const char *const spaces[] = {"global", "shared", "local", "?"};

// The constraints that narrow the search: bits of idxNum, arguments in this order.
enum {
  BY_LAUNCH = 1,
  BY_THREAD = 2,
  BY_RECORD = 4,
  BY_ADDRESS = 8,
  FROM_ADDRESS = 16,
  AFTER_ADDRESS = 32,
  TO_ADDRESS = 64,
  BELOW_ADDRESS = 128,
  BY_LAUNCH_ID = 256
};

typedef struct Cursor {
  sqlite3_vtab_cursor base;
  bool opened, end, by_address, by_warp;
  uint64_t low, high, warp, record;  // record 0: any
  uint32_t lane, chunk, last_chunk, at_block, row, bit;
  BlockSet blocks;
  TraceOp op;
  uint64_t filled;  // the load whose value was looked for
} Cursor;

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                   char **message) {
  (void)argc;
  (void)argv;
  return vtab_connect(db, aux, COLUMNS, 0, out, message);
}

static int best_index(sqlite3_vtab *v, sqlite3_index_info *info) {
  (void)v;
  static const struct {
    int column, op, bit;
  } uses[] = {{LAUNCH, SQLITE_INDEX_CONSTRAINT_EQ, BY_LAUNCH},
              {THREAD, SQLITE_INDEX_CONSTRAINT_EQ, BY_THREAD},
              {RECORD, SQLITE_INDEX_CONSTRAINT_EQ, BY_RECORD},
              {ADDRESS, SQLITE_INDEX_CONSTRAINT_EQ, BY_ADDRESS},
              {ADDRESS, SQLITE_INDEX_CONSTRAINT_GE, FROM_ADDRESS},
              {ADDRESS, SQLITE_INDEX_CONSTRAINT_GT, AFTER_ADDRESS},
              {ADDRESS, SQLITE_INDEX_CONSTRAINT_LE, TO_ADDRESS},
              {ADDRESS, SQLITE_INDEX_CONSTRAINT_LT, BELOW_ADDRESS},
              {LAUNCH_ID, SQLITE_INDEX_CONSTRAINT_EQ, BY_LAUNCH_ID}};
  int bits = 0, n = 0;
  for (size_t u = 0; u < ARRAY_LEN(uses); u++)
    for (int i = 0; i < info->nConstraint; i++) {
      const struct sqlite3_index_constraint *c = &info->aConstraint[i];
      if (!c->usable || c->iColumn != uses[u].column || c->op != uses[u].op || bits & uses[u].bit)
        continue;
      info->aConstraintUsage[i].argvIndex = ++n;  // SQLite looks again itself: not omitted
      bits |= uses[u].bit;
    }
  info->idxNum = bits;
  bool one_launch = bits & (BY_LAUNCH | BY_LAUNCH_ID), one_thread = one_launch && bits & BY_THREAD;
  bool below = bits & (BY_ADDRESS | TO_ADDRESS | BELOW_ADDRESS),
       above = bits & (BY_ADDRESS | FROM_ADDRESS | AFTER_ADDRESS);
  info->estimatedCost = bits & BY_RECORD ? 10
                        : one_thread     ? 100
                        : below && above ? 1000
                        : one_launch     ? 1e8
                                         : 1e9;
  info->estimatedRows = bits & BY_RECORD ? 32 : one_thread ? 100 : below && above ? 1000 : 1000000;
  return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out) {
  Cursor *c = mem_alloc(sizeof *c);
  c->opened = vtab_open((Table *)v);
  if (!c->opened) {
    free(c);
    return SQLITE_ERROR;
  }
  *out = &c->base;
  return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
  Cursor *c = (Cursor *)cursor;
  vtab_close((Table *)c->base.pVtab);
  free(c->blocks.list);
  free(c);
  return SQLITE_OK;
}

static void add_block(BlockSet *s, uint32_t block) {
  if (s->n == s->cap) {
    s->cap = MAX(64u, s->cap * 2);
    s->list = mem_realloc(s->list, sizeof *s->list * s->cap);
  }
  s->list[s->n++] = block;
}

// The blocks of the chunk that have to be looked at.
static bool choose_blocks(TraceReader *t, Cursor *c, const ReaderChunk *chunk, Error *err) {
  c->blocks.n = 0;
  if ((c->by_warp && (c->warp < chunk->first_warp || c->warp > chunk->last_warp)) ||
      (c->record &&
       (c->record < chunk->first_record || c->record >= chunk->first_record + chunk->records)))
    return true;
  if (c->by_address && !c->by_warp && c->low >> 24 &&
      (!chunk->has_global || chunk->low >= c->high || chunk->high <= c->low))
    return true;
  reader_cache_trim(t);
  const ChunkDirectory *d = reader_directory(t, chunk, err);
  if (!d) return false;
  // Addresses of shared and local memory are small numbers: they belong to many blocks.
  if (c->by_address && !c->by_warp && !c->record && c->low >> 24)
    return reader_blocks_touching(t, chunk, &(PostingQuery){.low = c->low, .high = c->high},
                                  &c->blocks, err);
  for (uint32_t i = 0; i < d->nblocks; i++) {
    if (c->by_warp && (d->blocks[i].first_warp > c->warp ||
                       (i + 1 < d->nblocks && d->blocks[i + 1].first_warp < c->warp)))
      continue;
    if (c->record && (chunk->first_record + d->blocks[i].first_row > c->record ||
                      chunk->first_record + d->blocks[i + 1].first_row <= c->record))
      continue;
    add_block(&c->blocks, i);
  }
  return true;
}

static bool row_fits(const Cursor *c, const RowRef *r) {
  return (!c->by_warp || (r->row->warp == c->warp && r->row->lanes >> c->lane & 1)) &&
         (!c->record || c->record == r->record);
}

static bool lane_fits(const Cursor *c, const RowRef *r, uint32_t lane) {
  if (c->by_warp && lane != c->lane) return false;
  if (!c->by_address) return true;
  if (!(r->block->places[r->row->place].has & (ROW_AFFINE | ROW_EACH))) return false;
  uint64_t a = row_address(r->block, r->row, lane) & ((1ull << WG_TRACE_SPACE_AT) - 1);
  return a >= c->low && a < c->high;
}

static int next_row(sqlite3_vtab_cursor *cursor) {
  Cursor *c = (Cursor *)cursor;
  Table *table = (Table *)c->base.pVtab;
  TraceReader *t = table->connection->reader;
  Error err = {{0}};
  for (; c->chunk < c->last_chunk; c->chunk++, c->at_block = c->row = c->bit = 0) {
    const ReaderChunk *chunk = &t->chunks[c->chunk];
    if (!c->at_block && !c->row && !c->bit && !choose_blocks(t, c, chunk, &err))
      return vtab_fail(table, &err);
    for (; c->at_block < c->blocks.n; c->at_block++, c->row = c->bit = 0) {
      const ChunkDirectory *d = reader_directory(t, chunk, &err);
      TraceBlock *b = d ? reader_block(t, chunk, c->blocks.list[c->at_block], false, &err) : NULL;
      if (!b) return vtab_fail(table, &err);
      for (; c->row < b->nrows; c->row++, c->bit = 0) {
        RowRef r = {chunk, b, &b->rows[c->row], c->row,
                    chunk->first_record + d->blocks[c->blocks.list[c->at_block]].first_row +
                        c->row};
        if (!row_fits(c, &r)) continue;
        for (; c->bit < 32; c->bit++) {
          if (!(r.row->lanes >> c->bit & 1) || !lane_fits(c, &r, c->bit)) continue;
          if (!reader_op(t, &r, c->bit, &c->op, &err)) return vtab_fail(table, &err);
          c->bit++;
          return SQLITE_OK;
        }
      }
    }
  }
  c->end = true;
  return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int bits, const char *name, int argc,
                  sqlite3_value **argv) {
  (void)name;
  Cursor *c = (Cursor *)cursor;
  TraceReader *t = ((Table *)c->base.pVtab)->connection->reader;
  int n = 0;
  c->end = c->by_address = c->by_warp = false;
  c->low = 0;
  c->high = UINT64_MAX;
  c->record = 0;
  c->chunk = 0;
  c->last_chunk = t->nchunks;
  c->at_block = c->row = c->bit = 0;
  // Launches of several processes have the same numbers: then all are looked at, and SQLite
  // chooses.
  bool several = false;
  const ReaderLaunch *l = NULL;
  if (bits & BY_LAUNCH) l = vtab_launch(t, sqlite3_value_int64(argv[n++]), 0, &several);
  if (bits & BY_LAUNCH_ID) {
    l = reader_launch(t, (uint32_t)sqlite3_value_int64(argv[argc - 1]));
    several = false;
  }
  if (bits & (BY_LAUNCH | BY_LAUNCH_ID) && !several) {
    c->chunk = l ? l->first_chunk : 0;
    c->last_chunk = l ? l->first_chunk + l->nchunks : 0;
  }
  if (bits & BY_THREAD) {
    uint64_t thread = (uint64_t)sqlite3_value_int64(argv[n++]);
    if (l) {
      c->by_warp = true;
      c->warp = thread / l->threads * l->warps + thread % l->threads / 32;
      c->lane = (uint32_t)(thread % l->threads % 32);
    }
  }
  if (bits & BY_RECORD) {
    c->record = (uint64_t)sqlite3_value_int64(argv[n++]);
    if (!c->record) c->last_chunk = 0;
  }
  for (int bit = BY_ADDRESS; bit <= BELOW_ADDRESS; bit <<= 1) {
    if (!(bits & bit)) continue;
    uint64_t v = (uint64_t)sqlite3_value_int64(argv[n++]);
    c->by_address = true;
    if (bit == BY_ADDRESS || bit == FROM_ADDRESS) c->low = MAX(c->low, v);
    if (bit == AFTER_ADDRESS) c->low = MAX(c->low, v + 1);
    if (bit == BY_ADDRESS || bit == TO_ADDRESS) c->high = MIN(c->high, v + 1);
    if (bit == BELOW_ADDRESS) c->high = MIN(c->high, v);
  }
  return next_row(cursor);
}

static int at_end(sqlite3_vtab_cursor *cursor) { return ((Cursor *)cursor)->end; }

static void buffer_column(sqlite3_context *ctx, const VtabBuffer *b, int i) {
  if (!b->name) return;
  if (i == BUFFER) sqlite3_result_text(ctx, b->name, -1, SQLITE_TRANSIENT);
  else if (i == OFFSET) sqlite3_result_int64(ctx, (int64_t)b->offset);
  else if (b->allocation) sqlite3_result_int64(ctx, b->allocation);
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i) {
  Cursor *c = (Cursor *)cursor;
  Connection *connection = ((Table *)c->base.pVtab)->connection;
  const TraceOp *o = &c->op;
  // A load's value that was not recorded follows from writes; found only if the column is read.
  if (i >= VALUE && i <= REAL && o->kind == TRACE_LOAD && !o->value_known &&
      c->filled != (o->record << 5 | o->lane)) {
    Error err = {{0}};
    c->filled = o->record << 5 | o->lane;
    if (!reader_fill_load(connection->reader, &c->op, &err))
      return vtab_fail((Table *)c->base.pVtab, &err);
  }
  switch (i) {
    case RECORD: sqlite3_result_int64(ctx, (int64_t)o->record); break;
    case LANE: sqlite3_result_int64(ctx, o->lane); break;
    case KIND:
      sqlite3_result_text(ctx, o->refused ? "refused" : trace_kind_names[o->kind], -1,
                          SQLITE_STATIC);
      break;
    case STEP: sqlite3_result_int64(ctx, o->step); break;
    case LAUNCH:
      sqlite3_result_int64(ctx, vtab_launch_number(connection->reader, o->launch));
      break;
    case LAUNCH_ID: sqlite3_result_int64(ctx, o->launch); break;
    case PROCESS: {
      const ReaderLaunch *l = reader_launch(connection->reader, o->launch);
      if (l) sqlite3_result_int64(ctx, l->process);
      break;
    }
    case BUFFER:
    case OFFSET:
    case ALLOCATION: buffer_column(ctx, vtab_buffer(connection, o), i); break;
    case THREAD: sqlite3_result_int64(ctx, (int64_t)o->thread); break;
    case SITE: sqlite3_result_int64(ctx, o->site); break;
    case SPACE:
      if (o->has_address) sqlite3_result_text(ctx, spaces[o->space & 3], -1, SQLITE_STATIC);
      break;
    case ADDRESS:
      if (o->has_address) sqlite3_result_int64(ctx, (int64_t)o->address);
      break;
    case BYTES: sqlite3_result_int64(ctx, o->bytes); break;
    case VALUE:
      if (o->value_known) vtab_hex(ctx, o->value, o->bytes);
      break;
    case INTEGER:
    case REAL:
      if (o->value_known) vtab_number(ctx, o->value, o->bytes, i == REAL);
      break;
    case OLD:
      if (o->old_known) vtab_hex(ctx, o->old, o->bytes);
      break;
    case OLD_INTEGER:
      if (o->old_known) vtab_number(ctx, o->old, o->bytes, false);
      break;
    default:
      vtab_place(connection, o->site);
      if (i == FILE_NAME && connection->file)
        sqlite3_result_text(ctx, connection->file, -1, SQLITE_TRANSIENT);
      if (i == LINE && connection->file) sqlite3_result_int64(ctx, connection->line);
  }
  return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out) {
  const TraceOp *o = &((Cursor *)cursor)->op;
  *out = (sqlite3_int64)(o->record << 5 | o->lane);
  return SQLITE_OK;
}

const sqlite3_module vtab_access = {.xConnect = connect,
                                    .xBestIndex = best_index,
                                    .xDisconnect = vtab_disconnect,
                                    .xOpen = open_cursor,
                                    .xClose = close_cursor,
                                    .xFilter = filter,
                                    .xNext = next_row,
                                    .xEof = at_end,
                                    .xColumn = column,
                                    .xRowid = rowid};
