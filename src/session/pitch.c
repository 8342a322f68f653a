// Allocations whose rows are farther apart than they are long, by their address.
#include "session/internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map pitches;  // base -> bytes from row to row
static _Atomic bool any;

void session_pitch(uint64_t base, uint64_t pitch) {
  if (!session_wants_memory()) return;
  atomic_store(&any, true);
  pthread_mutex_lock(&lock);
  u64map_put(&pitches, base, (void *)(uintptr_t)pitch);
  pthread_mutex_unlock(&lock);
}

// Something else begins there.
void session_pitch_forget(uint64_t base) {
  if (!atomic_load_explicit(&any, memory_order_relaxed)) return;
  pthread_mutex_lock(&lock);
  u64map_remove(&pitches, base);
  pthread_mutex_unlock(&lock);
}

uint64_t session_pitch_find(uint64_t base) {
  if (!atomic_load_explicit(&any, memory_order_relaxed)) return 0;
  pthread_mutex_lock(&lock);
  uint64_t pitch = (uintptr_t)u64map_get(&pitches, base);
  pthread_mutex_unlock(&lock);
  return pitch;
}
