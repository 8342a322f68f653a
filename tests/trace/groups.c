// groups SEED N: N records of several operations each (probe/trace_abi.h, "A GROUP"), and the same
// operations with a record for each: every question about a thread and about elements must find the
// same, and what was cut off anywhere is taken when the rest has come.
#include "group_records.h"
#include "program.h"
#include "trace/internal.h"

enum { GROUP_SITES = 64, THREADS = 256, LAUNCH = 5 };

static int site_bytes(uint32_t site) { return (const int[]){4, 8, 4, 16, 2, 4, 1}[site % 7]; }
static int is_load(uint32_t site) { return site % 3 != 1; }

static sqlite3 *database(void) {
  sqlite3 *db = program_database(":memory:");
  for (uint32_t i = 0; i < GROUP_SITES; i++)
    program_sql(db,
                "INSERT INTO site VALUES (%u, %u, %u, 1, 'k', 'x', 1, %d, 'global', %d, NULL, 0)",
                1000 + i, PROCESS, i, is_load(i) ? 1 : 2, site_bytes(i));
  program_sql(
      db,
      "INSERT INTO launch VALUES (1, %u, %u, 1, 1, 1, 1, %u, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0)",
      PROCESS, LAUNCH, THREADS);
  program_sql(db,
              "INSERT INTO step (id, process, number, kind, launch, recorded) VALUES (1, %u, 1, "
              "'launch', 1, 1)",
              PROCESS);
  program_sql(
      db,
      "INSERT INTO allocation VALUES (2, %u, 65536, 16777216, 'device', 0, NULL, 0, 0, 0, NULL)",
      PROCESS);
  return db;
}

static void make(Group *g, Rng *r, uint32_t time) {
  uint32_t first = (uint32_t)below(r, GROUP_SITES - WG_TRACE_GROUP_OPS), planes = 0,
           lanes = below(r, 2) ? UINT32_MAX : (uint32_t)rnd(r) | 1u << below(r, 32);
  uint64_t warp = below(r, THREADS / 32), far = below(r, 8) == 0, affine = below(r, 2);
  *g = (Group){
      .nops = 1 + (uint32_t)below(r, WG_TRACE_GROUP_OPS),
      .nunits = 1 + (uint32_t)below(r, WG_TRACE_GROUP_UNITS),
      .turns = below(r, 3) ? 1 : 1 + (uint32_t)below(r, below(r, 10) ? 8 : WG_TRACE_GROUP_TURNS)};
  for (uint32_t u = 0; u < g->nunits; u++) {
    uint64_t base = 65536 + 8192 * 16 + below(r, 1 << 16) * 16, stride = below(r, 5) * 4;
    bool is_affine = affine || below(r, 2);
    for (uint32_t l = 0; l < 32; l++)
      g->units[u].address[l] = is_affine ? base + l * stride
                               : far     ? 65536 + (below(r, 1000) << 30)
                                         : base + below(r, 4096) * 4;
    g->units[u].step = ((int64_t)below(r, 5) - 2) * 16;
  }
  for (uint32_t i = 0; i < g->nops; i++) {
    WarpOp *o = &g->ops[i];
    int bytes = site_bytes(first + i), wants = bytes == 16 ? 4 : bytes == 8 ? 2 : 1;
    *o = (WarpOp){.site = first + i,
                  .launch = LAUNCH,
                  .lanes = lanes,
                  .time = time,
                  .warp = warp,
                  .has_address = 1,
                  .planes = wants,
                  .same = is_load(first + i)};
    if (g->turns == 1 && planes + (uint32_t)wants <= WG_TRACE_GROUP_PLANES && below(r, 3)) {
      o->values = 1;
      planes += (uint32_t)wants;
    }
    g->unit[i] = (uint32_t)below(r, g->nunits);
    g->distance[i] = ((int32_t)below(r, 2001) - 1000) * 4;
    for (uint32_t l = 0; l < 32; l++)
      o->address[l] = g->units[g->unit[i]].address[l] + (uint64_t)(int64_t)g->distance[i];
    bool one = o->address[31] == o->address[__builtin_ctz(lanes)] && o->address[1] == o->address[0];
    for (int p = 0; p < wants; p++) {
      uint32_t all = below(r, 200) ? (uint32_t)rnd(r) : WG_TRACE_KEY;
      for (uint32_t l = 0; l < 32; l++)
        o->value[p][l] = one && o->same ? all : below(r, 900) ? (uint32_t)rnd(r) : WG_TRACE_KEY;
    }
    if (bytes < 4) for (uint32_t l = 0; l < 32; l++) o->value[0][l] &= bytes == 1 ? 0xFF : 0xFFFF;
  }
}

static void write_each(Out *out, const Group *g, int wide) {
  for (uint32_t turn = 0; turn < g->turns; turn++)
    for (uint32_t i = 0; i < g->nops; i++) {
      WarpOp o = g->ops[i];
      for (uint32_t l = 0; l < 32; l++)
        o.address[l] += (uint64_t)(g->units[g->unit[i]].step * (int64_t)turn);
      o.wide = wide;
      record_write(out, &o);
    }
}

