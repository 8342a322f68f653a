// The rounds of a launch with interrupts, on a GPU: what interrupt_serve asks of the device.
#include "gpu/interrupts/interrupts.h"

#include <time.h>

extern const char probe_gather_kernel_text[];

typedef struct Kernels {  // the gathering kernels, in one context
  CUcontext ctx;
  CUmodule module;
  CUfunction marks, firsts, order, count, gather;
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
    const struct {
      CUfunction *to;
      const char *name;
    } all[] = {{&k.marks, "interrupt_gather_marks"},
               {&k.firsts, "interrupt_gather_firsts"},
               {&k.order, "interrupt_gather_order"},
               {&k.count, "interrupt_gather_count"},
               {&k.gather, "interrupt_gather"}};
    ok = gpu_real.cuModuleLoadData(&k.module, probe_gather_kernel_text) == CUDA_SUCCESS;
    for (unsigned i = 0; i < ARRAY_LEN(all); i++)
      ok = ok && gpu_real.cuModuleGetFunction(all[i].to, k.module, all[i].name) == CUDA_SUCCESS;
    if (ok) vec_push(&loaded, k);
    *out = k;
  }
  pthread_mutex_unlock(&loaded_lock);
  return ok;
}

void gpu_interrupts_forget(CUcontext ctx) {
  gpu_interrupt_memory_forget(ctx);
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
  bool ordered;      // the threads that have a place are in order
  uint32_t threads;  // number of these threads, and of their blocks
  uint32_t blocks;
} Serving;

static bool ok_or(Serving *s, CUresult result) {
  if (result != CUDA_SUCCESS && s->g->result == CUDA_SUCCESS) s->g->result = result;
  return result == CUDA_SUCCESS;
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
  GpuBuffer *b = gpu_buffer_new(((Serving *)user)->g->ctx, bytes, false);
  return b ? b->p : 0;
}
static void free_lists(void *user, uint64_t p) {
  GpuBuffer *b = gpu_buffer_of(p, NULL);
  if (b) gpu_buffer_give_back(b);
}

static void *alloc_host(void *user, size_t bytes) {
  GpuBuffer *b = gpu_buffer_new(((Serving *)user)->g->ctx, bytes, true);
  return b ? b->host : NULL;
}
static void free_host(void *user, void *p) {
  GpuBuffer *b = gpu_buffer_of(0, p);
  if (b) gpu_buffer_give_back(b);
}

// n: words or places; each block handles a part of them
static bool launch_gather(Serving *s, CUfunction f, size_t n) {
  void *params[] = {&s->job};
  size_t pieces = (n + GATHER_THREADS - 1) / GATHER_THREADS;
  return ok_or(s, gpu_real.cuLaunchKernel(f, (unsigned)MIN(MAX(pieces, 1), GATHER_BLOCKS), 1, 1,
                                          GATHER_THREADS, 1, 1, 0, s->g->stream, params, NULL));
}

static bool prepare_job(Serving *s, const InterruptRun *run) {
  GpuInterrupts *g = s->g;
  uint32_t n = run->kernel->ncalls;
  CUdeviceptr totals;
  if (!g->counts)
    g->counts = gpu_buffer_new(g->ctx, 4 * (n + 2) * (size_t)GATHER_BLOCKS + 2 * sizeof(WgReports),
                               false);
  if (!g->calls) g->calls = gpu_buffer_new(g->ctx, n * sizeof(GatherCall), false);
  if (!g->totals) g->totals = gpu_buffer_new(g->ctx, (n + 1) * sizeof(GatherCall), true);
  if (!g->counts || !g->calls || !g->totals || !load_kernels(g->ctx, &s->kernels) ||
      gpu_real.cuMemHostGetDevicePointer_v2(&totals, g->totals->host, 0) != CUDA_SUCCESS)
    return false;
  s->job = (GatherJob){.control = run->launch.control,
                       .marks = run->launch.marks,
                       .firsts = run->launch.firsts,
                       .places = run->launch.places,
                       .list = run->launch.firsts + g->sizes.firsts,
                       .sums = g->counts->p,
                       .counts = g->counts->p + 8 * GATHER_BLOCKS,
                       .totals = totals,
                       .calls = g->calls->p,
                       .words = (uint32_t)run->words,
                       .block_words = (uint32_t)run->block_words,
                       .block_threads = (uint32_t)run->block_threads,
                       .place_bytes = run->kernel->place_bytes,
                       .ncalls = n};
  return true;
}

// If no service thread polls the kernel, this thread makes room for it.
static bool wait_for_first(Serving *s) {
  const struct timespec pause = {.tv_nsec = 20000};
  CUresult result = CUDA_ERROR_NOT_READY;
  if (!s->g->alone) return ok_or(s, gpu_interrupts_wait_for_first(s->g));
  while ((result = gpu_real.cuStreamQuery(s->g->stream)) == CUDA_ERROR_NOT_READY)
    if (!gpu_interrupts_wants_room(s->launch) || !gpu_interrupts_make_room(s->launch))
      nanosleep(&pause, NULL);
  return ok_or(s, result);
}

