// The CUDA runtime inside kernels: kernels that launch kernels (dynamic parallelism, its current form, in which a parent
// cannot wait for its children), copies and sets in device streams, conditional graph handles.
//
// A child may run at any time between its launch and the end of its parent's grid, so it runs when the parent's blocks
// are done: children in the order they were launched, each with its own children behind it, tail launches last.
#include "vgpu/core.h"

typedef enum { WORK_KERNEL, WORK_COPY, WORK_SET } WorkKind;
struct ChildWork {
  ChildWork *next;
  WorkKind kind;
  VgpuKernel *kernel;
  uint32_t grid[3], block[3], shared;
  uint64_t dst, src, bytes;
  int value;
};
enum { STREAM_TAIL_LAUNCH = 3, ERROR_INVALID_VALUE = 1, ERROR_INVALID_FUNCTION = 98, HEADER = 128 };
_Static_assert(sizeof(ChildWork) <= HEADER, "a child's description stands in front of its parameters");

static VgpuKernel *kernel_of(const VgpuModule *m, uint64_t handle) {
  for (uint32_t i = 0; i < m->kernels.len; i++)
    if ((uint64_t)m->kernels.data[i]->sym == handle) return m->kernels.data[i];
  return NULL;
}

// Description and parameters lie in the window: the parent writes the parameters there with ordinary stores.
static ChildWork *new_work(Launch *l, size_t param_bytes) {
  enum { CHUNK = 1 << 20 };
  size_t need = HEADER + ((param_bytes + 63) & ~(size_t)63);
  pthread_mutex_lock(&l->children_lock);
  if (!l->child_chunks.len || l->child_next + need > CHUNK) {
    char *chunk = need <= CHUNK ? vgpu_mem_alloc(CHUNK, 0) : NULL;
    if (chunk) {
      vec_push(&l->child_chunks, chunk);
      l->child_next = 0;
    } else need = 0;
  }
  ChildWork *c = need ? (ChildWork *)(l->child_chunks.data[l->child_chunks.len - 1] + l->child_next) : NULL;
  l->child_next += need;
  pthread_mutex_unlock(&l->children_lock);
  return c;
}

static void enqueue(Launch *l, ChildWork *c, uint64_t stream) {
  pthread_mutex_lock(&l->children_lock);
  ChildWork ***end = stream == STREAM_TAIL_LAUNCH ? &l->tail_end : &l->children_end;
  if (!*end) *end = stream == STREAM_TAIL_LAUNCH ? &l->tail : &l->children;
  **end = c;
  *end = &c->next;
  pthread_mutex_unlock(&l->children_lock);
}

static VgpuStatus run_list(Launch *l, ChildWork *first, VgpuFault *fault) {
  for (ChildWork *c = first; c; c = c->next) {
    if (c->kind == WORK_COPY) memmove((void *)c->dst, (const void *)c->src, c->bytes);
    else if (c->kind == WORK_SET) memset((void *)c->dst, c->value, c->bytes);
    else {
      VgpuLaunch r = *l->request;
      r.kernel = c->kernel;
      memcpy(r.grid, c->grid, sizeof r.grid);
      memcpy(r.block, c->block, sizeof r.block);
      memset(r.cluster, 0, sizeof r.cluster);
      r.dynamic_shared = c->shared;
      r.cooperative = false;
      r.params = (char *)c + HEADER;
      VgpuStatus s = vgpu_launch(&r, fault);
      if (s != VGPU_OK) return s;
    }
  }
  return VGPU_OK;
}

VgpuStatus device_runtime_finish(Launch *l, VgpuStatus s, VgpuFault *fault) {
  if (s == VGPU_OK) s = run_list(l, l->children, fault);
  if (s == VGPU_OK) s = run_list(l, l->tail, fault);
  for (uint32_t i = 0; i < l->child_chunks.len; i++) vgpu_mem_free(l->child_chunks.data[i], 1 << 20);
  vec_free(&l->child_chunks);
  return s;
}

// --- the functions ---
static void read_dim(Warp *w, const CallSite *cs, unsigned lane, unsigned i, uint32_t *out) {
  const struct CallValue *v = &cs->args[i];
  memcpy(out, w->local + (uint64_t)lane * w->local_bytes + w->frame->local_base + v->where, 12);
}

// (function, grid, block, shared bytes) -> parameter buffer
static const Inst *get_parameter_buffer(Warp *w, const Inst *in) {
  const CallSite *cs = in->ptr;
  FOR_LANES(lane, w->exec) {
    VgpuKernel *k = kernel_of(w->launch->kernel->module, builtin_arg(w, cs, lane, 0));
    ChildWork *c = k && cs->nargs == 4 && !cs->args[1].is_slot ? new_work(w->launch, k->info.param_bytes) : NULL;
    if (c) {
      *c = (ChildWork){.kind = WORK_KERNEL, .kernel = k, .shared = (uint32_t)builtin_arg(w, cs, lane, 3)};
      read_dim(w, cs, lane, 1, c->grid);
      read_dim(w, cs, lane, 2, c->block);
    }
    builtin_result(w, cs, lane, c ? (uint64_t)c + HEADER : 0);
  }
  return in + 1;
}

