// Launches of kernels that call interrupts, on a GPU: their memory, their parameter, their rounds.
// Who serves them, and who waits for that: interrupt_pending.c.
#include "gpu/interrupts.h"

#include "base/runstats.h"

extern const char probe_gather_kernel_text[];

// --- memory that is used again: allocating takes longer than a round ---

typedef struct Buffer {
  CUcontext ctx;
  uint64_t p;
  void *host;  // of the host, not of the device
  size_t size;
  bool used;
  const InterruptKernel *kernel;  // whose launch used it last, and its sizes: what must be zero is
  InterruptSizes sizes;
} Buffer;
static VEC(Buffer *) buffers;
static pthread_mutex_t buffers_lock = PTHREAD_MUTEX_INITIALIZER;

static Buffer *find_free(CUcontext ctx, size_t size, bool host) {
  Buffer *best = NULL;
  for (uint32_t i = 0; i < buffers.len; i++) {
    Buffer *b = buffers.data[i];
    if (b->used || b->ctx != ctx || b->size < size || (b->host != NULL) != host) continue;
    if (!best || b->size < best->size) best = b;
  }
  return best;
}

static bool allocate(Buffer *b, bool host) {
  if (host)
    return gpu_real.cuMemHostAlloc(&b->host, b->size, CU_MEMHOSTALLOC_DEVICEMAP) == CUDA_SUCCESS;
  CUdeviceptr p;
  // tools look at what the kernel writes: they hear of this memory as of the program's own
  CUresult result = session_tools() ? gpu_cuMemAlloc_v2(&p, b->size)
                                    : gpu_real.cuMemAlloc_v2(&p, b->size);
  if (result != CUDA_SUCCESS) return false;
  b->p = p;
  if (session_tools()) session_annotated(SESSION_INITIALISED, p, b->size);
  return true;
}

static Buffer *take_any(CUcontext ctx, size_t size, bool host) {
  enum { STEP = 1 << 16 };
  pthread_mutex_lock(&buffers_lock);
  Buffer *b = find_free(ctx, size, host);
  if (b) b->used = true;
  pthread_mutex_unlock(&buffers_lock);
  if (b) return b;
  b = mem_alloc(sizeof *b);
  *b = (Buffer){.ctx = ctx, .size = (size + STEP) / STEP * STEP, .used = true};
  if (!allocate(b, host)) {
    free(b);
    return NULL;
  }
  pthread_mutex_lock(&buffers_lock);
  vec_push(&buffers, b);
  pthread_mutex_unlock(&buffers_lock);
  return b;
}

// The new owner overwrites what the last launch had left zero.
static Buffer *take_buffer(CUcontext ctx, size_t size, bool host) {
  Buffer *b = take_any(ctx, size, host);
  if (b) b->kernel = NULL;
  return b;
}

// With a tool it is freed at once: it is no leak of the program's.
static void give_back(Buffer *b) {
  bool frees = b->p && session_tools();
  pthread_mutex_lock(&buffers_lock);
  b->used = false;
  for (uint32_t i = 0; frees && i < buffers.len; i++)
    if (buffers.data[i] == b) buffers.data[i--] = buffers.data[--buffers.len];
  pthread_mutex_unlock(&buffers_lock);
  if (!frees) return;
  gpu_cuMemFree_v2(b->p);
  free(b);
}

static Buffer *buffer_of(uint64_t p, const void *host) {
  Buffer *found = NULL;
  pthread_mutex_lock(&buffers_lock);
  for (uint32_t i = 0; i < buffers.len && !found; i++)
    if (host ? buffers.data[i]->host == host : buffers.data[i]->p == p) found = buffers.data[i];
  pthread_mutex_unlock(&buffers_lock);
  return found;
}

// --- before the launch ---

struct GpuInterrupts {
  const InterruptKernel *kernel;
  CUcontext ctx;
  CUstream stream;
  Buffer *memory, *counts, *totals, *calls, *notify;
  InterruptLaunch launch;
  void **params;
  void *list[5];
  size_t size;
  uint8_t *room;  // all parameters
  CUevent ended;  // the first kernel has; NULL: the stream tells
  CUstream own;   // for the rest, where the stream is one of the thread's; NULL: it is not
  bool entered;   // the second kernel has been launched
  CUresult result;
};

