// Reads a run file, so that its report can be printed again. Reads only the launches and
// allocations that findings need; for more, use SQL. Columns are found by name: columns that a
// table of an older file lacks are read as NULL.
#include <sqlite3.h>
#include <time.h>

#include "run/internal.h"
#include "store/store.h"

typedef struct Load {
  Run *run;
  sqlite3 *db;
  Error *err;
  bool complete;
  int64_t started_ms, saved_ms;  // 0: the file does not say
  const char *stopped;           // why nothing more was written; NULL: it was not said
  U64Map processes, kernels, sites, stacks, allocations, modules;  // by id in the file
} Load;

// A row of an answer. columns: by name, number plus 1
typedef struct Row {
  Load *load;
  sqlite3_stmt *statement;
  StrMap columns;
  void (*read)(struct Load *l, const struct Row *row);
} Row;

bool run_each_row(sqlite3 *db, const char *sql, RunEachRow *row, void *user, Error *err) {
  sqlite3_stmt *s;
  if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
    return error_set(err, "%s.", store_message(db));
  int code;
  while ((code = sqlite3_step(s)) == SQLITE_ROW) row(user, s);
  sqlite3_finalize(s);
  return code == SQLITE_DONE || error_set(err, "%s.", store_message(db));
}
static void find_columns(Row *row) {
  for (int i = sqlite3_column_count(row->statement); i-- > 0;)
    strmap_put(&row->columns, sqlite3_column_name(row->statement, i), (void *)(intptr_t)(i + 1));
}

static void read_row(void *user, sqlite3_stmt *s) {
  Row *row = user;
  if (!row->statement) {
    row->statement = s;
    find_columns(row);
  }
  row->read(row->load, row);
}

typedef void ReadRow(Load *l, const Row *row);
static bool each(Load *l, const char *sql, ReadRow *read) {
  Row row = {.load = l, .read = read};
  bool ok = run_each_row(l->db, sql, read_row, &row, l->err);
  strmap_free(&row.columns);
  return ok;
}

// -1: the file has no such column
static int column(const Row *row, const char *name) {
  return (int)(intptr_t)strmap_get(&row->columns, name) - 1;
}
static uint64_t number(const Row *row, const char *name) {
  int i = column(row, name);
  return i < 0 ? 0 : (uint64_t)sqlite3_column_int64(row->statement, i);
}
static uint32_t small(const Row *row, const char *name) { return (uint32_t)number(row, name); }
static const char *text(const Row *row, const char *name) {
  int i = column(row, name);
  return i < 0 ? NULL
               : run_text(row->load->run, (const char *)sqlite3_column_text(row->statement, i));
}
static bool has(const Row *row, const char *name) {
  int i = column(row, name);
  return i >= 0 && sqlite3_column_type(row->statement, i) != SQLITE_NULL;
}
// of three columns: "block_x", "block_y", "block_z"
static void three(const Row *row, const char *name, uint32_t *out) {
  for (int i = 0; i < 3; i++) {
    char column[32];
    snprintf(column, sizeof column, "%s_%c", name, "xyz"[i]);
    out[i] = small(row, column);
  }
}

static void meta_row(Load *l, const Row *s) {
  Run *r = l->run;
  const char *key = text(s, "key"), *value = text(s, "value");
  if (!key) return;
  const struct {
    const char *key;
    const char **to;
  } texts[] = {{"program", &r->program},
               {"device", &r->device},
               {"tools", &r->tools},
               {"end", &r->end},
               {"failure", &r->failure}};
  const struct {
    const char *key;
    uint64_t *to;
  } numbers[] = {{"launches", &r->launches},
                 {"checked_launches", &r->checked_launches},
                 {"different_kernels", &r->different_kernels},
                 {"library_calls", &r->library_calls},
                 {"checked_library_calls", &r->checked_library_calls},
                 {"repeated_launches", &r->repeated_launches},
                 {"findings_left_out", &r->findings_left_out},
                 {"places_left_out", &r->places_left_out}};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    if (strcmp(key, texts[i].key) == 0) *texts[i].to = value;
  for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
    if (value && strcmp(key, numbers[i].key) == 0) *numbers[i].to = strtoull(value, NULL, 10);
  if (strcmp(key, "api") == 0) r->api = api_named(value);
  if (value && strcmp(key, "exit_code") == 0) r->exit_code = atoi(value);
  if (value && strcmp(key, "complete") == 0) l->complete = strcmp(value, "yes") == 0;
  if (value && strcmp(key, "stopped") == 0) l->stopped = value;
  if (value && strcmp(key, "started_ms") == 0) l->started_ms = strtoll(value, NULL, 10);
  if (value && strcmp(key, "saved_ms") == 0) l->saved_ms = strtoll(value, NULL, 10);
  if (value && strcmp(key, "pid") == 0) r->main_pid = atoi(value);
  if (value && strcmp(key, "processes_still_running") == 0)
    r->still_running = (uint32_t)atoi(value);
  if (value && strcmp(key, "processes_unrecorded") == 0) r->unrecorded = (uint32_t)atoi(value);
}

