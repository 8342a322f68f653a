// Queries as tables with arguments: SELECT * FROM writer(12345, 3). A question is answered when its
// rows are first wanted.
#include "trace/sql/vtab.h"

typedef struct Question {
  const char *name, *columns;
  int visible, arguments, needed;
} Question;
#define OPERATION \
  "record INTEGER, lane INTEGER, kind TEXT, step INTEGER, launch INTEGER, thread INTEGER, site " \
  "INTEGER, address INTEGER, bytes INTEGER, value TEXT, launch_id INTEGER, "
enum { WRITER, READER, RACE, UNWRITTEN, CONTENTS };
static const Question questions[] = {
    {"writer",
     "CREATE TABLE writer (" OPERATION "ambiguous INTEGER, why TEXT, of_record INTEGER HIDDEN, "
     "of_lane INTEGER HIDDEN, \"all\" INTEGER HIDDEN)",
     13, 3, 1},
    {"reader",
     "CREATE TABLE reader (" OPERATION
     "why TEXT, of_record INTEGER HIDDEN, of_lane INTEGER HIDDEN, \"all\" INTEGER HIDDEN)",
     12, 3, 1},
    {"race",
     "CREATE TABLE race (launch INTEGER, space TEXT, address INTEGER, count INTEGER, same_value "
     "INTEGER, first_record INTEGER, first_lane INTEGER, first_site INTEGER, first_thread INTEGER, "
     "first_kind TEXT, second_record INTEGER, second_lane INTEGER, second_site INTEGER, "
     "second_thread INTEGER, second_kind TEXT, kind TEXT, first_step INTEGER, second_step INTEGER, "
     "launch_id INTEGER, of_launch INTEGER HIDDEN, of_process INTEGER HIDDEN)",
     19, 2, 0},
    {"unwritten",
     "CREATE TABLE unwritten (\"offset\" INTEGER, bytes INTEGER, allocation INTEGER HIDDEN, step "
     "INTEGER HIDDEN)",
     2, 2, 1},
    {"contents",
     "CREATE TABLE contents (\"offset\" INTEGER, value INTEGER, known INTEGER, allocation INTEGER "
     "HIDDEN, step INTEGER HIDDEN, first INTEGER HIDDEN, length INTEGER HIDDEN)",
     3, 4, 1}};
enum { ANSWERS = 1 << 20, CONTENTS_MOST = 64 << 20 };

typedef struct Cursor {
  sqlite3_vtab_cursor base;
  int64_t arguments[4];
  bool given[4];
  uint64_t at, n, first;
  TraceWriters writers;
  TraceOps ops;
  TraceRaces races;
  TraceRanges ranges;
  uint8_t *value, *known;
} Cursor;

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                   char **message) {
  (void)argc;
  for (int i = 0; i < (int)ARRAY_LEN(questions); i++)
    if (strcmp(argv[0], questions[i].name) == 0)
      return vtab_connect(db, aux, questions[i].columns, i, out, message);
  return SQLITE_ERROR;
}

static int best_index(sqlite3_vtab *v, sqlite3_index_info *info) {
  const Question *q = &questions[((Table *)v)->kind];
  int bits = 0, n = 0;
  for (int a = 0; a < q->arguments; a++)
    for (int i = 0; i < info->nConstraint; i++) {
      const struct sqlite3_index_constraint *c = &info->aConstraint[i];
      if (c->iColumn != q->visible + a || c->op != SQLITE_INDEX_CONSTRAINT_EQ || bits >> a & 1)
        continue;
      if (!c->usable) return SQLITE_CONSTRAINT;
      info->aConstraintUsage[i].argvIndex = ++n;
      info->aConstraintUsage[i].omit = 1;
      bits |= 1 << a;
    }
  if (bits % (1 << q->needed) != (1 << q->needed) - 1) return SQLITE_CONSTRAINT;
  info->idxNum = bits;
  info->estimatedCost = 1000;
  return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out) {
  if (!vtab_open((Table *)v)) return SQLITE_ERROR;
  Cursor *c = mem_alloc(sizeof *c);
  *out = &c->base;
  return SQLITE_OK;
}

static void forget(Cursor *c) {
  trace_ops_free(&c->writers.ops);
  trace_ops_free(&c->ops);
  trace_races_free(&c->races);
  trace_ranges_free(&c->ranges);
  free(c->value);
  free(c->known);
  c->value = c->known = NULL;
  c->at = c->n = 0;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
  Cursor *c = (Cursor *)cursor;
  forget(c);
  vtab_close((Table *)c->base.pVtab);
  free(c);
  return SQLITE_OK;
}