// Most launches suspend no thread, nor do most when they go on: one word says so.
static bool is_suspended(Serving *s, const InterruptRun *run) {
  uint32_t suspended = 1;
  GpuInterrupts *g = s->g;
  if (g->launch.notify) {
    wait_for_first(s);
    return g->gate->news->what != NEWS_NONE;
  }
  read_memory(s, &suspended, run->launch.control + offsetof(InterruptControl, suspended),
              sizeof suspended);
  return suspended != 0;
}

// The first kernel has ended.
static bool put_in_order(Serving *s, const InterruptRun *run) {
  size_t words = run->words, most = s->g->sizes.threads;
  return prepare_job(s, run) && launch_gather(s, s->kernels.marks, words) &&
         launch_gather(s, s->kernels.firsts, words) && launch_gather(s, s->kernels.order, most) &&
         launch_gather(s, s->kernels.count, most);
}

// After a resumed kernel, its callers have been counted already (resume).
static bool count(void *user, const InterruptRun *run, uint32_t *counts) {
  Serving *s = user;
  uint32_t n = run->kernel->ncalls;
  if (s->g->result != CUDA_SUCCESS) return false;
  if (!s->ordered) {
    bool suspended = is_suspended(s, run);
    if (s->g->result != CUDA_SUCCESS || !suspended) return s->g->result == CUDA_SUCCESS;
    if (!put_in_order(s, run)) return false;
  }
  if (!ok_or(s, gpu_real.cuStreamSynchronize(s->g->stream))) return false;
  const uint32_t *totals = s->g->totals->host;
  memcpy(counts, totals, n * sizeof *counts);
  if (!s->ordered) {
    s->blocks = totals[n];
    s->threads = totals[n + 1];
  }
  s->ordered = true;
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
                            .nparams = c->nparams,
                            .result_bytes = c->result_bytes};
    memcpy(calls[i].lists, run->lists + i * INTERRUPT_PARAMS, sizeof calls[i].lists);
    memcpy(calls[i].bytes, c->param_bytes, sizeof calls[i].bytes);
  }
  return ok_or(s, gpu_real.cuMemcpyHtoDAsync_v2(
                      s->g->calls->p, calls, run->kernel->ncalls * sizeof *calls, s->g->stream)) &&
         launch_gather(s, s->kernels.gather, s->threads) &&
         ok_or(s, gpu_real.cuStreamSynchronize(s->g->stream));
}

static bool report(void *user, const InterruptFinding *f) {
  const Serving *s = user;
  return session_assertion(s->launch->of->kernel, s->launch->number,
                           &(SessionAssertion){f->text, f->file, f->line, f->block, f->thread});
}

static void served(void *user, const InterruptServed *i) {
  const Serving *s = user;
  const GpuLaunch *l = s->launch;
  session_interrupt_served(&(SessionInterrupt){.name = i->name,
                                               .launch = l->number,
                                               .stream = l->event.stream,
                                               .device = l->context ? l->context->device : 0,
                                               .count = i->count,
                                               .nparams = i->nparams,
                                               .result_bytes = i->result_bytes,
                                               .param_bytes = i->param_bytes,
                                               .param_shown = i->param_shown,
                                               .result_shown = i->result_shown,
                                               .callers = i->callers,
                                               .params = i->params,
                                               .results = i->results,
                                               .results_at = i->results_at});
}

// Launches the kernel as the program did, or only `listed` blocks of the list (0: all blocks), with
// the parameters of l.
static CUresult launch_again(const Serving *s, const GpuLaunch *l, uint32_t listed) {
  const GpuLaunch *first = s->launch;
  const SessionLaunch *e = &first->event;
  CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
  CUlaunchConfig c = {.gridDimX = listed ? listed : e->grid[0],
                      .gridDimY = listed ? 1 : e->grid[1],
                      .gridDimZ = listed ? 1 : e->grid[2],
                      .blockDimX = e->block[0],
                      .blockDimY = e->block[1],
                      .blockDimZ = e->block[2],
                      .sharedMemBytes = e->shared,
                      .hStream = s->g->stream,
                      .attrs = first->config ? first->config->attrs : &cooperative,
                      .numAttrs = first->config ? first->config->numAttrs
                                                : (unsigned)first->event.cooperative};
  return gpu_real.cuLaunchKernelEx
             ? gpu_real.cuLaunchKernelEx(&c, l->function, l->params, l->extra)
             : gpu_real.cuLaunchKernel(l->function, c.gridDimX, c.gridDimY, c.gridDimZ, c.blockDimX,
                                       c.blockDimY, c.blockDimZ, c.sharedMemBytes, c.hStream,
                                       l->params, l->extra);
}

// Can single blocks be launched? Blocks of a cluster or a cooperative launch must enter together.
static bool is_listed(const Serving *s) {
  const CUlaunchConfig *c = s->launch->config;
  bool alone = s->g->kernel->is_listed && !s->launch->event.cooperative;
  for (unsigned i = 0; c && i < c->numAttrs; i++)
    alone &= c->attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
             c->attrs[i].id != CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  return alone;
}