static bool refuse(GpuLaunch *l, CUresult result, const char *text) {
  log_error("%s", text);
  if (result == CUDA_ERROR_NOT_SUPPORTED) runstats_fail("%s", text);
  l->refused = result;
  l->function = NULL;
  l->gone = true;
  return false;
}

// The program's parameters with ours behind them: a list or a buffer, as they were given. The
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

static bool clear_states(GpuInterrupts *g, const InterruptSizes *sizes) {
  Buffer *b = g->memory;
  // a cooperative launch leaves its workspace as it likes
  bool clean = b->kernel == g->kernel && !sizes->workspace &&
               !memcmp(&b->sizes, sizes, sizeof *sizes);
  b->kernel = NULL;  // until all its threads have ended
  b->sizes = *sizes;
  return clean ||
         gpu_real.cuMemsetD8Async(b->p, 0, interrupt_zeroed(sizes), g->stream) == CUDA_SUCCESS;
}

bool gpu_interrupts_begin(GpuLaunch *l) {
  const InterruptKernel *k = l->of->interrupts;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  InterruptSizes sizes;
  Error err = {{0}};
  CUstream stream = (CUstream)(uintptr_t)l->event.stream;
  if (k->refused) return refuse(l, CUDA_ERROR_NOT_SUPPORTED, k->refused);
  if (gpu_real.cuStreamIsCapturing) gpu_real.cuStreamIsCapturing(stream, &status);
  if (l->event.captured || status != CU_STREAM_CAPTURE_STATUS_NONE) {
    error_set(&err, "kernel %s calls interrupts: it cannot be part of a graph", k->name);
    return refuse(l, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, err.text);
  }
  if (!interrupt_check_handlers(k, &err)) return refuse(l, CUDA_ERROR_INVALID_VALUE, err.text);
  InterruptShape shape = {.shared = l->event.shared, .cooperative = l->event.cooperative};
  memcpy(shape.grid, l->event.grid, sizeof shape.grid);
  memcpy(shape.block, l->event.block, sizeof shape.block);
  if (!interrupt_sizes(k, &shape, &sizes, &err))
    return refuse(l, CUDA_ERROR_NOT_SUPPORTED, err.text);
  GpuInterrupts *g = mem_alloc(sizeof *g);
  g->kernel = k;
  g->stream = stream;
  gpu_real.cuCtxGetCurrent(&g->ctx);
  g->memory = take_any(g->ctx, sizes.all, false);
  if (!g->memory) {
    error_set(&err,
              "kernel %s calls interrupts: its %zu threads need %zu bytes of device memory to "
              "be suspended, and there are not so many",
              k->name, sizes.threads, sizes.all);
    free(g);
    return refuse(l, CUDA_ERROR_OUT_OF_MEMORY, err.text);
  }
  g->launch = interrupt_place(&sizes, g->memory->p);
  CUdeviceptr notify = 0;
  g->notify = session_tools() ? NULL : take_buffer(g->ctx, sizeof(uint32_t), true);
  if (g->notify &&
      gpu_real.cuMemHostGetDevicePointer_v2(&notify, g->notify->host, 0) == CUDA_SUCCESS) {
    *(volatile uint32_t *)g->notify->host = 0;
    g->launch.notify = notify;
  }
  l->interrupts = g;
  return clear_states(g, &sizes) && extend_params(l, g);
}

// --- rounds ---

typedef struct Kernels {  // those that gather, in one context
  CUcontext ctx;
  CUmodule module;
  CUfunction count, scan, gather;
} Kernels;
static VEC(Kernels) loaded;
static pthread_mutex_t loaded_lock = PTHREAD_MUTEX_INITIALIZER;

static bool load_kernels(CUcontext ctx, Kernels *out) {
  bool ok = false;
  pthread_mutex_lock(&loaded_lock);
  for (uint32_t i = 0; i < loaded.len && !ok; i++)
    if (loaded.data[i].ctx == ctx) {
      *out = loaded.data[i];
      ok = true;
    }
  if (!ok) {
    Kernels k = {.ctx = ctx};
    ok = gpu_real.cuModuleLoadData(&k.module, probe_gather_kernel_text) == CUDA_SUCCESS &&
         gpu_real.cuModuleGetFunction(&k.count, k.module, "interrupt_gather_count") ==
             CUDA_SUCCESS &&
         gpu_real.cuModuleGetFunction(&k.scan, k.module, "interrupt_gather_scan") == CUDA_SUCCESS &&
         gpu_real.cuModuleGetFunction(&k.gather, k.module, "interrupt_gather") == CUDA_SUCCESS;
    if (ok) vec_push(&loaded, k);
    *out = k;
  }
  pthread_mutex_unlock(&loaded_lock);
  return ok;
}