static TraceReader *kept(sqlite3 *db, const Out *out, Rng *r) {
  Error err = {{0}};
  TraceWriter *w = trace_writer_new(&(TraceLimits){.threads = 2}, &err);
  CHECK(w);
  for (size_t at = 0; at < out->len;) {
    size_t piece = r ? 16 + 16 * (size_t)below(r, 400) : out->len, n = MIN(out->len - at, piece);
    size_t took = trace_take(w, PROCESS, 0, out->data + at, n, false);
    CHECK(took <= n && (took || r));
    at += took;
  }
  if (trace_stopped(w) || !trace_save(w, db, true, &err)) {
    printf("%s %s\n", trace_stopped(w) ? trace_stopped(w) : "", err.text);
    exit(1);
  }
  trace_writer_free(w);
  TraceReader *t = trace_open(db, &err);
  CHECK(t);
  return t;
}

static int by_thread(const void *a, const void *b) {
  const TraceOp *x = a, *y = b;
  return x->thread != y->thread  ? (x->thread < y->thread ? -1 : 1)
         : x->record < y->record ? -1
                                 : x->record > y->record;
}

// Which warp comes first where nothing orders them depends on how records were cut into chunks.
static bool same_ops(TraceOps *a, TraceOps *b) {
  if (a->n != b->n || a->more != b->more) return false;
  if (!a->n) return true;
  qsort(a->list, a->n, sizeof *a->list, by_thread);
  qsort(b->list, b->n, sizeof *b->list, by_thread);
  for (uint32_t i = 0; i < a->n; i++) {
    const TraceOp *x = &a->list[i], *y = &b->list[i];
    if (x->site != y->site || x->thread != y->thread || x->address != y->address ||
        x->bytes != y->bytes || x->kind != y->kind || x->value_known != y->value_known ||
        memcmp(x->value, y->value, 16))
      return false;
  }
  return true;
}

// Who takes records from rings and who reads them believe the same ones, damaged or not.
static bool same_belief(const Out *groups, Rng *r) {
  static uint32_t words[WG_TRACE_MAX / 4 + 64];
  RawGroup g;
  size_t at = 0, believed = 0;
  while (at < groups->len) {
    size_t length = raw_group_length((const uint32_t *)(groups->data + at));
    for (int i = 0; i < 200; i++) {
      memset(words, 0xFF, sizeof words);
      memcpy(words, groups->data + at, length);
      if (i) words[below(r, MIN(length / 4, (size_t)40))] ^= 1u << below(r, 32);
      bool read = raw_group_read(words, &g);
      uint32_t begin, rest, rows = raw_group_rows(words, &begin, &rest);
      if (rows != (read ? g.rows : 0)) {
        printf("a record at %zu: %u rows, read as %u\n", at, rows, read ? g.rows : 0);
        return false;
      }
      believed += read;
    }
    at += length;
  }
  return believed != 0;
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  Rng r = {strtoull(argv[1], NULL, 10)};
  Error err = {{0}};
  Out groups = {0}, singles = {0};
  static Group g;
  for (int i = 0; i < atoi(argv[2]); i++) {
    make(&g, &r, 1000 + (uint32_t)i);
    write_group(&groups, &g, below(&r, 2));
    write_each(&singles, &g, i & 1);
  }
  if (!same_belief(&groups, &r)) return 1;
  sqlite3 *db[2] = {database(), database()};
  TraceReader *t[2] = {kept(db[0], &groups, &r), kept(db[1], &singles, NULL)};
  CHECK(trace_count(t[0]) == trace_count(t[1]));
  for (uint64_t thread = 0; thread < THREADS; thread += 5)
    for (uint64_t skip = 0;; skip += 5000) {
      TraceOps a = {0}, b = {0};
      CHECK(trace_of_thread(t[0], 1, thread, (TracePage){skip, 5000}, &a, &err) &&
            trace_of_thread(t[1], 1, thread, (TracePage){skip, 5000}, &b, &err));
      if (!same_ops(&a, &b)) {
        printf("thread %d: not the same\n", (int)thread);
        return 1;
      }
      bool more = a.more;
      for (uint32_t i = 0; i < a.n; i += 2999) {
        TraceOps x = {0}, y = {0};
        TraceWriters u = {0}, v = {0};
        if (a.list[i].address >> 24) continue;           // in no allocation
        CHECK(trace_of_element(t[0], 2, (TraceBytes){a.list[i].address, 4}, (TracePage){0, 100000},
                               &x, &err) &&
              trace_of_element(t[1], 2, (TraceBytes){a.list[i].address, 4}, (TracePage){0, 100000},
                               &y, &err));
        if (!same_ops(&x, &y)) {
          printf("thread %d, operation %u: not the same at its element\n", (int)thread, i);
          return 1;
        }
        trace_ops_free(&x);
        trace_ops_free(&y);
        if (a.list[i].kind != TRACE_LOAD) continue;
        CHECK(trace_writers(t[0], a.list[i].record, a.list[i].lane, false, &u, &err) &&
              trace_writers(t[1], b.list[i].record, b.list[i].lane, false, &v, &err));
        if (!same_ops(&u.ops, &v.ops) || u.ambiguous != v.ambiguous) {
          printf("thread %d, operation %u: not the same writer\n", (int)thread, i);
          return 1;
        }
        trace_ops_free(&u.ops);
        trace_ops_free(&v.ops);
      }
      trace_ops_free(&a);
      trace_ops_free(&b);
      if (!more) break;
    }
  printf("%llu operations; %zu bytes as groups, %zu one by one\n",
         (unsigned long long)trace_count(t[0]), groups.len, singles.len);
  for (int i = 0; i < 2; i++) {
    trace_close(t[i]);
    sqlite3_close(db[i]);
  }
  free(groups.data);
  free(singles.data);
  return 0;
}
