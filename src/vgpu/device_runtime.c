// The CUDA runtime inside kernels: kernels that launch kernels (dynamic parallelism, its current
// form, in which a parent cannot wait for its children), copies and sets in device streams,
// conditional graph handles.
//
// A child may run at any time between its launch and the end of its parent's grid, so it runs when
// the parent's blocks are done: children in the order they were launched, each with its own
// children after it, tail launches last.
//
// Requests are described outside of the window. Only parameter buffers are inside, since the parent
// writes them.
#include <inttypes.h>

#include "vgpu/core.h"

typedef enum { WORK_KERNEL, WORK_COPY, WORK_SET } WorkKind;
struct ChildWork {
  ChildWork *next;
  WorkKind kind;
  bool queued;
  VgpuKernel *kernel;
  uint32_t grid[3], block[3], shared;
  const char *params;  // in the window
  uint64_t dst, src, bytes;
  int value;
};
enum {
  STREAM_TAIL_LAUNCH = 3,
  ERROR_INVALID_VALUE = 1,
  ERROR_INVALID_CONFIGURATION = 9,
  ERROR_MAX_DEPTH = 65,
  ERROR_INVALID_FUNCTION = 98
};
enum { MOST_CHILDREN = 1 << 20 };  // of one launch, asked for and not begun
enum { MOST_DEPTH = 24, MOST_TAIL_DEPTH = 1000 };

static VgpuKernel *kernel_of(const VgpuModule *m, uint64_t handle) {
  for (uint32_t i = 0; i < m->kernels.len; i++)
    if ((uint64_t)m->kernels.data[i]->sym == handle) return m->kernels.data[i];
  return NULL;
}

// Room for parameters in the window; NULL: there is none.
static char *new_buffer(Launch *l, size_t bytes) {  // under the lock
  enum { CHUNK = 1 << 20 };
  size_t need = MAX((bytes + 63) & ~(size_t)63, (size_t)64);
  if (need > CHUNK) return NULL;
  if (!l->child_chunks.len || l->child_next + need > CHUNK) {
    char *chunk = vgpu_mem_alloc(CHUNK, 0);
    if (!chunk) return NULL;
    vec_push(&l->child_chunks, chunk);
    l->child_next = 0;
  }
  char *p = l->child_chunks.data[l->child_chunks.len - 1] + l->child_next;
  l->child_next += need;
  return p;
}

// The address of the child's parameter buffer; 0: too many children, or no memory.
static uint64_t new_child(Launch *l, const ChildWork *child) {
  pthread_mutex_lock(&l->children_lock);
  char *p = l->child_works.len < MOST_CHILDREN ? new_buffer(l, child->kernel->info.param_bytes)
                                               : NULL;
  if (p) {
    ChildWork *c = mem_alloc(sizeof *c);
    *c = *child;
    c->params = p;
    vec_push(&l->child_works, c);
    u64map_put(&l->child_buffers, (uint64_t)p, c);
  }
  pthread_mutex_unlock(&l->children_lock);
  return (uint64_t)p;
}

static void append(Launch *l, ChildWork *c, uint64_t stream) {  // under the lock
  ChildWork ***end = stream == STREAM_TAIL_LAUNCH ? &l->tail_end : &l->children_end;
  if (!*end) *end = stream == STREAM_TAIL_LAUNCH ? &l->tail : &l->children;
  c->queued = true;
  **end = c;
  *end = &c->next;
}

static bool is_launchable(const ChildWork *c) {
  static const uint32_t most_grid[3] = {0x7fffffff, 65535, 65535}, most_block[3] = {1024, 1024, 64};
  for (unsigned i = 0; i < 3; i++)
    if (!c->grid[i] || c->grid[i] > most_grid[i] || !c->block[i] || c->block[i] > most_block[i])
      return false;
  return c->block[0] * c->block[1] * c->block[2] <= 1024 && c->shared <= 227 << 10;
}

// A buffer is launched once. The result is CUDA's error code.
static uint32_t queue_child(Launch *l, uint64_t buffer, uint64_t stream) {
  pthread_mutex_lock(&l->children_lock);
  ChildWork *c = u64map_get(&l->child_buffers, buffer);
  uint32_t error = 0;
  if (!c) error = ERROR_INVALID_FUNCTION;
  else if (c->queued) error = ERROR_INVALID_VALUE;
  else if (!is_launchable(c)) error = ERROR_INVALID_CONFIGURATION;
  else if (l->request->depth >= (stream == STREAM_TAIL_LAUNCH ? MOST_TAIL_DEPTH : MOST_DEPTH))
    error = ERROR_MAX_DEPTH;
  if (!error) append(l, c, stream);
  pthread_mutex_unlock(&l->children_lock);
  return error;
}

static bool queue_work(Launch *l, const ChildWork *work, uint64_t stream) {
  pthread_mutex_lock(&l->children_lock);
  bool room = l->child_works.len < MOST_CHILDREN;
  if (room) {
    ChildWork *c = mem_alloc(sizeof *c);
    *c = *work;
    vec_push(&l->child_works, c);
    append(l, c, stream);
  }
  pthread_mutex_unlock(&l->children_lock);
  return room;
}

