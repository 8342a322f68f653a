// The pitch of allocations that have one (cuMemAllocPitch), for checks of copies.
#include "tools/memcheck/host.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map pitches;    // base -> bytes from row to row
static _Atomic bool any;  // there was one: most programs never take the lock

void pitches_add(uint64_t base, uint64_t pitch) {
  atomic_store(&any, true);
  pthread_mutex_lock(&lock);
  u64map_put(&pitches, base, (void *)(uintptr_t)pitch);
  pthread_mutex_unlock(&lock);
}

// The address is reused.
void pitches_allocated(uint64_t base, uint64_t size, const char *name) {
  if (!atomic_load_explicit(&any, memory_order_relaxed)) return;
  pthread_mutex_lock(&lock);
  u64map_remove(&pitches, base);
  pthread_mutex_unlock(&lock);
}

uint64_t pitches_find(uint64_t base) {
  if (!atomic_load_explicit(&any, memory_order_relaxed)) return 0;
  pthread_mutex_lock(&lock);
  uint64_t pitch = (uintptr_t)u64map_get(&pitches, base);
  pthread_mutex_unlock(&lock);
  return pitch;
}
