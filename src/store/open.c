// Opens a run file with everything switched off that could run code from the file, and with its
// pages compared with their checksums.
#include "store/internal.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  SECONDS = 600,
  HANDLER_OPS = 10000,
  LENGTH_MOST = 1000000000,
  COLUMNS_MOST = 1000,
  DEPTH_MOST = 200
};

static int is_late(void *store) { return clock_ns() > ((const Store *)store)->deadline; }

void store_set_deadline(Store *s, uint64_t seconds) {
  s->deadline = seconds ? clock_ns() + seconds * 1000000000 : UINT64_MAX;
}

// --- errors ---

static bool describe_damage(sqlite3 *db, char *text, size_t size) {
  uint32_t bytes = 0;
  uint64_t page = page_vfs_damage(db, &bytes);
  if (page)
    snprintf(text, size,
             "the file is damaged: page %llu (bytes %llu to %llu) is not as Warpgrind wrote it",
             (unsigned long long)page, (unsigned long long)(page - 1) * bytes,
             (unsigned long long)page * bytes - 1);
  return page != 0;
}

const char *store_message(sqlite3 *db) {
  static _Thread_local char text[160];
  int code = sqlite3_errcode(db);
  if ((code == SQLITE_IOERR || code == SQLITE_CORRUPT || code == SQLITE_NOTADB) &&
      describe_damage(db, text, sizeof text))
    return text;
  switch (code) {
    case SQLITE_CORRUPT: return "the file is damaged (database disk image is malformed)";
    case SQLITE_NOTADB: return "the file is damaged or is no database";
    case SQLITE_INTERRUPT: return "the question took too long and was ended";
    default: return sqlite3_errmsg(db);
  }
}

bool store_is_whole(const Store *s, Error *err) {
  char text[160];
  return !describe_damage(s->db, text, sizeof text) || error_set(err, "%s: %s.", s->path, text);
}

// --- opening ---

static void distrust(Store *s) {
  static const int on[] = {SQLITE_DBCONFIG_DEFENSIVE};
  static const int off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                            SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_WRITABLE_SCHEMA};
  static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, LENGTH_MOST},
                                  {SQLITE_LIMIT_COLUMN, COLUMNS_MOST},
                                  {SQLITE_LIMIT_EXPR_DEPTH, DEPTH_MOST},
                                  {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                  {SQLITE_LIMIT_WORKER_THREADS, 0}};
  for (size_t i = 0; i < ARRAY_LEN(on); i++) sqlite3_db_config(s->db, on[i], 1, NULL);
  for (size_t i = 0; i < ARRAY_LEN(off); i++) sqlite3_db_config(s->db, off[i], 0, NULL);
  for (size_t i = 0; i < ARRAY_LEN(limits); i++) sqlite3_limit(s->db, limits[i][0], limits[i][1]);
  sqlite3_exec(s->db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
  sqlite3_progress_handler(s->db, HANDLER_OPS, is_late, s);
}

// file:PATH?OPTION=1, with the special characters of a URI written as %xx.
static char *uri_of(const char *path, const char *option) {
  Str s = {0};
  str_add(&s, "file:");
  for (const char *p = path; *p; p++) {
    if (*p == '%' || *p == '?' || *p == '#') str_printf(&s, "%%%02x", (unsigned)(unsigned char)*p);
    else str_addc(&s, *p);
  }
  str_printf(&s, "?%s=1", option);
  return s.data;
}

static bool connect(Store *s, int flags, const char *option) {
  char *uri = option ? uri_of(s->path, option) : NULL;
  int code = sqlite3_open_v2(uri ? uri : s->path, &s->db,
                             flags | SQLITE_OPEN_NOMUTEX | (uri ? SQLITE_OPEN_URI : 0), PAGE_VFS);
  free(uri);
  if (code != SQLITE_OK) return false;
  distrust(s);
  if (option && strcmp(option, "alone") == 0)
    sqlite3_exec(s->db, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL);
  return sqlite3_exec(s->db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL) == SQLITE_OK;
}

// SQLite wants to write beside a file that was not finished. If that is not possible, the -wal is
// read without shared memory; without a -wal the file is all there is.
static bool connect_without_companions(Store *s) {
  sqlite3_close(s->db);
  return connect(s, SQLITE_OPEN_READONLY, s->wal_bytes ? "alone" : "immutable");
}

static void look_at_wal(Store *s) {
  Str name = {0};
  struct stat st;
  str_printf(&name, "%s-wal", s->path);
  s->wal_bytes = stat(name.data, &st) == 0 ? (uint64_t)st.st_size : 0;
  str_free(&name);
}

Store *store_open(const char *path, StoreMode mode, Error *err) {
  if (access(path, mode == STORE_WRITE ? R_OK | W_OK : R_OK) != 0) {
    error_set(err, "%s: %s.", path, errno == ENOENT ? "there is no such file" : strerror(errno));
    return NULL;
  }
  if (!page_vfs_register()) {
    error_set(err, "%s: SQLite cannot be used.", path);
    return NULL;
  }
  Store *s = mem_alloc(sizeof *s);
  s->path = mem_strdup(path);
  store_set_deadline(s, SECONDS);
  look_at_wal(s);
  bool ok = connect(s, mode == STORE_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, NULL);
  int code = sqlite3_errcode(s->db);
  if (!ok && mode == STORE_READ && (code == SQLITE_CANTOPEN || code == SQLITE_READONLY))
    ok = connect_without_companions(s);
  s->lacks_wal = ok && !s->wal_bytes && page_vfs_is_unfinished(s->db);
  if (ok) return s;
  if (sqlite3_errcode(s->db) == SQLITE_NOTADB)
    error_set(err, "%s is not a run file of Warpgrind, or its first bytes are damaged.", path);
  else error_set(err, "%s: %s.", path, store_message(s->db));
  store_close(s);
  return NULL;
}

bool store_wal_is_whole(Store *s, Error *err) {
  Error why = {{0}};
  Str name = {0};
  str_printf(&name, "%s-wal", s->path);
  WalState state = s->wal_bytes ? wal_check(name.data, &why) : WAL_WHOLE;
  str_free(&name);
  s->wal_is_cut = state == WAL_CUT;
  return state != WAL_DAMAGED || error_set(err, "%s: the file is damaged: %s.", s->path, why.text);
}

void store_close(Store *s) {
  if (!s) return;
  sqlite3_close(s->db);
  free(s->path);
  free(s);
}
