#include "gpu/collector.h"

#include <time.h>

static void *collect(void *user) {
  GpuCollector *k = user;
  for (;;) {
    GpuTaken most = GPU_IDLE;
    pthread_mutex_lock(&k->lock);
    for (GpuCollected *one = k->all; one; one = one->next) {
      GpuTaken taken = k->take(one);
      most = MAX(most, taken);
    }
    if (most == GPU_IDLE) pthread_cond_wait(&k->more, &k->lock);
    pthread_mutex_unlock(&k->lock);
    if (most == GPU_TOOK && k->after) k->after();
    if (most != GPU_TOOK) nanosleep(&(struct timespec){0, k->pause_us * 1000}, NULL);
  }
  return NULL;
}

static void start(GpuCollector *k) {
  pthread_t thread;
  k->started = thread_start(&thread, collect, k) == 0;
  if (k->started) pthread_detach(thread);
}

void gpu_collector_add(GpuCollector *k, GpuCollected *one) {
  pthread_mutex_lock(&k->lock);
  one->next = k->all;
  k->all = one;
  if (!k->started) start(k);
  pthread_cond_signal(&k->more);
  pthread_mutex_unlock(&k->lock);
}

void gpu_collector_remove(GpuCollector *k, GpuCollected *one) {
  for (GpuCollected **at = &k->all; *at; at = &(*at)->next)
    if (*at == one) {
      *at = one->next;
      return;
    }
}

void gpu_collector_wake(GpuCollector *k) { pthread_cond_signal(&k->more); }
