// The outputs of a run, read from its file. Everything in the file may be wrong: what does not make
// sense is an error or is left out.
#include "diff/diff.h"

#include <unistd.h>

#include "run/run.h"
#include "store/store.h"

typedef struct Load {
  DiffRun *run;
  sqlite3 *db;
  Error *err;
  VEC(DiffStep) steps;
  VEC(DiffBuffer) buffers;
  U64Map texts, numerics, graph_stacks;
  uint64_t graphs, graphs_of;
  bool recorded;
} Load;

static const char *text(Load *l, sqlite3_stmt *s, int i) {
  const char *t = (const char *)sqlite3_column_text(s, i);
  return t && *t ? arena_strdup(&l->run->arena, t) : NULL;
}
static uint32_t small(sqlite3_stmt *s, int i) { return (uint32_t)sqlite3_column_int64(s, i); }

static bool each(Load *l, const char *sql, RunEachRow *row) {
  return run_each_row(l->db, sql, row, l, l->err);
}

static void meta_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  const char *key = text(l, s, 0), *value = text(l, s, 1);
  if (!key || !value) return;
  if (!strcmp(key, "program")) l->run->program = value;
  if (!strcmp(key, "device")) l->run->device = value;
  if (!strcmp(key, "complete")) l->run->complete = !strcmp(value, "yes");
}

// Shares equal texts: the same kernel is launched often.
static const char *shared_text(Load *l, sqlite3_stmt *s, int i) {
  const char *t = (const char *)sqlite3_column_text(s, i);
  if (!t || !*t) return NULL;
  uint64_t key = base_hash(t, strlen(t));
  const char *known = u64map_get(&l->texts, key);
  if (known && !strcmp(known, t)) return known;
  known = arena_strdup(&l->run->arena, t);
  u64map_put(&l->texts, key, (void *)(uintptr_t)known);
  return known;
}

static double number(sqlite3_stmt *s, int i) {
  const char *t = (const char *)sqlite3_column_text(s, i);
  double v = t ? strtod(t, NULL) : 0;
  return v >= 0 && v <= 1 ? v : 0;
}

static void numerics_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  DiffNumerics *n = ARENA_NEW(&l->run->arena, DiffNumerics), *any = &l->run->any;
  *n = (DiffNumerics){text(l, s, 1), text(l, s, 2), number(s, 3), number(s, 4)};
  u64map_put(&l->numerics, small(s, 0), n);
  if (n->approximate) any->approximate = n->approximate;
  if (n->order) any->order = n->order;
  any->relative = MAX(any->relative, n->relative);
  any->absolute = MAX(any->absolute, n->absolute);
}

static void process_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  const char *end = (const char *)sqlite3_column_text(s, 0);
  if (!end || (strcmp(end, "in order") && strncmp(end, "replaced", 8))) l->run->ended = false;
}

static void buffer_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  uint32_t process = small(s, 0), number = small(s, 1);
  DiffStep *last = l->steps.len ? &l->steps.data[l->steps.len - 1] : NULL;
  if (!last || last->process != process || last->number != number) {
    vec_push(&l->steps, (DiffStep){.process = process,
                                   .number = number,
                                   .launch = small(s, 2),
                                   .graph = small(s, 3),
                                   .kernel = shared_text(l, s, 4)});
    l->steps.data[l->steps.len - 1].launch_id = small(s, 15);
    l->steps.data[l->steps.len - 1].numerics = u64map_get(&l->numerics, small(s, 14));
    last = &l->steps.data[l->steps.len - 1];
    last->cut = l->recorded && !small(s, 16);
  }
  last->nbuffers++;
  DiffBuffer b = {.parameter = small(s, 5),
                  .type = shared_text(l, s, 6),
                  .element = small(s, 7),
                  .bytes = (uint64_t)sqlite3_column_int64(s, 8),
                  .hash = text(l, s, 9),
                  .multiset = text(l, s, 10),
                  .state = shared_text(l, s, 11),
                  .name = shared_text(l, s, 12),
                  .allocation = small(s, 13)};
  if (!b.hash && !b.state && !l->recorded) b.state = "it has no hash";
  if (l->recorded) b.type = run_parameter_type(last->kernel, b.parameter);
  vec_push(&l->buffers, b);
}

