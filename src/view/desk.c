// A run file, open for queries (run/open.c). Every statement has a time limit, and numbers from the
// file are only used as numbers.
#include "view/internal.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { QUESTION_SECONDS = 60 };

static ViewRows prepare(ViewDesk *d, const char *sql, const char *kinds, va_list ap) {
  ViewRows r = {.desk = d};
  if (sqlite3_prepare_v2(d->db, sql, -1, &r.statement, NULL) != SQLITE_OK) {
    r.failed = true;
    error_set(&r.error, "%s", store_message(d->db));
    return r;
  }
  for (int i = 0; kinds[i]; i++) {
    if (kinds[i] == 'i') sqlite3_bind_int64(r.statement, i + 1, va_arg(ap, int64_t));
    else sqlite3_bind_text(r.statement, i + 1, va_arg(ap, const char *), -1, SQLITE_TRANSIENT);
  }
  return r;
}

ViewRows view_rows(ViewDesk *d, const char *sql, const char *kinds, ...) {
  va_list ap;
  va_start(ap, kinds);
  ViewRows r = prepare(d, sql, kinds, ap);
  va_end(ap);
  return r;
}

void view_rows_end(ViewRows *r) {
  sqlite3_finalize(r->statement);
  r->statement = NULL;
}

bool view_next(ViewRows *r) {
  if (!r->statement) return false;
  int code = sqlite3_step(r->statement);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    r->failed = true;
    error_set(&r->error, "%s", store_message(r->desk->db));
  }
  view_rows_end(r);
  return false;
}

uint64_t view_column(ViewRows *r, int i) { return (uint64_t)sqlite3_column_int64(r->statement, i); }
const char *view_column_text(ViewRows *r, int i) {
  return (const char *)sqlite3_column_text(r->statement, i);
}

bool view_rows_ok(ViewRows *r, ViewAnswer *a) {
  if (!r->failed) return true;
  Error e = {{0}};
  error_set(&e, "the run file could not be read: %s", r->error.text);
  view_fail(a, 500, e.text);
  return false;
}

uint64_t view_one(ViewDesk *d, const char *sql, const char *kinds, ...) {
  va_list ap;
  va_start(ap, kinds);
  ViewRows r = prepare(d, sql, kinds, ap);
  va_end(ap);
  uint64_t n = view_next(&r) ? view_column(&r, 0) : 0;
  view_rows_end(&r);
  return n;
}

static char *copy(const char *text) { return text ? mem_strdup(text) : NULL; }

// Names that no program gives. STEPS_SHOWN (overview.c) has those of variables, too.
static bool is_own(const char *name) {
  static const char *const beginnings[] = {"$str", "__unnamed_", "wg_info_of_", "wg_interrupt_"};
  for (size_t i = 0; name && i < ARRAY_LEN(beginnings); i++)
    if (!strncmp(name, beginnings[i], strlen(beginnings[i]))) return true;
  return false;
}

static bool read_allocations(ViewDesk *d, Error *err) {
  ViewRows r = view_rows(d,
                         "SELECT id, process, base, size, coalesce(name, pointer), kind, freed "
                         "FROM allocation ORDER BY process, base, id",
                         "");
  while (view_next(&r)) {
    ViewAllocation x = {.id = (uint32_t)view_column(&r, 0),
                        .process = (uint32_t)view_column(&r, 1),
                        .base = view_column(&r, 2),
                        .size = view_column(&r, 3),
                        .name = copy(view_column_text(&r, 4)),
                        .kind = copy(view_column_text(&r, 5)),
                        .freed = view_column(&r, 6) != 0};
    x.own = is_own(x.name);
    if (x.base + x.size < x.base) x.size = 0;  // such an allocation cannot exist
    if (x.size > d->largest) d->largest = x.size;
    vec_push(&d->allocations, x);
    u64map_put(&d->allocation_of_id, x.id, (void *)(uintptr_t)d->allocations.len);
  }
  return !r.failed || error_set(err, "%s: %s.", d->path, r.error.text);
}

ViewDesk *view_desk_open(const char *path, Error *err) {
  Store *store = run_open(path, false, err);
  if (!store) return NULL;
  ViewDesk *d = mem_alloc(sizeof *d);
  d->path = path;
  d->store = store;
  d->db = store->db;
  view_desk_begin(d);
  if (!read_allocations(d, err)) {
    view_desk_close(d);
    return NULL;
  }
  trace_prepare_memory();
  d->trace = trace_open(d->db, &d->no_trace);
  return d;
}

