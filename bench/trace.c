// What recorded operations cost on disk and how long questions about them take: raw records of known patterns, as kernels write them, go into a run file.
//   trace PATTERN OPERATIONS FILE [encoding threads]
#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "records.h"
#include "trace/trace.h"

enum { PROCESS = 1, RINGS = 4, RESIDENT = 512, TAKE = 4 << 20 };   // RESIDENT: warps of a ring that are at work at the same time
static const uint64_t A = 0x7f1000000000, B = 0x7f2000000000, C = 0x7f3000000000;

static uint64_t mix(uint64_t z) {
  z = (z + 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}
static uint32_t bits(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }
static double now(clockid_t clock) { struct timespec t; clock_gettime(clock, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }

// A pattern makes the k-th operation of a warp; 0: the warp has ended. Sizes: n elements, w warps, m operations of a warp.
typedef struct Shape { uint64_t warps; uint32_t steps; uint64_t n, width; } Shape;
typedef int Make(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op);

static void all_lanes(WarpOp *op, uint32_t site, int load) { op->site = site, op->lanes = UINT32_MAX, op->has_address = 1, op->planes = 1, op->values = 1, op->same = load; }

static float start(uint64_t i, uint64_t j, uint64_t n) { return (float)(i * j) / (float)n; }       // as PolyBench fills its matrices
static float irregular(uint64_t i) { return (float)(mix(i) >> 40) / (float)(1 << 24); }

static int saxpy(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  (void)s;
  if (k == 3) return 0;
  all_lanes(op, k, k < 2);
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t i = warp * 32 + l;
    op->address[l] = (k == 0 ? A : B) + 4 * i;
    op->value[0][l] = bits(k == 0 ? irregular(i) : k == 1 ? irregular(~i) : 2.5f * irregular(i) + irregular(~i));
  }
  return 1;
}

// Blocks of 32 x 8 threads; s->width columns.
static int matmul(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  uint64_t n = s->width, j = warp / 8 % (n / 32) * 32, i = (warp / 8 / (n / 32) * 8 + warp % 8) % n;
  if (k == 2 * n + 1) return 0;
  int load = k < 2 * n;
  all_lanes(op, load ? k % 2 : 2, load);
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t kk = k / 2;
    if (!load) op->address[l] = C + 4 * (i * n + j + l), op->value[0][l] = bits(irregular(i * n + j + l) * (float)n);
    else if (k % 2 == 0) op->address[l] = A + 4 * (i * n + kk), op->value[0][l] = bits(start(i, kk, n));
    else op->address[l] = B + 4 * (kk * n + j + l), op->value[0][l] = bits(start(kk, j + l + 1, n));
  }
  return 1;
}

static int stencil(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  uint64_t n = s->width, j = 1 + warp / 8 % (n / 32) * 32, i = 1 + warp / 8 / (n / 32) * 8 + warp % 8;
  if (k == 10) return 0;
  all_lanes(op, k, k < 9);
  if (j + 32 >= n) op->lanes = 0x3FFFFFFF;
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t y = i + k / 3 - 1, x = j + l + k % 3 - 1;
    if (k == 9) op->address[l] = B + 4 * (i * n + j + l), op->value[0][l] = bits(irregular(i * n + j + l) * 9);
    else op->address[l] = A + 4 * (y * n + x), op->value[0][l] = bits(irregular(y * n + x));
  }
  return 1;
}

// Each thread goes along a row: lanes are far apart (atax, mvt).
static int rows(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  uint64_t n = s->width;
  if (k == 4 * n) return 0;
  uint64_t j = k / 4;
  all_lanes(op, k % 4, k % 4 != 3);
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t i = warp * 32 + l;
    switch (k % 4) {
      case 0: op->address[l] = A + 4 * (i * n + j), op->value[0][l] = bits(start(i, j, n)); break;
      case 1: op->address[l] = B + 4 * j, op->value[0][l] = bits((float)j * 3.14159f); break;
      case 2: op->address[l] = C + 4 * i, op->value[0][l] = bits((float)(i * j) * 0.37f); break;
      default: op->address[l] = C + 4 * i, op->value[0][l] = bits((float)(i * (j + 1)) * 0.37f); break;
    }
  }
  return 1;
}

// out[i] = table[index[i]]: everything random.
static int gather(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  if (k == 3) return 0;
  all_lanes(op, k, k < 2);
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t i = warp * 32 + l, index = mix(i) % s->n;
    op->address[l] = k == 0 ? B + 4 * i : k == 1 ? A + 4 * index : C + 4 * i;
    op->value[0][l] = k == 0 ? (uint32_t)index : (uint32_t)mix(~index);
  }
  return 1;
}

