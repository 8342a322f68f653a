// Reports the virtual device's work to the session: allocations when they are made; copies, sets
// and launches when they are done, in stream order.
#include "driver/driver.h"

static SessionMemoryKind kind_of(AllocKind k) {
  switch (k) {
    case ALLOC_POOL: return SESSION_POOL;
    case ALLOC_GRAPH: return SESSION_GRAPH;
    case ALLOC_DEVICE: return SESSION_DEVICE;
    case ALLOC_ARRAY: return SESSION_ARRAY;
    case ALLOC_GLOBAL: return SESSION_VARIABLE;
    case ALLOC_MANAGED: return SESSION_MANAGED;
    default: return SESSION_PINNED;
  }
}

// Memory of a pool that the host can write to.
static bool host_sees(const Alloc *a) {
  return a->pool && (a->pool->props.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED ||
                     a->pool->props.location.type != CU_MEM_LOCATION_TYPE_DEVICE);
}

void events_alloc(const Alloc *a) {
  // cuMemMap reports its mappings itself
  if (!session_wants(SESSION_WANTS_CONTENTS) || a->kind == ALLOC_MAPPED) return;
  SessionMemoryKind kind = host_sees(a) ? SESSION_MANAGED : kind_of(a->kind);
  bool tracked = kind == SESSION_DEVICE || kind == SESSION_POOL || kind == SESSION_GRAPH;
  SessionDevice *d = tracked && a->ctx ? tools_device_begin(a->ctx) : NULL;
  session_memory_event(&(SessionMemoryEvent){MEMORY_NEW, .device = d, .base = a->base,
                                             .size = a->size, .memory = kind});
  if (tracked && a->ctx) tools_device_end();
}

void events_map(uintptr_t base, size_t size, const void *physical, size_t offset,
                size_t physical_size, bool tracked) {
  Context *ctx;
  if (!session_wants(SESSION_WANTS_CONTENTS)) return;
  tracked = tracked && context_of_thread(&ctx) == CUDA_SUCCESS;
  SessionDevice *d = tracked ? tools_device_begin(ctx) : NULL;
  session_memory_event(&(SessionMemoryEvent){d ? MEMORY_MAPPED : MEMORY_NEW, .device = d,
                                             .base = base, .size = size, .memory = SESSION_MANAGED,
                                             .physical = physical, .offset = offset,
                                             .physical_size = physical_size});
  if (tracked) tools_device_end();
}

// --- copies, sets and other writes, when they are done ---

static SessionPlaceKind place_kind(CUmemorytype t) {
  return t == CU_MEMORYTYPE_HOST ? SESSION_PLACE_HOST : SESSION_PLACE_UNIFIED;
}

static SessionPlace place(const char *at, size_t row, size_t slice, CUmemorytype type) {
  return (SessionPlace){.kind = place_kind(type),
                        .address = (uintptr_t)at,
                        .pitch = row,
                        .rows = row ? slice / row : 0};
}

static SessionCopy copy_of(const CopyWork *c) {
  return (SessionCopy){.to = place(c->dst, c->dst_row, c->dst_slice, c->desc.dstMemoryType),
                       .from = place(c->src, c->src_row, c->src_slice, c->desc.srcMemoryType),
                       .width = c->width,
                       .height = c->height,
                       .depth = c->depth,
                       .stack = c->stack};
}

static SessionCopy set_of(const SetWork *w) {
  return (SessionCopy){
      .to = {.kind = SESSION_PLACE_DEVICE, .address = (uintptr_t)w->dst, .pitch = w->pitch},
      .is_set = true,
      .width = w->width * w->element,
      .height = w->height,
      .depth = 1,
      .step = w->step,
      .value = w->value,
      .value_bytes = w->element};
}

static uint32_t new_step(SessionCopy *s, const char *node) {
  s->call = node;
  s->step = session_copy_number(s);
  session_copy_taken(s);
  return s->step;
}

SessionCopy events_node(const Work *w, const void *stream) {
  SessionCopy s = w->kind == WORK_COPY ? copy_of(&w->copy) : set_of(&w->set);
  s.call = w->kind == WORK_COPY ? "memcpy node" : "memset node";
  s.stream = stream;
  return s;
}

void events_node_step(Work *w, const void *stream) {
  bool copies = w->kind == WORK_COPY;
  SessionCopy s = events_node(w, stream);
  *(copies ? &w->copy.step : &w->set.step) = new_step(&s, copies ? "memcpy node" : "memset node");
}

// A node that can run more than once in a graph launch is reported on each run.
static void tell_step(SessionCopy *s, const char *node) {
  if (!session_wants(SESSION_WANTS_GRAPH_NODES)) return;
  if (!s->step) new_step(s, node);
  session_copy_contents(s);
}

void events_copied(const CopyWork *c) {
  if (!session_wants_copies() || !c->width) return;
  SessionCopy s = copy_of(c);
  session_copy_done(&s);
  s.tag = c->tag;
  session_copy_runs(NULL, &s);
  s.step = c->step;
  tell_step(&s, "memcpy node");
}

void events_written(const void *p, size_t pitch, size_t bytes, size_t rows) {
  if (!session_wants(SESSION_WANTS_CONTENTS)) return;
  SessionCopy s = {.to = {.kind = SESSION_PLACE_DEVICE, .address = (uintptr_t)p, .pitch = pitch},
                   .is_set = true,
                   .width = bytes,
                   .height = rows,
                   .depth = 1};
  session_copy_runs(NULL, &s);
}

void events_set(const SetWork *w) {
  SessionCopy s = set_of(w);
  s.tag = w->tag;
  session_copy_runs(NULL, &s);
  tell_step(&s, "memset node");
}

// --- launches ---

static uint64_t scratch(SessionRun *r, size_t bytes) {
  LaunchRun *l = r->user;
  l->scratch = vgpu_tool_alloc(bytes, 512);
  l->scratch_bytes = bytes;
  return (uint64_t)(uintptr_t)l->scratch;
}

// Returns the parameters of this execution. They are a copy where the record changes, since all
// executions of a graph share one set.
const void *events_launch_begin(Context *ctx, const KernelWork *k, LaunchRun *l) {
  *l = (LaunchRun){0};
  if (!session_wants(SESSION_WANTS_CONTENTS)) return k->params;
  Function *f = k->function;
  const WovenKernel *code = k->checked ? session_kernel_code(f->session) : NULL;
  l->run.kernel = f->session;
  if (!code || !code->record_bytes) return k->params;
  l->params = mem_alloc(MAX(f->info->param_bytes, 1));
  memcpy(l->params, k->params, f->info->param_bytes);
  SessionParams params = {.buffer = l->params, .buffer_bytes = f->param_bytes};
  l->shape = tools_describe(ctx, NULL, k->captured, k);
  l->run.shape = &l->shape;
  l->run.params = &params;
  l->run.record = l->params + code->record_offset;
  l->run.shared = f->info->static_shared + k->shared;
  l->run.scratch = scratch;
  l->run.user = l;
  session_launch_begins(NULL, NULL, &l->run);
  return l->params;
}

void events_launch_end(LaunchRun *l) {
  if (l->scratch) vgpu_tool_free(l->scratch, l->scratch_bytes);
  free(l->params);
  l->run.record = NULL;
  l->run.params = NULL;
  if (session_wants(SESSION_WANTS_CONTENTS)) session_launch_ends(NULL, NULL, &l->run);
}
