#define _GNU_SOURCE
// Opens a recording: reads steps, launches, chunks and sites; blocks are read when a query needs
// them.
#include <malloc.h>
#include <sys/mman.h>

#include "trace/reader.h"

sqlite3_stmt *reader_prepare(TraceReader *t, const char *sql, Error *err) {
  sqlite3_stmt *s = NULL;
  if (sqlite3_prepare_v2(t->db, sql, -1, &s, NULL) == SQLITE_OK) return s;
  sql_fail(t->db, err, "recorded operations cannot be read");
  sqlite3_finalize(s);
  return NULL;
}

sqlite3_stmt *reader_statement(TraceReader *t, const char *sql, Error *err) {
  size_t i = 0;
  while (i < ARRAY_LEN(t->statements) && t->statements[i].sql && t->statements[i].sql != sql) i++;
  if (i == ARRAY_LEN(t->statements)) return reader_prepare(t, sql, err);
  if (!t->statements[i].statement) {
    t->statements[i].sql = sql;
    t->statements[i].statement = reader_prepare(t, sql, err);
  }
  return t->statements[i].statement && sqlite3_stmt_busy(t->statements[i].statement)
             ? reader_prepare(t, sql, err)
             : t->statements[i].statement;
}

void reader_done(TraceReader *t, sqlite3_stmt *s) {
  for (size_t i = 0; i < ARRAY_LEN(t->statements); i++)
    if (t->statements[i].statement == s) {
      sqlite3_reset(s);
      return;
    }
  sqlite3_finalize(s);
}

bool reader_damaged(const TraceReader *t, uint64_t part, Error *err) {
  return error_set(err, "the run file is damaged: recorded operations %llu.%llu cannot be read.",
                   (unsigned long long)(part >> 16), (unsigned long long)(part & 0xFFFF));
}

static bool has_table(TraceReader *t, const char *name) {
  sqlite3_stmt *s = reader_prepare(t, "SELECT 1 FROM sqlite_master WHERE type='table' AND name=?",
                                   NULL);
  if (!s) return false;
  sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
  bool yes = sqlite3_step(s) == SQLITE_ROW;
  sqlite3_finalize(s);
  return yes;
}

static bool has_column(TraceReader *t, const char *table, const char *column) {
  return sqlite3_table_column_metadata(t->db, "main", table, column, NULL, NULL, NULL, NULL,
                                       NULL) == SQLITE_OK;
}

// Whether the command that wrote the file was ended before the program.
static bool is_unfinished(TraceReader *t) {
  sqlite3_stmt *s = reader_prepare(t, "SELECT 1 FROM meta WHERE key='complete' AND value='no'",
                                   NULL);
  bool yes = s && sqlite3_step(s) == SQLITE_ROW;
  sqlite3_finalize(s);
  return yes;
}

static uint64_t number(sqlite3_stmt *s, int i) { return (uint64_t)sqlite3_column_int64(s, i); }
static uint32_t small(sqlite3_stmt *s, int i) { return (uint32_t)sqlite3_column_int64(s, i); }
static bool text_is(sqlite3_stmt *s, int i, const char *text) {
  const char *got = (const char *)sqlite3_column_text(s, i);
  return got && strcmp(got, text) == 0;
}
static uint64_t process_key(uint32_t process, uint32_t number_in_it) {
  return (uint64_t)process << 32 | number_in_it;
}

// Rows of a question into a list; `row` fills one element.
#define LOAD_ROWS(t, sql, T, list, count, err, ...) \
  do { \
    sqlite3_stmt *s = reader_prepare(t, sql, err); \
    if (!s) return false; \
    VEC(T) rows = {0}; \
    int code; \
    while ((code = sqlite3_step(s)) == SQLITE_ROW) { \
      T x = {0}; \
      __VA_ARGS__ vec_push(&rows, x); \
    } \
    sqlite3_finalize(s); \
    list = rows.data, count = rows.len; \
    if (code != SQLITE_DONE) return sql_fail(t->db, err, "recorded operations cannot be read"); \
  } while (0)

