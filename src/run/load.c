// Reading a run file, so that its report can be printed again. Launches and allocations are read
// only as far as findings need them; whoever wants more asks with SQL.
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

bool run_each_row(sqlite3 *db, const char *sql, RunEachRow *row, void *user, Error *err) {
  sqlite3_stmt *s;
  if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
    return error_set(err, "%s.", store_message(db));
  int code;
  while ((code = sqlite3_step(s)) == SQLITE_ROW) row(user, s);
  sqlite3_finalize(s);
  return code == SQLITE_DONE || error_set(err, "%s.", store_message(db));
}
static bool each(Load *l, const char *sql, RunEachRow *row) {
  return run_each_row(l->db, sql, row, l, l->err);
}

static uint64_t number(sqlite3_stmt *s, int i) { return (uint64_t)sqlite3_column_int64(s, i); }
static uint32_t small(sqlite3_stmt *s, int i) { return (uint32_t)sqlite3_column_int64(s, i); }
static const char *text(Load *l, sqlite3_stmt *s, int i) {
  return run_text(l->run, (const char *)sqlite3_column_text(s, i));
}

static void meta_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  Run *r = l->run;
  const char *key = text(l, s, 0), *value = text(l, s, 1);
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
                 {"findings_left_out", &r->findings_left_out},
                 {"places_left_out", &r->places_left_out}};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    if (strcmp(key, texts[i].key) == 0) *texts[i].to = value;
  for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
    if (value && strcmp(key, numbers[i].key) == 0) *numbers[i].to = strtoull(value, NULL, 10);
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

static void process_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  RunProcess *p = ARENA_NEW(&l->run->arena, RunProcess);
  *p = (RunProcess){.id = small(s, 0),
                    .pid = (int)small(s, 1),
                    .parent = (int)small(s, 2),
                    .program = text(l, s, 3),
                    .arguments = text(l, s, 4),
                    .device = text(l, s, 5)};
  vec_push(&l->run->processes, p);
  u64map_put(&l->processes, p->id, p);
}

static void module_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  RunModule *m = ARENA_NEW(&l->run->arena, RunModule);
  *m = (RunModule){.id = small(s, 0),
                   .process = u64map_get(&l->processes, number(s, 1)),
                   .name = text(l, s, 2),
                   .what = text(l, s, 3)};
  u64map_put(&l->modules, m->id, m);
}

static void kernel_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  RunKernel *k = ARENA_NEW(&l->run->arena, RunKernel);
  *k = (RunKernel){.id = small(s, 0),
                   .process = u64map_get(&l->processes, number(s, 1)),
                   .module = u64map_get(&l->modules, number(s, 2)),
                   .name = text(l, s, 3),
                   .readable = text(l, s, 4),
                   .launches = number(s, 5),
                   .checked = number(s, 6),
                   .covered = small(s, 7) != 0,
                   .reason = text(l, s, 8),
                   .cure = text(l, s, 9),
                   .note = text(l, s, 10)};
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
  sqlite3_stmt *s;
  if (sqlite3_prepare_v2(l->db,
                         "SELECT address, object, function, file, line, inlined, python FROM frame "
                         "WHERE stack=? ORDER BY depth",
                         -1, &s, NULL) == SQLITE_OK) {
    VEC(RunFrame) frames = {0};
    sqlite3_bind_int64(s, 1, (int64_t)id);
    while (sqlite3_step(s) == SQLITE_ROW)
      vec_push(&frames, (RunFrame){.address = number(s, 0),
                                   .object = text(l, s, 1),
                                   .function = text(l, s, 2),
                                   .file = text(l, s, 3),
                                   .line = small(s, 4),
                                   .inlined = small(s, 5) != 0,
                                   .python = small(s, 6) != 0});
    k->frames = ARENA_ARRAY(&l->run->arena, RunFrame, frames.len);
    if (frames.len) memcpy(k->frames, frames.data, frames.len * sizeof(RunFrame));
    k->nframes = frames.len;
    vec_free(&frames);
  }
  sqlite3_finalize(s);
  u64map_put(&l->stacks, id, k);
  return k;
}

static void site_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  RunSite *x = ARENA_NEW(&l->run->arena, RunSite);
  *x = (RunSite){.id = small(s, 0),
                 .number = number(s, 2),
                 .module = u64map_get(&l->modules, number(s, 3)),
                 .function = text(l, s, 4),
                 .text = text(l, s, 5),
                 .ptx_line = small(s, 6),
                 .classes = small(s, 7),
                 .space = text(l, s, 8),
                 .bytes = small(s, 9),
                 .object = text(l, s, 10),
                 .parameter = small(s, 11)};
  u64map_put(&l->sites, x->id, x);
}