static void run_memory(void *work) {
  const ChildWork *c = work;
  if (c->kind == WORK_COPY) memmove((void *)c->dst, (const void *)c->src, c->bytes);
  else memset((void *)c->dst, c->value, c->bytes);
}

static VgpuStatus run_list(Launch *l, ChildWork *first, VgpuFault *fault) {
  for (ChildWork *c = first; c; c = c->next) {
    uint64_t bad = 0;
    if (c->kind != WORK_KERNEL) {
      if (engine_try(run_memory, c, &bad)) continue;
      *fault = (VgpuFault){.status = VGPU_ILLEGAL_ADDRESS, .address = bad};
      snprintf(fault->text, sizeof fault->text,
               "a copy or set that kernel %s asked for reaches the illegal address 0x%" PRIx64,
               l->kernel->info.name, bad);
      fault->what_bytes = (uint32_t)strlen(fault->text);
      return VGPU_ILLEGAL_ADDRESS;
    }
    VgpuLaunch r = *l->request;
    r.kernel = c->kernel;
    memcpy(r.grid, c->grid, sizeof r.grid);
    memcpy(r.block, c->block, sizeof r.block);
    memset(r.cluster, 0, sizeof r.cluster);
    r.dynamic_shared = c->shared;
    r.cooperative = false;
    r.params = c->params;
    r.depth++;
    VgpuStatus s = vgpu_launch(&r, fault);
    if (s != VGPU_OK) return s;
  }
  return VGPU_OK;
}

VgpuStatus device_runtime_finish(Launch *l, VgpuStatus s, VgpuFault *fault) {
  if (s == VGPU_OK) s = run_list(l, l->children, fault);
  if (s == VGPU_OK) s = run_list(l, l->tail, fault);
  for (uint32_t i = 0; i < l->child_chunks.len; i++)
    vgpu_mem_free(l->child_chunks.data[i], 1 << 20);
  for (uint32_t i = 0; i < l->child_works.len; i++) free(l->child_works.data[i]);
  vec_free(&l->child_chunks);
  vec_free(&l->child_works);
  u64map_free(&l->child_buffers);
  return s;
}

// --- the functions ---
static bool has_dim(const CallSite *cs, unsigned i) {
  return !cs->args[i].is_slot && cs->args[i].size >= 12;
}

static void read_dim(Warp *w, const CallSite *cs, unsigned lane, unsigned i, uint32_t *out) {
  const struct CallValue *v = &cs->args[i];
  memcpy(out, w->local + (uint64_t)lane * w->local_bytes + w->frame->local_base + v->where, 12);
}

// (function, grid, block, shared bytes) -> parameter buffer
static const Inst *get_parameter_buffer(Warp *w, const Inst *in) {
  const CallSite *cs = in->ptr;
  bool known = cs->nargs == 4 && has_dim(cs, 1) && has_dim(cs, 2);
  FOR_LANES(lane, w->exec) {
    ChildWork c = {.kind = WORK_KERNEL,
                   .kernel = kernel_of(w->launch->kernel->module, builtin_arg(w, cs, lane, 0))};
    c.shared = (uint32_t)builtin_arg(w, cs, lane, 3);
    bool ok = known && c.kernel;
    if (ok) {
      read_dim(w, cs, lane, 1, c.grid);
      read_dim(w, cs, lane, 2, c.block);
    }
    builtin_result(w, cs, lane, ok ? new_child(w->launch, &c) : 0);
  }
  return in + 1;
}

// (parameter buffer, stream)
static const Inst *launch_device(Warp *w, const Inst *in) {
  FOR_LANES(lane, w->exec)
    builtin_result(
        w, in->ptr, lane,
        queue_child(w->launch, builtin_arg(w, in->ptr, lane, 0), builtin_arg(w, in->ptr, lane, 1)));
  return in + 1;
}

static void queue_memory(Warp *w, const Inst *in, unsigned lane, ChildWork work, uint64_t stream) {
  bool ok = vgpu_kernel_reaches(work.dst, work.bytes) &&
            (work.kind == WORK_SET || vgpu_kernel_reaches(work.src, work.bytes));
  ok = ok && queue_work(w->launch, &work, stream);
  builtin_result(w, in->ptr, lane, ok ? 0 : ERROR_INVALID_VALUE);
}

// (destination, source, bytes, kind, stream)
static const Inst *memcpy_async(Warp *w, const Inst *in) {
  FOR_LANES(lane, w->exec)
    queue_memory(w, in, lane,
                 (ChildWork){.kind = WORK_COPY,
                             .dst = builtin_arg(w, in->ptr, lane, 0),
                             .src = builtin_arg(w, in->ptr, lane, 1),
                             .bytes = builtin_arg(w, in->ptr, lane, 2)},
                 builtin_arg(w, in->ptr, lane, 4));
  return in + 1;
}

