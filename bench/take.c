// How fast records are taken from rings, as threads of the command do it: each thread has a ring
// full of records, takes a piece of it, sets as many bytes to zero elsewhere and begins again.
//   take GIGABYTES [threads [encoding threads [same]]]    same: all values are the same
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "records.h"
#include "trace/trace.h"

enum { PROCESS = 1, RING = 16 << 20, AT_ONCE = 256 << 10, THREADS = 256 };
static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Taker {
  TraceWriter *w;
  uint32_t index;
  uint64_t bytes;
  double cpu, wall;
  pthread_t thread;
} Taker;

static bool same;

// Loads and stores of 32 neighbouring lanes, with unpredictable values, or with one value for all.
static void fill(Out *out, uint32_t index) {
  for (uint32_t i = 0; out->len < RING; i++) {
    WarpOp op = {.warp = index * 100000 + i / 8,
                 .launch = 1,
                 .time = i & 0x7FFFFFFF,
                 .site = i % 3,
                 .lanes = UINT32_MAX,
                 .has_address = 1,
                 .planes = 1,
                 .values = 1,
                 .same = i % 3 != 2};
    for (uint32_t l = 0; l < 32; l++) {
      op.address[l] = 0x7f1000000000 + (i % 3 << 30) + 128ull * (i / 3) + 4 * l;
      op.value[0][l] = same ? 1 : (i * 32 + l) * 0x9E3779B1u;
    }
    record_write(out, &op);
  }
}

static void *work(void *p) {
  Taker *t = p;
  Out out = {0};
  fill(&out, t->index);
  uint8_t *other = mem_alloc(RING + 65536);
  memset(other, 1, RING + 65536);
  double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
  for (uint64_t done = 0, at = 0; done < t->bytes; at = RING - at < AT_ONCE ? 0 : at) {
    size_t n = trace_take(t->w, PROCESS, t->index, out.data + at,
                          MIN((size_t)AT_ONCE, out.len - at), false);
    memset(other + at, 0, n);
    at += n;
    done += n;
  }
  t->cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu, t->wall = now(CLOCK_MONOTONIC) - wall;
  free(out.data);
  free(other);
  return NULL;
}

int main(int argc, char **argv) {
  double gb = argc > 1 ? atof(argv[1]) : 2;
  long threads = argc > 2 ? atol(argv[2]) : sysconf(_SC_NPROCESSORS_ONLN);
  Error err = {{0}};
  same = argc > 4;
  TraceWriter *w = trace_writer_new(
      &(TraceLimits){.threads = argc > 3 ? (unsigned)atol(argv[3]) : 0, .ahead = true}, &err);
  CHECK(w && threads > 0 && threads <= THREADS);
  static Taker takers[THREADS];
  sleep(2);                                // memory is allocated ahead
  for (long i = 0; i < threads; i++) {
    takers[i] = (Taker){
        .w = w, .index = (uint32_t)i, .bytes = (uint64_t)(gb * 1e9 / (double)threads)};
    pthread_create(&takers[i].thread, NULL, work, &takers[i]);
  }
  double cpu = 0, wall = 0;
  for (long i = 0; i < threads; i++) {
    pthread_join(takers[i].thread, NULL);
    cpu += takers[i].cpu;
    wall = MAX(wall, takers[i].wall);
  }
  printf("%ld threads take %.2f GB/s of records (%.2f for each second of a processor), %.3g GB in "
         "%.3f s\n",
         threads, gb / wall, gb / cpu, gb, wall);
  fflush(stdout);
  _exit(0);
}
