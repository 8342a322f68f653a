// Threads of our own, with a stack of a size that does not depend on ulimit -s.
#include "base/base.h"

#include <pthread.h>
#include <signal.h>

// Thread-local buffers lie on the stack of a thread: under a small ulimit -s they would not fit.
enum { STACK_BYTES = 8 << 20 };

static pthread_attr_t attributes;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_attributes(void) {
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
}

const pthread_attr_t *thread_attributes(void) {
  pthread_once(&once, make_attributes);
  return &attributes;
}

int thread_start(pthread_t *out, void *(*run)(void *), void *user) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(out, thread_attributes(), run, user);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed;
}
