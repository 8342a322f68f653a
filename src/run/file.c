// Writing the run file. Rows go in as they arrive, some hundred milliseconds of them to a
// transaction: when the command is killed the file holds everything up to the last one. When it
// cannot be written (disk full) the run goes on without it.
#include <sqlite3.h>
#include <time.h>
#include <unistd.h>

#include "run/internal.h"
#include "store/store.h"
#include "trace/trace.h"

struct RunFile {
  sqlite3 *db;
  sqlite3_stmt *insert[TABLE_COUNT], *clear_frames, *commit_step, *uncommit;
  char *path;
  int reserve;  // see reserve.c
  bool in_transaction;
  uint64_t rows, began_ms;
  char failure[512];  // "": none
};

enum { COMMIT_ROWS = 20000, COMMIT_MS = 300 };

static uint64_t now_ms(void) { return clock_ns() / 1000000; }

static bool fail(RunFile *f) {
  if (!f->failure[0])
    snprintf(f->failure, sizeof f->failure, "cannot write the run file %s: %s", f->path,
             sqlite3_errmsg(f->db));
  return false;
}

static bool execute(RunFile *f, const char *sql) {
  return sqlite3_exec(f->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail(f);
}

static bool prepare(RunFile *f, const char *sql, sqlite3_stmt **out) {
  return sqlite3_prepare_v2(f->db, sql, -1, out, NULL) == SQLITE_OK || fail(f);
}

// Writes the identity into the first page before WAL is switched on: programs that look only at the
// file itself do not see what is in the -wal.
static bool make_identity(RunFile *f) {
  char version[64];
  snprintf(version, sizeof version, "PRAGMA user_version=%d", RUN_SCHEMA_VERSION);
  return execute(f, "PRAGMA application_id=0x57475246") && execute(f, version);
}

static bool make_tables(RunFile *f) {
  for (RunTable t = 0; t < TABLE_COUNT; t++) {
    Str create = {0};
    run_create_statement(t, &create);
    bool ok = execute(f, create.data);
    str_free(&create);
    if (!ok) return false;
  }
  for (unsigned i = 0; i < run_nviews; i++)
    if (!execute(f, run_views[i])) return false;
  for (unsigned i = 0; i < run_nindexes; i++)
    if (!execute(f, run_indexes[i])) return false;
  char writer[120];
  snprintf(writer, sizeof writer, "INSERT INTO meta VALUES ('complete', 'no'), ('writer', '%d')",
           (int)getpid());
  if (!execute(f, writer)) return false;
  return true;
}

static bool prepare_statements(RunFile *f) {
  for (RunTable t = 0; t < TABLE_COUNT; t++) {
    Str insert = {0};
    run_insert_statement(t, &insert);
    bool ok = prepare(f, insert.data, &f->insert[t]);
    str_free(&insert);
    if (!ok) return false;
  }
  return prepare(f, "DELETE FROM frame WHERE stack=?", &f->clear_frames) &&
         prepare(f, "UPDATE step SET recorded=?2, committed=1 WHERE id=?1", &f->commit_step) &&
         prepare(f, "UPDATE step SET recorded=0, committed=0 WHERE process=?1", &f->uncommit);
}

static void close_file(RunFile *f) {
  for (RunTable t = 0; t < TABLE_COUNT; t++) sqlite3_finalize(f->insert[t]);
  sqlite3_finalize(f->clear_frames);
  sqlite3_finalize(f->commit_step);
  sqlite3_finalize(f->uncommit);
  run_reserve_give(&f->reserve);
  sqlite3_close(f->db);
}

static void remove_old(const char *path) {
  static const char *const endings[] = {"", "-wal", "-shm", "-journal", "-races"};
  for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
    Str name = {0};
    str_printf(&name, "%s%s", path, endings[i]);
    unlink(name.data);
    str_free(&name);
  }
}