static void process_row(Load *l, const Row *s) {
  RunProcess *p = ARENA_NEW(&l->run->arena, RunProcess);
  *p = (RunProcess){.id = small(s, "id"),
                    .pid = (int)small(s, "pid"),
                    .parent = (int)small(s, "parent"),
                    .program = text(s, "program"),
                    .arguments = text(s, "arguments"),
                    .device = text(s, "device")};
  vec_push(&l->run->processes, p);
  u64map_put(&l->processes, p->id, p);
}

static void module_row(Load *l, const Row *s) {
  RunModule *m = ARENA_NEW(&l->run->arena, RunModule);
  *m = (RunModule){.id = small(s, "id"),
                   .process = u64map_get(&l->processes, number(s, "process")),
                   .name = text(s, "name"),
                   .what = text(s, "what")};
  u64map_put(&l->modules, m->id, m);
}

static void kernel_row(Load *l, const Row *s) {
  RunKernel *k = ARENA_NEW(&l->run->arena, RunKernel);
  *k = (RunKernel){.id = small(s, "id"),
                   .process = u64map_get(&l->processes, number(s, "process")),
                   .module = u64map_get(&l->modules, number(s, "module")),
                   .name = text(s, "name"),
                   .readable = text(s, "readable"),
                   .launches = number(s, "launches"),
                   .checked = number(s, "checked"),
                   .covered = small(s, "covered") != 0,
                   .reason = text(s, "reason"),
                   .cure = text(s, "cure"),
                   .note = text(s, "note"),
                   .retested = small(s, "retested") != 0,
                   .patched_by = text(s, "patched_by")};
  vec_push(&l->run->kernels, k);
  u64map_put(&l->kernels, k->id, k);
}

static RunStack *stack_of(Load *l, uint64_t id) {
  if (!id) return NULL;
  RunStack *k = u64map_get(&l->stacks, id);
  if (k) return k;
  k = ARENA_NEW(&l->run->arena, RunStack);
  k->id = (uint32_t)id;
  k->resolved = true;
  Row row = {.load = l};
  if (sqlite3_prepare_v2(l->db, "SELECT * FROM frame WHERE stack=? ORDER BY depth", -1,
                         &row.statement, NULL) == SQLITE_OK) {
    VEC(RunFrame) frames = {0};
    sqlite3_bind_int64(row.statement, 1, (int64_t)id);
    find_columns(&row);
    while (sqlite3_step(row.statement) == SQLITE_ROW)
      vec_push(&frames, (RunFrame){.address = number(&row, "address"),
                                   .object = text(&row, "object"),
                                   .function = text(&row, "function"),
                                   .file = text(&row, "file"),
                                   .line = small(&row, "line"),
                                   .inlined = small(&row, "inlined") != 0,
                                   .python = small(&row, "python") != 0});
    k->frames = ARENA_ARRAY(&l->run->arena, RunFrame, frames.len);
    if (frames.len) memcpy(k->frames, frames.data, frames.len * sizeof(RunFrame));
    k->nframes = frames.len;
    vec_free(&frames);
  }
  strmap_free(&row.columns);
  sqlite3_finalize(row.statement);
  u64map_put(&l->stacks, id, k);
  return k;
}

static void site_row(Load *l, const Row *s) {
  RunSite *x = ARENA_NEW(&l->run->arena, RunSite);
  *x = (RunSite){.id = small(s, "id"),
                 .number = number(s, "number"),
                 .module = u64map_get(&l->modules, number(s, "module")),
                 .function = text(s, "function"),
                 .text = text(s, "text"),
                 .ptx_line = small(s, "ptx_line"),
                 .classes = small(s, "classes"),
                 .space = text(s, "space"),
                 .bytes = small(s, "bytes"),
                 .object = text(s, "object"),
                 .parameter = small(s, "parameter")};
  u64map_put(&l->sites, x->id, x);
}

