// initcheck on the virtual device: the session hears of allocations when they are made, and of
// everything that writes to memory when it is done, in stream order. What a kernel is told of
// memory is looked up when it begins to run.
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

// What lies in host or managed memory is the host's too.
static bool host_sees(const Alloc *a) {
  return a->pool && (a->pool->props.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED ||
                     a->pool->props.location.type != CU_MEM_LOCATION_TYPE_DEVICE);
}

void shadow_alloc(const Alloc *a) {
  if (!session_wants_shadow() || a->kind == ALLOC_MAPPED) return;  // vmm.c tells what is mapped
  SessionMemoryKind kind = host_sees(a) ? SESSION_MANAGED : kind_of(a->kind);
  bool tracked = kind == SESSION_DEVICE || kind == SESSION_POOL || kind == SESSION_GRAPH;
  SessionDevice *d = tracked && a->ctx ? tools_device_begin(a->ctx) : NULL;
  session_shadow_alloc(d, NULL, a->base, a->size, kind);
  if (tracked && a->ctx) tools_device_end();
}

void shadow_map(uintptr_t base, size_t size, const void *physical, size_t offset,
                size_t physical_size, bool tracked) {
  Context *ctx;
  if (!session_wants_shadow()) return;
  tracked = tracked && context_of_thread(&ctx) == CUDA_SUCCESS;
  SessionDevice *d = tracked ? tools_device_begin(ctx) : NULL;
  if (d) session_shadow_map(d, base, size, physical, offset, physical_size);
  else session_shadow_alloc(NULL, NULL, base, size, SESSION_MANAGED);
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

SessionCopy shadow_node(const Work *w, const void *stream) {
  SessionCopy s = w->kind == WORK_COPY ? copy_of(&w->copy) : set_of(&w->set);
  s.call = w->kind == WORK_COPY ? "memcpy node" : "memset node";
  s.stream = stream;
  return s;
}

void shadow_node_step(Work *w, const void *stream) {
  bool copies = w->kind == WORK_COPY;
  SessionCopy s = shadow_node(w, stream);
  *(copies ? &w->copy.step : &w->set.step) = new_step(&s, copies ? "memcpy node" : "memset node");
}

// A node that may run more than once in a launch of its graph is told each time it runs.
static void tell_step(SessionCopy *s, const char *node) {
  if (!session_wants(SESSION_WANTS_GRAPH_NODES)) return;
  if (!s->step) new_step(s, node);
  session_copy_contents(s);
}

void shadow_copied(const CopyWork *c) {
  if (!session_wants_copies() || !c->width) return;
  SessionCopy s = copy_of(c);
  session_copy_done(&s);
  session_copy_runs(NULL, &s);
  s.race = c->race;
  session_race_copied(&s);
  s.step = c->step;
  tell_step(&s, "memcpy node");
}

void shadow_written(const void *p, size_t pitch, size_t bytes, size_t rows) {
  if (!session_wants_shadow()) return;
  SessionCopy s = {.to = {.kind = SESSION_PLACE_DEVICE, .address = (uintptr_t)p, .pitch = pitch},
                   .is_set = true,
                   .width = bytes,
                   .height = rows,
                   .depth = 1};
  session_copy_runs(NULL, &s);
}

void shadow_was_set(const SetWork *w) {
  size_t bytes = w->width * w->element;
  shadow_written(w->dst, w->pitch, bytes, w->height);
  SessionCopy s = set_of(w);
  s.race = w->race;
  session_race_copied(&s);
  tell_step(&s, "memset node");
}

// --- launches ---

// The parameters of one run: a copy, since a graph's are the same for all of its runs.
const void *shadow_launch_begin(Context *ctx, const KernelWork *k, LaunchShadow *l) {
  *l = (LaunchShadow){0};
  Function *f = k->function;
  const WovenKernel *code = k->checked ? session_kernel_code(f->session) : NULL;
  if (!code || !code->record_bytes || !session_wants_shadow()) return k->params;
  l->params = mem_alloc(MAX(f->info->param_bytes, 1));
  memcpy(l->params, k->params, f->info->param_bytes);
  unsigned char *record = l->params + code->record_offset;
  SessionParams params = {.buffer = l->params, .buffer_bytes = f->param_bytes};
  if (session_shadow_follows(f->session)) session_shadow_refresh(f->session, &params, record);
  WgLaunch r;
  memcpy(&r, record, sizeof r);
  l->shared_bytes = session_shared_shadow(f->session,
                                          (uint64_t)k->grid[0] * k->grid[1] * k->grid[2],
                                          f->info->static_shared + k->shared, &r);
  if (l->shared_bytes) l->shared = vgpu_tool_alloc(l->shared_bytes, 512);
  r.shared_shadow = (uint64_t)(uintptr_t)l->shared;
  if (l->shared) memcpy(record, &r, sizeof r);
  return l->params;
}

void shadow_launch_end(Context *ctx, const KernelWork *k, LaunchShadow *l) {
  const WovenKernel *code = session_wants_shadow() && k->checked
                                ? session_kernel_code(k->function->session)
                                : NULL;
  bool unseen = !code || !l->params ||
                !session_shadow_marks(k->function->session, l->params + code->record_offset);
  bool heap_unseen = !unseen && ((const WgLaunch *)(l->params + code->record_offset))->flags &
                                    WG_LAUNCH_HEAP_UNSEEN;
  if (l->shared) vgpu_tool_free(l->shared, l->shared_bytes);
  free(l->params);
  if (unseen) session_shadow_unknown_kernel(NULL, NULL);
  if (heap_unseen) session_shadow_heap_unseen(NULL, NULL);
}