// Nothing but loads of random values from random places, 64 for each thread.
static int hashed(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  if (k == 64) return 0;
  all_lanes(op, k % 4, 1);
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t index = mix((warp * 64 + k) * 32 + l) % s->n;
    op->address[l] = A + 4 * index;
    op->value[0][l] = (uint32_t)mix(~index);
  }
  return 1;
}

// Lanes leave a loop one after the other.
static int divergent(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  if (k >= 96) return 0;
  uint32_t lanes = 0;
  for (uint64_t l = 0; l < 32; l++) lanes |= (uint32_t)(mix(warp * 32 + l) % 96 > k) << l;
  if (!lanes) lanes = 1;
  all_lanes(op, k % 2, k % 2 == 0);
  op->lanes = lanes;
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t i = (warp * 32 + l + k * 1024) % s->n;
    op->address[l] = A + 4 * i;
    op->value[0][l] = bits(irregular(i + k % 2));
  }
  return 1;
}

static uint32_t bins[1 << 16];
static int histogram(const Shape *s, uint64_t warp, uint32_t k, WarpOp *op) {
  (void)s;
  if (k == 16) return 0;
  all_lanes(op, k % 2, k % 2 == 0);
  for (uint64_t l = 0; l < 32; l++) {
    uint64_t i = (warp * 8 + k / 2) * 32 + l, bin = mix(i) % ARRAY_LEN(bins);
    op->address[l] = k % 2 ? B + 4 * bin : A + 4 * i;
    op->value[0][l] = k % 2 ? 1 : (uint32_t)bin;
    if (k % 2) op->old[0][l] = bins[bin]++;
  }
  if (k % 2) op->values = 2;
  return 1;
}

typedef struct Pattern { const char *name; Make *make; unsigned per_warp; unsigned kinds; } Pattern;     // kinds: two bits of each site: 1 load, 2 store, 3 atomic
static const Pattern patterns[] = {{"saxpy", saxpy, 3, 0x25}, {"matmul", matmul, 0, 0x25}, {"stencil", stencil, 10, 0x95555}, {"rows", rows, 0, 0x95}, {"gather", gather, 3, 0x25},
                                   {"hashed", hashed, 64, 0x55}, {"divergent", divergent, 48, 0x9}, {"histogram", histogram, 16, 0xD}};

static void sql(sqlite3 *db, const char *fmt, ...) {
  char text[2000], *err = NULL;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (sqlite3_exec(db, text, NULL, NULL, &err) == SQLITE_OK) return;
  fprintf(stderr, "%s: %s\n", text, err);
  exit(1);
}

static sqlite3 *database(const char *path, const Pattern *p, const Shape *s) {
  sqlite3 *db;
  unlink(path);
  CHECK(sqlite3_open(path, &db) == SQLITE_OK);
  sql(db, "PRAGMA page_size=32768; PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL");
#define ID COLUMN(id, "INTEGER PRIMARY KEY")
#define INT(name) COLUMN(name, "INTEGER")
#define STRING(name) COLUMN(name, "TEXT")
#define COLUMN(name, type) #name " " type ","
#define VIEW(name, select)
#define TABLE(name, columns) { char list[] = columns; list[sizeof list - 2] = 0; sql(db, "CREATE TABLE " #name " (%s)", list); }
#include "run/schema.def"
  for (unsigned i = 0; i < 10; i++) {
    unsigned kind = p->kinds >> 2 * i & 3;
    sql(db, "INSERT INTO site VALUES (%u, %u, %u, 1, 'k', '%s', 1, %u, 'global', 4, NULL, 0)", 100 + i, PROCESS, i, kind == 3 ? "atom.global.add.u32" : "", kind == 3 ? 4 : kind);
  }
  static const uint64_t bases[] = {A, B, C};
  for (unsigned i = 0; i < 3; i++) sql(db, "INSERT INTO allocation VALUES (%u, %u, %llu, %llu, 'device', 0, NULL, 0, 0, 0, NULL)", 200 + i, PROCESS, (unsigned long long)bases[i], 1ull << 34);
  sql(db, "INSERT INTO launch VALUES (300, %u, 1, 1, %llu, 1, 1, 256, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0)", PROCESS, (unsigned long long)(s->warps / 8 + 1));
  sql(db, "INSERT INTO step (id, process, number, kind, launch, recorded) VALUES (301, %u, 1, 'launch', 300, 1)", PROCESS);
  return db;
}