static void place_row(Load *l, const Row *s) {
  RunSite *x = u64map_get(&l->sites, number(s, "site"));
  if (!x) return;
  RunPlace *more = ARENA_ARRAY(&l->run->arena, RunPlace, x->nplaces + 1);
  if (x->nplaces) memcpy(more, x->places, x->nplaces * sizeof *more);
  more[x->nplaces++] = (RunPlace){text(s, "file"), text(s, "function"), small(s, "line"),
                                  small(s, "col")};
  x->places = more;
}

static void allocation_row(Load *l, const Row *s) {
  RunAllocation *a = ARENA_NEW(&l->run->arena, RunAllocation);
  *a = (RunAllocation){.id = small(s, "id"),
                       .process = u64map_get(&l->processes, number(s, "process")),
                       .base = number(s, "base"),
                       .size = number(s, "size"),
                       .device = (int)small(s, "device"),
                       .name = text(s, "name"),
                       .stack = stack_of(l, number(s, "stack")),
                       .freed = small(s, "freed") != 0,
                       .free_stack = stack_of(l, number(s, "free_stack")),
                       .pointer = text(s, "pointer")};
  const char *kind = text(s, "kind");
  while (kind && a->kind < 16 && strcmp(run_memory_kind(a->kind), kind) != 0) a->kind++;
  u64map_put(&l->allocations, a->id, a);
}

// The allocation as it was when the finding happened.
static const RunAllocation *allocation_of(Load *l, uint64_t id, bool freed) {
  const RunAllocation *a = u64map_get(&l->allocations, id);
  if (!a || freed || !a->freed) return a;
  RunAllocation *then = ARENA_NEW(&l->run->arena, RunAllocation);
  *then = *a;
  then->freed = false;
  then->free_stack = NULL;
  return then;
}

static const RunLaunch *launch_of(Load *l, const Row *s) {
  if (!has(s, "grid_x")) return NULL;
  RunLaunch *launch = ARENA_NEW(&l->run->arena, RunLaunch);
  launch->number = small(s, "launch");
  three(s, "grid", launch->grid);
  three(s, "launch_block", launch->block);
  launch->device = (int)small(s, "device");
  launch->stack = stack_of(l, number(s, "launch_stack"));
  return launch;
}

static RunSuppression *suppression_of(Load *l, const Row *s) {
  uint32_t id = small(s, "suppressed");
  return id && id <= l->run->suppressions.len ? l->run->suppressions.data[id - 1] : NULL;
}

static void finding_row(Load *l, const Row *s) {
  RunFinding *f = ARENA_NEW(&l->run->arena, RunFinding);
  *f = (RunFinding){
      .id = small(s, "id"),
      .process = u64map_get(&l->processes, number(s, "process")),
      .kind = kind_named(text(s, "kind")),
      .text = text(s, "text"),
      .api = api_named(text(s, "api")),
      .kernel = u64map_get(&l->kernels, number(s, "kernel")),
      .launch_number = small(s, "launch"),
      .launch = launch_of(l, s),
      .site = u64map_get(&l->sites, number(s, "site")),
      .has_thread = has(s, "block_x"),
      .has_address = has(s, "address"),
      .lanes = small(s, "lanes"),
      .address = number(s, "address"),
      .size = number(s, "size"),
      .allocation = allocation_of(l, number(s, "allocation"), small(s, "allocation_freed") != 0),
      .offset = (int64_t)number(s, "offset"),
      .value = {number(s, "value0"), number(s, "value1"), number(s, "value2"), number(s, "value3")},
      .extra = {number(s, "extra0"), number(s, "extra1"), number(s, "extra2")},
      .stack = stack_of(l, number(s, "stack")),
      .count = number(s, "count"),
      .counted = true,
      .inside = allocation_of(l, number(s, "inside"), small(s, "inside_freed") != 0),
      .other_stack = stack_of(l, number(s, "other_stack")),
      .other_title = text(s, "other_title"),
      .suppressed = suppression_of(l, s),
      .parameter = text(s, "parameter")};
  three(s, "block", f->block);
  three(s, "thread", f->thread);
  if (!f->kind || !f->process) return;
  if (f->kind->parts & HAS_ORIGIN) f->origin = u64map_get(&l->sites, f->extra[1]);
  if (f->kind->parts & HAS_SOURCE) f->source = u64map_get(&l->sites, f->extra[2]);
  vec_push(&l->run->findings, f);
}

