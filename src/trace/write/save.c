// Saves what the threads have finished in the run file, on the thread that owns the database.
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "trace/write/writer.h"

enum { IDLE_NS = 2000000000 };
// An eighth of what was free at the start stays free, within limits. LOOK_AT_DISK: checked again
// after so many bytes.
enum { DISK_SHARE = 8 };
static const uint64_t DISK_MOST_LEFT = 256ull << 20, DISK_LEAST_LEFT = 4ull << 20,
                      LOOK_AT_DISK = 1ull << 20;

typedef struct Save {
  TraceWriter *w;
  sqlite3 *db;
  Error *err;
  sqlite3_stmt *chunk, *block, *contents;
} Save;

static bool prepare(Save *s) {
  if (s->chunk) return true;
  return (tables_create(s->db, s->err) &&
          sqlite3_prepare_v2(s->db, "INSERT INTO trace_chunk VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", -1,
                             &s->chunk, NULL) == SQLITE_OK &&
          sqlite3_prepare_v2(s->db, "INSERT INTO trace_block VALUES (?,?)", -1, &s->block, NULL) ==
              SQLITE_OK &&
          sqlite3_prepare_v2(s->db, "INSERT INTO trace_contents VALUES (?,?,?,?,?,?)", -1,
                             &s->contents, NULL) == SQLITE_OK) ||
         (s->err->text[0] ? false : sql_fail(s->db, s->err, "recorded operations cannot be saved"));
}

static bool step(Save *s, sqlite3_stmt *statement) {
  bool ok = sqlite3_step(statement) == SQLITE_DONE;
  sqlite3_reset(statement);
  return ok || sql_fail(s->db, s->err, "recorded operations cannot be saved");
}

static bool save_chunk(Save *s, const ChunkOut *c) {
  const int64_t numbers[] = {(int64_t)c->id,
                             c->process,
                             c->launch,
                             (int64_t)c->records,
                             (int64_t)c->operations,
                             (int64_t)c->low,
                             (int64_t)c->high,
                             (int64_t)c->first_warp,
                             (int64_t)c->last_warp,
                             (int64_t)c->bytes.len,
                             (int64_t)c->parts.data[c->parts.len - 2],
                             c->last_time};
  for (size_t at = 0; at < c->bytes.len; at += PIECE_BYTES) {
    sqlite3_bind_int64(s->block, 1, (int64_t)(c->id << 16 | at / PIECE_BYTES));
    sqlite3_bind_blob64(s->block, 2, c->bytes.data + at,
                        MIN(c->bytes.len - at, (size_t)PIECE_BYTES), SQLITE_STATIC);
    if (!step(s, s->block)) return false;
  }
  for (int i = 0; i < (int)ARRAY_LEN(numbers); i++) {
    if ((c->shared_only && (i == 5 || i == 6)) || (!c->has_time && i == 11))
      sqlite3_bind_null(s->chunk, i + 1);
    else sqlite3_bind_int64(s->chunk, i + 1, numbers[i]);
  }
  return step(s, s->chunk);
}

static bool save_contents(Save *s, const ContentsOut *c, uint64_t id) {
  const int64_t numbers[] = {(int64_t)id, c->process, c->step, (int64_t)c->address, (int64_t)c->n};
  for (int i = 0; i < (int)ARRAY_LEN(numbers); i++)
    sqlite3_bind_int64(s->contents, i + 1, numbers[i]);
  sqlite3_bind_blob64(s->contents, 6, c->data, c->len, SQLITE_STATIC);
  return step(s, s->contents);
}

static uint64_t log_bytes(const char *path) {
  Str name = {0};
  struct stat st;
  str_printf(&name, "%s-wal", path);
  uint64_t bytes = stat(name.data, &st) == 0 ? (uint64_t)st.st_size : 0;
  str_free(&name);
  return bytes;
}

// Whether enough is left to finish the file: the contents of the log are written once more, into
// the file itself. *least: what is to be left besides.
static bool disk_has_room(Save *s, size_t n, uint64_t *least) {
  TraceWriter *w = s->w;
  const char *path = sqlite3_db_filename(s->db, "main");
  struct statvfs fs;
  if (w->checked_bytes && w->saved_bytes - w->checked_bytes < LOOK_AT_DISK) return true;
  w->checked_bytes = MAX(w->saved_bytes, (uint64_t)1);
  if (!path || !*path || statvfs(path, &fs) != 0) return true;
  uint64_t left = (uint64_t)fs.f_bavail * fs.f_frsize;
  if (!w->disk_left) w->disk_left = MAX(MIN(left / DISK_SHARE, DISK_MOST_LEFT), DISK_LEAST_LEFT);
  *least = w->disk_left;
  return left >= w->disk_left + log_bytes(path) + n + LOOK_AT_DISK;
}

// Whether so many bytes more may be written; if not, recording has ended.
static bool may_write(Save *s, size_t n) {
  TraceWriter *w = s->w;
  uint64_t least = 0;
  if (w->has_stopped) return false;
  if (w->disk_limit && w->saved_bytes + n > w->disk_limit) {
    writer_stop(w,
                "the limit of %.4g MB for recorded operations is reached: what came later is not "
                "in the file",
                (double)w->disk_limit / 1e6);
    return false;
  }
  if (!disk_has_room(s, n, &least)) {
    writer_stop(
        w,
        "little more than %.3g MB are left on the disk of the run file: nothing more is recorded",
        (double)least / 1e6);
    return false;
  }
  w->saved_bytes += n;
  return true;
}