// Launches of graphs have no number in the file: they are counted.
static void graph_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  uint64_t process = small(s, 0);
  l->graphs = process == l->graphs_of ? l->graphs + 1 : 1;
  l->graphs_of = process;
  u64map_put(&l->graph_stacks, process << 32 | l->graphs, (void *)(uintptr_t)small(s, 1));
}

static void add_places(Load *l) {
  sqlite3_stmt *s;
  if (sqlite3_prepare_v2(
          l->db,
          "SELECT f.file, f.line FROM frame f WHERE f.stack = coalesce((SELECT stack FROM launch "
          "WHERE id = ?), ?) AND f.file IS NOT NULL ORDER BY f.depth LIMIT 1",
          -1, &s, NULL) != SQLITE_OK)
    return;
  each(l, "SELECT process, stack FROM graph_launch ORDER BY process, id", graph_row);
  for (uint32_t i = 0; i < l->steps.len && i < 100000; i++) {
    const DiffStep *x = &l->steps.data[i];
    sqlite3_bind_int64(s, 1, x->launch_id);
    sqlite3_bind_int64(
        s, 2,
        (int64_t)(uintptr_t)u64map_get(&l->graph_stacks, (uint64_t)x->process << 32 | x->graph));
    if (sqlite3_step(s) == SQLITE_ROW && text(l, s, 0))
      l->steps.data[i].place = arena_printf(&l->run->arena, "%s:%u", text(l, s, 0), small(s, 1));
    sqlite3_reset(s);
  }
  sqlite3_finalize(s);
  u64map_free(&l->graph_stacks);
}

static bool load(Load *l) {
  return each(l, "SELECT key, value FROM meta", meta_row) &&
         each(l, "SELECT end FROM process", process_row) &&
         each(
             l,
             "SELECT kernel, approximate, order_dependent, relative, absolute FROM kernel_numerics",
             numerics_row) &&
         each(l,
              "SELECT h.process, h.step, h.launch, h.graph_launch, k.readable, h.parameter, "
              "h.type, h.element_bytes, h.bytes, h.hash, h.multiset, h.state, coalesce(a.name, "
              "a.pointer), h.allocation, n.kernel, n.id "
              "FROM buffer_hash h LEFT JOIN allocation a ON a.id = h.allocation LEFT JOIN launch n "
              "ON n.process = h.process AND n.number = h.launch AND h.launch > 0 "
              "LEFT JOIN kernel k ON k.id = n.kernel ORDER BY h.process, h.step, h.id",
              buffer_row);
}

// A recorded run without hashes: what the parameters of recorded launches point to. Contents
// decide. Files of older versions do not say what is committed: all of it counts.
static bool load_recorded(Load *l) {
  bool known = sqlite3_table_column_metadata(l->db, "main", "step", "committed", NULL, NULL, NULL,
                                             NULL, NULL) == SQLITE_OK;
  const char *committed = known ? "coalesce(s.committed, 1)" : "1";
  char sql[1024];
  l->recorded = true;
  snprintf(sql, sizeof sql,
           "SELECT s.process, s.number, n.number, 0, k.readable, p.number + 1, NULL, 4, a.size, "
           "NULL, NULL, NULL, coalesce(a.name, a.pointer), a.id, n.kernel, n.id, %s "
           "FROM step s JOIN launch n ON n.id = s.launch JOIN kernel k ON k.id = n.kernel JOIN "
           "parameter p ON p.launch = n.id JOIN allocation a ON a.id = p.allocation "
           "WHERE s.recorded OR %s = 0 ORDER BY s.process, s.number, p.number",
           committed, committed);
  return each(l, sql, buffer_row);
}