static bool load_launches(TraceReader *t, Error *err) {
  LOAD_ROWS(t,
            "SELECT id, process, number, grid_x, grid_y, grid_z, block_x, block_y, block_z, "
            "stream, cluster_x * cluster_y * cluster_z > 1, captured FROM launch ORDER BY id",
            ReaderLaunch, t->launches, t->nlaunches, err, x.id = small(s, 0);
            x.process = small(s, 1); x.number = small(s, 2); x.stream = number(s, 9);
            x.cluster = number(s, 10) != 0; x.captured = number(s, 11) != 0;
            for (int k = 0; k < 3; k++) x.grid[k] = small(s, 3 + k), x.block[k] = small(s, 6 + k);
            x.blocks = (uint64_t)small(s, 3) * small(s, 4) * small(s, 5);
            uint64_t threads = (uint64_t)small(s, 6) * small(s, 7) * small(s, 8);
            // an impossible size is damage, and must not be a divisor
            x.threads = threads && threads <= 1024 ? (uint32_t)threads : 1024;
            x.warps = (x.threads + 31) / 32;);
  for (uint32_t i = 0; i < t->nlaunches; i++)
    u64map_put(&t->launch_of_id, t->launches[i].id, (void *)(uintptr_t)(i + 1));
  return true;
}

// Whether the instruction with this text has the modifier.
static bool has_word(const void *text, const char *word) {
  const char *at = text, *end = at + strcspn(at, " ;");
  size_t n = strlen(word);
  while ((at = strstr(at, word)) && at < end) {
    at += n;
    if (!*at || strchr(". ;", *at)) return true;
  }
  return false;
}

static void find_order(ReaderSite *s) {
  const char *text = s->text;
  if (*text == '@') text += strcspn(text, " ");  // the guard
  text += strspn(text, " ");
  const char *operands = text + strcspn(text, " ;");
  WgWords words = {text, *operands == ' ', has_word, text};
  for (const char *p = operands; *p; p++) words.operands += *p == ',';
  s->orders = wg_orders(&words);
  s->access = wg_access_order(&words);
}

static bool load_sites(TraceReader *t, Error *err) {
  LOAD_ROWS(t,
            "SELECT id, process, number, bytes, classes, space, text FROM site WHERE number >= 0 "
            "ORDER BY id",
            ReaderSite, t->sites, t->nsites, err, x.id = small(s, 0);
            x.process = small(s, 1); x.number = small(s, 2); x.bytes = MIN(small(s, 3), 1024u);
            x.classes = small(s, 4); x.space = text_is(s, 5, "shared")  ? WG_TRACE_SHARED
                                               : text_is(s, 5, "local") ? WG_TRACE_LOCAL
                                                                        : WG_TRACE_GLOBAL;
            const char *text = (const char *)sqlite3_column_text(s, 6);
            x.text = mem_strdup(text ? text : ""); find_order(&x);
            x.told = strstr(x.text, "complete_tx") != NULL;);
  for (uint32_t i = 0; i < t->nsites; i++)
    u64map_put(&t->site_of_number, process_key(t->sites[i].process, t->sites[i].number & 0xFFFFFF),
               (void *)(uintptr_t)(i + 1));
  return true;
}