// (parameter buffer, stream)
static const Inst *launch_device(Warp *w, const Inst *in) {
  FOR_LANES(lane, w->exec) {
    uint64_t buffer = builtin_arg(w, in->ptr, lane, 0);
    if (buffer) enqueue(w->launch, (ChildWork *)(buffer - HEADER), builtin_arg(w, in->ptr, lane, 1));
    builtin_result(w, in->ptr, lane, buffer ? 0 : ERROR_INVALID_FUNCTION);
  }
  return in + 1;
}

static void queue_memory(Warp *w, const Inst *in, unsigned lane, ChildWork work, uint64_t stream) {
  bool ok = vgpu_window_holds(work.dst, work.bytes) && (work.kind == WORK_SET || vgpu_window_holds(work.src, work.bytes));
  ChildWork *c = ok ? new_work(w->launch, 0) : NULL;
  if (c) {
    *c = work;
    enqueue(w->launch, c, stream);
  }
  builtin_result(w, in->ptr, lane, c ? 0 : ERROR_INVALID_VALUE);
}

// (destination, source, bytes, kind, stream)
static const Inst *memcpy_async(Warp *w, const Inst *in) {
  FOR_LANES(lane, w->exec)
    queue_memory(w, in, lane, (ChildWork){.kind = WORK_COPY, .dst = builtin_arg(w, in->ptr, lane, 0),
                 .src = builtin_arg(w, in->ptr, lane, 1), .bytes = builtin_arg(w, in->ptr, lane, 2)}, builtin_arg(w, in->ptr, lane, 4));
  return in + 1;
}

// (destination, value, bytes, stream)
static const Inst *memset_async(Warp *w, const Inst *in) {
  FOR_LANES(lane, w->exec)
    queue_memory(w, in, lane, (ChildWork){.kind = WORK_SET, .dst = builtin_arg(w, in->ptr, lane, 0),
                 .value = (int)builtin_arg(w, in->ptr, lane, 1), .bytes = builtin_arg(w, in->ptr, lane, 2)}, builtin_arg(w, in->ptr, lane, 3));
  return in + 1;
}

// Handles of device streams and events: all work is done in one order, so any number will do.
static const Inst *create_handle(Warp *w, const Inst *in) {
  FOR_LANES(lane, w->exec) {
    uint64_t at = builtin_arg(w, in->ptr, lane, 0), handle = 0x100 + lane;
    char *p = vgpu_generic_pointer(w, lane, at, 8);
    if (!p) return vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, lane, at, "the handle is to be stored at an illegal address");
    memcpy(p, &handle, 8);
    builtin_result(w, in->ptr, lane, 0);
  }
  return in + 1;
}

static const Inst *succeed(Warp *w, const Inst *in) {
  FOR_LANES(lane, w->exec) builtin_result(w, in->ptr, lane, 0);
  return in + 1;
}

static const Inst *store_zero(Warp *w, const Inst *in) {      // cudaGetDevice
  FOR_LANES(lane, w->exec) {
    uint64_t at = builtin_arg(w, in->ptr, lane, 0);
    char *p = vgpu_generic_pointer(w, lane, at, 4);
    if (!p) return vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, lane, at, "the result is to be stored at an illegal address");
    memset(p, 0, 4);
    builtin_result(w, in->ptr, lane, 0);
  }
  return in + 1;
}

static const Inst *device_malloc(Warp *w, const Inst *in) {
  enum { ERROR_MEMORY = 2 };
  FOR_LANES(lane, w->exec) {
    uint64_t at = builtin_arg(w, in->ptr, lane, 0), p = heap_alloc(builtin_arg(w, in->ptr, lane, 1));
    char *out = vgpu_generic_pointer(w, lane, at, 8);
    if (!out) return vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, lane, at, "the result is to be stored at an illegal address");
    memcpy(out, &p, 8);
    builtin_result(w, in->ptr, lane, p ? 0 : ERROR_MEMORY);
  }
  return in + 1;
}

static const Inst *device_free(Warp *w, const Inst *in) {
  FOR_LANES(lane, w->exec) builtin_result(w, in->ptr, lane, heap_free(builtin_arg(w, in->ptr, lane, 0)) ? 0 : ERROR_INVALID_VALUE);
  return in + 1;
}

// A conditional handle of a graph is the address of a word (see driver/).
static const Inst *graph_set_conditional(Warp *w, const Inst *in) {
  FOR_LANES(lane, w->exec) {
    uint64_t handle = builtin_arg(w, in->ptr, lane, 0);
    if (!vgpu_window_holds(handle, 4)) return vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, lane, handle, "not a conditional handle");
    __atomic_store_n((uint32_t *)handle, (uint32_t)builtin_arg(w, in->ptr, lane, 1), __ATOMIC_SEQ_CST);
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
