// Memory of pieces and chunks that are done with, for the next ones.
#define _GNU_SOURCE
#include "trace/writer.h"

#include <sys/mman.h>

enum { LEAST = 1 << 20, HUGE = 2 << 20 };

// Large pages: a dozen threads that each get small ones from the system wait for one another.
uint8_t *writer_buffer_new(size_t cap) {
  void *p = NULL;
  if (cap < HUGE || posix_memalign(&p, HUGE, cap) != 0) return mem_realloc(NULL, cap);
  madvise(p, cap / HUGE * HUGE, MADV_HUGEPAGE);
  return p;
}

Bytes writer_buffer_take(TraceWriter *w) {
  if (!w->spare.n) return (Bytes){0};
  Bytes b = w->spare.list[--w->spare.n];
  w->spare.bytes -= b.cap;
  return b;
}

uint8_t *writer_segment_take(TraceWriter *w) { return w->nsegments ? w->segments[--w->nsegments] : NULL; }

// The system clears memory before it gives it: as much work as copying a record, and not to be done while a kernel waits.
void writer_segments_more(TraceWriter *w) {
  w->ahead--;
  pthread_mutex_unlock(&w->lock);
  uint8_t *data = writer_buffer_new(SEGMENT);
  for (size_t i = 0; i < SEGMENT; i += 4096) ((volatile uint8_t *)data)[i] = 0;
  pthread_mutex_lock(&w->lock);
  writer_buffer_give(w, data, SEGMENT);
}

void writer_slab_left(TraceWriter *w, Slab *s) {
  if (--s->used) return;
  writer_buffer_give(w, s->data, SEGMENT);
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
    if (!s->data) s->data = writer_buffer_new(SEGMENT);
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

void writer_buffers_free(TraceWriter *w) {
  if (w->slab) free(w->slab->data), free(w->slab);
  for (uint32_t i = 0; i < w->spare.n; i++) free(w->spare.list[i].data);
  for (uint32_t i = 0; i < w->nsegments; i++) free(w->segments[i]);
}

void writer_buffer_give(TraceWriter *w, uint8_t *data, size_t cap) {
  if (data && cap == SEGMENT && w->nsegments < SEGMENTS && (w->nsegments + 1ull) * SEGMENT <= w->memory_limit / 4) {
    w->segments[w->nsegments++] = data;
    return;
  }
  if (!data || cap < LEAST || w->spare.n == ARRAY_LEN(w->spare.list) || w->spare.bytes + cap > w->memory_limit / 4) {
    free(data);
    return;
  }
  w->spare.list[w->spare.n++] = (Bytes){.data = data, .cap = cap};
  w->spare.bytes += cap;
}