// (destination, value, bytes, stream)
static const Inst *memset_async(Warp *w, const Inst *in) {
  FOR_LANES(lane, w->exec)
    queue_memory(w, in, lane,
                 (ChildWork){.kind = WORK_SET,
                             .dst = builtin_arg(w, in->ptr, lane, 0),
                             .value = (int)builtin_arg(w, in->ptr, lane, 1),
                             .bytes = builtin_arg(w, in->ptr, lane, 2)},
                 builtin_arg(w, in->ptr, lane, 3));
  return in + 1;
}

// Handles of device streams and events: all work is done in one order, so any number will do.
static const Inst *create_handle(Warp *w, const Inst *in) {
  w->mem_pc = in;
  FOR_LANES(lane, w->exec) {
    uint64_t at = builtin_arg(w, in->ptr, lane, 0), handle = 0x100 + lane;
    char *p = vgpu_generic_pointer(w, lane, at, 8);
    if (!p)
      return vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, lane, at,
                        "the handle is to be stored at an illegal address");
    memcpy(p, &handle, 8);
    builtin_result(w, in->ptr, lane, 0);
  }
  return in + 1;
}

static const Inst *succeed(Warp *w, const Inst *in) {
  FOR_LANES(lane, w->exec) builtin_result(w, in->ptr, lane, 0);
  return in + 1;
}

static const Inst *store_zero(Warp *w, const Inst *in) {  // cudaGetDevice
  w->mem_pc = in;
  FOR_LANES(lane, w->exec) {
    uint64_t at = builtin_arg(w, in->ptr, lane, 0);
    char *p = vgpu_generic_pointer(w, lane, at, 4);
    if (!p)
      return vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, lane, at,
                        "the result is to be stored at an illegal address");
    memset(p, 0, 4);
    builtin_result(w, in->ptr, lane, 0);
  }
  return in + 1;
}

static const Inst *device_malloc(Warp *w, const Inst *in) {
  enum { ERROR_MEMORY = 2 };
  w->mem_pc = in;
  FOR_LANES(lane, w->exec) {
    uint64_t at = builtin_arg(w, in->ptr, lane, 0),
             p = heap_alloc(builtin_arg(w, in->ptr, lane, 1));
    char *out = vgpu_generic_pointer(w, lane, at, 8);
    if (!out)
      return vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, lane, at,
                        "the result is to be stored at an illegal address");
    memcpy(out, &p, 8);
    builtin_result(w, in->ptr, lane, p ? 0 : ERROR_MEMORY);
  }
  return in + 1;
}

static const Inst *device_free(Warp *w, const Inst *in) {
  FOR_LANES(lane, w->exec)
    builtin_result(w, in->ptr, lane,
                   heap_free(builtin_arg(w, in->ptr, lane, 0)) ? 0 : ERROR_INVALID_VALUE);
  return in + 1;
}

// A conditional handle of a graph is the address of a word (see driver/).
static const Inst *graph_set_conditional(Warp *w, const Inst *in) {
  w->mem_pc = in;
  FOR_LANES(lane, w->exec) {
    uint64_t handle = builtin_arg(w, in->ptr, lane, 0);
    if (!vgpu_window_holds(handle, 4) || handle % 4)
      return vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, lane, handle, "not a conditional handle");
    __atomic_store_n((uint32_t *)handle, (uint32_t)builtin_arg(w, in->ptr, lane, 1),
                     __ATOMIC_SEQ_CST);
  }
  return in + 1;
}

const Builtin device_runtime_builtins[] = {
    {"__cudaCDP2GetParameterBufferV2", get_parameter_buffer},
    {"__cudaCDP2LaunchDeviceV2", launch_device},
    {"__cudaCDP2LaunchDeviceV2_ptsz", launch_device},
    {"__cudaCDP2MemcpyAsync", memcpy_async},
    {"__cudaCDP2MemcpyAsync_ptsz", memcpy_async},
    {"__cudaCDP2MemsetAsync", memset_async},
    {"__cudaCDP2MemsetAsync_ptsz", memset_async},
    {"__cudaCDP2StreamCreateWithFlags", create_handle},
    {"__cudaCDP2EventCreateWithFlags", create_handle},
    {"__cudaCDP2StreamDestroy", succeed},
    {"__cudaCDP2EventDestroy", succeed},
    {"__cudaCDP2EventRecord", succeed},
    {"__cudaCDP2EventRecord_ptsz", succeed},
    {"__cudaCDP2EventRecordWithFlags", succeed},
    {"__cudaCDP2EventRecordWithFlags_ptsz", succeed},
    {"__cudaCDP2StreamWaitEvent", succeed},
    {"__cudaCDP2StreamWaitEvent_ptsz", succeed},
    {"__cudaCDP2GetLastError", succeed},
    {"__cudaCDP2PeekAtLastError", succeed},
    {"__cudaCDP2GetDevice", store_zero},
    {"__cudaCDP2Malloc", device_malloc},
    {"__cudaCDP2Free", device_free},
    {"cudaGraphSetConditional", graph_set_conditional},
    {NULL, NULL},
};
