// Memory for the first records is allocated before they arrive, but not where memory is short.
#include <stdio.h>
#include <unistd.h>

#include "base/memory_left.h"
#include "trace/write/writer.h"

// Bytes that lie ready when the writer wants no more.
static uint64_t ready_bytes(uint64_t memory) {
  Error err = {0};
  TraceWriter *w = trace_writer_new(&(TraceLimits){.memory = memory, .ahead = true}, &err);
  if (!w) return UINT64_MAX;
  uint64_t bytes = 0;
  for (int i = 0; i < 600; i++) {
    pthread_mutex_lock(&w->lock);
    bytes = w->segments.len * (uint64_t)SEGMENT;
    bool wanted = writer_segments_wanted(w, false);
    pthread_mutex_unlock(&w->lock);
    if (!wanted) break;
    usleep(100 * 1000);
  }
  trace_writer_free(w);
  return bytes;
}

int main(void) {
  uint64_t left = memory_left("");
  printf("%s ahead\n", left < 5ull << 30 || ready_bytes(4ull << 30) >= 256 << 20 ? "ok" : "FAIL");
  printf("%s short\n", ready_bytes(2 * left) == 0 ? "ok" : "FAIL");
}