// When this returns, the driver has copied the data, since it is not in pinned memory.
static bool tell_results(Serving *s, const InterruptRun *run) {
  size_t at, bytes;
  void *control = interrupt_control(run, &at, &bytes);
  bool ok = ok_or(
      s, gpu_real.cuMemcpyHtoDAsync_v2(run->launch.control + at, control, bytes, s->g->stream));
  free(control);
  return ok;
}

// Gives a launch of listed blocks a WgReports of its own, so that its findings name the blocks of
// the program's launch.
static bool tell_list(Serving *s, GpuLaunch *l) {
  WgLaunch *record = gpu_launch_record(l);
  const GpuInterrupts *g = s->g;
  struct {
    uint64_t list;
    uint32_t grid[2];
  } named = {s->job.list, {g->launch.grid[0], g->launch.grid[1]}};
  _Static_assert(sizeof named == sizeof(WgReports) - offsetof(WgReports, list), "as in WgReports");
  CUdeviceptr own = g->counts->p + g->counts->size - sizeof(WgReports);
  if (!record || !record->channel) return true;
  if (!ok_or(s,
             gpu_real.cuMemcpyDtoDAsync_v2(own, record->channel, sizeof(WgReports), g->stream)) ||
      !ok_or(s, gpu_real.cuMemcpyHtoDAsync_v2(own + offsetof(WgReports, list), &named, sizeof named,
                                              g->stream)))
    return false;
  record->channel = own;
  return true;
}

static bool resume(void *user, const InterruptRun *run) {
  Serving *s = user;
  GpuInterrupts *g = s->g;
  GpuLaunch l;
  uint32_t listed = is_listed(s) ? s->blocks : 0;
  g->entered = true;
  if (g->gate) g->gate->news->what = NEWS_NONE;
  g->launch.list = listed ? s->job.list : 0;
  memcpy(g->room + g->kernel->param_at, &g->launch, sizeof g->launch);
  l.event = s->launch->event;
  l.config = s->launch->config;
  if (!tell_results(s, run)) return false;
  gpu_launch_begin(&l, s->launch->of->resume, NULL, g->list, NULL);
  bool told = !listed || tell_list(s, &l);
  CUresult result = told ? launch_again(s, &l, listed) : s->g->result;
  return ok_or(s, gpu_launch_end(&l, result)) && launch_gather(s, s->kernels.count, s->threads);
}

// Launches a kernel again that has not begun, since it followed a launch that suspended threads.
// Now all launches before it have ended. Later launches still find its serial in its gate, and
// wait for their turn as well.
static bool begin_now(Serving *s) {
  GpuInterrupts *g = s->g;
  g->alone = true;
  g->gate->news->what = NEWS_NONE;
  interrupt_follow_nobody(&g->launch);
  memcpy(g->room + g->kernel->param_at, &g->launch, sizeof g->launch);
  GpuLaunch l = {.function = s->launch->function, .extra = g->list};
  return ok_or(s, gpu_interrupts_clear_states(g) ? launch_again(s, &l, 0) : CUDA_ERROR_UNKNOWN);
}

static void *enter(void *user) { return ((Serving *)user)->g->stream; }

// Waits for the work that the handler has given the device, in the streams that it knows.
static void leave(void *user) {
  Serving *s = user;
  ok_or(s, gpu_interrupts_wait());  // launches with interrupts of their own
  ok_or(s, gpu_real.cuStreamSynchronize(s->g->stream));
  ok_or(s, gpu_real.cuStreamSynchronize(CU_STREAM_LEGACY));
  ok_or(s, gpu_real.cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

// false: there was no memory, and threads that had to be suspended have ended instead.
static bool has_room(const Serving *s, Error *err) {
  const GpuInterrupts *g = s->g;
  return !g->gate || !g->gate->news->refused || interrupt_refuse_memory(g->kernel, &g->sizes, err);
}

CUresult gpu_interrupts_rounds(GpuLaunch *l) {
  GpuInterrupts *g = l->interrupts;
  Serving s = {.launch = l, .g = g};
  Error err = {{0}};
  InterruptShape shape = gpu_interrupts_shape(l);
  InterruptRun run = interrupt_run(g->kernel, &shape, &g->launch);
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
                            .served = session_wants_interrupts() ? served : NULL,
                            .limit_ns = session_hang_ns(),
                            .user = &s};
  if (g->gate && wait_for_first(&s) && g->gate->news->what == NEWS_NOT_BEGUN && begin_now(&s))
    wait_for_first(&s);
  bool ok = has_room(&s, &err) && interrupt_serve(&device, &run, &err);
  atomic_store(&l->of->suspends, g->entered);
  if (ok) {
    g->clean = !s.ordered;
    return CUDA_SUCCESS;
  }
  if (g->result == CUDA_SUCCESS) log_error("%s", err.text);
  if (g->gate && g->gate->news->refused) return CUDA_ERROR_OUT_OF_MEMORY;
  return g->result != CUDA_SUCCESS ? g->result : CUDA_ERROR_LAUNCH_FAILED;
}
