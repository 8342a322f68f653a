// The shapes of CUDA arrays, by handle.
#include "cuda/abi.h"
#include "session/internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map arrays;  // handle -> SessionArray

void session_array(uint64_t handle, const SessionArray *a) {
  if (!session_wants_memory()) return;
  SessionArray *copy = mem_alloc(sizeof *copy);
  *copy = *a;
  pthread_mutex_lock(&lock);
  SessionArray *old = u64map_remove(&arrays, handle);
  u64map_put(&arrays, handle, copy);
  pthread_mutex_unlock(&lock);
  free(old);
}

void session_array_gone(uint64_t handle) {
  if (!session_wants_memory()) return;
  pthread_mutex_lock(&lock);
  SessionArray *old = u64map_remove(&arrays, handle);
  pthread_mutex_unlock(&lock);
  free(old);
}

bool session_array_find(uint64_t handle, SessionArray *out) {
  pthread_mutex_lock(&lock);
  const SessionArray *a = u64map_get(&arrays, handle);
  if (a) *out = *a;
  pthread_mutex_unlock(&lock);
  return a != NULL;
}
