// Launches of kernels that call interrupts, on the virtual device: the thread that executes the
// stream's work serves them, so that later work of the stream waits.
#include "driver/driver.h"

#include "base/runstats.h"

// --- handlers: their default stream is one of their own ---

typedef struct Handling {
  Stream *stream;
  struct Handling *outer;
} Handling;
static __thread Handling *handling;  // of the calling thread; NULL: no handler runs on it

Stream *interrupts_stream(void) { return handling ? handling->stream : NULL; }

// --- before the launch ---

static CUresult refuse(CUresult result, const char *text) {
  log_error("%s", text);
  if (result == CUDA_ERROR_NOT_SUPPORTED) runstats_fail("%s", text);
  return result;
}

CUresult interrupts_check(const Function *f, bool captured) {
  const InterruptKernel *k = f->interrupts;
  Error err = {{0}};
  if (!k) return CUDA_SUCCESS;
  if (k->refused) return refuse(CUDA_ERROR_NOT_SUPPORTED, k->refused);
  if (captured) {
    interrupt_refuse_graph(k, &err);
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, err.text);
  }
  return interrupt_check_handlers(k, &err) ? CUDA_SUCCESS
                                           : refuse(CUDA_ERROR_INVALID_VALUE, err.text);
}

static uint64_t take_memory(Context *ctx, size_t bytes) {
  CUdeviceptr p;
  // the name tells the viewer that it is not the program's
  Alloc like = {.size = bytes, .kind = ALLOC_DEVICE, .ctx = ctx, .name = "wg_interrupt_memory"};
  if (memory_new_like(&like, &p)) return 0;
  session_annotated(SESSION_INITIALISED, p, bytes);
  return p;
}

static InterruptShape shape_of(const KernelWork *k) {
  InterruptShape shape = {.shared = k->shared, .cooperative = k->cooperative};
  memcpy(shape.grid, k->grid, sizeof shape.grid);
  memcpy(shape.block, k->block, sizeof shape.block);
  return shape;
}

CUresult interrupts_prepare(Context *ctx, Stream *s, KernelWork *k) {
  const InterruptKernel *kernel = k->function->interrupts;
  InterruptSizes sizes;
  Error err = {{0}};
  if (!kernel) return CUDA_SUCCESS;
  CUresult result = interrupts_check(k->function, s->capture != NULL);
  if (result && s->capture) capture_refuse(s);  // a graph without the kernel would be wrong
  TRY(result);
  InterruptShape shape = shape_of(k);
  if (!interrupt_sizes(kernel, &shape, &sizes, &err))
    return refuse(CUDA_ERROR_NOT_SUPPORTED, err.text);
  uint64_t memory = take_memory(ctx, sizes.all);
  if (!memory) {
    interrupt_refuse_memory(kernel, &sizes, &err);
    return refuse(CUDA_ERROR_OUT_OF_MEMORY, err.text);
  }
  memset((void *)(uintptr_t)memory, 0, interrupt_zeroed(&sizes));
  InterruptLaunch l = interrupt_place(&sizes, memory, memory + sizes.fixed,
                                      memory + sizes.fixed + sizes.places);
  memcpy(k->params + kernel->param_at, &l, sizeof l);
  k->interrupt_memory = memory;
  k->interrupt_stream = s;
  return CUDA_SUCCESS;
}

void interrupts_done(KernelWork *k) {
  if (k->interrupt_memory) memory_free_now(k->interrupt_memory);
  k->interrupt_memory = 0;
}

// --- rounds ---

typedef struct Serving {
  Context *ctx;
  const KernelWork *work;
  Handling handling;
  CUresult result;
} Serving;

static bool read_memory(void *user, void *to, uint64_t from, size_t bytes) {
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  return true;
}

static bool write_memory(void *user, uint64_t to, const void *from, size_t bytes) {
  memcpy((void *)(uintptr_t)to, from, bytes);
  if (session_wants(SESSION_WANTS_CONTENTS)) session_annotated(SESSION_INITIALISED, to, bytes);
  return true;
}

