// Allocations and frees as the program asks for them, and frees that are wrong. The host order of
// the calls is what counts: a launch that is asked for after memory was freed cannot run before
// that in any stream.
#include "session/written_buffers.h"
#include "tools/tool.h"

static bool keeps_ranges(void) {
  return session_tools() & ~TOOL_BIT(COUNT) || session_wants_outputs() ||
         session_wants(SESSION_WANTS_INPUTS) || session_logs_launches();
}

// A GPU's arrays have no address: their handles stand for one, and what is kept is only that they
// exist.
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

static bool look(uint64_t address, HeapRange *out) {
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
  session_pitch_forget(base);
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
  return look(base, &r) && r.memory.base == base && r.memory.state == WG_MEMORY_LIVE &&
         kinds >> r.kind & 1;
}

// --- frees that are wrong ---

bool session_freed_before(uint64_t base) {
  HeapRange r;
  return (session_tools() & TOOL_BIT(MEMCHECK)) && look(base, &r) && r.memory.base == base &&
         r.memory.state == WG_MEMORY_FREED;
}

// How memory of each kind is given back.
static const char *right_way(SessionMemoryKind kind) {
  switch (kind) {
    case SESSION_DEVICE:
    case SESSION_MANAGED: return "this is device memory: it is freed by cuMemFree (cudaFree)";
    case SESSION_PINNED: return "this is host memory: it is freed by cuMemFreeHost (cudaFreeHost)";
    case SESSION_REGISTERED:
      return "this is host memory that was registered: cuMemHostUnregister (cudaHostUnregister) "
             "undoes that";
    case SESSION_POOL:
      return "this is memory of a pool: it is freed by cuMemFreeAsync (cudaFreeAsync)";
    case SESSION_VARIABLE:
      return "this is a variable of the program: it lives as long as its module";
    case SESSION_ARRAY: return "this is an array: it is freed by cuArrayDestroy (cudaFreeArray)";
    case SESSION_VIRTUAL: return "this is mapped memory: cuMemUnmap takes it away";
    case SESSION_IMPORTED:
      return "this is memory of another process or API: the call that undoes its import gives it "
             "back";
    case SESSION_GRAPH:
      return "this memory belongs to a graph: it is freed by a free node, or by cuMemFree after "
             "the launch that allocated it";
  }
  return "it is not of the kind that this call frees";
}

void session_invalid_free(const char *call, uint64_t pointer, unsigned kinds) {
  if (!(session_tools() & TOOL_BIT(MEMCHECK))) return;
  HeapRange r;
  const char *why;
  bool known = look(pointer, &r);
  if (!known) why = "nothing is allocated at this address";
  else if (r.memory.base != pointer)
    why = r.memory.state == WG_MEMORY_FREED
              ? "this points into the middle of memory that was freed before"
              : "this points into the middle of an allocation, and only all of it can be freed";
  else if (r.memory.state == WG_MEMORY_FREED) why = "this was freed before";
  else if (!(kinds >> r.kind & 1)) why = right_way(r.kind);
  else return;
  Str text = {0};
  str_printf(&text, "%s: %s", call, why);
  session_finding(&(SessionFinding){.kind = "invalid-free",
                                    .text = text.data,
                                    .has_address = true,
                                    .address = pointer,
                                    .related = known ? r.memory.base : 0});
  str_free(&text);
}

// --- handles ---

typedef struct Handle {
  bool gone;
  uint64_t stack, gone_stack;
} Handle;
static U64Map named;  // -> Handle

void session_handle(const void *handle) {
  if (!(session_tools() & TOOL_BIT(MEMCHECK))) return;
  Handle *h = mem_alloc(sizeof *h);
  h->stack = session_stack();
  pthread_mutex_lock(&lock);
  free(u64map_remove(&named, (uintptr_t)handle));
  u64map_put(&named, (uintptr_t)handle, h);
  pthread_mutex_unlock(&lock);
}

void session_handle_gone(const void *handle) {
  if (!(session_tools() & TOOL_BIT(MEMCHECK))) return;
  uint64_t stack = session_stack();
  pthread_mutex_lock(&lock);
  Handle *h = u64map_get(&named, (uintptr_t)handle);
  if (h) {
    h->gone = true;
    h->gone_stack = stack;
  }
  pthread_mutex_unlock(&lock);
}

void session_invalid_handle(const char *call, const void *handle) {
  if (!(session_tools() & TOOL_BIT(MEMCHECK))) return;
  pthread_mutex_lock(&lock);
  Handle *found = u64map_get(&named, (uintptr_t)handle), h = found ? *found : (Handle){0};
  pthread_mutex_unlock(&lock);
  if (found && !h.gone) return;
  Str text = {0};
  str_printf(&text, "%s: %s", call,
             found ? "this was destroyed before" : "there is nothing with this handle");
  session_finding(&(SessionFinding){.kind = "invalid-free",
                                    .text = text.data,
                                    .other_title = "destroyed",
                                    .other_stack = h.gone_stack});
  str_free(&text);
}
