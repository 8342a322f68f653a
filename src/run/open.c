// The opener of every reader of run files. The file may be damaged or made to do harm: it is opened
// by src/store, and its tables and views must be those that Warpgrind makes. Tables that this
// version does not know are left alone.
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <strings.h>

#include "run/internal.h"
#include "store/store.h"
#include "trace/trace.h"

enum { APPLICATION = 0x57475246 };

typedef struct Known {
  const char *statement;
  char *name;
  bool is_table, seen;
} Known;
typedef struct Check {
  Store *store;
  Error *err;
  int64_t version;
  VEC(Known) known;
} Check;

// --- what Warpgrind makes ---

// "CREATE TABLE step (…": TABLE, step
static void add_known(Check *c, const char *statement) {
  const char *what = statement + strlen("CREATE "), *name = strchr(what, ' ') + 1;
  char *copy = mem_strdup(name);
  copy[strcspn(copy, " (")] = 0;
  vec_push(&c->known, (Known){mem_strdup(statement), copy, !strncmp(what, "TABLE", 5), false});
}

static void list_known(Check *c) {
  for (RunTable t = 0; t < TABLE_COUNT; t++) {
    Str create = {0};
    run_create_statement(t, &create);
    add_known(c, create.data);
    str_free(&create);
  }
  for (unsigned i = 0; i < run_nviews; i++) add_known(c, run_views[i]);
  for (unsigned i = 0; i < run_nindexes; i++) add_known(c, run_indexes[i]);
  for (unsigned i = 0; i < trace_ntables; i++) add_known(c, trace_tables[i]);
}

static void free_known(Check *c) {
  for (uint32_t i = 0; i < c->known.len; i++) {
    free((char *)(uintptr_t)c->known.data[i].statement);
    free(c->known.data[i].name);
  }
  vec_free(&c->known);
}

static Known *find_known(Check *c, const char *name) {
  for (uint32_t i = 0; i < c->known.len; i++)
    if (strcasecmp(c->known.data[i].name, name) == 0) return &c->known.data[i];
  return NULL;
}

// Tables of older files may lack the last columns.
static bool is_as_made(const Check *c, const Known *k, const char *sql) {
  if (strcmp(sql, k->statement) == 0) return true;
  size_t n = strlen(sql);
  return c->version < RUN_SCHEMA_VERSION && k->is_table && n > 1 && sql[n - 1] == ')' &&
         strncmp(sql, k->statement, n - 1) == 0 && k->statement[n - 1] == ',';
}

// --- the file's own ---

static const char *text(sqlite3_stmt *s, int i) {
  const char *t = (const char *)sqlite3_column_text(s, i);
  return t ? t : "";
}

// An object of that name would hide the virtual table that trace_register makes.
static bool is_reserved(const char *name) {
  for (unsigned i = 0; i < trace_nvirtual_tables; i++)
    if (strcasecmp(trace_virtual_tables[i], name) == 0) return true;
  return false;
}

static bool check_object(Check *c, sqlite3_stmt *s) {
  const char *type = text(s, 0), *name = text(s, 1), *table = text(s, 2), *sql = text(s, 3),
             *path = c->store->path;
  if (strncasecmp(name, "sqlite_", 7) == 0) return true;
  if (strcmp(type, "trigger") == 0)
    return error_set(
        c->err, "%s was not written by Warpgrind alone: it has a trigger, %.100s. It is not read.",
        path, name);
  Known *k = find_known(c, name);
  if (k && is_as_made(c, k, sql)) {
    k->seen = true;
    return true;
  }
  bool foreign = k || is_reserved(name) || strncasecmp(sql, "CREATE VIRTUAL", 14) == 0 ||
                 (strcmp(type, "index") == 0 && find_known(c, table));
  return !foreign || error_set(c->err,
                               "%s was not written by Warpgrind alone: its %.20s %.100s is not the "
                               "one that Warpgrind makes. It is not read.",
                               path, type, name);
}

static bool is_trace_table(const Known *k) { return strncmp(k->name, "trace_", 6) == 0; }

