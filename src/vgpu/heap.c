// Device malloc and free: power-of-two size classes carved out of one allocation of the window,
// shared by all launches. The lists of used and free blocks lie outside of the window: a kernel
// cannot change them.
#include <pthread.h>

#include "vgpu/core.h"

// MARGIN: unused bytes in front of each block
enum { CLASSES = 48, MARGIN = 16, SLACK = 64 << 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t limit = 8 << 20;  // CUDA's default
static char *heap, *heap_next;
static U64Map blocks;  // address -> size class of the blocks in use
static VEC(char *) free_blocks[CLASSES];

void vgpu_heap_set_limit(size_t bytes) {
  pthread_mutex_lock(&lock);
  if (!heap) limit = MIN(bytes, (size_t)VGPU_WINDOW_BYTES);
  pthread_mutex_unlock(&lock);
}

size_t vgpu_heap_limit(void) { return limit; }

static char *take_block(unsigned c) {  // under the lock
  if (free_blocks[c].len) return free_blocks[c].data[--free_blocks[c].len];
  if (!heap) heap = heap_next = vgpu_mem_alloc(limit + SLACK, 0);
  if (!heap || (size_t)(heap_next - heap) + (1ull << c) > limit + SLACK) return NULL;
  char *block = heap_next + MARGIN;
  heap_next += 1ull << c;
  return block;
}

uint64_t heap_alloc(size_t n) {
  if (n > limit || n == 0) return 0;
  unsigned c = 5;
  while ((1ull << c) < n + MARGIN) c++;
  pthread_mutex_lock(&lock);
  char *block = take_block(c);
  if (block) u64map_put(&blocks, (uint64_t)block, (void *)(uintptr_t)c);
  pthread_mutex_unlock(&lock);
  return (uint64_t)block;
}

bool heap_free(uint64_t p) {
  if (!p) return true;
  pthread_mutex_lock(&lock);
  uintptr_t c = (uintptr_t)u64map_remove(&blocks, p);
  if (c) vec_push(&free_blocks[c], (char *)p);
  pthread_mutex_unlock(&lock);
  return c != 0;
}