static void place_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  RunSite *x = u64map_get(&l->sites, number(s, 0));
  if (!x) return;
  RunPlace *more = ARENA_ARRAY(&l->run->arena, RunPlace, x->nplaces + 1);
  if (x->nplaces) memcpy(more, x->places, x->nplaces * sizeof *more);
  more[x->nplaces++] = (RunPlace){text(l, s, 2), text(l, s, 3), small(s, 4), small(s, 5)};
  x->places = more;
}

static void allocation_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  RunAllocation *a = ARENA_NEW(&l->run->arena, RunAllocation);
  *a = (RunAllocation){.id = small(s, 0),
                       .process = u64map_get(&l->processes, number(s, 1)),
                       .base = number(s, 2),
                       .size = number(s, 3),
                       .device = (int)small(s, 5),
                       .name = text(l, s, 6),
                       .stack = stack_of(l, number(s, 7)),
                       .freed = small(s, 8) != 0,
                       .free_stack = stack_of(l, number(s, 9)),
                       .pointer = text(l, s, 10)};
  const char *kind = text(l, s, 4);
  while (kind && a->kind < 16 && strcmp(run_memory_kind(a->kind), kind) != 0) a->kind++;
  u64map_put(&l->allocations, a->id, a);
}

// As it was when the finding happened.
static const RunAllocation *allocation_of(Load *l, uint64_t id, bool freed) {
  const RunAllocation *a = u64map_get(&l->allocations, id);
  if (!a || freed || !a->freed) return a;
  RunAllocation *then = ARENA_NEW(&l->run->arena, RunAllocation);
  *then = *a;
  then->freed = false;
  then->free_stack = NULL;
  return then;
}

static void finding_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  RunFinding *f = ARENA_NEW(&l->run->arena, RunFinding);
  const char *kind = text(l, s, 2);
  *f = (RunFinding){.id = small(s, 0),
                    .process = u64map_get(&l->processes, number(s, 1)),
                    .kind = channel_kind_named(kind ? kind : ""),
                    .text = text(l, s, 4),
                    .kernel = u64map_get(&l->kernels, number(s, 5)),
                    .launch_number = small(s, 6),
                    .site = u64map_get(&l->sites, number(s, 7)),
                    .has_thread = sqlite3_column_type(s, 8) != SQLITE_NULL,
                    .has_address = sqlite3_column_type(s, 15) != SQLITE_NULL,
                    .lanes = small(s, 14),
                    .address = number(s, 15),
                    .size = number(s, 16),
                    .allocation = allocation_of(l, number(s, 17), small(s, 32) != 0),
                    .offset = (int64_t)number(s, 18),
                    .stack = stack_of(l, number(s, 26)),
                    .count = number(s, 27),
                    .counted = true,
                    .inside = allocation_of(l, number(s, 28), small(s, 33) != 0),
                    .other_stack = stack_of(l, number(s, 29)),
                    .other_title = text(l, s, 30),
                    .suppressed = small(s, 31) && small(s, 31) <= l->run->suppressions.len
                                      ? l->run->suppressions.data[small(s, 31) - 1]
                                      : NULL};
  f->parameter = text(l, s, 34);
  enum { LAUNCH = 35 };  // the first column of the launch
  for (int i = 0; i < 3; i++) {
    f->block[i] = small(s, 8 + i);
    f->thread[i] = small(s, 11 + i);
    f->extra[i] = number(s, 23 + i);
  }
  for (int i = 0; i < 4; i++) f->value[i] = number(s, 19 + i);
  if (f->kind &&
      (f->kind->number == KIND_UNINIT_USE || f->kind->number == KIND_FP_INPUT ||
       (f->kind->number >= KIND_RACE_GLOBAL && f->kind->number <= KIND_RACE_HOST) ||
       f->kind->number == KIND_RACE_SAME_VALUE || f->kind->number == KIND_RACE_NO_ACQUIRE) &&
      f->extra[1])
    f->origin = u64map_get(&l->sites, f->extra[1]);
  if (f->kind && f->kind->number == KIND_UNINIT_USE && f->extra[2])
    f->source = u64map_get(&l->sites, f->extra[2]);
  if (sqlite3_column_type(s, LAUNCH) != SQLITE_NULL) {
    RunLaunch *launch = ARENA_NEW(&l->run->arena, RunLaunch);
    launch->number = f->launch_number;
    for (int i = 0; i < 3; i++) {
      launch->grid[i] = small(s, LAUNCH + i);
      launch->block[i] = small(s, LAUNCH + 3 + i);
    }
    launch->device = (int)small(s, LAUNCH + 6);
    launch->stack = stack_of(l, number(s, LAUNCH + 7));
    f->launch = launch;
  }
  if (f->kind && f->process) vec_push(&l->run->findings, f);
}

