// Memory pools that the program manages itself and describes to us (NVTX). Each piece of a pool
// counts as an allocation, the pool itself does not. The rest of the pool is in no allocation.
#include "session/internal.h"

typedef struct ProgramPool {
  uint64_t id, base, size;
  HeapRange parent;
  struct ProgramPool *next;
} ProgramPool;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ProgramPool *all;
static uint64_t last_id;
static _Atomic bool any;  // a pool was described; until then, frees skip the search

static bool wants(void) { return session_wants(SESSION_WANTS_POOLS); }

// Keeps a part of the allocation that is outside of the pool.
static void keep_part(HeapRange r, uint64_t base, uint64_t end) {
  if (base >= end) return;
  r.memory.base = base;
  r.memory.size = end - base;
  r.memory.tools = (WgMemoryWords){0};
  session_ranges_add(&r);
}

uint64_t session_pool_begin(uint64_t base, uint64_t size) {
  HeapRange parent;
  if (!wants() || !size || !session_ranges_look(base, &parent) ||
      parent.memory.state != WG_MEMORY_LIVE)
    return 0;
  uint64_t end = parent.memory.base + parent.memory.size;
  if (size > end - base) return 0;  // it is not one allocation
  ProgramPool *p = mem_alloc(sizeof *p);
  *p = (ProgramPool){.base = base, .size = size, .parent = parent};
  session_ranges_remove(parent.memory.base);
  keep_part(parent, parent.memory.base, base);
  keep_part(parent, base + size, end);
  any = true;
  pthread_mutex_lock(&lock);
  uint64_t id = p->id = ++last_id;
  p->next = all;
  all = p;
  pthread_mutex_unlock(&lock);
  return id;
}

// Removes a pool from the list. id 0: the one whose allocation begins at the base.
static ProgramPool *take(uint64_t id, uint64_t base) {
  pthread_mutex_lock(&lock);
  ProgramPool **p = &all;
  while (*p && (id ? (*p)->id != id : (*p)->parent.memory.base != base)) p = &(*p)->next;
  ProgramPool *found = *p;
  if (found) *p = found->next;
  pthread_mutex_unlock(&lock);
  return found;
}

static const ProgramPool *find(uint64_t id) {
  pthread_mutex_lock(&lock);
  const ProgramPool *p = all;
  while (p && p->id != id) p = p->next;
  pthread_mutex_unlock(&lock);
  return p;
}

// Makes the pool's allocation one object again, in the report too: a piece may have had the same
// base.
static void make_whole(const HeapRange *r) {
  session_ranges_add(r);
  session_send(EVENT_ALLOC, &(EventAlloc){r->memory.base, r->memory.size, r->kind,
                                          (uint64_t)r->device, NULL, r->stack});
}

void session_pool_reset(uint64_t id) {
  const ProgramPool *p = find(id);
  if (p) session_free_inside(p->base, p->size);
}

void session_pool_end(uint64_t id) {
  ProgramPool *p = id ? take(id, 0) : NULL;
  if (!p) return;
  session_free_inside(p->base, p->size);
  make_whole(&p->parent);
  free(p);
}

bool session_pool_parent_freed(uint64_t base) {
  ProgramPool *p = any ? take(0, base) : NULL;
  if (!p) return false;
  make_whole(&p->parent);
  free(p);
  return true;
}

bool session_pool_has_parent(uint64_t base) {
  if (!any) return false;
  pthread_mutex_lock(&lock);
  const ProgramPool *p = all;
  while (p && p->parent.memory.base != base) p = p->next;
  pthread_mutex_unlock(&lock);
  return p != NULL;
}

void session_pool_piece(uint64_t id, uint64_t base, uint64_t size) {
  const ProgramPool *p = find(id);
  if (!p || !size || base < p->base || size > p->size || base - p->base > p->size - size) return;
  session_alloc(base, size, SESSION_POOL, p->parent.device, NULL);
}

void session_pool_piece_resized(uint64_t base, uint64_t size) {
  HeapRange r;
  if (wants() && size && session_ranges_look(base, &r) && r.memory.base == base &&
      r.kind == SESSION_POOL)
    session_alloc(base, size, SESSION_POOL, r.device, NULL);
}

void session_pool_piece_freed(uint64_t base) {
  if (wants() && session_frees(base, SESSION_BIT(POOL))) session_free_object(base);
}
