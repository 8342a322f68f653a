// The table of allocations as kernels see it. Kernels that are still running read the table they
// were launched with, so a table that one of them may read is never changed: the next launch gets
// another one, which is brought up to date. A table is free again when no launch uses it. The
// virtual device reports the end of each launch; a GPU only that everything launched so far has
// ended. A launch that may run again at any time (a captured one on a GPU) gets no table at all.
// The memory for tables is bounded; a launch without a table runs without looking addresses up.
#define _GNU_SOURCE

#include "session/internal.h"

#include <sys/mman.h>

enum { FIRST_CHUNK = 1 << 20, CHUNK = 16 << 20, SMALLEST = 4096, MOST_BYTES = 256 << 20 };

struct TableChunk {
  char *memory;
  size_t size, used;
  uint64_t address;
  struct TableChunk *next;
};
struct Table {
  struct TableChunk *chunk;
  char *memory;
  uint64_t address;
  size_t room;
  TableImage image;
  uint64_t version;
  // launches that have not said that they ended; number of the last one
  uint32_t users;
  uint64_t last_user;
  struct Table *next;
};

static struct TableChunk *new_chunk(MemoryTables *t, const SessionDeviceOps *ops, void *user,
                                    size_t need) {
  size_t size = MAX(need, (size_t)(t->chunks ? CHUNK : FIRST_CHUNK));
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

static bool is_free(const MemoryTables *t, const struct Table *b) {
  return !b->users || b->last_user <= t->settled;
}

// Tables grow, and freed parts are too small for them: a chunk that is free as a whole is reused.
static struct TableChunk *empty_chunk(MemoryTables *t, size_t room) {
  struct TableChunk *c = t->chunks;
  for (; c; c = c->next) {
    bool busy = c->size < room;
    for (struct Table *b = t->all; b && !busy; b = b->next) busy = b->chunk == c && !is_free(t, b);
    if (!busy) break;
  }
  for (struct Table **p = &t->all; c && *p;) {
    struct Table *b = *p;
    if (b->chunk != c) {
      p = &b->next;
      continue;
    }
    *p = b->next;
    if (t->current == b) t->current = NULL;
    vec_free(&b->image.parts);
    free(b);
  }
  if (c) c->used = 0;
  return c;
}

static struct Table *new_table(MemoryTables *t, const SessionDeviceOps *ops, void *user,
                               size_t need) {
  size_t room = SMALLEST;
  while (room < need + need / 4) room *= 2;
  struct TableChunk *c = t->chunks;
  while (c && c->size - c->used < room) c = c->next;
  if (!c) c = empty_chunk(t, room);
  if (!c) c = new_chunk(t, ops, user, room);
  if (!c) return NULL;
  struct Table *new = mem_alloc(sizeof *new);
  *new = (struct Table){.chunk = c,
                        .memory = c->memory + c->used,
                        .address = c->address + c->used,
                        .room = room,
                        .next = t->all};
  c->used += room;
  t->all = new;
  return new;
}

// Takes the free table with the newest contents: least must be copied into it.
static struct Table *free_table(MemoryTables *t, size_t need) {
  struct Table *best = NULL;
  for (struct Table *b = t->all; b; b = b->next)
    if (b->room >= need && is_free(t, b) && (!best || b->version > best->version)) best = b;
  return best;
}

static struct Table *find_table(MemoryTables *t, const SessionDeviceOps *ops, void *user,
                                size_t need) {
  struct Table *b = free_table(t, need);
  if (!b) b = new_table(t, ops, user, need);
  if (!b && ops->settle && !t->full && ops->settle(user)) {
    t->settled = t->launches;
    b = free_table(t, need);
    if (!b) b = new_table(t, ops, user, need);
  }
  return b;
}

// A table with the current allocations and WgMemoryTable.heap.
static struct Table *table_of_now(MemoryTables *t, const SessionDeviceOps *ops, void *user) {
  if (t->current && t->current->version == session_ranges_version()) return t->current;
  for (int tries = 0; tries < 3; tries++) {  // others may allocate meanwhile
    struct Table *b = find_table(t, ops, user, session_ranges_table_bytes());
    if (!b) break;
    if (b->users) b->users = 0;  // all of them have ended
    if (!session_ranges_write(&b->image, b->memory, b->room, &b->version)) continue;
    ((WgMemoryTable *)b->memory)->heap = t->heap;
    return t->current = b;
  }
  if (!t->full)
    session_note(SEVERITY_WARNING, "there is no memory for the table of allocations: "
                                   "launches from here on are checked less");
  t->full = true;
  return NULL;
}

uint64_t session_table(MemoryTables *t, const SessionDeviceOps *ops, void *user) {
  struct Table *b = table_of_now(t, ops, user);
  if (!b) return 0;
  b->users++;
  b->last_user = ++t->launches;
  return b->address;
}

bool session_table_crowded(MemoryTables *t) {
  size_t need = session_ranges_table_bytes(), room = need * 3;
  if (t->bytes + MAX(room, (size_t)CHUNK) <= MOST_BYTES ||
      (t->current && t->current->version == session_ranges_version()) || free_table(t, need))
    return false;
  for (const struct TableChunk *c = t->chunks; c; c = c->next)
    if (c->size - c->used >= room) return false;
  for (const struct Table *b = t->all; b; b = b->next)
    if (!is_free(t, b)) return true;
  return false;
}

void session_table_done(MemoryTables *t, uint64_t address) {
  for (struct Table *b = t->all; b; b = b->next)
    if (b->address == address && b->users) {
      b->users--;
      return;
    }
}

void session_tables_free(MemoryTables *t, const SessionDeviceOps *ops, void *user, bool alive) {
  for (struct Table *b = t->all, *next; b; b = next) {
    next = b->next;
    vec_free(&b->image.parts);
    free(b);
  }
  for (struct TableChunk *c = t->chunks, *next; c; c = next) {
    next = c->next;
    if (alive) ops->unmap_host(user, c->memory);
    munmap(c->memory, c->size);
    free(c);
  }
  *t = (MemoryTables){0};
}
