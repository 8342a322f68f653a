// Places that very many operations touch: a counter that all threads of a launch add to and the
// next launch reads, and one that a single thread adds to. Who wrote and who read it must be found,
// at once.
#include <time.h>

#include "program.h"

enum {
  ADD = 1,
  LOAD,
  STORE,
  WARPS = 4000,
  TURNS = 5000,
  LAUNCH = 300,
  COUNTER = 0x10000,
  SUM = 0x20000
};

static void describe(sqlite3 *db) {
  static const struct {
    const char *text;
    unsigned classes;
  } sites[] = {{"", 0}, {"atom.global.add.u32", 4}, {"ld.global.u32", 1}, {"st.global.u32", 2}};
  for (unsigned i = 1; i < ARRAY_LEN(sites); i++)
    program_sql(db,
                "INSERT INTO site (id, process, number, text, classes, space, bytes) VALUES (%u, "
                "%u, %u, '%s', %u, 'global', 4)",
                1000 + i, PROCESS, i, sites[i].text, sites[i].classes);
  program_sql(
      db,
      "INSERT INTO allocation (id, process, base, size, kind) VALUES (200, %u, %u, %u, 'device')",
      PROCESS, COUNTER, 0x20000);
  for (unsigned i = 1; i <= 3; i++) {
    program_sql(db,
                "INSERT INTO launch (id, process, number, grid_x, grid_y, grid_z, block_x, "
                "block_y, block_z) VALUES (%u, %u, %u, %u, 1, 1, 128, 1, 1)",
                LAUNCH + i, PROCESS, i, WARPS / 4);
    program_sql(db,
                "INSERT INTO step (id, process, number, kind, launch, recorded) VALUES (%u, %u, "
                "%u, 'launch', %u, 1)",
                400 + i, PROCESS, i, LAUNCH + i);
  }
}

static Out out;
static uint32_t now;
static void access(uint32_t launch, uint32_t site, uint64_t warp, uint32_t lanes, uint64_t address,
                   uint32_t value, uint32_t *old) {
  WarpOp op = {.site = site,
               .launch = launch,
               .lanes = lanes,
               .time = ++now,
               .warp = warp,
               .has_address = 1,
               .planes = 1,
               .values = old ? 2 : 1};
  for (uint32_t lane = 0; lane < 32; lane++) {
    op.address[lane] = address;
    op.value[0][lane] = value;
    if (old && lanes >> lane & 1) op.old[0][lane] = (*old)++;
  }
  record_write(&out, &op);
}

static unsigned wrong;
static double began;
static void check(const char *name, bool ok) {
  double took = (double)clock() / CLOCKS_PER_SEC - began;
  wrong += !ok;
  printf("%s %s: %.1f s\n", ok && took < 5 ? "ok" : "FAIL", name, took);
  began = (double)clock() / CLOCKS_PER_SEC;
}

static TraceOp nth(TraceReader *t, uint32_t launch, uint64_t thread, uint32_t n) {
  Error err = {{0}};
  TraceOps o;
  CHECK(trace_of_thread(t, LAUNCH + launch, thread, (TracePage){n, 1}, &o, &err) && o.n == 1);
  TraceOp op = o.list[0];
  trace_ops_free(&o);
  return op;
}
static bool is(const TraceOp *a, const TraceOp *b) {
  return a->record == b->record && a->lane == b->lane;
}
static bool has(const TraceOps *o, const TraceOp *op) {
  for (uint32_t i = 0; i < o->n; i++)
    if (is(&o->list[i], op)) return true;
  return false;
}

static void ask(TraceReader *t) {
  Error err = {{0}};
  TraceOps o = {0};
  TraceWriters w = {0};
  TraceOp middle = nth(t, 1, 64000 + 7, 0), next = nth(t, 1, 64000 + 8, 0),
          last = nth(t, 1, WARPS * 32 - 1, 0), read = nth(t, 2, 5, 0);
  began = (double)clock() / CLOCKS_PER_SEC;
  for (int all = 0; all < 2; all++) {
    check(all ? "writer_of_an_addition_all" : "writer_of_an_addition",
          trace_writers(t, next.record, next.lane, all, &w, &err) && w.ops.n == 1 &&
              is(&w.ops.list[0], &middle));
    trace_ops_free(&w.ops);
    check(all ? "writer_of_a_later_read_all" : "writer_of_a_later_read",
          trace_writers(t, read.record, read.lane, all, &w, &err) && w.ops.n == 1 &&
              is(&w.ops.list[0], &last));
    trace_ops_free(&w.ops);
  }
  check("readers_of_an_addition", trace_readers(t, (TraceOpId){middle.record, middle.lane},
                                                (TracePage){0, 200}, false, &o, &err) &&
                                      o.n == 1 && is(&o.list[0], &next) && o.some);
  trace_ops_free(&o);
  check("readers_of_the_last", trace_readers(t, (TraceOpId){last.record, last.lane},
                                             (TracePage){0, 200}, false, &o, &err) &&
                                   has(&o, &read));
  trace_ops_free(&o);
  // A single thread is in order with itself, however often it was there.
  TraceOp stored = nth(t, 3, 0, 2 * TURNS - 1), loaded = nth(t, 3, 0, 2 * TURNS);
  began = (double)clock() / CLOCKS_PER_SEC;
  check("writer_in_a_loop", trace_writers(t, loaded.record, loaded.lane, false, &w, &err) &&
                                w.ops.n == 1 && is(&w.ops.list[0], &stored));
  trace_ops_free(&w.ops);
  check("readers_in_a_loop", trace_readers(t, (TraceOpId){stored.record, stored.lane},
                                           (TracePage){0, 200}, false, &o, &err) &&
                                 o.n == 1 && is(&o.list[0], &loaded));
  trace_ops_free(&o);
}

int main(void) {
  Error err = {{0}};
  sqlite3 *db = program_database(":memory:");
  describe(db);
  TraceWriter *w = trace_writer_new(NULL, &err);
  CHECK(w);
  uint32_t counter = 0;
  for (uint64_t warp = 0; warp < WARPS; warp++)
    access(1, ADD, warp, UINT32_MAX, COUNTER, 1, &counter);
  for (uint64_t warp = 0; warp < 32; warp++)
    access(2, LOAD, warp, UINT32_MAX, COUNTER, counter, NULL);
  for (uint32_t i = 0; i <= TURNS; i++) {
    access(3, LOAD, 0, 1, SUM, i, NULL);
    access(3, STORE, 0, 1, SUM, i + 1, NULL);
  }
  CHECK(trace_take(w, PROCESS, 0, out.data, out.len, true) == out.len &&
        trace_save(w, db, true, &err));
  trace_writer_free(w);
  TraceReader *t = trace_open(db, &err);
  CHECK(t);
  ask(t);
  trace_close(t);
  sqlite3_close(db);
  free(out.data);
  return wrong != 0;
}
