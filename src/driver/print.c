// Device printf: text is collected while kernels run and written to standard output at
// synchronisation points.
#include "driver/driver.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Str text;
static _Atomic bool waiting;
static const size_t limit = 1 << 20;

static void write_locked(void) {
  if (text.len) {
    fwrite(text.data, 1, text.len, stdout);
    text.len = 0;
  }
  waiting = false;
}

void print_collect(void *unused, const char *more, size_t n) {
  pthread_mutex_lock(&lock);
  str_addn(&text, more, n);
  waiting = true;
  if (text.len > limit) write_locked();
  pthread_mutex_unlock(&lock);
}

void print_flush(void) {
  if (!waiting) return;
  pthread_mutex_lock(&lock);
  write_locked();
  pthread_mutex_unlock(&lock);
}
