// Reuses the memory of saved chunks for the next ones.
#include "trace/write/writer.h"

enum { LEAST = 1 << 20 };

Bytes writer_buffer_take(TraceWriter *w) {
  if (!w->spare.n) return (Bytes){0};
  Bytes b = w->spare.list[--w->spare.n];
  w->spare.bytes -= b.cap;
  return b;
}

void writer_buffer_give(TraceWriter *w, uint8_t *data, size_t cap) {
  if (!data || cap < LEAST || w->spare.n == ARRAY_LEN(w->spare.list) ||
      w->spare.bytes + cap > w->memory_limit / 4) {
    free(data);
    return;
  }
  w->spare.list[w->spare.n++] = (Bytes){.data = data, .cap = cap};
  w->spare.bytes += cap;
}

void writer_buffers_free(TraceWriter *w) {
  for (uint32_t i = 0; i < w->spare.n; i++) free(w->spare.list[i].data);
}