static bool ask_contents(TraceReader *t, Cursor *c, Error *err) {
  Life life;
  if (!reader_life(t, (uint32_t)c->arguments[0], &life, err)) return false;
  c->first = c->given[2] ? (uint64_t)c->arguments[2] : 0;
  if (c->first > life.size)
    return error_set(err, "the allocation has %llu bytes only.", (unsigned long long)life.size);
  c->n = c->given[3] ? (uint64_t)c->arguments[3] : life.size - c->first;
  if (c->n > CONTENTS_MOST)
    return error_set(err,
                     "contents of more than %u MB are asked for in pieces: contents(allocation, "
                     "step, first, length).",
                     CONTENTS_MOST >> 20);
  c->value = mem_alloc(c->n + 1);
  c->known = mem_alloc(c->n + 1);
  return trace_contents(
      t, &(TraceSlice){(uint32_t)c->arguments[0], (uint32_t)c->arguments[1], c->first, c->n},
      c->value, c->known, err);
}

static bool ask_races(TraceReader *t, Cursor *c, Error *err) {
  bool several = false;
  const ReaderLaunch *l = c->given[0] ? vtab_launch(t, c->arguments[0], c->arguments[1], &several)
                                      : NULL;
  if (several)
    return error_set(err, "several processes have a launch %lld: race(launch, process).",
                     (long long)c->arguments[0]);
  if (c->given[0] && !l)
    return error_set(err, "there is no launch %lld.", (long long)c->arguments[0]);
  bool ok = trace_races(t, l ? l->id : 0, &c->races, err);
  c->n = c->races.n;
  return ok;
}

static int filter(sqlite3_vtab_cursor *cursor, int bits, const char *name, int argc,
                  sqlite3_value **argv) {
  (void)name;
  (void)argc;
  Cursor *c = (Cursor *)cursor;
  Table *table = (Table *)c->base.pVtab;
  TraceReader *t = table->connection->reader;
  Error err = {{0}};
  forget(c);
  for (int i = 0, n = 0; i < 4; i++) {
    c->given[i] = bits >> i & 1;
    c->arguments[i] = c->given[i] ? sqlite3_value_int64(argv[n++]) : 0;
  }
  bool ok = true;
  switch (table->kind) {
    case WRITER:
      ok = trace_writers(t, (uint64_t)c->arguments[0], (uint32_t)c->arguments[1],
                         c->arguments[2] != 0, &c->writers, &err);
      c->n = c->writers.ops.n;
      break;
    case READER:
      ok = trace_readers(t, (TraceOpId){(uint64_t)c->arguments[0], (uint32_t)c->arguments[1]},
                         (TracePage){0, ANSWERS}, c->arguments[2] != 0, &c->ops, &err);
      c->n = c->ops.n;
      break;
    case RACE: ok = ask_races(t, c, &err); break;
    case UNWRITTEN:
      ok = trace_unwritten(t, (uint32_t)c->arguments[0], (uint32_t)c->arguments[1], ANSWERS,
                           &c->ranges, &err);
      c->n = c->ranges.n;
      break;
    case CONTENTS: ok = ask_contents(t, c, &err); break;
  }
  if (ok) return SQLITE_OK;
  c->n = 0;
  return vtab_fail(table, &err);
}

static int next(sqlite3_vtab_cursor *cursor) {
  ((Cursor *)cursor)->at++;
  return SQLITE_OK;
}
static int at_end(sqlite3_vtab_cursor *cursor) {
  return ((Cursor *)cursor)->at >= ((Cursor *)cursor)->n;
}
static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out) {
  *out = (sqlite3_int64)((Cursor *)cursor)->at;
  return SQLITE_OK;
}

static void operation_column(const TraceReader *t, sqlite3_context *ctx, const TraceOp *o, int i) {
  switch (i) {
    case 0: sqlite3_result_int64(ctx, (int64_t)o->record); break;
    case 1: sqlite3_result_int64(ctx, o->lane); break;
    case 2: sqlite3_result_text(ctx, trace_kind_names[o->kind], -1, SQLITE_STATIC); break;
    case 3: sqlite3_result_int64(ctx, o->step); break;
    case 4:
      if (o->launch) sqlite3_result_int64(ctx, vtab_launch_number(t, o->launch));
      break;
    case 10:
      if (o->launch) sqlite3_result_int64(ctx, o->launch);
      break;
    case 5:
      if (o->launch) sqlite3_result_int64(ctx, (int64_t)o->thread);
      break;
    case 6:
      if (o->launch) sqlite3_result_int64(ctx, o->site);
      break;
    case 7:
      if (o->has_address) sqlite3_result_int64(ctx, (int64_t)o->address);
      break;
    case 8: sqlite3_result_int64(ctx, o->bytes); break;
    default:
      if (o->value_known) vtab_hex(ctx, o->value, o->bytes);
  }
}

