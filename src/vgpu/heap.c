// Device malloc/free: power-of-two size classes carved out of one block of the window, shared by all launches.
#include <pthread.h>

#include "vgpu/core.h"

typedef struct Chunk { uint32_t magic, size_class; struct Chunk *next; } Chunk;   // 16 bytes in front of what malloc returns
enum { MAGIC_USED = 0x5747a110, MAGIC_FREE = 0x5747f2ee, CLASSES = 48 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t limit = 8 << 20;                 // CUDA's default
static char *heap, *heap_next;
static Chunk *free_lists[CLASSES];

void vgpu_heap_set_limit(size_t bytes) {
  pthread_mutex_lock(&lock);
  if (!heap) limit = bytes;
  pthread_mutex_unlock(&lock);
}

size_t vgpu_heap_limit(void) { return limit; }

uint64_t heap_alloc(size_t n) {
  if (n > limit || n == 0) return 0;
  unsigned c = 5;
  while ((1ull << c) < n + sizeof(Chunk)) c++;
  pthread_mutex_lock(&lock);
  if (!heap) heap = heap_next = vgpu_mem_alloc(limit + (64 << 10), 0);
  Chunk *k = free_lists[c];
  if (k) free_lists[c] = k->next;
  else if (heap && (size_t)(heap_next - heap) + (1ull << c) <= limit + (64 << 10)) {
    k = (Chunk *)heap_next;
    heap_next += 1ull << c;
  }
  if (k) k->magic = MAGIC_USED, k->size_class = c, k->next = NULL;
  pthread_mutex_unlock(&lock);
  return k ? (uint64_t)(k + 1) : 0;
}

bool heap_free(uint64_t p) {
  if (!p) return true;
  Chunk *k = (Chunk *)p - 1;
  pthread_mutex_lock(&lock);
  bool ours = heap && (char *)k >= heap && (char *)k < heap_next && k->magic == MAGIC_USED && k->size_class < CLASSES;
  if (ours) {
    k->magic = MAGIC_FREE;
    k->next = free_lists[k->size_class];
    free_lists[k->size_class] = k;
  }
  pthread_mutex_unlock(&lock);
  return ours;
}