static void suppression_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  if (number(s, 0) == l->run->suppressions.len + 1)
    run_add_suppression(l->run, text(l, s, 1), text(l, s, 2), small(s, 3));
}

static void count_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  RunCount *c = run_count_row(l->run, text(l, s, 1), text(l, s, 2), small(s, 3));
  if (!c) return;
  c->total = number(s, 4);
  c->warp_total = number(s, 5);
  c->loads = number(s, 6);
  c->stores = number(s, 7);
  c->atomics = number(s, 8);
  c->load_bytes = number(s, 9);
  c->store_bytes = number(s, 10);
  c->atomic_bytes = number(s, 11);
}

static void class_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  RunCount *c = run_count_row(l->run, text(l, s, 0), text(l, s, 1), small(s, 2));
  const char *name = text(l, s, 3);
  for (unsigned i = 0; c && name && run_class_name(i); i++)
    if (strcmp(run_class_name(i), name) == 0) c->classes[i] = number(s, 4);
}

static void note_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  const char *severity = text(l, s, 2);
  RunNote n = {u64map_get(&l->processes, number(s, 1)), SEVERITY_NOTE, text(l, s, 3)};
  while (severity && n.severity < SEVERITY_ERROR &&
         strcmp(channel_severity_name(n.severity), severity) != 0)
    n.severity++;
  vec_push(&l->run->notes, n);
}

static void launches_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  l->run->launches = number(s, 0);
  l->run->different_kernels = number(s, 1);
}

// The command was ended before the program was.
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
  return each(l, "SELECT count(*), count(DISTINCT kernel) FROM launch", launches_row);
}

static void committed_row(void *user, sqlite3_stmt *s) {
  Load *l = user;
  if (!number(s, 0)) return;
  run_add_note(l->run, NULL, SEVERITY_WARNING,
               "recording was cut short: of %llu launches %llu are recorded; the first that is not "
               "is launch %llu",
               (unsigned long long)number(s, 1), (unsigned long long)(number(s, 1) - number(s, 0)),
               (unsigned long long)number(s, 2));
}

// What `contents`, `diff` and other questions know nothing of. Steps of --record=inputs belong to
// launches, too.
static bool load_committed(Load *l) {
  if (sqlite3_table_column_metadata(l->db, "main", "step", "committed", NULL, NULL, NULL, NULL,
                                    NULL) != SQLITE_OK)
    return true;
  return each(l,
              "SELECT sum(s.committed = 0), count(*), min(CASE WHEN s.committed = 0 THEN n.number "
              "END) FROM step s LEFT JOIN launch n ON n.id = s.launch "
              "WHERE s.kind = CASE WHEN EXISTS (SELECT 1 FROM step WHERE kind = 'inputs') THEN "
              "'inputs' ELSE 'launch' END",
              committed_row);
}

#define ORIGINS \
  "SELECT extra1 FROM finding WHERE kind IN ('uninit-use', 'race-global', 'race-shared', " \
  "'race-host', 'fp-input')"  // where the values of initcheck were read, those of fpcheck stored;
                              // the other access of a race

static bool load_all(Load *l) {
  return each(l, "SELECT * FROM meta", meta_row) &&
         each(l, "SELECT * FROM process ORDER BY id", process_row) &&
         each(l, "SELECT * FROM module", module_row) &&
         each(l, "SELECT * FROM kernel ORDER BY id", kernel_row) &&
         each(l, "SELECT * FROM site WHERE id IN (SELECT site FROM finding UNION " ORIGINS ")",
              site_row) &&
         each(l,
              "SELECT * FROM place WHERE site IN (SELECT site FROM finding UNION " ORIGINS
              ") ORDER BY site, depth",
              place_row) &&
         each(l,
              "SELECT * FROM allocation WHERE id IN (SELECT allocation FROM finding UNION SELECT "
              "inside FROM finding)",
              allocation_row) &&
         each(l, "SELECT * FROM suppression ORDER BY id", suppression_row) &&
         each(l,
              "SELECT f.*, n.grid_x, n.grid_y, n.grid_z, n.block_x, n.block_y, n.block_z, "
              "n.device, n.stack FROM finding f "
              "LEFT JOIN launch n ON n.process = f.process AND n.number = f.launch AND f.launch > "
              "0 ORDER BY f.id",
              finding_row) &&
         each(l, "SELECT * FROM count_row ORDER BY id", count_row) &&
         each(l,
              "SELECT r.kernel, r.file, r.line, c.class, c.executed FROM count_class c JOIN "
              "count_row r ON r.id = c.row",
              class_row) &&
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