void gpu_interrupts_forget(CUcontext ctx) {
  pthread_mutex_lock(&buffers_lock);
  for (uint32_t i = 0; i < buffers.len; i++)
    if (buffers.data[i]->ctx == ctx) {
      free(buffers.data[i]);
      buffers.data[i--] = buffers.data[--buffers.len];
    }
  pthread_mutex_unlock(&buffers_lock);
  pthread_mutex_lock(&loaded_lock);
  for (uint32_t i = 0; i < loaded.len; i++)
    if (loaded.data[i].ctx == ctx) loaded.data[i--] = loaded.data[--loaded.len];
  pthread_mutex_unlock(&loaded_lock);
}

typedef struct Serving {
  GpuLaunch *launch;
  GpuInterrupts *g;
  Kernels kernels;
  GatherJob job;
} Serving;

static bool ok_or(Serving *s, CUresult result) {
  if (result != CUDA_SUCCESS && s->g->result == CUDA_SUCCESS) s->g->result = result;
  return result == CUDA_SUCCESS;
}

static CUresult wait_for_first(const GpuInterrupts *g) {
  return g->ended ? gpu_real.cuEventSynchronize(g->ended)
                  : gpu_real.cuStreamSynchronize(g->stream);
}

static bool read_memory(void *user, void *to, uint64_t from, size_t bytes) {
  Serving *s = user;
  return ok_or(s, gpu_real.cuMemcpyDtoHAsync_v2(to, from, bytes, s->g->stream)) &&
         ok_or(s, gpu_real.cuStreamSynchronize(s->g->stream));
}

static bool write_memory(void *user, uint64_t to, const void *from, size_t bytes) {
  Serving *s = user;
  bool ok = ok_or(s, gpu_real.cuMemcpyHtoDAsync_v2(to, from, bytes, s->g->stream)) &&
            ok_or(s, gpu_real.cuStreamSynchronize(s->g->stream));
  if (ok && session_wants(SESSION_WANTS_CONTENTS))
    session_annotated(SESSION_INITIALISED, to, bytes);
  return ok;
}

static uint64_t alloc_lists(void *user, size_t bytes) {
  Buffer *b = take_buffer(((Serving *)user)->g->ctx, bytes, false);
  return b ? b->p : 0;
}
static void free_lists(void *user, uint64_t p) {
  Serving *s = user;
  gpu_real.cuStreamSynchronize(s->g->stream);  // the kernel reads results from it
  Buffer *b = buffer_of(p, NULL);
  if (b) give_back(b);
}

static void *alloc_host(void *user, size_t bytes) {
  Buffer *b = take_buffer(((Serving *)user)->g->ctx, bytes, true);
  return b ? b->host : NULL;
}
static void free_host(void *user, void *p) {
  Buffer *b = buffer_of(0, p);
  if (b) give_back(b);
}

static bool launch_gather(Serving *s, CUfunction f, unsigned blocks) {
  void *params[] = {&s->job};
  return ok_or(s, gpu_real.cuLaunchKernel(f, blocks, 1, 1, GATHER_CHUNK, 1, 1, 0, s->g->stream,
                                          params, NULL));
}

static bool prepare_job(Serving *s, const InterruptRun *run) {
  GpuInterrupts *g = s->g;
  uint32_t n = run->kernel->ncalls,
           chunks = (uint32_t)((run->threads + GATHER_CHUNK - 1) / GATHER_CHUNK);
  CUdeviceptr totals;
  if (!g->counts) g->counts = take_buffer(g->ctx, 4 * (size_t)n * chunks, false);
  if (!g->calls) g->calls = take_buffer(g->ctx, n * sizeof(GatherCall), false);
  if (!g->totals) g->totals = take_buffer(g->ctx, n * MAX(sizeof(GatherCall), 4), true);
  if (!g->counts || !g->calls || !g->totals || !load_kernels(g->ctx, &s->kernels) ||
      gpu_real.cuMemHostGetDevicePointer_v2(&totals, g->totals->host, 0) != CUDA_SUCCESS)
    return false;
  s->job = (GatherJob){.states = run->launch.states,
                       .contexts = run->launch.contexts,
                       .ranks = run->kernel->has_results ? run->launch.ranks : 0,
                       .counts = g->counts->p,
                       .totals = totals,
                       .calls = g->calls->p,
                       .stride = run->launch.threads,
                       .threads = (uint32_t)run->threads,
                       .ncalls = n,
                       .chunks = chunks};
  return true;
}

