// Texture and surface handles: an index in a table, never reused while the process lives.
#include <pthread.h>

#include "vgpu/core.h"

static VEC(VgpuTexture *) table;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

uint64_t vgpu_texture_create(const VgpuTexture *t) {
  VgpuTexture *copy = mem_alloc(sizeof *copy);
  *copy = *t;
  pthread_rwlock_wrlock(&lock);
  vec_push(&table, copy);
  uint64_t handle = table.len;
  pthread_rwlock_unlock(&lock);
  return handle;
}

const VgpuTexture *vgpu_texture_get(uint64_t handle) {
  pthread_rwlock_rdlock(&lock);
  const VgpuTexture *t = handle && handle <= table.len ? table.data[handle - 1] : NULL;
  pthread_rwlock_unlock(&lock);
  return t;
}

void vgpu_texture_destroy(uint64_t handle) {
  pthread_rwlock_wrlock(&lock);
  if (handle && handle <= table.len) {
    free(table.data[handle - 1]);
    table.data[handle - 1] = NULL;
  }
  pthread_rwlock_unlock(&lock);
}
