// Measures the size of recorded operations on disk and the time of questions about them: raw
// records of known patterns, as kernels write them, go into a run file.
//   trace PATTERN OPERATIONS FILE [encoding threads]
#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "patterns.h"
#include "trace/trace.h"

enum {
  PROCESS = 1,
  RINGS = 4,
  RESIDENT = 512,
  TAKE = 4 << 20
};  // RESIDENT: warps of a ring that are at work at the same time
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
  Error err = {{0}};
  unlink(path);
  sqlite3 *db = store_create(path, &err);
  CHECK(db);
  sql(db, "PRAGMA page_size=32768; PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL");
#define ID COLUMN(id, "INTEGER PRIMARY KEY")
#define INT(name) COLUMN(name, "INTEGER")
#define STRING(name) COLUMN(name, "TEXT")
#define COLUMN(name, type) #name " " type ","
#define VIEW(name, select)
#define TABLE(name, columns) \
  { \
    char list[] = columns; \
    list[sizeof list - 2] = 0; \
    sql(db, "CREATE TABLE " #name " (%s)", list); \
  }
#include "run/schema.def"
  for (unsigned i = 0; i < 10; i++) {
    unsigned kind = p->kinds >> 2 * i & 3;
    sql(db, "INSERT INTO site VALUES (%u, %u, %u, 1, 'k', '%s', 1, %u, 'global', 4, NULL, 0)",
        100 + i, PROCESS, i, kind == 3 ? "atom.global.add.u32" : "", kind == 3 ? 4 : kind);
  }
  static const uint64_t bases[] = {A, B, C};
  for (unsigned i = 0; i < 3; i++)
    sql(db, "INSERT INTO allocation VALUES (%u, %u, %llu, %llu, 'device', 0, NULL, 0, 0, 0, NULL)",
        200 + i, PROCESS, (unsigned long long)bases[i], 1ull << 34);
  sql(db,
      "INSERT INTO launch VALUES (300, %u, 1, 1, %llu, 1, 1, 256, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, "
      "0)",
      PROCESS, (unsigned long long)(s->warps / 8 + 1));
  sql(db,
      "INSERT INTO step (id, process, number, kind, launch, recorded) VALUES (301, %u, 1, "
      "'launch', 300, 1)",
      PROCESS);
  return db;
}

typedef struct Sample {
  uint64_t warp, address;
} Sample;
static Sample samples[64];

