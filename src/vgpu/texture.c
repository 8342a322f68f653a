// Texture and surface handles: an index in a table, never reused while the process runs.
#include <pthread.h>

#include "vgpu/core.h"

static VEC(VgpuTexture *) table;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

uint64_t vgpu_texture_create(const VgpuTexture *t) {
  VgpuTexture *copy = mem_alloc(sizeof *copy);
  *copy = *t;
  if (t->nlevels) {  // the mipmapped array may be destroyed before the texture
    VgpuArray *levels = mem_alloc(t->nlevels * sizeof *levels);
    memcpy(levels, t->levels, t->nlevels * sizeof *levels);
    copy->levels = levels;
  }
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
    if (table.data[handle - 1] && table.data[handle - 1]->nlevels)
      free((void *)table.data[handle - 1]->levels);
    free(table.data[handle - 1]);
    table.data[handle - 1] = NULL;
  }
  pthread_rwlock_unlock(&lock);
}