// The command and its files may have been moved to another folder together.
static const char *file_beside(Load *l, const char *file) {
  if (!file || access(file, R_OK) == 0) return file;
  const char *slash = strrchr(l->run->path, '/'), *end = strrchr(file, '/'), *folder = end;
  while (folder && folder > file && folder[-1] != '/') folder--;
  if (!folder) return file;
  const char *moved = arena_printf(
      &l->run->arena, "%.*s%s", slash ? (int)(slash - l->run->path) + 1 : 0, l->run->path, folder);
  return access(moved, R_OK) == 0 ? moved : file;
}

static void dump_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  uint32_t process = small(s, 0), number = small(s, 1), allocation = small(s, 2);
  const char *file = file_beside(l, text(l, s, 3));
  uint32_t low = 0, high = l->run->nsteps;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const DiffStep *x = &l->run->steps[middle];
    if (x->process < process || (x->process == process && x->number < number)) low = middle + 1;
    else high = middle;
  }
  if (low == l->run->nsteps || l->run->steps[low].process != process ||
      l->run->steps[low].number != number || !file)
    return;
  DiffStep *step = &l->run->steps[low];
  for (uint32_t i = 0; i < step->nbuffers; i++) {
    DiffBuffer *b = &step->buffers[i];
    if (b->allocation != allocation) continue;
    size_t n = strlen(file);
    b->dump = file;
    b->dump_text = n > 4 && !strcmp(file + n - 4, ".txt");
    if (text(l, s, 4)) b->type = shared_text(l, s, 4);
  }
}

bool diff_run_load(const char *path, DiffRun *out, Error *err) {
  *out = (DiffRun){.path = path, .ended = true};
  Error why = {{0}};
  Load l = {.run = out, .err = &why};
  Store *store = run_open(path, false, err);
  if (!store) return false;
  l.db = store->db;
  bool ok = load(&l);
  if (ok && !l.steps.len) ok = load_recorded(&l);
  if (ok) add_places(&l);
  if (ok) ok = store_is_whole(store, &why);
  if (ok && !l.steps.len)
    ok = error_set(&why, "it has no hashes of buffers: warpgrind --hash -o FILE keeps them.");
  out->steps = ARENA_ARRAY(&out->arena, DiffStep, l.steps.len + 1);
  DiffBuffer *buffers = ARENA_ARRAY(&out->arena, DiffBuffer, l.buffers.len + 1);
  if (l.steps.len) memcpy(out->steps, l.steps.data, l.steps.len * sizeof *out->steps);
  if (l.buffers.len) memcpy(buffers, l.buffers.data, l.buffers.len * sizeof *buffers);
  out->nsteps = l.steps.len;
  for (uint32_t i = 0; i < out->nsteps; i++) {
    out->steps[i].buffers = buffers;
    buffers += out->steps[i].nbuffers;
  }
  out->ended &= out->complete;
  diff_find_cuts(out, !l.recorded);
  if (ok)
    ok = each(&l,
              "SELECT process, step, allocation, file, type FROM buffer_dump WHERE file IS NOT "
              "NULL AND state IS NULL",
              dump_row);
  if (ok) ok = diff_recording_open(out, store, &why);
  else store_close(store);
  vec_free(&l.steps);
  vec_free(&l.buffers);
  u64map_free(&l.texts);
  u64map_free(&l.numerics);
  if (ok) return true;
  error_set(err, "%s: %s", path, why.text);
  diff_run_free(out);
  return false;
}

void diff_run_free(DiffRun *r) {
  diff_recording_close(r);
  arena_free(&r->arena);
}

void diff_step_name(const DiffStep *s, Str *out) {
  if (s->launch) str_printf(out, "launch %u of %s", s->launch, s->kernel ? s->kernel : "a kernel");
  else str_printf(out, "graph launch %u", s->graph);
}

void diff_buffer_name(const DiffBuffer *b, uint32_t i, Str *out) {
  if (b->name) str_add(out, b->name);
  else if (b->parameter) str_printf(out, "the buffer of parameter %u", b->parameter);
  else str_printf(out, "buffer %u", i + 1);
}