void view_say_what_is_missing(const ViewDesk *d) {
  Error why = {{0}};
  if (run_lacks_something(d->store, &why)) fprintf(stderr, "warpgrind: note: %s\n", why.text);
}

void view_desk_begin(ViewDesk *d) { store_set_deadline(d->store, QUESTION_SECONDS); }

// Callers must not keep such a file open: its writer could not merge it into one file at the end.
// The recording command makes the tables first, and says a moment later which process runs.
static void wait_for_begin(ViewDesk *d) {
  enum { TIMES = 40, STEP_NS = 50000000 };
  for (int i = 0; i < TIMES; i++) {
    if (view_one(d, "SELECT count(*) FROM meta WHERE key = 'complete'", "")) return;
    nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
  }
}

bool view_is_being_written(ViewDesk *d) {
  wait_for_begin(d);
  pid_t pid = (pid_t)view_one(d,
                              "SELECT value FROM meta WHERE key = 'pid' AND 'no' = (SELECT value "
                              "FROM meta WHERE key = 'complete')",
                              "");
  return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

void view_desk_close(ViewDesk *d) {
  if (d->trace) trace_close(d->trace);
  for (uint32_t i = 0; i < d->allocations.len; i++) {
    free(d->allocations.data[i].name);
    free(d->allocations.data[i].kind);
  }
  vec_free(&d->allocations);
  u64map_free_all(&d->sites);
  u64map_free_all(&d->types);
  u64map_free_all(&d->given);
  u64map_free(&d->allocation_of_id);
  u64map_free(&d->step_of_launch);
  u64map_free(&d->findings_of_launch);
  for (uint32_t i = 0; i < d->files.len; i++) free(d->files.data[i]);
  vec_free(&d->files);
  if (d->run) {
    run_free(d->run);
    free(d->run);
  }
  free(d->run_error);
  store_close(d->store);
  free(d);
}

const ViewAllocation *view_allocation(const ViewDesk *d, uint32_t id) {
  uintptr_t i = (uintptr_t)u64map_get(&d->allocation_of_id, id);
  return i ? &d->allocations.data[i - 1] : NULL;
}

static void read_launches(ViewDesk *d) {
  if (d->launches_read) return;
  d->launches_read = true;
  ViewRows r = view_rows(
      d, "SELECT launch, min(id) FROM step WHERE launch > 0 AND kind <> 'inputs' GROUP BY launch",
      "");
  while (view_next(&r))
    u64map_put(&d->step_of_launch, view_column(&r, 0), (void *)(uintptr_t)view_column(&r, 1));
  // A finding knows its launch by the number in its process.
  U64Map counts = {0};
  r = view_rows(d,
                "SELECT process, launch, count(*) FROM finding WHERE suppressed = 0 AND launch > 0 "
                "GROUP BY process, launch",
                "");
  while (view_next(&r))
    u64map_put(&counts, view_column(&r, 0) << 32 | (uint32_t)view_column(&r, 1),
               (void *)(uintptr_t)view_column(&r, 2));
  if (counts.len) {
    r = view_rows(d, "SELECT id, process, number FROM launch", "");
    while (view_next(&r)) {
      void *count = u64map_get(&counts, view_column(&r, 1) << 32 | (uint32_t)view_column(&r, 2));
      if (count) u64map_put(&d->findings_of_launch, view_column(&r, 0), count);
    }
  }
  u64map_free(&counts);
}

uint64_t view_step_of_launch(ViewDesk *d, uint32_t launch) {
  read_launches(d);
  return (uintptr_t)u64map_get(&d->step_of_launch, launch);
}

uint64_t view_findings_of_launch(ViewDesk *d, uint32_t launch) {
  read_launches(d);
  return (uintptr_t)u64map_get(&d->findings_of_launch, launch);
}

static bool is_before(const ViewAllocation *x, uint32_t process, uint64_t address) {
  return x->process < process || (x->process == process && x->base <= address);
}

const ViewAllocation *view_allocation_at(const ViewDesk *d, uint32_t process, uint64_t address,
                                         uint64_t before) {
  uint32_t low = 0, high = d->allocations.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (is_before(&d->allocations.data[middle], process, address)) low = middle + 1;
    else high = middle;
  }
  const ViewAllocation *best = NULL;
  for (uint32_t i = low; i-- > 0;) {
    const ViewAllocation *x = &d->allocations.data[i];
    if (x->process != process || address - x->base >= d->largest) break;
    if (address - x->base >= x->size || (before && x->id > before)) continue;
    if (!best || x->id > best->id) best = x;
  }
  return best;
}