static bool save_finished(Save *s) {
  TraceWriter *w = s->w;
  pthread_mutex_lock(&w->lock);
  ChunkOut *chunks = w->done;
  ContentsOut *contents = w->contents_done;
  w->done = NULL;
  w->contents_done = NULL;
  pthread_mutex_unlock(&w->lock);
  bool ok = true;
  size_t freed = 0;
  // Older ones first: each was put in front when it came.
  ChunkOut *in_order = NULL;
  for (ChunkOut *c = chunks, *next; c; c = next) {
    next = c->next;
    c->next = in_order;
    in_order = c;
  }
  for (ChunkOut *c = in_order, *next; c; c = next) {
    next = c->next;
    freed += c->bytes.cap;
    bool kept = ok && may_write(s, c->bytes.len) && (ok = prepare(s) && save_chunk(s, c));
    pthread_mutex_lock(&w->lock);
    if (kept) {
      w->records += c->records;
      w->operations += c->operations;
      writer_chunk_saved(w, c->process, c->launch);
    } else {
      w->lost += c->records;
    }
    writer_buffer_give(w, c->bytes.data, c->bytes.cap);
    pthread_mutex_unlock(&w->lock);
    chunk_out_free(c);
  }
  ContentsOut *ordered = NULL;
  for (ContentsOut *c = contents, *next; c; c = next) {
    next = c->next;
    c->next = ordered;
    ordered = c;
  }
  for (ContentsOut *c = ordered, *next; c; c = next) {
    next = c->next;
    freed += c->len;
    bool kept = ok && may_write(s, c->len) &&
                (ok = prepare(s) && save_contents(s, c, w->next_contents++));
    pthread_mutex_lock(&w->lock);
    if (kept) writer_contents_saved(w, c->process, c->step);
    pthread_mutex_unlock(&w->lock);
    free(c->data);
    free(c);
  }
  pthread_mutex_lock(&w->lock);
  w->in_memory -= MIN(freed, w->in_memory);
  pthread_cond_broadcast(&w->room);
  pthread_mutex_unlock(&w->lock);
  if (!ok) writer_stop(w, "%s", s->err->text);
  return ok;
}

static bool save_meta(Save *s) {
  TraceWriter *w = s->w;
  if (!w->saved_bytes && !w->has_stopped) return true;
  const struct {
    const char *key;
    uint64_t number;
  } rows[] = {{"trace_records", w->records},
              {"trace_operations", w->operations},
              {"trace_lost", w->lost},
              {"trace_bytes", w->saved_bytes},
              {"trace_raw_records", w->raw_records},
              {"trace_raw_bytes", w->raw_bytes}};
  sqlite3_stmt *put;
  if (sqlite3_prepare_v2(s->db, "INSERT OR REPLACE INTO meta VALUES (?,?)", -1, &put, NULL) !=
      SQLITE_OK)
    return sql_fail(s->db, s->err, "recorded operations cannot be saved");
  bool ok = true;
  for (size_t i = 0; i < ARRAY_LEN(rows) && ok; i++) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)rows[i].number);
    sqlite3_bind_text(put, 1, rows[i].key, -1, SQLITE_STATIC);
    sqlite3_bind_text(put, 2, text, -1, SQLITE_TRANSIENT);
    ok = step(s, put);
  }
  if (ok && w->has_stopped) {
    sqlite3_bind_text(put, 1, "trace_stopped", -1, SQLITE_STATIC);
    sqlite3_bind_text(put, 2, w->stopped, -1, SQLITE_STATIC);
    ok = step(s, put);
  }
  sqlite3_finalize(put);
  return ok;
}

bool trace_save(TraceWriter *w, sqlite3 *db, bool last, Error *err) {
  Error own = {{0}};
  Save s = {.w = w, .db = db, .err = err ? err : &own};
  s.err->text[0] = 0;
  bool mine = sqlite3_get_autocommit(db), ok = true;
  writer_flush_rings(w, last ? 0 : IDLE_NS, NULL);
  // so that readers of the file need not wait until more of a launch comes
  if (last || clock_ns() - w->rests_ns > IDLE_NS) {
    writer_submit_rests(w);
    w->rests_ns = clock_ns();
  }
  writer_close_ended(w);
  if (!last) {
    pthread_mutex_lock(&w->lock);
    bool nothing = !w->done && !w->contents_done;
    pthread_mutex_unlock(&w->lock);
    if (nothing) {
      writer_find_complete(w);
      return true;
    }
  }
  if (mine && sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
    return sql_fail(db, s.err, "recorded operations cannot be saved");
  for (;;) {
    ok = save_finished(&s) && ok;
    if (!last) break;
    pthread_mutex_lock(&w->lock);
    while ((w->first_job || w->busy) && !w->done && !w->contents_done)
      pthread_cond_wait(&w->room, &w->lock);
    bool finished = !w->first_job && !w->busy && !w->done && !w->contents_done;
    pthread_mutex_unlock(&w->lock);
    if (finished) break;
  }
  if (ok) writer_find_complete(w);
  if (ok && last) ok = save_meta(&s);
  sqlite3_finalize(s.chunk);
  sqlite3_finalize(s.block);
  sqlite3_finalize(s.contents);
  if (mine && sqlite3_exec(db, ok ? "COMMIT" : "ROLLBACK", NULL, NULL, NULL) != SQLITE_OK && ok)
    ok = sql_fail(db, s.err, "recorded operations cannot be saved");
  return ok;
}

// Read by another thread for a line on the terminal: a moment old is new enough.
void trace_written(const TraceWriter *w, uint64_t *operations, uint64_t *bytes) {
  *operations = __atomic_load_n(&w->operations, __ATOMIC_RELAXED);
  *bytes = __atomic_load_n(&w->saved_bytes, __ATOMIC_RELAXED);
}