RunFile *run_file_create(const char *path, bool large, Error *err) {
  if (!run_output_check(path, err)) return NULL;
  char *target = realpath(path, NULL);  // a link stays one
  RunFile *f = mem_alloc(sizeof *f);
  Error why = {{0}};
  f->path = mem_strdup(target ? target : path);
  free(target);
  remove_old(f->path);
  f->reserve = run_reserve_take(f->path, large);
  f->db = store_create(f->path, &why);
  if (!f->db)
    snprintf(f->failure, sizeof f->failure, "cannot write the run file %s: %.300s", path, why.text);
  // WAL: a reader can look at it during the run, and what was committed survives us. No fsync: the
  // file need not survive a crash of the machine.
  bool ok = f->db && (!large || execute(f, "PRAGMA page_size=32768")) &&
            execute(f, "PRAGMA synchronous=OFF") && make_identity(f) &&
            execute(f, "PRAGMA journal_mode=WAL") && execute(f, "BEGIN") && make_tables(f) &&
            execute(f, "COMMIT") && prepare_statements(f);
  if (ok) return f;
  error_set(err, "%s.", f->failure);
  close_file(f);
  free(f->path);
  free(f);
  return NULL;
}

// Merges SQLite's -wal into the file. While another process has it open (warpgrind view --live)
// that is not possible: then the file is complete only together with the -wal beside it.
static void make_one_file(RunFile *f) {
  enum { TRIES = 40, PAUSE_US = 50000 };
  int code = SQLITE_BUSY;
  for (int i = 0; i < TRIES && (code == SQLITE_BUSY || code == SQLITE_LOCKED); i++) {
    if (i) usleep(PAUSE_US);
    code = sqlite3_exec(f->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
  }
  if (code != SQLITE_OK && code != SQLITE_BUSY && code != SQLITE_LOCKED) fail(f);
}

// Writing has failed. Committed rows stay; the reserved room (reserve.c) lets the file say why it
// ends.
static void say_failure(RunFile *f) {
  sqlite3_stmt *s = NULL;
  if (!sqlite3_get_autocommit(f->db)) sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
  sqlite3_exec(f->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
  if (sqlite3_prepare_v2(f->db, "INSERT OR REPLACE INTO meta VALUES ('stopped', ?)", -1, &s,
                         NULL) == SQLITE_OK) {
    sqlite3_bind_text(s, 1, f->failure, -1, SQLITE_STATIC);
    sqlite3_step(s);
  }
  sqlite3_finalize(s);
}

bool run_file_close(RunFile *f, Error *err) {
  run_reserve_give(&f->reserve);
  if (f->failure[0]) say_failure(f);
  make_one_file(f);
  bool ok = !f->failure[0] || error_set(err, "%s. What it holds is not complete.", f->failure);
  close_file(f);
  free(f->path);
  free(f);
  return ok;
}

bool run_file_failed(const RunFile *f, const char **why) {
  *why = f->failure;
  return f->failure[0] != 0;
}

static bool begin(RunFile *f) {
  if (f->in_transaction) return true;
  if (!execute(f, "BEGIN")) return false;
  f->in_transaction = true;
  f->began_ms = now_ms();
  f->rows = 0;
  return true;
}

// Saves recorded operations in the same transaction as the rows they refer to.
static void save_trace(Run *r, bool last) {
  Error err = {{0}};
  RunFile *f = r->file;
  if (!r->trace || (!f->in_transaction && !begin(f))) return;
  if (trace_save(r->trace, f->db, last, &err)) {
    run_commit_steps(r);
    return;
  }
  if (!f->failure[0])
    snprintf(f->failure, sizeof f->failure, "cannot write the run file: %.400s", err.text);
}

void run_file_trace_ends(Run *r) {
  if (r->file && !r->file->failure[0]) save_trace(r, true);
}

sqlite3 *run_file_database(Run *r) { return r->file && !r->file->failure[0] ? r->file->db : NULL; }

bool run_file_commit(Run *r, bool force) {
  RunFile *f = r->file;
  if (!f || f->failure[0]) return !f;
  if ((r->trace || r->progressed) && !begin(f)) return false;
  if (!f->in_transaction) return true;
  if (!force && f->rows < COMMIT_ROWS && now_ms() - f->began_ms < COMMIT_MS) return true;
  run_outputs_announce(r);
  run_save_progress(r);
  save_trace(r, false);
  f->in_transaction = false;
  if (execute(f, "COMMIT")) return true;
  sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
  return false;
}

void run_save(Run *r, RunTable table, const char *kinds, ...) {
  RunFile *f = r->file;
  CHECK(strlen(kinds) == run_column_count(table));
  if (!f || f->failure[0] || !begin(f)) return;
  sqlite3_stmt *s = f->insert[table];
  va_list ap;
  va_start(ap, kinds);
  for (int i = 0; kinds[i]; i++) {
    if (kinds[i] == 'i') {
      sqlite3_bind_int64(s, i + 1, va_arg(ap, int64_t));
    } else if (kinds[i] == 't') {
      const char *text = va_arg(ap, const char *);
      if (text) sqlite3_bind_text(s, i + 1, text, -1, SQLITE_STATIC);
      else sqlite3_bind_null(s, i + 1);
    } else if (kinds[i] == 'b') {
      const void *bytes = va_arg(ap, const void *);
      sqlite3_bind_blob(s, i + 1, bytes, (int)va_arg(ap, size_t), SQLITE_STATIC);
    } else {
      if (kinds[i] == 'x') (void)va_arg(ap, int64_t);
      sqlite3_bind_null(s, i + 1);
    }
  }
  va_end(ap);
  if (sqlite3_step(s) != SQLITE_DONE) fail(f);
  sqlite3_reset(s);
  sqlite3_clear_bindings(s);
  f->rows++;
}

static void update(RunFile *f, sqlite3_stmt *s, int64_t first, int64_t second) {
  if (f->failure[0] || !begin(f)) return;
  sqlite3_bind_int64(s, 1, first);
  if (sqlite3_bind_parameter_count(s) > 1) sqlite3_bind_int64(s, 2, second);
  if (sqlite3_step(s) != SQLITE_DONE) fail(f);
  sqlite3_reset(s);
  f->rows++;
}

void run_commit_step(Run *r, int64_t id, int64_t recorded) {
  if (r->file) update(r->file, r->file->commit_step, id, recorded);
}

void run_uncommit_process(Run *r, int64_t process) {
  if (r->file) update(r->file, r->file->uncommit, process, 0);
}

void run_save_stack(Run *r, RunStack *s) {
  RunFile *f = r->file;
  if (!f || f->failure[0] || !begin(f)) return;
  if (s->resolved) {
    sqlite3_bind_int64(f->clear_frames, 1, s->id);
    sqlite3_step(f->clear_frames);
    sqlite3_reset(f->clear_frames);
    for (uint32_t i = 0; i < s->nframes; i++) {
      const RunFrame *x = &s->frames[i];
      run_save(r, TABLE_frame, "iiitttiii", (int64_t)s->id, (int64_t)i, (int64_t)x->address,
               x->object, x->function, x->file, (int64_t)x->line, (int64_t)x->inlined,
               (int64_t)x->python);
    }
  } else {
    for (uint32_t i = 0; i < s->naddresses; i++)
      run_save(r, TABLE_frame, "iii---iii", (int64_t)s->id, (int64_t)i, (int64_t)s->addresses[i],
               (int64_t)0, (int64_t)0, (int64_t)0);
  }
}

void run_save_site(Run *r, RunSite *s) {
  if (!r->file) return;
  run_save(r, TABLE_site, "iiiittiititi", (int64_t)s->id,
           (int64_t)(s->module ? s->module->process->id : 0), (int64_t)s->number,
           (int64_t)(s->module ? s->module->id : 0), s->function, s->text, (int64_t)s->ptx_line,
           (int64_t)s->classes, s->space, (int64_t)s->bytes, s->object, (int64_t)s->parameter);
  for (uint32_t i = 0; i < s->nplaces; i++) {
    run_save(r, TABLE_place, "iittii", (int64_t)s->id, (int64_t)i, s->places[i].file,
             s->places[i].function, (int64_t)s->places[i].line, (int64_t)s->places[i].column);
    run_prove_source(r, s->places[i].file);
  }
}

void run_save_allocation(Run *r, const RunAllocation *a) {
  run_save(r, TABLE_allocation, "iiiititiiit", (int64_t)a->id, (int64_t)a->process->id,
           (int64_t)a->base, (int64_t)a->size, run_memory_kind(a->kind), (int64_t)a->device,
           a->name, (int64_t)(a->stack ? a->stack->id : 0), (int64_t)a->freed,
           (int64_t)(a->free_stack ? a->free_stack->id : 0), a->pointer);
}