typedef struct Sample { uint64_t warp, address; } Sample;
static Sample samples[64];

typedef struct Cost { double seconds, take, encode, save; } Cost;          // seconds on the wall, and of processors for each part of the work
static uint64_t fill(sqlite3 *db, const Pattern *p, const Shape *s, unsigned threads, uint64_t *raw, Cost *cost) {
  Error err = {{0}};
  TraceWriter *w = trace_writer_new(&(TraceLimits){.threads = threads}, &err);
  CHECK(w);
  Out out[RINGS] = {{0}};
  uint64_t next = 0, operations = 0, made = 0;
  struct { uint64_t warp; uint32_t k; } resident[RINGS][RESIDENT];
  uint32_t count[RINGS] = {0}, time = 0;
  double making = 0, taking = 0, saving = 0, began = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  bool any = true;
  while (any) {
    any = false;
    double t = now(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned r = 0; r < RINGS; r++) {
      while (out[r].len < TAKE) {
        while (count[r] < RESIDENT && next < s->warps) resident[r][count[r]].warp = next++, resident[r][count[r]++].k = 0;
        if (!count[r]) break;
        for (uint32_t i = 0; i < count[r];) {
          WarpOp op = {.warp = resident[r][i].warp, .launch = 1, .time = time++ & 0x7FFFFFFF};
          if (!p->make(s, op.warp, resident[r][i].k++, &op)) {
            resident[r][i].warp = resident[r][count[r] - 1].warp, resident[r][i].k = resident[r][count[r] - 1].k, count[r]--;
            continue;
          }
          record_write(&out[r], &op);
          operations += (unsigned)__builtin_popcount(op.lanes);
          if (mix(made++) % (s->warps * s->steps / ARRAY_LEN(samples) + 1) == 0 || made <= ARRAY_LEN(samples))
            samples[made <= ARRAY_LEN(samples) ? made - 1 : mix(made) % ARRAY_LEN(samples)] = (Sample){op.warp, op.address[__builtin_ctz(op.lanes)]};
          i++;
        }
      }
    }
    making += now(CLOCK_THREAD_CPUTIME_ID) - t;
    t = now(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned r = 0; r < RINGS; r++) {
      if (!out[r].len) continue;
      any = true;
      *raw += out[r].len;
      CHECK(trace_take(w, PROCESS, r, out[r].data, out[r].len, false) == out[r].len);
      out[r].len = 0;
    }
    taking += now(CLOCK_THREAD_CPUTIME_ID) - t;
    t = now(CLOCK_THREAD_CPUTIME_ID);
    if (!trace_save(w, db, false, &err)) { fprintf(stderr, "%s\n", err.text); exit(1); }
    saving += now(CLOCK_THREAD_CPUTIME_ID) - t;
  }
  double t = now(CLOCK_THREAD_CPUTIME_ID);
  if (!trace_save(w, db, true, &err)) { fprintf(stderr, "%s\n", err.text); exit(1); }
  saving += now(CLOCK_THREAD_CPUTIME_ID) - t;
  *cost = (Cost){now(CLOCK_MONOTONIC) - began, taking, now(CLOCK_PROCESS_CPUTIME_ID) - cpu - making - taking - saving, saving};
  trace_writer_free(w);
  for (unsigned r = 0; r < RINGS; r++) free(out[r].data);
  return operations;
}

// A question's time: on the wall, since threads share the work, and of processors.
typedef struct Moment { double wall, cpu; } Moment;
typedef struct Times { double wall, cpu, most_wall, most_cpu; unsigned n; } Times;
static Moment moment(void) { return (Moment){now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID)}; }
static void took(Times *t, Moment began) {
  double wall = now(CLOCK_MONOTONIC) - began.wall, cpu = now(CLOCK_PROCESS_CPUTIME_ID) - began.cpu;
  t->wall += wall, t->cpu += cpu, t->n++;
  t->most_wall = fmax(t->most_wall, wall), t->most_cpu = fmax(t->most_cpu, cpu);
}

