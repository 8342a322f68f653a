// Samples of the reasons why warps wait, added up by kernel, source line and reason until the
// device is closed.
#include "session/internal.h"
#include "tools/profile/host.h"
#include "tools/profile/measures.h"

typedef struct Stall {
  char *kernel, *reason, *file;  // file NULL: not known
  uint32_t line;
  uint64_t samples;
} Stall;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VEC(Stall *) stalls;
static StrMap by_place;

// CUPTI has each reason twice: for all samples, and for those in which no other warp issued either.
static bool is_second(const char *reason) {
  static const char end[] = "_not_issued";
  size_t n = strlen(reason);
  return n >= sizeof end && !strcmp(reason + n - (sizeof end - 1), end);
}

void stalls_add(const SessionStall *s) {
  if (!s->samples || is_second(s->reason)) return;
  Str key = {0};
  str_printf(&key, "%s\n%s\n%u\n%s", s->kernel, s->reason, s->line, s->file ? s->file : "");
  pthread_mutex_lock(&lock);
  Stall *known = strmap_get(&by_place, key.data);
  if (!known) {
    known = mem_alloc(sizeof *known);
    *known = (Stall){mem_strdup(s->kernel), mem_strdup(s->reason),
                     s->file ? mem_strdup(s->file) : NULL, s->line, 0};
    vec_push(&stalls, known);
    strmap_put(&by_place, mem_strdup(key.data), known);
  }
  known->samples += s->samples;
  pthread_mutex_unlock(&lock);
  str_free(&key);
}

void stalls_send(void) {
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < stalls.len; i++) {
    Stall *s = stalls.data[i];
    if (!s->samples) continue;
    uint64_t what = session_string(MEASURE_STALLS), kernel = session_string(s->kernel),
             file = s->file ? session_string(s->file) : 0;
    session_send(EVENT_MEASURE,
                 &(EventMeasure){what, kernel, file, s->line, s->reason, 0, &s->samples, 1});
    s->samples = 0;  // another device may have more
  }
  pthread_mutex_unlock(&lock);
}
