// The table of allocations as kernels see it. Kernels that are still running read the table they were launched with, so a table is
// never changed or moved; a new one is put behind it when something was allocated or freed. The memory for them is bounded: beyond that
// the last table stays, and what was allocated since is not found in it.
#define _GNU_SOURCE

#include "session/internal.h"

#include <sys/mman.h>

enum { SMALLEST_CHUNK = 1 << 20, MOST_BYTES = 256 << 20 };

struct TableChunk { char *memory; size_t size, used; uint64_t address; struct TableChunk *next; };

static struct TableChunk *new_chunk(MemoryTables *t, const SessionDeviceOps *ops, void *user, size_t need) {
  size_t size = (MAX(need * 4, (size_t)SMALLEST_CHUNK) + 4095) & ~(size_t)4095;
  if (t->bytes + size > MOST_BYTES) return NULL;
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  struct TableChunk *c = mem_alloc(sizeof *c);
  *c = (struct TableChunk){memory, size, 0, 0, t->chunks};
  if (!ops->map_host(user, memory, size, &c->address)) {
    munmap(memory, size);
    free(c);
    return NULL;
  }
  t->chunks = c;
  t->bytes += size;
  return c;
}

uint64_t session_table(MemoryTables *t, const SessionDeviceOps *ops, void *user) {
  if (t->version == session_ranges_version() || t->full) return t->address;
  uint64_t version;
  size_t need = (session_ranges_table(NULL, 0, &version) + 63) & ~(size_t)63;
  struct TableChunk *c = t->chunks && t->chunks->size - t->chunks->used >= need ? t->chunks : new_chunk(t, ops, user, need + 4096);
  if (!c) {
    t->full = true;
    session_note(SEVERITY_WARNING, "allocations made from now on are not known to memcheck's look-up table: there is no memory for it");
    return t->address;
  }
  size_t size = session_ranges_table(c->memory + c->used, c->size - c->used, &version);
  if (size > c->size - c->used) return t->address;            // grew meanwhile; the next launch tries again
  t->address = c->address + c->used;
  t->version = version;
  c->used += (size + 63) & ~(size_t)63;
  return t->address;
}

void session_tables_free(MemoryTables *t, const SessionDeviceOps *ops, void *user, bool alive) {
  for (struct TableChunk *c = t->chunks, *next; c; c = next) {
    next = c->next;
    if (alive) ops->unmap_host(user, c->memory);
    munmap(c->memory, c->size);
    free(c);
  }
  *t = (MemoryTables){0};
}