typedef struct Cost {
  double seconds, take, encode, save;
} Cost;  // seconds on the wall, and of processors for each part of the work
static uint64_t fill(sqlite3 *db, const Pattern *p, const Shape *s, unsigned threads, uint64_t *raw,
                     Cost *cost) {
  Error err = {{0}};
  TraceWriter *w = trace_writer_new(&(TraceLimits){.threads = threads}, &err);
  CHECK(w);
  Out out[RINGS] = {{0}};
  uint64_t next = 0, operations = 0, made = 0;
  struct {
    uint64_t warp;
    uint32_t k;
  } resident[RINGS][RESIDENT];
  uint32_t count[RINGS] = {0}, time = 0;
  double making = 0, taking = 0, saving = 0, began = now(CLOCK_MONOTONIC),
         cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  bool any = true;
  while (any) {
    any = false;
    double t = now(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned r = 0; r < RINGS; r++) {
      while (out[r].len < TAKE) {
        while (count[r] < RESIDENT && next < s->warps) {
          resident[r][count[r]].warp = next++;
          resident[r][count[r]++].k = 0;
        }
        if (!count[r]) break;
        for (uint32_t i = 0; i < count[r];) {
          WarpOp op = {.warp = resident[r][i].warp, .launch = 1, .time = time++ & 0x7FFFFFFF};
          uint64_t some = make_record(p, s, &op, resident[r][i].k++, &out[r]);
          if (!some) {
            resident[r][i].warp = resident[r][count[r] - 1].warp;
            resident[r][i].k = resident[r][count[r] - 1].k;
            count[r]--;
            continue;
          }
          operations += some;
          if (mix(made++) % (s->warps * s->steps / ARRAY_LEN(samples) + 1) == 0 ||
              made <= ARRAY_LEN(samples))
            samples[made <= ARRAY_LEN(samples) ? made - 1 : mix(made) % ARRAY_LEN(samples)] =
                (Sample){op.warp, op.address[__builtin_ctz(op.lanes)]};
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
    if (!trace_save(w, db, false, &err)) {
      fprintf(stderr, "%s\n", err.text);
      exit(1);
    }
    saving += now(CLOCK_THREAD_CPUTIME_ID) - t;
  }
  double t = now(CLOCK_THREAD_CPUTIME_ID);
  if (!trace_save(w, db, true, &err)) {
    fprintf(stderr, "%s\n", err.text);
    exit(1);
  }
  saving += now(CLOCK_THREAD_CPUTIME_ID) - t;
  *cost = (Cost){now(CLOCK_MONOTONIC) - began, taking,
                 now(CLOCK_PROCESS_CPUTIME_ID) - cpu - making - taking - saving, saving};
  trace_writer_free(w);
  for (unsigned r = 0; r < RINGS; r++) free(out[r].data);
  return operations;
}

// A question's time: on the wall, since threads share the work, and of processors.
typedef struct Moment {
  double wall, cpu;
} Moment;
typedef struct Times {
  double wall, cpu, most_wall, most_cpu;
  unsigned n;
} Times;
static Moment moment(void) { return (Moment){now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID)}; }
static void took(Times *t, Moment began) {
  double wall = now(CLOCK_MONOTONIC) - began.wall, cpu = now(CLOCK_PROCESS_CPUTIME_ID) - began.cpu;
  t->wall += wall;
  t->cpu += cpu;
  t->n++;
  t->most_wall = fmax(t->most_wall, wall);
  t->most_cpu = fmax(t->most_cpu, cpu);
}

enum { OPEN, THREAD, ELEMENT, WRITERS, READERS, TOUCHING, CONTENTS, QUESTIONS };
static const char *const names[] = {"open",
                                    "thread",
                                    "element",
                                    "writers",
                                    "readers",
                                    "threads of an element",
                                    "4096 bytes of contents"};

static void print_times(const Times *times) {
  for (int cpu = 0; cpu < 2; cpu++) {
    printf(cpu ? "  of a processor:" : "  milliseconds (mean, largest):");
    for (int i = 0; i < QUESTIONS; i++) {
      const Times *x = &times[i];
      printf("%s %s %.2f %.1f", i ? ";" : "", names[i],
             (cpu ? x->cpu : x->wall) / MAX(x->n, 1u) * 1e3,
             (cpu ? x->most_cpu : x->most_wall) * 1e3);
    }
    printf("\n");
  }
}

// The last read and the last write of an element.
static void find_accesses(const TraceOps *o, TraceOpId *read, TraceOpId *written) {
  for (uint32_t k = 0; k < o->n; k++) {
    const TraceOp *a = &o->list[k];
    if (a->kind == TRACE_LOAD || a->kind == TRACE_ATOMIC) *read = (TraceOpId){a->record, a->lane};
    if (a->kind == TRACE_STORE || a->kind == TRACE_ATOMIC)
      *written = (TraceOpId){a->record, a->lane};
  }
}

static void ask(const char *path) {
  Error err = {{0}};
  Store *store = store_open(path, STORE_READ, &err);
  CHECK(store);
  sqlite3 *db = store->db;
  Moment began = moment();
  trace_prepare_memory();
  TraceReader *t = trace_open(db, &err);
  if (!t) {
    fprintf(stderr, "%s\n", err.text);
    exit(1);
  }
  Times times[QUESTIONS] = {0};
  took(&times[OPEN], began);
  for (unsigned i = 0; i < ARRAY_LEN(samples); i++) {
    TraceOps o;
    // Each question with an empty cache of ours: a newly opened reader; what the system has read
    // stays.
    trace_close(t);
    t = trace_open(db, &err);
    began = moment();
    CHECK(trace_of_thread(t, 300, samples[i].warp * 32 + 7, (TracePage){0, 200}, &o, &err));
    took(&times[THREAD], began);
    trace_ops_free(&o);
    trace_close(t);
    t = trace_open(db, &err);
    uint32_t allocation = samples[i].address >= C ? 202 : samples[i].address >= B ? 201 : 200;
    began = moment();
    if (!trace_of_element(t, allocation, (TraceBytes){samples[i].address, 4}, (TracePage){0, 200},
                          &o, &err)) {
      fprintf(stderr, "%s\n", err.text);
      exit(1);
    }
    took(&times[ELEMENT], began);
    TraceOpId read = {0}, written = {0};
    find_accesses(&o, &read, &written);
    trace_ops_free(&o);
    if (read.record) {
      TraceWriters w;
      began = moment();
      CHECK(trace_writers(t, read.record, read.lane, false, &w, &err));
      took(&times[WRITERS], began);
      trace_ops_free(&w.ops);
    }
    trace_close(t);
    t = trace_open(db, &err);
    if (written.record) {
      began = moment();
      CHECK(trace_readers(t, written, (TracePage){0, 200}, false, &o, &err));
      took(&times[READERS], began);
      trace_ops_free(&o);
    }
    began = moment();
    CHECK(
        trace_touching(t, 300, (TraceBytes){samples[i].address, 4}, (TracePage){0, 200}, &o, &err));
    took(&times[TOUCHING], began);
    trace_ops_free(&o);
    trace_close(t);
    t = trace_open(db, &err);
    uint8_t value[4096], known[4096];
    began = moment();
    CHECK(trace_contents(
        t, &(TraceSlice){allocation, 0, (samples[i].address & ((1ull << 32) - 1)) & ~4095ull, 4096},
        value, known, &err));
    took(&times[CONTENTS], began);
  }
  print_times(times);
  trace_close(t);
  store_close(store);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: trace PATTERN OPERATIONS FILE [THREADS]\n");
    return 2;
  }
  const Pattern *p = pattern_named(argv[1]);
  if (!p) {
    fprintf(stderr, "no such pattern\n");
    return 2;
  }
  double wanted = atof(argv[2]);
  Shape s = shape_of(p, wanted);
  sqlite3 *db = database(argv[3], p, &s);
  uint64_t raw = 0;
  Cost cost;
  uint64_t n = fill(db, p, &s, argc > 4 ? (unsigned)atoi(argv[4]) : 1, &raw, &cost);
  sql(db, "PRAGMA journal_mode=DELETE");
  sqlite3_close(db);
  struct stat st;
  stat(argv[3], &st);
  printf("%-10s %.3g operations, raw %.2f bytes each, on disk %.3f; GB/s of raw records for a "
         "processor: taking them %.2f, encoding %.2f, saving %.2f (%.2f of the file)\n",
         p->name, (double)n, (double)raw / (double)n, (double)st.st_size / (double)n,
         (double)raw / cost.take / 1e9, (double)raw / cost.encode / 1e9,
         (double)raw / cost.save / 1e9, (double)st.st_size / cost.save / 1e9);
  ask(argv[3]);
  return 0;
}