static bool load_steps(TraceReader *t, Error *err) {
  bool has_committed = has_column(t, "step", "committed");
  char sql[512];
  snprintf(sql, sizeof sql,
           "SELECT id, process, number, kind, launch, recorded, destination, source, width, "
           "height, depth, to_pitch, to_rows, "
           "from_pitch, from_rows, value, value_bytes, stream, direction, stack, %s FROM step "
           "ORDER BY id",
           has_committed ? "coalesce(committed, 1)" : "1");
  if (has_table(t, "step"))
    LOAD_ROWS(t, sql, ReaderStep, t->steps, t->nsteps, err, x.id = small(s, 0); x.order = x.id;
              x.process = small(s, 1); x.number = small(s, 2);
              x.kind = text_is(s, 3, "launch")   ? STEP_LAUNCH
                       : text_is(s, 3, "copy")   ? STEP_COPY
                       : text_is(s, 3, "set")    ? STEP_SET
                       : text_is(s, 3, "inputs") ? STEP_INPUTS
                                                 : STEP_OTHER;
              x.launch = x.kind == STEP_LAUNCH
                             ? (uint32_t)(uintptr_t)u64map_get(&t->launch_of_id, number(s, 4))
                             : 0;
              x.recorded = number(s, 5) != 0; x.cut = number(s, 20) == 0;
              x.destination = number(s, 6); x.source = number(s, 7); x.width = number(s, 8);
              x.height = number(s, 9); x.depth = number(s, 10); x.to_pitch = number(s, 11);
              x.to_rows = number(s, 12); x.from_pitch = number(s, 13); x.from_rows = number(s, 14);
              x.value = number(s, 15); x.value_bytes = small(s, 16); x.stream = number(s, 17);
              x.stack = small(s, 19);
              x.from_host = text_is(s, 18, "to-device") || text_is(s, 18, "on-host");
              x.to_host = text_is(s, 18, "to-host") || text_is(s, 18, "on-host");
              // the initial value of a variable, which comes with the module
              if (x.from_host && x.source == x.destination) x.source = 0;);
  // Launches that the table does not have are steps too, after the others. In a file that was cut
  // short their steps were not written yet.
  bool cut = has_committed && is_unfinished(t);
  bool *seen = mem_alloc(t->nlaunches + 1);
  for (uint32_t i = 0; i < t->nsteps; i++)
    if (t->steps[i].launch) {
      // the file names the launch twice
      if (seen[t->steps[i].launch - 1]) {
        t->steps[i].launch = 0;
        t->steps[i].kind = STEP_OTHER;
      } else seen[t->steps[i].launch - 1] = true;
    }
  uint32_t more = 0;
  for (uint32_t i = 0; i < t->nlaunches; i++) more += !seen[i];
  t->steps = mem_realloc(t->steps, sizeof *t->steps * (t->nsteps + more + 1));
  for (uint32_t i = 0; i < t->nlaunches; i++)
    if (!seen[i])
      t->steps[t->nsteps++] = (ReaderStep){.process = t->launches[i].process,
                                           .kind = STEP_LAUNCH,
                                           .launch = i + 1,
                                           .order = t->launches[i].id,
                                           .stream = t->launches[i].stream,
                                           .cut = cut && !t->launches[i].captured};
  free(seen);
  for (uint32_t i = 0; i < t->nsteps; i++) {
    if (t->steps[i].launch) t->launches[t->steps[i].launch - 1].step = i;
    if (t->steps[i].id) u64map_put(&t->step_of_id, t->steps[i].id, (void *)(uintptr_t)(i + 1));
  }
  return true;
}

static int by_step(const void *a, const void *b) {
  const ReaderChunk *x = a, *y = b;
  return x->step != y->step ? (x->step < y->step ? -1 : 1) : x->id < y->id ? -1 : x->id > y->id;
}

static bool load_chunks(TraceReader *t, Error *err) {
  U64Map by_number = {0};
  for (uint32_t i = 0; i < t->nlaunches; i++)
    u64map_put(&by_number, process_key(t->launches[i].process, t->launches[i].number & 0xFFFFFF),
               (void *)(uintptr_t)(i + 1));
  uint32_t n = 0;
  LOAD_ROWS(
      t,
      "SELECT id, process, launch, records, operations, low, high, first_warp, last_warp, bytes, "
      "directory, last_time FROM trace_chunk ORDER BY id",
      ReaderChunk, t->chunks, n, err,
      uintptr_t launch = (uintptr_t)u64map_get(&by_number, process_key(small(s, 1), small(s, 2)));
      x.id = number(s, 0); x.records = number(s, 3); x.operations = number(s, 4);
      // its launch is not in the file: no question can reach it
      if (!launch || x.id >> 40 || x.records >> 24 || x.operations > x.records * 32 ||
          !x.records) continue;
      // the file has this number twice: parts are kept by it
      if (rows.len && x.id == rows.data[rows.len - 1].id) continue; x.launch = (uint32_t)launch - 1;
      x.step = t->launches[launch - 1].step;
      x.has_global = sqlite3_column_type(s, 5) == SQLITE_INTEGER; x.low = number(s, 5);
      x.high = number(s, 6); x.first_warp = number(s, 7); x.last_warp = number(s, 8);
      x.bytes = MIN(number(s, 9), (uint64_t)1 << 31); x.directory = MIN(number(s, 10), x.bytes);
      x.last_time = small(s, 11) & 0x7FFFFFFF;);
  u64map_free(&by_number);
  t->nchunks = n;
  if (n) qsort(t->chunks, n, sizeof *t->chunks, by_step);
  for (uint32_t i = 0; i < n; i++) {
    ReaderLaunch *l = &t->launches[t->chunks[i].launch];
    if (!l->nchunks++) l->first_chunk = i;
    t->operations += t->chunks[i].operations;
  }
  // A number for every row: steps in order, chunks of a launch in order.
  uint64_t record = 1;
  for (uint32_t i = 0; i < t->nsteps; i++) {
    ReaderStep *s = &t->steps[i];
    s->first_record = record;
    if (s->kind == STEP_COPY || s->kind == STEP_SET) record++;
    const ReaderLaunch *l = s->launch ? &t->launches[s->launch - 1] : NULL;
    for (uint32_t k = 0; l && k < l->nchunks; k++) {
      ReaderChunk *c = &t->chunks[l->first_chunk + k];
      c->first_record = record;
      record += c->records;
    }
  }
  t->records = record - 1;
  return true;
}

