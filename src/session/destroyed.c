// Handles that were destroyed, and where. A driver hands the same ones out again: what is created
// is alive, whatever was there before.
#include "session/internal.h"

// remembered; then all are forgotten, which costs findings and nothing else
enum { MOST = 1 << 16 };

typedef struct Grave {
  const char *what;
  uint64_t stack;
} Grave;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map graves;           // handle -> Grave
static _Atomic uint32_t count;  // of them, so that nobody takes the lock for nothing

static bool watches(void) { return (session_tools() & TOOL_BIT(MEMCHECK)) != 0; }

static void forget_all(void) { u64map_free_all(&graves); }

void session_destroyed(const char *what, const void *handle) {
  if (!watches() || !handle) return;
  Grave *g = mem_alloc(sizeof *g);
  *g = (Grave){what, session_stack()};
  pthread_mutex_lock(&lock);
  if (graves.len >= MOST) forget_all();
  free(u64map_remove(&graves, (uintptr_t)handle));
  u64map_put(&graves, (uintptr_t)handle, g);
  atomic_store(&count, graves.len);
  pthread_mutex_unlock(&lock);
}

void session_created(const void *handle) {
  if (!atomic_load_explicit(&count, memory_order_relaxed)) return;
  pthread_mutex_lock(&lock);
  free(u64map_remove(&graves, (uintptr_t)handle));
  atomic_store(&count, graves.len);
  pthread_mutex_unlock(&lock);
}

bool session_use(const char *what, const void *handle) {
  if (!atomic_load_explicit(&count, memory_order_relaxed) || !handle) return false;
  pthread_mutex_lock(&lock);
  const Grave *found = u64map_get(&graves, (uintptr_t)handle);
  Grave g = found ? *found : (Grave){0};
  pthread_mutex_unlock(&lock);
  if (!found || strcmp(g.what, what) != 0) return false;
  char text[128];
  snprintf(text, sizeof text, "use of %s", what);
  session_finding(&(SessionFinding){
      .kind = "api-misuse", .text = text, .other_title = "destroyed", .other_stack = g.stack});
  return true;
}