static uint64_t alloc_lists(void *user, size_t bytes) {
  return take_memory(((Serving *)user)->ctx, bytes);
}
static void free_lists(void *user, uint64_t p) { memory_free_now(p); }

static void *alloc_host(void *user, size_t bytes) { return mem_alloc(MAX(bytes, 1)); }
static void free_host(void *user, void *p) { free(p); }

static bool count(void *user, const InterruptRun *run, uint32_t *counts) {
  if (((Serving *)user)->result) return false;
  interrupt_count_here(run, counts);
  return true;
}

static bool gather(void *user, const InterruptRun *run) {
  interrupt_gather_here(run);
  return true;
}

static bool report(void *user, const InterruptFinding *f) {
  const Serving *s = user;
  return session_assertion(s->work->function->session, s->work->launch,
                           &(SessionAssertion){f->text, f->file, f->line, f->block, f->thread});
}

static void served(void *user, const InterruptServed *i) {
  const Serving *s = user;
  SessionInterrupt told = {.name = i->name,
                           .launch = s->work->launch,
                           .stream = s->work->interrupt_stream,
                           .device = s->ctx->device->ordinal,
                           .count = i->count,
                           .nparams = i->nparams,
                           .result_bytes = i->result_bytes,
                           .param_bytes = i->param_bytes,
                           .param_shown = i->param_shown,
                           .result_shown = i->result_shown,
                           .callers = i->callers,
                           .params = i->params,
                           .results = i->results,
                           .results_at = i->results_at};
  session_interrupt_served(&told);
}

static bool resume(void *user, const InterruptRun *run) {
  Serving *s = user;
  const KernelWork *first = s->work;
  Function *f;
  size_t at, bytes;
  void *control = interrupt_control(run, &at, &bytes);
  write_memory(user, run->launch.control + at, control, bytes);
  free(control);
  if (module_function(first->function->module, run->kernel->resume, &f)) return false;
  KernelWork k = *first;
  k.function = f;
  k.handle = (CUfunction)f;
  k.interrupt_memory = 0;
  k.inputs = NULL;
  k.params = mem_alloc(MAX(f->info->param_bytes, 1));
  memcpy(k.params, first->params, run->kernel->param_at + sizeof run->launch);
  tools_launch(s->ctx, first->interrupt_stream, false, &k);
  s->result = launch_run_once(s->ctx, &k);
  tools_done(s->ctx, &k);
  session_inputs_free(k.inputs);
  free(k.params);
  return s->result == CUDA_SUCCESS;
}

static void *enter(void *user) {
  Serving *s = user;
  cuCtxPushCurrent_v2((CUcontext)s->ctx);
  if (!s->handling.stream) s->handling.stream = stream_create(s->ctx, CU_STREAM_NON_BLOCKING, 0);
  s->handling.stream->of_handler = true;
  s->handling.outer = handling;
  handling = &s->handling;
  return s->handling.stream;
}

static void leave(void *user) {
  Serving *s = user;
  CUcontext ctx;
  queue_wait(s->handling.stream, s->handling.stream->submitted);
  print_flush();
  handling = s->handling.outer;
  cuCtxPopCurrent_v2(&ctx);
}

CUresult interrupts_serve(Context *ctx, const KernelWork *k) {
  const InterruptKernel *kernel = k->function->interrupts;
  Serving s = {.ctx = ctx, .work = k};
  Error err = {{0}};
  InterruptShape shape = shape_of(k);
  InterruptLaunch launch;
  memcpy(&launch, k->params + kernel->param_at, sizeof launch);
  InterruptRun run = interrupt_run(kernel, &shape, &launch);
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
  bool ok = interrupt_serve(&device, &run, &err);
  if (s.handling.stream) cuStreamDestroy_v2((CUstream)s.handling.stream);
  if (ok) return CUDA_SUCCESS;
  if (!s.result) log_error("%s", err.text);
  return s.result ? s.result : CUDA_ERROR_LAUNCH_FAILED;
}
