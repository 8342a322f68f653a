// Samples of why warps wait, added up by kernel and reason until the device is closed.
#include "session/internal.h"
#include "tools/profile/host.h"
#include "tools/profile/measures.h"

typedef struct Stall {
  char *kernel, *reason;
  uint64_t samples;
} Stall;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VEC(Stall) stalls;

void stalls_add(const char *kernel, const char *reason, uint64_t samples) {
  uint32_t i = 0;
  if (!samples) return;
  pthread_mutex_lock(&lock);
  while (i < stalls.len &&
         (strcmp(stalls.data[i].kernel, kernel) || strcmp(stalls.data[i].reason, reason)))
    i++;
  if (i == stalls.len) vec_push(&stalls, ((Stall){strdup(kernel), strdup(reason), 0}));
  stalls.data[i].samples += samples;
  pthread_mutex_unlock(&lock);
}

void stalls_send(void) {
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < stalls.len; i++) {
    Stall *s = &stalls.data[i];
    uint64_t what = session_string(MEASURE_STALLS), kernel = session_string(s->kernel);
    session_send(EVENT_MEASURE, &(EventMeasure){what, kernel, 0, 0, s->reason, 0, &s->samples, 1});
    free(s->kernel);
    free(s->reason);
  }
  vec_free(&stalls);
  pthread_mutex_unlock(&lock);
}
