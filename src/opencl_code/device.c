// A device of an OpenCL platform, as the session sees it. The platform cannot map host memory for
// kernels: they use a copy in device memory, the mirror. Kernels report to the mirror of the
// channel, which is copied to the host after they have run. They only read the other mirrors, which
// are written before they run.
#include "opencl_code/opencl_code.h"

#include "probe/probe_abi.h"

static bool map_host(void *user, void *p, size_t size, uint64_t *device_address) {
  OpenclDevice *d = user;
  *device_address = d->reach.alloc(d->reach.user, size);
  if (*device_address) vec_push(&d->mirrors, ((OpenclMirror){p, size, *device_address}));
  return *device_address != 0;
}

static void unmap_host(void *user, void *p) {
  OpenclDevice *d = user;
  for (uint32_t i = 0; i < d->mirrors.len; i++) {
    if (d->mirrors.data[i].host != p) continue;
    d->reach.free(d->reach.user, d->mirrors.data[i].address);
    d->mirrors.data[i].size = 0;
  }
}

static uint64_t alloc(void *user, size_t size) {
  OpenclDevice *d = user;
  return d->reach.alloc(d->reach.user, size);
}

static void free_memory(void *user, uint64_t p) {
  OpenclDevice *d = user;
  d->reach.free(d->reach.user, p);
}

static bool read_memory(void *user, void *to, uint64_t from, size_t size) {
  OpenclDevice *d = user;
  return d->reach.read(d->reach.user, to, from, size);
}

static bool write_memory(void *user, uint64_t to, const void *from, size_t size) {
  OpenclDevice *d = user;
  return d->reach.write(d->reach.user, to, from, size);
}

static bool fill(void *user, const void *stream, uint64_t to, uint8_t value, size_t size) {
  OpenclDevice *d = user;
  return d->reach.fill(d->reach.user, to, value, size);
}

// Not supported: tools' own kernels, and copies or reads of memory in the order of a queue.
// Features that need them are off.
static bool load_kernel(void *user, const char *ptx, const char *name, SessionOwnKernel *k) {
  return false;
}
static bool move(void *user, const void *stream, uint64_t to, uint64_t from, size_t size) {
  return false;
}
static SessionReadLater read_later(void *user, const void *stream, uint64_t from, size_t size,
                                   void (*then)(void *arg, const void *bytes), void *arg) {
  return READ_FAILED;
}

static const SessionDeviceOps ops = {.map_host = map_host,
                                     .unmap_host = unmap_host,
                                     .alloc = alloc,
                                     .free = free_memory,
                                     .read = read_memory,
                                     .write = write_memory,
                                     .fill = fill,
                                     .move = move,
                                     .give_back = free_memory,
                                     .read_later = read_later,
                                     .load_kernel = load_kernel};

OpenclDevice *opencl_device_open(const OpenclReach *reach) {
  Error err = {{0}};
  OpenclDevice *d = mem_alloc(sizeof *d);
  d->reach = *reach;
  d->session = session_device_open(&ops, d, reach->ordinal, &err);
  if (d->session) return d;
  free(d);
  return NULL;
}

// --- from the host to the mirrors ---

// Writes only the table that the launch gets, not all memory for tables.
static void write_table(OpenclDevice *d, uint64_t table) {
  uint64_t version = session_memory_version();
  if (!table || (table == d->table && version == d->table_version)) return;
  for (uint32_t i = 1; i < d->mirrors.len; i++) {
    const OpenclMirror *m = &d->mirrors.data[i];
    if (table - m->address >= m->size) continue;
    const WgMemoryTable *t = (const WgMemoryTable *)(m->host + (table - m->address));
    size_t bytes = sizeof *t + t->count * sizeof(WgMemoryRange) + t->images * sizeof(WgImage);
    if (d->reach.write(d->reach.user, table, t, bytes)) {
      d->table = table;
      d->table_version = version;
    }
  }
}

// The head of the channel says where its parts are; tools may have added to it until now.
void opencl_device_launches(OpenclDevice *d, uint64_t table) {
  enum { SMALL = 1 << 17 };  // a tool's own; memory for tables is larger
  if (!d->mirrors.len) return;
  if (!d->told)
    d->told = d->reach.write(d->reach.user, d->mirrors.data[0].address, d->mirrors.data[0].host,
                             offsetof(WgChannel, head));
  for (uint32_t i = 1; i < d->mirrors.len; i++) {
    const OpenclMirror *m = &d->mirrors.data[i];
    if (m->size <= SMALL) d->reach.write(d->reach.user, m->address, m->host, m->size);
  }
  write_table(d, table);
}

// --- from the mirror to the channel ---

static WgChannel *channel_of(const OpenclDevice *d) { return (WgChannel *)d->mirrors.data[0].host; }

static bool read_mirror(const OpenclDevice *d, void *to, size_t at, size_t size) {
  return d->reach.read(d->reach.user, to, d->mirrors.data[0].address + at, size);
}

// Marks the finding's site as one that has reported; exact counts are read when the device is
// closed.
static void take_finding(OpenclDevice *d, const WgFinding *f) {
  WgChannel *c = channel_of(d);
  WgFinding *to = (WgFinding *)((char *)c + c->slots_at) + d->next % c->slots;
  uint64_t *counts = (uint64_t *)((char *)c + c->counts_at);
  memcpy((char *)to + sizeof f->sequence, (const char *)f + sizeof f->sequence,
         sizeof *f - sizeof f->sequence);
  __atomic_store_n(&to->sequence, f->sequence, __ATOMIC_RELEASE);
  if (f->site < c->sites) counts[f->site] = MAX(counts[f->site], 1u);
}

static void take_findings(OpenclDevice *d, uint32_t head) {
  const WgChannel *c = channel_of(d);
  while (d->next != head) {
    uint32_t first = d->next % c->slots, n = MIN(head - d->next, c->slots - first);
    WgFinding *list = mem_alloc(n * sizeof *list);
    bool ok = read_mirror(d, list, c->slots_at + first * sizeof *list, n * sizeof *list);
    uint32_t i = 0;
    for (; ok && i < n && list[i].sequence == d->next + 1; i++, d->next++)
      take_finding(d, &list[i]);
    free(list);
    if (i < n) return;  // a thread is still writing it
  }
}

void opencl_device_collect(OpenclDevice *d) {
  WgChannel now;
  if (!d->told || !read_mirror(d, &now, 0, sizeof now)) return;
  WgChannel *c = channel_of(d);
  uint32_t tail = __atomic_load_n(&c->tail, __ATOMIC_ACQUIRE);
  take_findings(d, now.head);
  c->lost = now.lost;
  c->tool_count = now.tool_count;
  __atomic_store_n(&c->head, d->next, __ATOMIC_RELEASE);
  uint64_t at = d->mirrors.data[0].address + offsetof(WgChannel, tail);
  if (tail != d->tail && d->reach.write(d->reach.user, at, &tail, sizeof tail)) d->tail = tail;
}

void opencl_device_close(OpenclDevice *d) {
  opencl_device_collect(d);
  session_launches_ended(d->session, NULL, 0);
  session_device_close(d->session, true);
  vec_free(&d->mirrors);
  free(d);
}
