#include "base/base.h"

#include <pthread.h>
#include <signal.h>

int thread_start(pthread_t *out, void *(*run)(void *), void *user) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(out, NULL, run, user);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed;
}
