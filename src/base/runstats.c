#define _GNU_SOURCE

#include "base/runstats.h"

#include "base/shared_memory.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define STATS_VARIABLE "WARPGRIND_STATS"

static RunStats private_page;
static RunStats *page = &private_page;
static pthread_once_t attached = PTHREAD_ONCE_INIT;

static RunStats *map_shared(int fd) {
  void *p = mmap(NULL, sizeof(RunStats), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return p == MAP_FAILED ? NULL : p;
}

static void attach(void) {
  int fd = shared_memory_open(STATS_VARIABLE);
  if (fd < 0) return;
  RunStats *shared = lseek(fd, 0, SEEK_END) >= (off_t)sizeof(RunStats) ? map_shared(fd) : NULL;
  close(fd);
  if (!shared) return;
  if (shared->magic == RUNSTATS_MAGIC) page = shared;
  else munmap(shared, sizeof(RunStats));
}

static void attach_and_count(void) {
  attach();
  atomic_fetch_add(&page->processes, 1);
}

RunStats *runstats(void) {
  pthread_once(&attached, attach_and_count);
  return page;
}

void runstats_count_launch(bool first_time) {
  RunStats *s = runstats();
  atomic_fetch_add_explicit(&s->launches, 1, memory_order_relaxed);
  if (first_time) atomic_fetch_add_explicit(&s->kernels, 1, memory_order_relaxed);
}

void runstats_uncount_launch(void) {
  atomic_fetch_sub_explicit(&runstats()->launches, 1, memory_order_relaxed);
}

void runstats_count_library_call(bool checked) {
  RunStats *s = runstats();
  atomic_fetch_add_explicit(&s->library_calls, 1, memory_order_relaxed);
  if (checked) atomic_fetch_add_explicit(&s->checked_library_calls, 1, memory_order_relaxed);
}

void runstats_count_cuda_process(void) { atomic_fetch_add(&runstats()->cuda_processes, 1); }

void runstats_fail(const char *fmt, ...) {
  RunStats *s = runstats();
  uint32_t none = 0;
  if (!atomic_compare_exchange_strong(&s->failed, &none, 1)) return;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(s->failure, sizeof s->failure, fmt, ap);
  va_end(ap);
  atomic_store(&s->failed, 2);
}

void runstats_log_failed(const char *path, int error) {
  runstats_fail("the log file %s cannot be written: %s.", path, strerror(error));
}

bool runstats_is_unheard(void) {
  return runstats() == &private_page && shared_memory_is_offered(STATS_VARIABLE) &&
         atomic_load(&private_page.failed) == 2;
}

RunStats *runstats_create(Error *err) {
  int fd = shared_memory_create(STATS_VARIABLE, "warpgrind-stats", sizeof(RunStats));
  RunStats *s = fd < 0 ? NULL : map_shared(fd);
  if (!s) {
    error_set(err, "cannot make shared memory for the run's numbers: %s", strerror(errno));
    return NULL;
  }
  s->magic = RUNSTATS_MAGIC;
  return s;
}

// Copies first, then checks the copy: the program may write anything, even during the read.
void runstats_read(const RunStats *shared, RunStats *copy) {
  memcpy(copy, (const void *)shared, sizeof *copy);
  copy->failure[sizeof copy->failure - 1] = 0;
  bool has_sentence = copy->failed == 2 && copy->failure[0];
  if (copy->magic == RUNSTATS_MAGIC && copy->failed <= 2 && (copy->failed != 2 || has_sentence))
    return;
  *copy = (RunStats){.magic = RUNSTATS_MAGIC, .processes = MAX(copy->processes, 1), .failed = 2};
  snprintf(copy->failure, sizeof copy->failure,
           "The program has damaged the memory in which Warpgrind counts its launches: the numbers "
           "of this run are lost.");
}