static void suppression_row(Load *l, const Row *s) {
  if (number(s, "id") == l->run->suppressions.len + 1)
    run_add_suppression(l->run, text(s, "name"), text(s, "file"), small(s, "line"));
}

static void count_row(Load *l, const Row *s) {
  RunCount *c = run_count_row(l->run, text(s, "kernel"), text(s, "file"), small(s, "line"));
  if (!c) return;
  c->total = number(s, "total");
  c->warp_total = number(s, "warp_total");
  c->loads = number(s, "loads");
  c->stores = number(s, "stores");
  c->atomics = number(s, "atomics");
  c->load_bytes = number(s, "load_bytes");
  c->store_bytes = number(s, "store_bytes");
  c->atomic_bytes = number(s, "atomic_bytes");
}

static void class_row(Load *l, const Row *s) {
  RunCount *c = run_count_row(l->run, text(s, "kernel"), text(s, "file"), small(s, "line"));
  const char *name = text(s, "class");
  for (unsigned i = 0; c && name && run_class_name(i); i++)
    if (strcmp(run_class_name(i), name) == 0) c->classes[i] = number(s, "executed");
}

static void measure_row(Load *l, const Row *s) {
  RunMeasure m = {.process = small(s, "process"),
                  .what = text(s, "what"),
                  .kernel = text(s, "kernel"),
                  .file = text(s, "file"),
                  .line = small(s, "line"),
                  .text = text(s, "text")};
  for (unsigned i = 0; i < RUN_MEASURE_VALUES; i++) {
    char name[8];
    snprintf(name, sizeof name, "v%u", i);
    m.v[i] = number(s, name);
  }
  if (m.what) run_add_measure(l->run, &m);
}

static void note_row(Load *l, const Row *s) {
  const char *severity = text(s, "severity");
  RunNote n = {u64map_get(&l->processes, number(s, "process")), SEVERITY_NOTE, text(s, "text")};
  while (severity && n.severity < SEVERITY_ERROR &&
         strcmp(severity_name(n.severity), severity) != 0)
    n.severity++;
  if (n.text) vec_push(&l->run->notes, n);
}

static void launches_row(Load *l, const Row *s) {
  l->run->launches = number(s, "launches");
  l->run->different_kernels = number(s, "kernels");
}

// The command ended before the program did.
static bool load_unfinished(Load *l) {
  if (l->complete) return true;
  Run *r = l->run;
  r->unfinished = "the warpgrind command was ended";
  if (l->saved_ms) {
    time_t when = (time_t)(l->saved_ms / 1000);
    struct tm tm;
    char text[64] = "?";
    if (localtime_r(&when, &tm)) strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    r->unfinished = arena_printf(&r->arena, "%s, %.1f s after it was started", text,
                                 (double)(l->saved_ms - l->started_ms) / 1000);
    run_add_note(r, NULL, SEVERITY_WARNING,
                 "this run file was not finished: %s. It holds what was known at %s",
                 l->stopped ? l->stopped : "the warpgrind command was ended, or still runs",
                 r->unfinished);
    return true;
  }
  run_add_note(r, NULL, SEVERITY_WARNING,
               "this run file was not finished: it holds what was known when the warpgrind command "
               "was ended");
  return each(l, "SELECT count(*) AS launches, count(DISTINCT kernel) AS kernels FROM launch",
              launches_row);
}

static void committed_row(Load *l, const Row *s) {
  if (!number(s, "missing")) return;
  run_add_note(l->run, NULL, SEVERITY_WARNING,
               "recording was cut short: of %llu launches %llu are recorded; the first that is not "
               "is launch %llu",
               (unsigned long long)number(s, "steps"),
               (unsigned long long)(number(s, "steps") - number(s, "missing")),
               (unsigned long long)number(s, "first"));
}

