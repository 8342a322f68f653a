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

void writer_buffer_give(TraceWriter *w, uint8_t *data, size_t cap) {
  if (!data || cap < LEAST || w->spare.n == ARRAY_LEN(w->spare.list) || w->spare.bytes + cap > w->memory_limit / 4) {
    free(data);
    return;
  }
  w->spare.list[w->spare.n++] = (Bytes){.data = data, .cap = cap};
  w->spare.bytes += cap;
}
