// Turns: with `--workers=1` the work of all streams runs one after the other, in the order in which
// it was submitted, so that a run can be repeated.
//
// Work that waits for later work (a kernel that polls a flag, a stream that waits for a value)
// would keep its turn for ever: if no turn ends for a while, the work in the oldest turn is skipped
// and later turns go on.
#include "driver/driver.h"

#include <errno.h>
#include <time.h>

enum { PATIENCE_S = 1 };

static Turn *last;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

void turn_join(Turn *t) {
  if (settings()->vgpu.workers != 1) return;
  *t = (Turn){.before = last, .joined = true};
  if (last) last->after = t;
  last = t;
}

// Turns are passed over from the oldest on, so it suffices to look at the one right before.
static bool held_up(const Turn *t) { return t->before && !t->before->passed_over; }

void turn_wait(Turn *t) {
  if (!t->joined) return;
  while (held_up(t) && !driver_ending()) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    if (pthread_cond_timedwait(&ended, &queue_lock, &until) != ETIMEDOUT) continue;
    for (Turn *e = t->before; e && !e->passed_over; e = e->before) e->passed_over = true;
  }
}

void turn_end(Turn *t) {
  if (!t->joined) return;
  if (t->before) t->before->after = t->after;
  *(t->after ? &t->after->before : &last) = t->before;
  pthread_cond_broadcast(&ended);
}
