// The largest number of bytes in the buffers that a kernel gets as parameters, over its launches:
// an upper bound for the memory that it can access.
#include "session/internal.h"
#include "tools/profile/host.h"
#include "tools/profile/measures.h"

enum { MOST_BUFFERS = 32 };

typedef struct Buffers {
  char *kernel;
  uint64_t bytes;
} Buffers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static StrMap by_kernel;
static VEC(Buffers *) all;

static const void *value_of(const SessionParams *p, uint32_t i, size_t offset, size_t size) {
  if (p->pointers) return p->pointers[i];
  return p->buffer && offset + size <= p->buffer_bytes ? (const char *)p->buffer + offset : NULL;
}

// The allocations that parameters point into, each once.
static uint64_t bytes_of(const SessionCall *c) {
  uint64_t seen[MOST_BUFFERS], sum = 0;
  uint32_t n = 0;
  size_t offset, size;
  for (uint32_t i = 0; n < MOST_BUFFERS && c->info(c->user, i, &offset, &size); i++) {
    uint64_t address;
    HeapRange r;
    const void *value = size == sizeof address ? value_of(c->params, i, offset, size) : NULL;
    if (!value) continue;
    memcpy(&address, value, sizeof address);
    if (!session_ranges_look(address, &r) || r.memory.state != WG_MEMORY_LIVE) continue;
    bool known = false;
    for (uint32_t k = 0; k < n && !known; k++) known = seen[k] == r.memory.base;
    if (known) continue;
    seen[n++] = r.memory.base;
    sum += r.memory.size;
  }
  return sum;
}

void buffers_launch(const SessionCall *c) {
  uint64_t bytes = c->info && c->params ? bytes_of(c) : 0;
  if (!bytes) return;
  pthread_mutex_lock(&lock);
  Buffers *b = strmap_get(&by_kernel, c->launch->kernel->name);
  if (!b) {
    b = mem_alloc(sizeof *b);
    *b = (Buffers){mem_strdup(c->launch->kernel->name), 0};
    strmap_put(&by_kernel, b->kernel, b);
    vec_push(&all, b);
  }
  b->bytes = MAX(b->bytes, bytes);
  pthread_mutex_unlock(&lock);
}

void buffers_send(void) {
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < all.len; i++) {
    Buffers *b = all.data[i];
    if (!b->bytes) continue;
    uint64_t what = session_string(MEASURE_BUFFERS), kernel = session_string(b->kernel);
    session_send(EVENT_MEASURE, &(EventMeasure){what, kernel, 0, 0, "", 0, &b->bytes, 1});
    b->bytes = 0;
  }
  pthread_mutex_unlock(&lock);
}
