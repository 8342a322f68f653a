// Uses of destroyed streams, events, modules …: remembers destroyed handles with the call stack
// that destroyed them. Drivers reuse handles: a handle that is created again is forgotten.
#include "tools/memcheck/host.h"

// Handles that are remembered; with more, all are forgotten, and some findings are missed.
enum { MOST = 1 << 16 };

typedef struct Destroyed {
  const char *what;
  uint64_t stack;
} Destroyed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map destroyed;        // handle -> Destroyed
static _Atomic uint32_t count;  // of them: while it is 0 no use takes the lock

void destroyed_handle(const char *what, const void *handle) {
  if (!handle) return;
  Destroyed *d = mem_alloc(sizeof *d);
  *d = (Destroyed){what, session_stack()};
  pthread_mutex_lock(&lock);
  if (destroyed.len >= MOST) u64map_free_all(&destroyed);
  free(u64map_remove(&destroyed, (uintptr_t)handle));
  u64map_put(&destroyed, (uintptr_t)handle, d);
  atomic_store(&count, destroyed.len);
  pthread_mutex_unlock(&lock);
}

void destroyed_created(const void *handle) {
  if (!atomic_load_explicit(&count, memory_order_relaxed)) return;
  pthread_mutex_lock(&lock);
  free(u64map_remove(&destroyed, (uintptr_t)handle));
  atomic_store(&count, destroyed.len);
  pthread_mutex_unlock(&lock);
}

bool destroyed_used(const char *what, const void *handle) {
  if (!atomic_load_explicit(&count, memory_order_relaxed) || !handle) return false;
  pthread_mutex_lock(&lock);
  const Destroyed *found = u64map_get(&destroyed, (uintptr_t)handle);
  Destroyed d = found ? *found : (Destroyed){0};
  pthread_mutex_unlock(&lock);
  if (!found || strcmp(d.what, what) != 0) return false;
  char text[128];
  snprintf(text, sizeof text, "use of %s", what);
  session_finding(&(SessionFinding){
      .kind = "api-misuse", .text = text, .other_title = "destroyed", .other_stack = d.stack});
  return true;
}