// Blocks come and go: their memory should not go back to the system, which would have to clear it
// again. A question may need a hundred blocks at once, tens of megabytes; the first question spent
// half of its time getting small pages. So all threads share one heap that begins with large pages.
// They take no memory before they are used.
static void prepare(void) {
  // a piece: less than what malloc would map by itself
  enum { PAGE = 2 << 20, PIECE = 30 << 20, PIECES = 3 };
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  mallopt(M_ARENA_MAX, 1);
  void *pieces[PIECES];
  for (unsigned i = 0; i < PIECES; i++) {
    pieces[i] = mem_realloc(NULL, PIECE);
    uintptr_t from = ((uintptr_t)pieces[i] + PAGE - 1) & ~(uintptr_t)(PAGE - 1),
              end = ((uintptr_t)pieces[i] + PIECE) & ~(uintptr_t)(PAGE - 1);
    madvise((void *)from, end - from, MADV_HUGEPAGE);
  }
  for (unsigned i = 0; i < PIECES; i++) free(pieces[i]);
}

void trace_prepare_memory(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
}

bool trace_has_operations(sqlite3 *db) {
  TraceReader t = {.db = db};
  return has_table(&t, "trace_chunk");
}

TraceReader *trace_open(sqlite3 *db, Error *err) {
  TraceReader *t = mem_alloc(sizeof *t);
  t->db = db;
  t->coder = column_coder_new();
  if (err) err->text[0] = 0;
  bool ok = has_table(t, "trace_chunk") ||
            error_set(err, "no operations are in the file: the run was made without --record, or "
                           "nothing of what was chosen (--kernel, --buffer, --threads) happened.");
  ok = ok && load_launches(t, err) && load_sites(t, err) && load_steps(t, err) &&
       load_chunks(t, err);
  if (ok) return t;
  trace_close(t);
  return NULL;
}

void trace_close(TraceReader *t) {
  if (!t) return;
  ahead_free(t->ahead);
  reader_cache_free(t);
  free(t->counts.of_step);
  reader_idle(t);
  bytes_free(&t->piece);
  column_coder_free(t->coder);
  for (uint32_t i = 0; i < t->nsites; i++) free(t->sites[i].text);
  free(t->sites);
  free(t->steps);
  free(t->launches);
  free(t->chunks);
  u64map_free(&t->launch_of_id);
  u64map_free(&t->site_of_number);
  u64map_free(&t->step_of_id);
  free(t);
}

void trace_give_up(TraceReader *t, bool yes) { t->given_up = yes; }
void trace_pause_with(TraceReader *t, void (*f)(void *user), void *user) {
  t->pause = f;
  t->pause_user = user;
}

uint64_t trace_count(const TraceReader *t) { return t->operations; }

const ReaderLaunch *reader_launch(const TraceReader *t, uint32_t id) {
  uintptr_t i = (uintptr_t)u64map_get(&t->launch_of_id, id);
  return i ? &t->launches[i - 1] : NULL;
}

const ReaderSite *reader_site(const TraceReader *t, uint32_t process, uint32_t number_in_it) {
  uintptr_t i = (uintptr_t)u64map_get(&t->site_of_number, process_key(process, number_in_it));
  return i ? &t->sites[i - 1] : NULL;
}