// Most launches suspend no thread: one word says so.
static bool is_suspended(Serving *s, const InterruptRun *run) {
  uint32_t suspended = 1;
  if (s->g->entered) return true;
  if (s->g->launch.notify) {
    ok_or(s, wait_for_first(s->g));
    return *(volatile uint32_t *)s->g->notify->host != 0;
  }
  read_memory(s, &suspended, run->launch.control, sizeof suspended);
  return suspended != 0;
}

static bool count(void *user, const InterruptRun *run, uint32_t *counts) {
  Serving *s = user;
  if (s->g->result != CUDA_SUCCESS) return false;
  bool suspended = is_suspended(s, run);
  if (s->g->result != CUDA_SUCCESS || !suspended) return s->g->result == CUDA_SUCCESS;
  if (!prepare_job(s, run) || !launch_gather(s, s->kernels.count, s->job.chunks) ||
      !launch_gather(s, s->kernels.scan, 1) ||
      !ok_or(s, gpu_real.cuStreamSynchronize(s->g->stream)))
    return false;
  memcpy(counts, s->g->totals->host, run->kernel->ncalls * sizeof *counts);
  return true;
}

static bool gather(void *user, const InterruptRun *run) {
  Serving *s = user;
  GatherCall *calls = s->g->totals->host;
  for (uint32_t i = 0; i < run->kernel->ncalls; i++) {
    const InterruptCall *c = &run->kernel->calls[i];
    calls[i] = (GatherCall){.numbers = run->numbers[i],
                            .first_rank = run->first_rank[i],
                            .args_at = c->args_at,
                            .nparams = c->nparams};
    memcpy(calls[i].lists, run->lists + i * INTERRUPT_PARAMS, sizeof calls[i].lists);
    memcpy(calls[i].bytes, c->param_bytes, sizeof calls[i].bytes);
  }
  return ok_or(s, gpu_real.cuMemcpyHtoDAsync_v2(
                      s->g->calls->p, calls, run->kernel->ncalls * sizeof *calls, s->g->stream)) &&
         launch_gather(s, s->kernels.gather, s->job.chunks) &&
         ok_or(s, gpu_real.cuStreamSynchronize(s->g->stream));
}

static bool report(void *user, const InterruptFinding *f) {
  const Serving *s = user;
  return session_assertion(s->launch->of->kernel, s->launch->number,
                           &(SessionAssertion){f->text, f->file, f->line, f->block, f->thread});
}

static bool resume(void *user, const InterruptRun *run) {
  Serving *s = user;
  const GpuLaunch *first = s->launch;
  GpuLaunch l;
  s->g->entered = true;
  l.event = first->event;
  l.config = first->config;
  gpu_launch_begin(&l, first->of->resume, NULL, s->g->list, NULL);
  CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
  CUlaunchConfig c = {.gridDimX = l.event.grid[0],
                      .gridDimY = l.event.grid[1],
                      .gridDimZ = l.event.grid[2],
                      .blockDimX = l.event.block[0],
                      .blockDimY = l.event.block[1],
                      .blockDimZ = l.event.block[2],
                      .sharedMemBytes = l.event.shared,
                      .hStream = s->g->stream,
                      .attrs = first->config ? first->config->attrs : &cooperative,
                      .numAttrs = first->config ? first->config->numAttrs
                                                : (unsigned)first->event.cooperative};
  CUresult result = gpu_real.cuLaunchKernelEx
                        ? gpu_real.cuLaunchKernelEx(&c, l.function, l.params, l.extra)
                        : gpu_real.cuLaunchKernel(l.function, c.gridDimX, c.gridDimY, c.gridDimZ,
                                                  c.blockDimX, c.blockDimY, c.blockDimZ,
                                                  c.sharedMemBytes, c.hStream, l.params, l.extra);
  return ok_or(s, gpu_launch_end(&l, result));
}