// Counts the steps that `contents`, `diff` and other questions cannot answer for. Steps of
// --record=inputs belong to launches, too.
static bool load_committed(Load *l) {
  if (sqlite3_table_column_metadata(l->db, "main", "step", "committed", NULL, NULL, NULL, NULL,
                                    NULL) != SQLITE_OK)
    return true;
  return each(l,
              "SELECT sum(s.committed = 0) AS missing, count(*) AS steps, min(CASE WHEN "
              "s.committed = 0 THEN n.number END) AS first FROM step s LEFT JOIN launch n ON n.id "
              "= s.launch "
              "WHERE s.kind = CASE WHEN EXISTS (SELECT 1 FROM step WHERE kind = 'inputs') THEN "
              "'inputs' ELSE 'launch' END",
              committed_row);
}

// Adds a SELECT of the ids in `column` of all findings whose kind has `part`.
static void add_sites(Str *sql, uint32_t part, const char *column) {
  str_printf(sql, " UNION SELECT %s FROM finding WHERE kind IN (", column);
  const char *comma = "";
  for (const Kind *k = NULL; (k = kind_after(k));) {
    if (!(k->parts & part)) continue;
    str_printf(sql, "%s'%s'", comma, k->name);
    comma = ", ";
  }
  str_addc(sql, ')');
}

// The sites that findings refer to, and their places.
static bool load_sites(Load *l) {
  Str ids = {0}, sites = {0}, places = {0};
  str_add(&ids, "SELECT site FROM finding");
  add_sites(&ids, HAS_ORIGIN, "extra1");
  add_sites(&ids, HAS_SOURCE, "extra2");
  str_printf(&sites, "SELECT * FROM site WHERE id IN (%s)", ids.data);
  str_printf(&places, "SELECT * FROM place WHERE site IN (%s) ORDER BY site, depth", ids.data);
  bool ok = each(l, sites.data, site_row) && each(l, places.data, place_row);
  str_free(&ids);
  str_free(&sites);
  str_free(&places);
  return ok;
}

static bool load_all(Load *l) {
  return each(l, "SELECT * FROM meta", meta_row) &&
         each(l, "SELECT * FROM process ORDER BY id", process_row) &&
         each(l, "SELECT * FROM module", module_row) &&
         each(l, "SELECT * FROM kernel ORDER BY id", kernel_row) && load_sites(l) &&
         each(l,
              "SELECT * FROM allocation WHERE id IN (SELECT allocation FROM finding UNION SELECT "
              "inside FROM finding)",
              allocation_row) &&
         each(l, "SELECT * FROM suppression ORDER BY id", suppression_row) &&
         each(l,
              "SELECT f.*, n.grid_x AS grid_x, n.grid_y AS grid_y, n.grid_z AS grid_z, "
              "n.block_x AS launch_block_x, n.block_y AS launch_block_y, "
              "n.block_z AS launch_block_z, n.device AS device, n.stack AS launch_stack "
              "FROM finding f "
              "LEFT JOIN launch n ON n.process = f.process AND n.number = f.launch AND f.launch > "
              "0 ORDER BY f.id",
              finding_row) &&
         each(l, "SELECT * FROM count_row ORDER BY id", count_row) &&
         each(l,
              "SELECT r.kernel AS kernel, r.file AS file, r.line AS line, c.class AS class, "
              "c.executed AS executed FROM count_class c JOIN count_row r ON r.id = c.row",
              class_row) &&
         each(l, "SELECT * FROM measure ORDER BY id", measure_row) &&
         each(l, "SELECT * FROM note ORDER BY id", note_row) && load_unfinished(l) &&
         load_committed(l);
}

bool run_load(const char *path, Run *r, Error *err) {
  Error why = {{0}};
  Store *store = run_open(path, false, err);
  if (!store) return false;
  Load l = {.run = r, .db = store->db, .err = &why};
  Error note = {{0}};
  bool ok = load_all(&l) || error_set(err, "%s: %s", path, why.text);
  ok = ok && store_is_whole(store, err);
  if (ok && run_lacks_something(store, &note))
    run_add_note(r, NULL, SEVERITY_WARNING, "%s", note.text);
  U64Map *maps[] = {&l.processes, &l.kernels, &l.sites, &l.stacks, &l.allocations, &l.modules};
  for (size_t i = 0; i < ARRAY_LEN(maps); i++) u64map_free(maps[i]);
  store_close(store);
  return ok;
}
