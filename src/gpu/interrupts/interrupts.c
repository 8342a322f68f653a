// Launches of kernels that call interrupts, on a GPU: their memory and their parameter.
// pending.c serves them and waits for them.
#include "gpu/interrupts/interrupts.h"

#include "base/runstats.h"

// --- before the launch ---

static bool refuse(GpuLaunch *l, CUresult result, const char *text) {
  log_error("%s", text);
  if (result == CUDA_ERROR_NOT_SUPPORTED) runstats_fail("%s", text);
  l->refused = result;
  l->function = NULL;
  l->gone = true;
  return false;
}

// The program's parameters with ours after them: a list or a buffer, as they were given. The
// second kernel gets a copy: the program's own may be gone by then.
static bool extend_params(GpuLaunch *l, GpuInterrupts *g) {
  const InterruptKernel *k = g->kernel;
  const void *given = NULL;
  size_t bytes = 0;
  if (l->extra && !gpu_launch_extra(l->extra, &given, &bytes)) return false;
  g->size = k->param_at + sizeof g->launch;
  g->room = mem_alloc(g->size);
  if (given) memcpy(g->room, given, MIN(bytes, (size_t)k->param_at));
  for (uint32_t i = 0; !given && i < k->user_params; i++)
    memcpy(g->room + k->params[i].offset, l->params[i], k->params[i].bytes);
  memcpy(g->room + k->param_at, &g->launch, sizeof g->launch);
  g->list[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
  g->list[1] = g->room;
  g->list[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
  g->list[3] = &g->size;
  g->list[4] = CU_LAUNCH_PARAM_END;
  if (given) l->extra = g->list;
  if (given) return true;
  g->params = mem_alloc((k->user_params + 1) * sizeof *g->params);
  if (k->user_params) memcpy(g->params, l->params, k->user_params * sizeof *g->params);
  g->params[k->user_params] = &g->launch;
  l->params = g->params;
  return true;
}

bool gpu_interrupts_clear_states(GpuInterrupts *g) {
  GpuBuffer *b = g->memory;
  // a cooperative launch does not clean its workspace
  bool clean = b->kernel == g->kernel && !g->sizes.workspace &&
               !memcmp(&b->sizes, &g->sizes, sizeof g->sizes);
  b->kernel = NULL;  // until all its threads have ended
  b->sizes = g->sizes;
  return clean ||
         gpu_real.cuMemsetD8Async(b->p, 0, interrupt_zeroed(&g->sizes), g->stream) == CUDA_SUCCESS;
}

// --- after a launch that may still suspend threads ---

bool gpu_interrupts_follow(const GpuLaunch *l, GpuFollowing *f) {
  const GpuInterrupts *g = l->interrupts;
  if (!g->gate || g->own || g->ctx != f->ctx || g->gate->news->what != NEWS_NONE) return false;
  f->gate = g->gate;
  gpu_gate_share(f->gate);
  return true;
}

// Shares memory: the new launch begins only when all before it have ended, and they leave the
// memory as they found it.
void gpu_interrupts_share(const GpuLaunch *l, GpuFollowing *f) {
  const GpuInterrupts *g = l->interrupts;
  if (f->memory || g->ctx != f->ctx || g->kernel != f->kernel ||
      memcmp(&g->sizes, f->sizes, sizeof g->sizes))
    return;
  f->memory = g->memory;
  gpu_buffer_share(f->memory);
}

// A kernel that suspends threads in each launch waits: after another launch of it, it would always
// be launched twice.
static CUresult line_up(GpuInterrupts *g, GpuFunction *of, uint64_t stream) {
  GpuFollowing f = {
      .ctx = g->ctx, .kernel = g->kernel, .sizes = &g->sizes, .waits = atomic_load(&of->suspends)};
  g->in_line = !session_tools() && !g->sizes.workspace && g->stream != CU_STREAM_PER_THREAD;
  CUresult result = gpu_interrupts_line_up(stream, g->in_line ? &f : NULL);
  g->in_line = g->in_line && result == CUDA_SUCCESS;
  g->follows = f.pending;
  g->before = f.gate;
  g->memory = f.memory;
  return result;
}

// Number of places that there is room for now.
static uint32_t room_for_places(const GpuInterrupts *g) {
  size_t groups = g->memory->places->size / (32 * g->sizes.place_bytes);
  return (uint32_t)MIN(MIN(groups, g->sizes.place_groups) * 32, UINT32_MAX);
}
static uint32_t room_for_slots(const GpuInterrupts *g) {
  size_t each = g->sizes.saved_stride, blocks = g->sizes.blocks;
  return (uint32_t)(each ? MIN(g->memory->saved->size / each, blocks) : blocks);
}
static bool has_room_for_all(const GpuInterrupts *g) {
  return room_for_places(g) >= g->sizes.place_groups * 32 - 1 &&
         room_for_slots(g) == g->sizes.blocks;
}

bool gpu_interrupts_wants_room(const GpuLaunch *l) {
  const GpuInterrupts *g = l->interrupts;
  if (!g || !g->gate || g->gate->news->refused) return false;
  const volatile InterruptNews *news = g->gate->news;
  return news->wants_places > news->room_places || news->wants_slots > news->room_slots;
}

static void set_gates(GpuInterrupts *g) {
  if (!g->gate && !session_tools()) g->gate = gpu_gate_take(g->ctx);
  if (g->gate) {
    g->launch.room_places = g->gate->news->room_places = room_for_places(g);
    g->launch.room_slots = g->gate->news->room_slots = room_for_slots(g);
    g->launch.notify = g->gate->notify;
    g->launch.gate = g->gate->word;
    g->launch.serial = g->gate->serial;
  }
  if (g->before) {
    g->launch.gate_before = g->before->word;
    g->launch.serial_before = g->before->serial;
  }
}

static void leave_line(GpuInterrupts *g) {
  if (g->in_line) gpu_interrupts_give_up(g->follows);
  g->in_line = false;
}

static void free_launch(GpuInterrupts *g) {
  GpuBuffer *all[] = {g->memory, g->counts, g->calls, g->totals};
  for (unsigned i = 0; i < ARRAY_LEN(all); i++)
    if (all[i]) gpu_buffer_give_back(all[i]);
  if (g->gate) gpu_gate_give_back(g->gate);
  if (g->before) gpu_gate_give_back(g->before);
  leave_line(g);
  if (g->ended) gpu_real.cuEventDestroy_v2(g->ended);
  if (g->own) gpu_real.cuStreamDestroy_v2(g->own);
  free(g->params);
  free(g->room);
  free(g);
}

// Takes new memory, or that of an earlier launch. A launch without a gate is served before it
// returns, so it must not follow another one.
static bool take_memory(GpuInterrupts *g) {
  bool shares = g->memory != NULL;
  if (!shares) g->memory = gpu_launch_memory_take(g->ctx, &g->sizes);
  if (!g->memory) return false;
  const GpuBuffer *places = g->memory->places, *saved = g->memory->saved;
  g->launch = interrupt_place(&g->sizes, g->memory->p, places->p, saved ? saved->p : 0);
  set_gates(g);
  return (g->gate || (!g->before && has_room_for_all(g))) &&
         (shares || gpu_interrupts_clear_states(g));
}

// Waits for earlier launches, whose memory can be used then.
static bool wait_for_memory(GpuInterrupts *g, uint64_t stream) {
  leave_line(g);
  if (g->before) gpu_gate_give_back(g->before);
  g->before = NULL;
  return gpu_interrupts_wait_in(stream) == CUDA_SUCCESS && take_memory(g);
}

// --- what is refused ---

InterruptShape gpu_interrupts_shape(const GpuLaunch *l) {
  InterruptShape shape = {.shared = l->event.shared, .cooperative = l->event.cooperative};
  memcpy(shape.grid, l->event.grid, sizeof shape.grid);
  memcpy(shape.block, l->event.block, sizeof shape.block);
  return shape;
}

static bool can_launch(GpuLaunch *l, InterruptSizes *sizes) {
  const InterruptKernel *k = l->of->interrupts;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  Error err = {{0}};
  if (k->refused) return refuse(l, CUDA_ERROR_NOT_SUPPORTED, k->refused);
  if (gpu_real.cuStreamIsCapturing)
    gpu_real.cuStreamIsCapturing((CUstream)(uintptr_t)l->event.stream, &status);
  if (l->event.captured || status != CU_STREAM_CAPTURE_STATUS_NONE) {
    interrupt_refuse_graph(k, &err);
    // a synchronisation invalidates the capture: a graph without the kernel would be wrong
    if (status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
      gpu_real.cuStreamSynchronize((CUstream)(uintptr_t)l->event.stream);
    return refuse(l, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, err.text);
  }
  if (!interrupt_check_handlers(k, &err)) return refuse(l, CUDA_ERROR_INVALID_VALUE, err.text);
  InterruptShape shape = gpu_interrupts_shape(l);
  return interrupt_sizes(k, &shape, sizes, &err) || refuse(l, CUDA_ERROR_NOT_SUPPORTED, err.text);
}

static bool refuse_for_memory(GpuLaunch *l, GpuInterrupts *g) {
  Error err = {{0}};
  interrupt_refuse_memory(g->kernel, &g->sizes, &err);
  free_launch(g);
  return refuse(l, CUDA_ERROR_OUT_OF_MEMORY, err.text);
}

// An earlier launch of the stream has failed.
static bool refuse_quietly(GpuLaunch *l, GpuInterrupts *g, CUresult result) {
  free_launch(g);
  l->refused = result;
  l->gone = true;
  return false;
}

bool gpu_interrupts_begin(GpuLaunch *l) {
  InterruptSizes sizes;
  if (!can_launch(l, &sizes)) return false;
  GpuInterrupts *g = mem_alloc(sizeof *g);
  g->kernel = l->of->interrupts;
  g->sizes = sizes;
  g->stream = (CUstream)(uintptr_t)l->event.stream;
  gpu_real.cuCtxGetCurrent(&g->ctx);
  CUresult result = line_up(g, l->of, (uint64_t)(uintptr_t)l->event.stream);
  if (result != CUDA_SUCCESS) return refuse_quietly(l, g, result);
  if (!take_memory(g) && !wait_for_memory(g, (uint64_t)(uintptr_t)l->event.stream))
    return refuse_for_memory(l, g);
  l->interrupts = g;
  if (extend_params(l, g)) return true;
  l->interrupts = NULL;
  return refuse_quietly(l, g, CUDA_ERROR_INVALID_VALUE);
}

// --- the whole launch ---

CUresult gpu_interrupts_wait_for_first(const GpuInterrupts *g) {
  return g->ended ? gpu_real.cuEventSynchronize(g->ended) : gpu_real.cuStreamSynchronize(g->stream);
}

// The calling thread may have another context and other streams than the launch.
typedef struct Entered {
  CUcontext before;
  bool pushed;
} Entered;
static Entered enter_context(const GpuInterrupts *g) {
  Entered e = {NULL, false};
  gpu_real.cuCtxGetCurrent(&e.before);
  if (e.before != g->ctx) e.pushed = gpu_real.cuCtxPushCurrent_v2(g->ctx) == CUDA_SUCCESS;
  return e;
}
static void leave_context(Entered e) {
  if (e.pushed) gpu_real.cuCtxPopCurrent_v2(&e.before);
}

bool gpu_interrupts_has_ended(const GpuLaunch *l) {
  const GpuInterrupts *g = l->interrupts;
  Entered e = enter_context(g);
  CUresult result = g->ended ? gpu_real.cuEventQuery(g->ended) : gpu_real.cuStreamQuery(g->stream);
  leave_context(e);
  return result != CUDA_ERROR_NOT_READY;
}

// Runs while the kernel runs.
bool gpu_interrupts_make_room(const GpuLaunch *l) {
  const GpuInterrupts *g = l->interrupts;
  volatile InterruptNews *news = g->gate->news;
  Entered e = enter_context(g);
  bool ok = true;
  uint32_t places = news->wants_places, slots = news->wants_slots;
  while (ok && room_for_places(g) < places) ok = gpu_room_grow(g->memory->places);
  while (ok && room_for_slots(g) < slots) ok = gpu_room_grow(g->memory->saved);
  news->room_places = room_for_places(g);
  news->room_slots = room_for_slots(g);
  leave_context(e);
  if (!ok) {
    news->what = NEWS_SUSPENDED;
    news->refused = 1;
  }
  return ok;
}

bool gpu_interrupts_told_nothing(const GpuLaunch *l) {
  const GpuInterrupts *g = l->interrupts;
  return g->gate && g->gate->news->what == NEWS_NONE;
}

bool gpu_interrupts_same_stream(const GpuLaunch *a, const GpuLaunch *b) {
  const GpuInterrupts *x = a->interrupts, *y = b->interrupts;
  return x && y && x->ctx == y->ctx && x->stream == y->stream && !x->ended && !y->ended;
}

bool gpu_interrupts_suspended_nobody(const GpuLaunch *l) {
  const GpuInterrupts *g = l->interrupts;
  Entered e = enter_context(g);
  bool ok = gpu_interrupts_wait_for_first(g) == CUDA_SUCCESS;
  leave_context(e);
  return ok && gpu_interrupts_told_nothing(l);
}

CUresult gpu_interrupts_serve(GpuLaunch *l, GpuServing how) {
  GpuInterrupts *g = l->interrupts;
  CUresult result = CUDA_SUCCESS;
  g->clean = how == SERVE_NOBODY;
  if (how == SERVE_NOBODY) atomic_store(&l->of->suspends, false);
  if (how == SERVE_ALL) {
    Entered e = enter_context(g);
    if (g->own) g->stream = g->own;
    result = gpu_interrupts_rounds(l);
    leave_context(e);
  }
  g->memory->kernel = g->clean ? g->kernel : NULL;
  free_launch(g);
  l->interrupts = NULL;
  return result;
}

// Other threads cannot name the launching thread's own stream.
static bool prepare_for_service(GpuInterrupts *g) {
  if (g->stream != CU_STREAM_PER_THREAD) return true;
  return gpu_real.cuEventCreate(&g->ended, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
         gpu_real.cuEventRecord(g->ended, g->stream) == CUDA_SUCCESS &&
         gpu_real.cuStreamCreate(&g->own, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
}

CUresult gpu_interrupts_end(GpuLaunch *l, CUresult result) {
  GpuInterrupts *g = l->interrupts;
  if (result != CUDA_SUCCESS) free_launch(g);
  else if (session_tools() || !g->gate || !prepare_for_service(g)) {
    leave_line(g);
    g->alone = true;
    return gpu_interrupts_serve(l, SERVE_ALL);
  } else {
    bool in_line = g->in_line;
    g->in_line = false;
    gpu_interrupts_add(l, in_line, g->follows);
  }
  l->interrupts = NULL;
  return result;
}
