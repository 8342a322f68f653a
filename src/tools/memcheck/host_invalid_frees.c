// Frees of memory that is not allocated, and of the wrong kind of memory. The program's call is or
// will be refused; the finding says why.
#include "tools/memcheck/host.h"

// How memory of each kind is freed.
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

// A pointer that the call could take is not reported.
void invalid_free(const char *call, uint64_t pointer, unsigned kinds) {
  HeapRange r;
  const char *why;
  bool known = session_memory_look(pointer, &r);
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

bool invalid_second_free(const char *call, uint64_t pointer, unsigned kinds) {
  HeapRange r;
  if (!session_memory_look(pointer, &r) || r.memory.base != pointer ||
      r.memory.state != WG_MEMORY_FREED)
    return false;
  invalid_free(call, pointer, kinds);
  return true;
}

// --- objects that have a handle and no address: arrays, physical memory, pools ---

typedef struct Handle {
  bool gone;
  uint64_t gone_stack;
} Handle;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map handles;  // -> Handle

void invalid_free_handle_created(const void *handle) {
  Handle *h = mem_alloc(sizeof *h);
  pthread_mutex_lock(&lock);
  free(u64map_remove(&handles, (uintptr_t)handle));
  u64map_put(&handles, (uintptr_t)handle, h);
  pthread_mutex_unlock(&lock);
}

void invalid_free_handle_gone(const void *handle) {
  uint64_t stack = session_stack();
  pthread_mutex_lock(&lock);
  Handle *h = u64map_get(&handles, (uintptr_t)handle);
  if (h) {
    h->gone = true;
    h->gone_stack = stack;
  }
  pthread_mutex_unlock(&lock);
}

void invalid_free_handle(const char *call, const void *handle) {
  pthread_mutex_lock(&lock);
  Handle *found = u64map_get(&handles, (uintptr_t)handle), h = found ? *found : (Handle){0};
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
