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

void writer_buffers_free(TraceWriter *w) {
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
