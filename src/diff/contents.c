// Finds the contents of a buffer after a launch, if they are known: in a file of --dump-buffers, or
// in a recording.
#include "diff/diff.h"

#include <sys/stat.h>

#include "store/store.h"
#include "trace/trace.h"

static bool read_binary(const char *path, uint64_t bytes, void *to, Error *err) {
  FILE *f = fopen(path, "rb");
  if (!f) return error_set(err, "%s cannot be opened", path);
  bool ok = fread(to, 1, bytes, f) == bytes && fgetc(f) == EOF;
  fclose(f);
  return ok || error_set(err, "%s does not have %llu bytes", path, (unsigned long long)bytes);
}

static bool read_text(const char *path, uint64_t bytes, DiffType t, char *to, Error *err) {
  FILE *f = fopen(path, "r");
  char line[128];
  uint64_t at = 0, number = 0;
  if (!f) return error_set(err, "%s cannot be opened", path);
  bool ok = true;
  while (ok && fgets(line, sizeof line, f)) {
    DiffType its = at + t.bytes <= bytes ? t : (DiffType){DIFF_BITS, 1};
    uint64_t bits;
    number++;
    ok = at + its.bytes <= bytes && diff_read(line, its, &bits);
    if (!ok) break;
    memcpy(to + at, &bits, its.bytes);
    at += its.bytes;
  }
  fclose(f);
  if (!ok)
    return error_set(err, "line %llu of %s is no element of it", (unsigned long long)number, path);
  return at == bytes || error_set(err, "%s ends too early", path);
}

// --- recorded ---

struct DiffRecording {
  Store *store;
  TraceReader *trace;
};

bool diff_recording_open(DiffRun *r, struct Store *store, Error *err) {
  bool is_recorded = trace_has_operations(store->db);
  trace_prepare_memory();
  TraceReader *trace = is_recorded ? trace_open(store->db, err) : NULL;
  if (!trace) {
    bool ok = !is_recorded && store_is_whole(store, err);
    store_close(store);
    return ok;
  }
  r->recording = mem_alloc(sizeof *r->recording);
  *r->recording = (struct DiffRecording){store, trace};
  return true;
}

bool diff_recording_is_whole(const DiffRun *r, Error *err) {
  return !r->recording || store_is_whole(r->recording->store, err);
}

void diff_recording_close(DiffRun *r) {
  if (!r->recording) return;
  trace_close(r->recording->trace);
  store_close(r->recording->store);
  free(r->recording);
  r->recording = NULL;
}

static uint32_t step_id(sqlite3 *db, uint32_t launch) {
  sqlite3_stmt *s;
  uint32_t id = 0;
  if (sqlite3_prepare_v2(db, "SELECT id FROM step WHERE launch = ? AND recorded", -1, &s, NULL) !=
      SQLITE_OK)
    return 0;
  sqlite3_bind_int64(s, 1, launch);
  if (sqlite3_step(s) == SQLITE_ROW) id = (uint32_t)sqlite3_column_int64(s, 0);
  sqlite3_finalize(s);
  return id;
}

static void *recorded(const DiffRun *r, const DiffStep *s, const DiffBuffer *b, Error *err) {
  uint32_t step = s->launch_id ? step_id(r->recording->store->db, s->launch_id) : 0;
  if (!step || b->bytes > 1ull << 34) {
    error_set(err, "the launch was not recorded");
    return NULL;
  }
  uint8_t *value = mem_alloc(b->bytes + 8), *known = mem_alloc(b->bytes + 8);
  bool ok = trace_contents(r->recording->trace, &(TraceSlice){b->allocation, step, 0, b->bytes},
                           value, known, err);
  if (ok && memchr(known, 2, b->bytes))
    ok = error_set(err, "not everything that wrote to it was recorded");
  free(known);
  if (ok) return value;
  free(value);
  return NULL;
}

bool diff_has_contents(const DiffRun *r, const DiffBuffer *b) { return b->dump || r->recording; }

void *diff_contents(const DiffRun *r, const DiffStep *step, const DiffBuffer *b, DiffType t,
                    Error *err) {
  struct stat s;
  if (!b->dump && r->recording) return recorded(r, step, b, err);
  if (!b->dump) {
    error_set(err, "its contents were not kept");
    return NULL;
  }
  if (b->bytes > 1ull << 40 || stat(b->dump, &s) != 0 ||
      (b->dump_text ? (uint64_t)s.st_size < b->bytes / t.bytes : (uint64_t)s.st_size != b->bytes)) {
    error_set(err, "%s is not there any more, or is not what was written", b->dump);
    return NULL;
  }
  void *bytes = mem_alloc(b->bytes + 8);
  if (b->dump_text ? read_text(b->dump, b->bytes, t, bytes, err)
                   : read_binary(b->dump, b->bytes, bytes, err))
    return bytes;
  free(bytes);
  return NULL;
}
