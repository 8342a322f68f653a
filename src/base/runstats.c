#define _GNU_SOURCE

#include "base/runstats.h"

#include <errno.h>
#include <fcntl.h>
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
  const char *path = getenv(STATS_VARIABLE);
  int fd = path && *path ? open(path, O_RDWR | O_CLOEXEC) : -1;
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

void runstats_log_failed(const char *path, int error) { runstats_fail("the log file %s cannot be written: %s.", path, strerror(error)); }

// The page is named through the command's own descriptor: no file to clean up, no descriptor left open in the program.
RunStats *runstats_create(Error *err) {
  int fd = memfd_create("warpgrind-stats", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, sizeof(RunStats)) != 0) {
    error_set(err, "cannot create shared memory for the run's numbers: %s", strerror(errno));
    return NULL;
  }
  RunStats *s = map_shared(fd);
  if (!s) {
    error_set(err, "cannot map shared memory for the run's numbers: %s", strerror(errno));
    return NULL;
  }
  s->magic = RUNSTATS_MAGIC;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
  setenv(STATS_VARIABLE, path, 1);
  return s;
}
