// Allocations and frees, in the order in which the host makes the calls: a launch that is made
// after memory was freed cannot run before that in any stream.
#include "session/written_buffers.h"
#include "tools/tool.h"

static bool keeps_ranges(void) {
  return session_has_findings() || session_wants_outputs() || session_wants(SESSION_WANTS_INPUTS) ||
         session_logs_launches() || session_wants(SESSION_WANTS_RANGES);
}

// A GPU's arrays have no address: their handles stand for one, and only their existence is
// recorded.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map handles;  // handle -> HeapRange
static bool is_handle(SessionMemoryKind kind) {
  return kind == SESSION_ARRAY && !strcmp(session_device_name(), "gpu");
}

static void add_handle(const HeapRange *r) {
  HeapRange *copy = mem_alloc(sizeof *copy);
  *copy = *r;
  copy->memory.state = WG_MEMORY_LIVE;
  pthread_mutex_lock(&lock);
  free(u64map_remove(&handles, r->memory.base));
  u64map_put(&handles, r->memory.base, copy);
  pthread_mutex_unlock(&lock);
}

static void free_handle(uint64_t base, uint64_t stack) {
  pthread_mutex_lock(&lock);
  HeapRange *r = u64map_get(&handles, base);
  if (r) {
    r->memory.state = WG_MEMORY_FREED;
    r->free_stack = stack;
  }
  pthread_mutex_unlock(&lock);
}

void session_handles_each(void (*each)(void *user, const HeapRange *r), void *user) {
  uint32_t it = 0;
  uint64_t handle;
  void *r;
  pthread_mutex_lock(&lock);
  while (u64map_next(&handles, &it, &handle, &r)) each(user, r);
  pthread_mutex_unlock(&lock);
}

bool session_memory_look(uint64_t address, HeapRange *out) {
  pthread_mutex_lock(&lock);
  const HeapRange *r = u64map_get(&handles, address);
  if (r) *out = *r;
  pthread_mutex_unlock(&lock);
  return r || session_ranges_look(address, out);
}

static _Atomic bool graphs_have_memory;
bool session_graph_memory(void) {
  return atomic_load_explicit(&graphs_have_memory, memory_order_relaxed);
}

void session_alloc(uint64_t base, uint64_t size, SessionMemoryKind kind, int device,
                   const char *name) {
  if (!session_wants_launches()) return;
  uint64_t stack = session_stack();
  if (keeps_ranges()) {
    if (kind == SESSION_GRAPH)
      atomic_store_explicit(&graphs_have_memory, true, memory_order_relaxed);
    HeapRange r = {.memory = {.base = base, .size = size, .is_variable = kind == SESSION_VARIABLE},
                   .stack = stack,
                   .kind = kind,
                   .device = device,
                   .generation = session_generation()};
    if (is_handle(kind)) add_handle(&r);
    else session_ranges_add(&r);
    if (kind == SESSION_VARIABLE) session_outputs_variable(name, base);
  }
  session_send(EVENT_ALLOC, &(EventAlloc){base, size, kind, (uint64_t)device, name, stack});
  EACH_RUNNING_TOOL(t, tool)
    if (tool->allocated) tool->allocated(base, size, name);
}

void session_free_object(uint64_t base) {
  if (!session_wants_launches()) return;
  uint64_t stack = session_stack();
  HeapRange was = {0};
  if (keeps_ranges() && !session_ranges_free(base, stack, &was)) free_handle(base, stack);
  EACH_RUNNING_TOOL(t, tool)
    if (tool->freed) tool->freed(base, was.kind == SESSION_POOL);
  // the virtual device says so when it is done
  if (strcmp(session_device_name(), "gpu") == 0)
    session_memory_event(&(SessionMemoryEvent){MEMORY_GONE, .base = base});
  session_send(EVENT_FREE, &(EventFree){base, stack});
}

void session_free(uint64_t base) {
  session_order_host_saw_all();  // most ways to free wait for the device
  if (session_wants_launches()) session_pool_parent_freed(base);
  session_free_object(base);
}

typedef struct Inside {
  uint64_t base, size;
  VEC(uint64_t) found;
} Inside;
static void collect_inside(void *user, const HeapRange *r) {
  Inside *in = user;
  if (r->memory.state == WG_MEMORY_LIVE && r->memory.base - in->base < in->size)
    vec_push(&in->found, r->memory.base);
}

void session_free_inside(uint64_t base, uint64_t size) {
  if (!session_wants_launches()) return;
  Inside in = {.base = base, .size = size};
  session_ranges_each(collect_inside, &in);
  if (!in.found.len && !keeps_ranges()) vec_push(&in.found, base);
  for (uint32_t i = 0; i < in.found.len; i++) session_free_object(in.found.data[i]);
  vec_free(&in.found);
}

void session_revive(uint64_t base) {
  HeapRange r;
  if (!keeps_ranges() || !session_ranges_revive(base, &r)) return;
  session_send(EVENT_ALLOC,
               &(EventAlloc){base, r.memory.size, r.kind, (uint64_t)r.device, NULL, r.stack});
}

bool session_frees(uint64_t base, unsigned kinds) {
  HeapRange r;
  if (!keeps_ranges()) return base != 0;
  if (session_pool_has_parent(base)) return true;
  return session_memory_look(base, &r) && r.memory.base == base &&
         r.memory.state == WG_MEMORY_LIVE && kinds >> r.kind & 1;
}
