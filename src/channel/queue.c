// Messages from the channel, on their way from the reading thread to the thread that takes them.
#include <pthread.h>
#include <time.h>

#include "channel/internal.h"

enum { FULL_BYTES = 256 << 20 };

struct Queue {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  Str next;   // being filled; the reading thread's own
  Str ready;  // published
  bool ended;
};

Queue *queue_new(void) {
  Queue *q = mem_alloc(sizeof *q);
  pthread_mutex_init(&q->lock, NULL);
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&q->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  return q;
}

void queue_add(Queue *q, const Message *m, const void *bytes) {
  str_addn(&q->next, (const char *)m, sizeof *m);
  if (m->size) str_addn(&q->next, bytes, m->size);
}

void queue_add_all(Queue *q, Str *messages) {
  if (messages->len) str_addn(&q->next, messages->data, messages->len);
  messages->len = 0;
}

void queue_publish(Queue *q) {
  if (!q->next.len) return;
  pthread_mutex_lock(&q->lock);
  if (q->ready.len) {
    str_addn(&q->ready, q->next.data, q->next.len);
    q->next.len = 0;
  } else {
    Str empty = q->ready;
    q->ready = q->next;
    q->next = empty;
  }
  pthread_cond_signal(&q->changed);
  pthread_mutex_unlock(&q->lock);
}

bool queue_is_full(Queue *q) {
  pthread_mutex_lock(&q->lock);
  bool full = q->ready.len > FULL_BYTES;
  pthread_mutex_unlock(&q->lock);
  return full;
}

void queue_end(Queue *q) {
  queue_publish(q);
  pthread_mutex_lock(&q->lock);
  q->ended = true;
  pthread_cond_signal(&q->changed);
  pthread_mutex_unlock(&q->lock);
}

char *queue_take(Queue *q, unsigned wait_ms, size_t *size, bool *ended) {
  struct timespec limit;
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += wait_ms / 1000;
  limit.tv_nsec += (long)(wait_ms % 1000) * 1000000;
  if (limit.tv_nsec >= 1000000000) {
    limit.tv_sec++;
    limit.tv_nsec -= 1000000000;
  }
  pthread_mutex_lock(&q->lock);
  while (!q->ready.len && !q->ended && pthread_cond_timedwait(&q->changed, &q->lock, &limit) == 0)
    continue;
  char *data = q->ready.len ? q->ready.data : NULL;
  *size = q->ready.len;
  if (data) q->ready = (Str){0};
  *ended = q->ended && !data;
  pthread_mutex_unlock(&q->lock);
  return data;
}

void queue_free(Queue *q) {
  str_free(&q->next);
  str_free(&q->ready);
  pthread_cond_destroy(&q->changed);
  pthread_mutex_destroy(&q->lock);
  free(q);
}