static void race_column(const TraceReader *t, sqlite3_context *ctx, const TraceRace *r, int i) {
  const TraceOp *o = i < 10 || i == 16 ? &r->first : &r->second;
  uint32_t launch = r->first.launch ? r->first.launch : r->second.launch;
  if ((i == 7 || i == 8 || i == 12 || i == 13) && !o->launch) return;  // a copy or set
  switch (i) {
    case 0:
      if (launch) sqlite3_result_int64(ctx, vtab_launch_number(t, launch));
      break;
    case 18:
      if (launch) sqlite3_result_int64(ctx, launch);
      break;
    case 15: sqlite3_result_text(ctx, trace_race_names[r->class], -1, SQLITE_STATIC); break;
    case 16:
    case 17: sqlite3_result_int64(ctx, o->step); break;
    case 1: sqlite3_result_text(ctx, o->space == 1 ? "shared" : "global", -1, SQLITE_STATIC); break;
    case 2: sqlite3_result_int64(ctx, (int64_t)MAX(r->first.address, r->second.address)); break;
    case 3: sqlite3_result_int64(ctx, (int64_t)r->count); break;
    case 4: sqlite3_result_int64(ctx, r->same_value); break;
    case 5:
    case 10: sqlite3_result_int64(ctx, (int64_t)o->record); break;
    case 6:
    case 11: sqlite3_result_int64(ctx, o->lane); break;
    case 7:
    case 12: sqlite3_result_int64(ctx, o->site); break;
    case 8:
    case 13: sqlite3_result_int64(ctx, (int64_t)o->thread); break;
    default: sqlite3_result_text(ctx, trace_kind_names[o->kind], -1, SQLITE_STATIC);
  }
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i) {
  Cursor *c = (Cursor *)cursor;
  int kind = ((Table *)c->base.pVtab)->kind;
  const TraceReader *t = ((Table *)c->base.pVtab)->connection->reader;
  if (i >= questions[kind].visible) {
    int a = i - questions[kind].visible;
    if (c->given[a]) sqlite3_result_int64(ctx, c->arguments[a]);
    return SQLITE_OK;
  }
  switch (kind) {
    case WRITER:
      if (i == 11) sqlite3_result_int64(ctx, c->writers.ambiguous);
      else if (i == 12) sqlite3_result_text(ctx, c->writers.why, -1, SQLITE_STATIC);
      else operation_column(t, ctx, &c->writers.ops.list[c->at], i);
      break;
    case READER:
      if (i < 11) operation_column(t, ctx, &c->ops.list[c->at], i);
      else if (c->ops.cut)
        sqlite3_result_text(ctx,
                            "recording was cut short: launches that are not in the file, or in "
                            "part, may have read it, too",
                            -1, SQLITE_STATIC);
      else if (c->ops.some)
        sqlite3_result_text(ctx,
                            "very many operations touched it: only reads near it that saw what it "
                            "left were looked for",
                            -1, SQLITE_STATIC);
      break;
    case RACE: race_column(t, ctx, &c->races.list[c->at], i); break;
    case UNWRITTEN:
      sqlite3_result_int64(
          ctx, (int64_t)(i ? c->ranges.list[c->at].bytes : c->ranges.list[c->at].offset));
      break;
    case CONTENTS:
      if (i == 0) sqlite3_result_int64(ctx, (int64_t)(c->first + c->at));
      else if (i == 2) sqlite3_result_int64(ctx, c->known[c->at]);
      else if (c->known[c->at] == 1) sqlite3_result_int64(ctx, c->value[c->at]);
  }
  return SQLITE_OK;
}

const sqlite3_module vtab_list = {.xConnect = connect,
                                  .xBestIndex = best_index,
                                  .xDisconnect = vtab_disconnect,
                                  .xOpen = open_cursor,
                                  .xClose = close_cursor,
                                  .xFilter = filter,
                                  .xNext = next,
                                  .xEof = at_end,
                                  .xColumn = column,
                                  .xRowid = rowid};