// Files of older versions lack some tables: readers find these empty.
static bool add_missing(Check *c) {
  for (uint32_t i = 0; i < c->known.len; i++) {
    const Known *k = &c->known.data[i];
    if (k->seen || !k->is_table || is_trace_table(k)) continue;
    if (c->version >= RUN_SCHEMA_VERSION)
      return error_set(c->err, "%s is damaged or not complete: it has no table %s.", c->store->path,
                       k->name);
    Str create = {0};
    str_printf(&create, "CREATE TEMP TABLE %s", k->statement + strlen("CREATE TABLE "));
    bool ok = sqlite3_exec(c->store->db, create.data, NULL, NULL, NULL) == SQLITE_OK;
    str_free(&create);
    if (!ok) return error_set(c->err, "%s: %s.", c->store->path, store_message(c->store->db));
  }
  return true;
}

static bool check_objects(Check *c) {
  sqlite3_stmt *s = NULL;
  int code = sqlite3_prepare_v2(c->store->db, "SELECT type, name, tbl_name, sql FROM sqlite_schema",
                                -1, &s, NULL);
  bool ok = code == SQLITE_OK;
  while (ok && (code = sqlite3_step(s)) == SQLITE_ROW) ok = check_object(c, s);
  sqlite3_finalize(s);
  if (ok && code == SQLITE_DONE) return add_missing(c);
  return ok || code != SQLITE_ROW
             ? error_set(c->err, "%s: %s.", c->store->path, store_message(c->store->db))
             : false;
}

static bool read_number(Store *s, const char *sql, int64_t *out) {
  sqlite3_stmt *statement = NULL;
  bool ok = sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) == SQLITE_OK &&
            sqlite3_step(statement) == SQLITE_ROW;
  if (ok) *out = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return ok;
}

static bool check_version(Check *c) {
  const char *path = c->store->path;
  int64_t application = 0;
  if (!read_number(c->store, "PRAGMA application_id", &application) ||
      !read_number(c->store, "PRAGMA user_version", &c->version))
    return error_set(c->err, "%s is not a run file of Warpgrind: %s.", path,
                     store_message(c->store->db));
  if (application != APPLICATION)
    return error_set(c->err, "%s is not a run file of Warpgrind.", path);
  if (c->version >= RUN_SCHEMA_OLDEST && c->version <= RUN_SCHEMA_VERSION) return true;
  bool newer = c->version > RUN_SCHEMA_VERSION;
  return error_set(c->err,
                   "%s was written by %s version of Warpgrind: its tables have version %lld and "
                   "this Warpgrind reads versions %d to %d. "
                   "Open it with the version that made it, or with sqlite3.",
                   path, newer ? "a newer" : "an older", (long long)c->version, RUN_SCHEMA_OLDEST,
                   RUN_SCHEMA_VERSION);
}

// A command that is still running writes the file: then the end of the -wal changes while we read
// it.
static bool is_being_written(Store *s) {
  int64_t pid = 0;
  if (!s->wal_bytes) return true;  // there is nothing to look at
  bool known = read_number(s,
                           "SELECT value FROM meta WHERE key = 'writer' AND 'no' = (SELECT value "
                           "FROM meta WHERE key = 'complete')",
                           &pid);
  return known && pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

static bool lacks_tables(Check *c) {
  int64_t n = 1;
  return read_number(c->store, "SELECT count(*) FROM sqlite_schema", &n) && !n;
}

bool run_lacks_something(const Store *s, Error *why) {
  if (s->wal_is_cut)
    error_set(
        why,
        "%s was not finished: the end of %s-wal is not complete, because the command was killed "
        "while it wrote it, or because it is damaged. The last part of the run is missing.",
        s->path, s->path);
  if (!s->lacks_wal) return s->wal_is_cut;
  error_set(why,
            "%s was not finished, and there is no %s-wal beside it: if the file was copied or "
            "moved, copy that file, too. Without it the last part of the run is missing, or all "
            "of it. If the command was killed at its start, nothing more was written.",
            s->path, s->path);
  return true;
}

Store *run_open(const char *path, bool writable, Error *err) {
  Check c = {.store = store_open(path, writable ? STORE_WRITE : STORE_READ, err), .err = err};
  if (!c.store) return NULL;
  list_known(&c);
  bool ok = check_version(&c) && check_objects(&c) &&
            (is_being_written(c.store) || store_wal_is_whole(c.store, err));
  free_known(&c);
  if (ok) return c.store;
  if (c.store->lacks_wal && lacks_tables(&c)) run_lacks_something(c.store, err);
  store_close(c.store);
  return NULL;
}

bool run_is_recorded(const char *path) {
  Error err = {{0}};
  Store *s = run_open(path, false, &err);
  bool yes = s && trace_has_operations(s->db);
  if (s) store_close(s);
  return yes;
}