static void ask(const char *path) {
  sqlite3 *db;
  Error err = {{0}};
  CHECK(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
  Moment began = moment();
  TraceReader *t = trace_open(db, &err);
  if (!t) { fprintf(stderr, "%s\n", err.text); exit(1); }
  enum { OPEN, THREAD, ELEMENT, WRITERS, TOUCHING, CONTENTS, QUESTIONS };
  static const char *const names[] = {"open", "thread", "element", "writers", "threads of an element", "4096 bytes of contents"};
  Times times[QUESTIONS] = {0};
  took(&times[OPEN], began);
  for (unsigned i = 0; i < ARRAY_LEN(samples); i++) {
    TraceOps o;
    // Each question with an empty cache of ours: a newly opened reader; what the system has read stays.
    trace_close(t);
    t = trace_open(db, &err);
    began = moment();
    CHECK(trace_of_thread(t, 300, samples[i].warp * 32 + 7, 0, 200, &o, &err));
    took(&times[THREAD], began);
    trace_ops_free(&o);
    trace_close(t);
    t = trace_open(db, &err);
    uint32_t allocation = samples[i].address >= C ? 202 : samples[i].address >= B ? 201 : 200;
    began = moment();
    CHECK(trace_of_element(t, allocation, samples[i].address, 4, 0, 200, &o, &err));
    took(&times[ELEMENT], began);
    uint64_t record = 0;
    uint32_t lane = 0;
    for (uint32_t k = 0; k < o.n; k++)
      if (o.list[k].kind == TRACE_LOAD || o.list[k].kind == TRACE_ATOMIC) record = o.list[k].record, lane = o.list[k].lane;
    trace_ops_free(&o);
    if (record) {
      TraceWriters w;
      began = moment();
      CHECK(trace_writers(t, record, lane, false, &w, &err));
      took(&times[WRITERS], began);
      trace_ops_free(&w.ops);
    }
    began = moment();
    CHECK(trace_touching(t, 300, samples[i].address, 4, 0, 200, &o, &err));
    took(&times[TOUCHING], began);
    trace_ops_free(&o);
    trace_close(t);
    t = trace_open(db, &err);
    uint8_t value[4096], known[4096];
    began = moment();
    CHECK(trace_contents(t, allocation, 0, (samples[i].address & ((1ull << 32) - 1)) & ~4095ull, 4096, value, known, &err));
    took(&times[CONTENTS], began);
  }
  for (int cpu = 0; cpu < 2; cpu++) {
    printf(cpu ? "  of a processor:" : "  milliseconds (mean, largest):");
    for (int i = 0; i < QUESTIONS; i++) {
      const Times *x = &times[i];
      printf("%s %s %.2f %.1f", i ? ";" : "", names[i], (cpu ? x->cpu : x->wall) / MAX(x->n, 1u) * 1e3, (cpu ? x->most_cpu : x->most_wall) * 1e3);
    }
    printf("\n");
  }
  trace_close(t);
  sqlite3_close(db);
}

int main(int argc, char **argv) {
  if (argc < 4) { fprintf(stderr, "usage: trace PATTERN OPERATIONS FILE [THREADS]\n"); return 2; }
  const Pattern *p = NULL;
  for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
    if (strcmp(argv[1], patterns[i].name) == 0) p = &patterns[i];
  if (!p) { fprintf(stderr, "no such pattern\n"); return 2; }
  double wanted = atof(argv[2]);
  Shape s = {.n = 1 << 24, .width = 512};
  if (p->make == stencil) s.width = (uint64_t)sqrt(wanted / 10) / 32 * 32 + 32;
  if (p->make == saxpy || p->make == gather) s.n = MAX((uint64_t)(wanted / 6), 1u << 16);
  unsigned per_warp = p->per_warp ? p->per_warp : p->make == rows ? (unsigned)s.width * 4 : (unsigned)s.width * 2 + 1;
  s.warps = (uint64_t)(wanted / 32 / per_warp) + 1;
  s.steps = per_warp;
  sqlite3 *db = database(argv[3], p, &s);
  uint64_t raw = 0;
  Cost cost;
  uint64_t n = fill(db, p, &s, argc > 4 ? (unsigned)atoi(argv[4]) : 1, &raw, &cost);
  sql(db, "PRAGMA journal_mode=DELETE");
  sqlite3_close(db);
  struct stat st;
  stat(argv[3], &st);
  printf("%-10s %.3g operations, raw %.2f bytes each, on disk %.3f; GB/s of raw records for a processor: taking them %.2f, encoding %.2f, saving %.2f (%.2f of the file)\n", p->name, (double)n, (double)raw / (double)n,
         (double)st.st_size / (double)n, (double)raw / cost.take / 1e9, (double)raw / cost.encode / 1e9, (double)raw / cost.save / 1e9, (double)st.st_size / cost.save / 1e9);
  ask(argv[3]);
  return 0;
}
