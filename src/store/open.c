// Opens a run file with everything switched off that could run code from the file.
#include "store/store.h"

#include <errno.h>
#include <unistd.h>

enum { SECONDS = 600, HANDLER_OPS = 10000, LENGTH_MOST = 1000000000, COLUMNS_MOST = 1000, DEPTH_MOST = 200 };

static int is_late(void *store) { return clock_ns() > ((const Store *)store)->deadline; }

void store_set_deadline(Store *s, uint64_t seconds) {
  s->deadline = seconds ? clock_ns() + seconds * 1000000000 : UINT64_MAX;
}

const char *store_message(sqlite3 *db) {
  switch (sqlite3_errcode(db)) {
    case SQLITE_CORRUPT: return "the file is damaged (database disk image is malformed)";
    case SQLITE_NOTADB: return "the file is damaged or is no database";
    case SQLITE_INTERRUPT: return "the question took too long and was ended";
    default: return sqlite3_errmsg(db);
  }
}

static void distrust(Store *s) {
  static const int on[] = {SQLITE_DBCONFIG_DEFENSIVE};
  static const int off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
                            SQLITE_DBCONFIG_WRITABLE_SCHEMA};
  static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, LENGTH_MOST}, {SQLITE_LIMIT_COLUMN, COLUMNS_MOST}, {SQLITE_LIMIT_EXPR_DEPTH, DEPTH_MOST},
                                  {SQLITE_LIMIT_TRIGGER_DEPTH, 1}, {SQLITE_LIMIT_WORKER_THREADS, 0}};
  for (size_t i = 0; i < ARRAY_LEN(on); i++) sqlite3_db_config(s->db, on[i], 1, NULL);
  for (size_t i = 0; i < ARRAY_LEN(off); i++) sqlite3_db_config(s->db, off[i], 0, NULL);
  for (size_t i = 0; i < ARRAY_LEN(limits); i++) sqlite3_limit(s->db, limits[i][0], limits[i][1]);
  sqlite3_exec(s->db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
  sqlite3_progress_handler(s->db, HANDLER_OPS, is_late, s);
}

Store *store_open(const char *path, StoreMode mode, Error *err) {
  if (access(path, mode == STORE_WRITE ? R_OK | W_OK : R_OK) != 0) {
    error_set(err, "%s: %s.", path, errno == ENOENT ? "there is no such file" : strerror(errno));
    return NULL;
  }
  Store *s = mem_alloc(sizeof *s);
  s->path = mem_strdup(path);
  int flags = (mode == STORE_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path, &s->db, flags, NULL) == SQLITE_OK) {
    store_set_deadline(s, SECONDS);
    distrust(s);
    return s;
  }
  error_set(err, "%s: %s.", path, store_message(s->db));
  store_close(s);
  return NULL;
}

void store_close(Store *s) {
  if (!s) return;
  sqlite3_close(s->db);
  free(s->path);
  free(s);
}
