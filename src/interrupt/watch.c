// Names a handler that does not return: its kernel, and all later work of the stream, waits for it.
// A thread of ours looks twice a second while handlers run.
#include "interrupt/watch.h"

#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER;
static HandlerWatch *running;
static bool is_watching;

static void say(const HandlerWatch *w, uint64_t now) {
  Str at = {0};
  if (w->file && *w->file) str_printf(&at, ", at %s:%u", w->file, w->line);
  log_error("the handler of interrupt %s has not returned for %llu s; kernel %s waits for it "
            "(%zu threads have called it%s)",
            w->name, (unsigned long long)((now - w->since) / 1000000000u), w->kernel, w->count,
            at.data ? at.data : "");
  str_free(&at);
}

static void *watch(void *user) {
  const struct timespec pause = {.tv_nsec = 500000000};
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!running) pthread_cond_wait(&begun, &lock);
    pthread_mutex_unlock(&lock);
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&lock);
    uint64_t now = clock_ns();
    for (HandlerWatch *w = running; w; w = w->next) {
      if (w->said || now - w->since < w->limit_ns) continue;
      w->said = true;
      say(w, now);
    }
  }
  return NULL;
}

void handler_begins(HandlerWatch *w) {
  pthread_t thread;
  if (!w->limit_ns) return;
  w->since = clock_ns();
  pthread_mutex_lock(&lock);
  w->next = running;
  running = w;
  if (!is_watching && thread_start(&thread, watch, NULL) == 0) {
    pthread_detach(thread);
    is_watching = true;
  }
  pthread_cond_signal(&begun);
  pthread_mutex_unlock(&lock);
}

void handler_ends(HandlerWatch *w) {
  if (!w->limit_ns) return;
  pthread_mutex_lock(&lock);
  HandlerWatch **at = &running;
  while (*at != w) at = &(*at)->next;
  *at = w->next;
  pthread_mutex_unlock(&lock);
}
