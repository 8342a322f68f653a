// Memory that raw records are copied into: segments of one large page each, cut from regions that
// are mapped once. Segments are reused, so that the system need not find and clear pages while a
// kernel waits.
#define _GNU_SOURCE
#include "trace/write/writer.h"

#include <sys/mman.h>

#include "base/memory_left.h"

static const uint64_t REGION = 1ull << 30;

// One mmap for many segments: each call takes a lock of the process's address space, for which all
// threads wait.
static bool new_region(TraceWriter *w) {
  uint64_t size = MAX(MIN(REGION, w->memory_limit / 8), (uint64_t)SEGMENT) / SEGMENT * SEGMENT;
  uint8_t *p = mmap(NULL, size + SEGMENT, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return false;
  madvise(p, size + SEGMENT, MADV_HUGEPAGE);
  vec_push(&w->regions, (Region){p, size + SEGMENT});
  w->fresh = (uint8_t *)(((uintptr_t)p + SEGMENT - 1) & ~(uintptr_t)(SEGMENT - 1));
  w->fresh_end = w->fresh + size;
  return true;
}

// An untouched segment.
static uint8_t *fresh(TraceWriter *w) {
  if (w->fresh == w->fresh_end && !new_region(w)) return NULL;
  uint8_t *p = w->fresh;
  w->fresh += SEGMENT;
  return p;
}

uint8_t *writer_segment_take(TraceWriter *w) {
  uint8_t *p = w->segments.len ? w->segments.data[--w->segments.len] : fresh(w);
  return p ? p : mem_realloc(NULL, SEGMENT);
}

void writer_segment_give(TraceWriter *w, uint8_t *data) { vec_push(&w->segments, data); }

// Keeps as many free segments as are in use, and some to begin with, as far as the limit allows.
// While rings are full only the last ones are replaced: clearing memory is as much work as copying
// into it.
bool writer_segments_wanted(const TraceWriter *w, bool pressed) {
  uint64_t have = w->segments.len * (uint64_t)SEGMENT, used = w->in_memory;
  return w->ahead && have + used + SEGMENT <= w->memory_limit &&
         have < (pressed ? w->ahead / 16 : MAX(w->ahead, used));
}

// Whether half of the memory that was free at the start is gone, or another process uses it:
// several programs that are recorded at a time must not prepare memory until the system kills one.
static bool memory_is_short(const TraceWriter *w) {
  return w->fresh == w->fresh_end && memory_left("") < w->memory_limit;
}

void writer_segments_more(TraceWriter *w) {
  uint8_t *data = memory_is_short(w) ? NULL : fresh(w);
  if (!data) {
    w->ahead = 0;
    return;
  }
  pthread_mutex_unlock(&w->lock);
  for (size_t i = 0; i < SEGMENT; i += 4096) ((volatile uint8_t *)data)[i] = 0;
  pthread_mutex_lock(&w->lock);
  writer_segment_give(w, data);
}

void writer_segments_free(TraceWriter *w) {
  for (uint32_t i = 0; i < w->regions.len; i++)
    munmap(w->regions.data[i].start, w->regions.data[i].bytes);
  vec_free(&w->regions);
  vec_free(&w->segments);
}

// --- segments that hold several contents ---

void writer_slab_left(TraceWriter *w, Slab *s) {
  if (--s->used) return;
  writer_segment_give(w, s->data);
  free(s);
}

void writer_slab_leave(TraceWriter *w, Slab *s) {
  pthread_mutex_lock(&w->lock);
  writer_slab_left(w, s);
  pthread_mutex_unlock(&w->lock);
}

uint8_t *writer_slab_room(TraceWriter *w, size_t n, Slab **slab) {
  CHECK(n <= SEGMENT);
  pthread_mutex_lock(&w->lock);
  if (w->slab && w->slab_used + n > SEGMENT) {
    writer_slab_left(w, w->slab);
    w->slab = NULL;
  }
  if (!w->slab) {
    Slab *s = mem_alloc(sizeof *s);
    *s = (Slab){writer_segment_take(w), 1};
    w->slab = s;
    w->slab_used = 0;
  }
  *slab = w->slab;
  w->slab->used++;
  uint8_t *at = w->slab->data + w->slab_used;
  w->slab_used += n;
  pthread_mutex_unlock(&w->lock);
  return at;
}