static void *enter(void *user) { return ((Serving *)user)->g->stream; }

// What the handler has given the device, in the streams that it knows.
static void leave(void *user) {
  Serving *s = user;
  ok_or(s, gpu_interrupts_wait());  // launches with interrupts of their own
  ok_or(s, gpu_real.cuStreamSynchronize(s->g->stream));
  ok_or(s, gpu_real.cuStreamSynchronize(CU_STREAM_LEGACY));
  ok_or(s, gpu_real.cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

static CUresult serve(GpuLaunch *l) {
  GpuInterrupts *g = l->interrupts;
  Serving s = {.launch = l, .g = g};
  Error err = {{0}};
  const uint32_t *grid = l->event.grid, *block = l->event.block;
  InterruptRun run = {.kernel = g->kernel,
                      .shown = g->kernel->name,
                      .launch = g->launch,
                      .threads = (size_t)grid[0] * grid[1] * grid[2] * block[0] * block[1] *
                                 block[2]};
  memcpy(run.grid, grid, sizeof run.grid);
  memcpy(run.block, block, sizeof run.block);
  InterruptDevice device = {.read = read_memory,
                            .write = write_memory,
                            .alloc = alloc_lists,
                            .free = free_lists,
                            .host_alloc = alloc_host,
                            .host_free = free_host,
                            .count = count,
                            .gather = gather,
                            .report = report,
                            .resume = resume,
                            .enter = enter,
                            .leave = leave,
                            .limit_ns = session_hang_ns(),
                            .user = &s};
  if (interrupt_serve(&device, &run, &err)) {
    g->memory->kernel = g->kernel;
    return CUDA_SUCCESS;
  }
  if (g->result == CUDA_SUCCESS) log_error("%s", err.text);
  return g->result != CUDA_SUCCESS ? g->result : CUDA_ERROR_LAUNCH_FAILED;
}

// --- the whole launch ---

// The calling thread's context and streams may be others.
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

bool gpu_interrupts_suspended_nobody(const GpuLaunch *l) {
  const GpuInterrupts *g = l->interrupts;
  Entered e = enter_context(g);
  bool ok = wait_for_first(g) == CUDA_SUCCESS;
  leave_context(e);
  return ok && g->launch.notify && !*(volatile uint32_t *)g->notify->host;
}

static void free_launch(GpuInterrupts *g) {
  Buffer *all[] = {g->memory, g->counts, g->calls, g->totals, g->notify};
  for (unsigned i = 0; i < ARRAY_LEN(all); i++)
    if (all[i]) give_back(all[i]);
  if (g->ended) gpu_real.cuEventDestroy_v2(g->ended);
  if (g->own) gpu_real.cuStreamDestroy_v2(g->own);
  free(g->params);
  free(g->room);
  free(g);
}

CUresult gpu_interrupts_serve(GpuLaunch *l, bool suspended) {
  GpuInterrupts *g = l->interrupts;
  CUresult result = CUDA_SUCCESS;
  if (suspended) {
    Entered e = enter_context(g);
    if (g->own) g->stream = g->own;
    result = serve(l);
    leave_context(e);
  } else {
    g->memory->kernel = g->kernel;
  }
  free_launch(g);
  l->interrupts = NULL;
  return result;
}

// A stream of the launching thread cannot be named by another one.
static bool prepare_for_service(GpuInterrupts *g) {
  if (g->stream != CU_STREAM_PER_THREAD) return true;
  return gpu_real.cuEventCreate(&g->ended, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
         gpu_real.cuEventRecord(g->ended, g->stream) == CUDA_SUCCESS &&
         gpu_real.cuStreamCreate(&g->own, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
}

CUresult gpu_interrupts_end(GpuLaunch *l, CUresult result) {
  GpuInterrupts *g = l->interrupts;
  if (result != CUDA_SUCCESS) free_launch(g);
  else if (session_tools() || !g->launch.notify || !prepare_for_service(g))
    return gpu_interrupts_serve(l, true);
  else gpu_interrupts_add(l);
  l->interrupts = NULL;
  return result;
}
