// A line for the user when the compiler takes long. A thread of ours looks on while anything is
// being compiled.
#define _GNU_SOURCE
#include "gpu/modules/modules.h"

#include <errno.h>
#include <time.h>

enum { SLOTS = 64, PATIENCE_MS = 2000 };
static struct Job {
  const char *name;
  int64_t since;
  pthread_t thread;
  bool said;
} jobs[SLOTS];
static unsigned running;
static bool watching;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *watch(void *unused) {
  pthread_mutex_lock(&lock);
  while (running) {
    int64_t now = now_ms(), next = now + PATIENCE_MS;
    for (unsigned i = 0; i < SLOTS; i++) {
      if (!jobs[i].name || jobs[i].said) continue;
      int64_t due = jobs[i].since + PATIENCE_MS;
      if (due <= now) {
        jobs[i].said = true;
        log_line("compiling kernel %s ...", jobs[i].name);
      } else {
        next = MIN(next, due);
      }
    }
    struct timespec until = {next / 1000, next % 1000 * 1000000};
    pthread_cond_timedwait(&changed, &lock, &until);
  }
  watching = false;
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void start_watching(void) {
  pthread_t thread;
  watching = thread_start(&thread, watch, NULL) == 0;
  if (watching) pthread_detach(thread);
}

void gpu_watch_begin(const char *name) {
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < SLOTS; i++)
    if (!jobs[i].name) {
      jobs[i] = (struct Job){name, now_ms(), pthread_self(), false};
      running++;
      if (!watching) start_watching();
      break;
    }
  pthread_mutex_unlock(&lock);
}

void gpu_watch_end(void) {
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < SLOTS; i++)
    if (jobs[i].name && pthread_equal(jobs[i].thread, pthread_self())) {
      jobs[i].name = NULL;
      running--;
      if (!running) pthread_cond_signal(&changed);
      break;
    }
  pthread_mutex_unlock(&lock);
}
