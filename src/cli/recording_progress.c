// A line on the terminal while a program is recorded: operations, bytes in the file, and how fast.
#include "cli/cli.h"

#include <pthread.h>
#include <unistd.h>

#include "run/run.h"
#include "trace/trace.h"

static struct {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t ends;
  const struct TraceWriter *writer;
  bool started, ending;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER, .ends = PTHREAD_COND_INITIALIZER};

static void *show(void *unused) {
  uint64_t began = clock_ns(), before = 0, last = began;
  pthread_mutex_lock(&progress.lock);
  while (!progress.ending) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_cond_timedwait(&progress.ends, &progress.lock, &until);
    if (progress.ending) break;
    uint64_t operations, bytes, now = clock_ns();
    trace_written(progress.writer, &operations, &bytes);
    fprintf(stderr, "\r\033[Krecording: %.1f million operations, %.2f GB, %.1f million a second",
            (double)operations / 1e6, (double)bytes / 1e9,
            (double)(operations - before) / 1e6 / ((double)(now - last) / 1e9));
    fflush(stderr);
    before = operations;
    last = now;
  }
  pthread_mutex_unlock(&progress.lock);
  fprintf(stderr, "\r\033[K");
  return unused;
}

void cli_progress_start(const Run *r, bool quiet) {
  const char *wanted = getenv("WARPGRIND_PROGRESS");
  bool shown = wanted ? !strcmp(wanted, "1") : isatty(STDERR_FILENO);
  progress.writer = r->trace;
  progress.started = r->trace && !quiet && shown &&
                     pthread_create(&progress.thread, NULL, show, NULL) == 0;
}

void cli_progress_end(void) {
  if (!progress.started) return;
  pthread_mutex_lock(&progress.lock);
  progress.ending = true;
  pthread_cond_signal(&progress.ends);
  pthread_mutex_unlock(&progress.lock);
  pthread_join(progress.thread, NULL);
  progress.started = false;
}
