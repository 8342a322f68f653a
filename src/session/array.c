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

size_t session_format_bytes(int format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
  }
}
