// The virtual device as the session sees it: one SessionDevice for each context, the added
// parameter of instrumented kernels, faults as findings.
#include "driver/driver.h"

#include <time.h>

// Guards every context's SessionDevice; held while a record is filled, so that a context which ends
// waits for that.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VEC(Context *) open_contexts;

// --- how the session reaches the device: its memory is the process's own ---

static bool map_host(void *user, void *p, size_t size, uint64_t *device_address) {
  vgpu_host_register(p, size);
  *device_address = (uint64_t)(uintptr_t)p;
  return true;
}

static void unmap_host(void *user, void *p) { vgpu_host_unregister(p); }

static uint64_t device_alloc(void *user, size_t size) {
  Context *ctx = user;
  // not the program's: it sees neither the range nor less free memory
  void *p = vgpu_tool_alloc(size, 512);
  if (p) vec_push(&ctx->tool_memory, (ToolMemory){p, size});
  return (uint64_t)(uintptr_t)p;
}

static void device_free(void *user, uint64_t p) {
  Context *ctx = user;
  for (uint32_t i = 0; i < ctx->tool_memory.len; i++) {
    ToolMemory m = ctx->tool_memory.data[i];
    if ((uint64_t)(uintptr_t)m.p != p) continue;
    ctx->tool_memory.data[i] = ctx->tool_memory.data[--ctx->tool_memory.len];
    vgpu_tool_free(m.p, m.size);
    return;
  }
}

static bool device_read(void *user, void *to, uint64_t from, size_t size) {
  memcpy(to, (const void *)(uintptr_t)from, size);
  return true;
}

static const SessionDeviceOps ops = {.map_host = map_host,
                                     .unmap_host = unmap_host,
                                     .alloc = device_alloc,
                                     .free = device_free,
                                     .read = device_read,
                                     .direct = true};

// With the lock held. NULL: none can be had.
static SessionDevice *open_device(Context *ctx, Error *err) {
  if (!ctx->session && !driver_ending()) {
    ctx->session = session_device_open(&ops, ctx, ctx->device->ordinal, err);
    if (ctx->session) vec_push(&open_contexts, ctx);
  }
  return ctx->session;
}

// With the lock held. No work of the context runs any more.
static void close_device(Context *ctx) {
  session_launches_ended(ctx->session, NULL, 0);
  session_device_close(ctx->session, true);  // its memory can always be read
  ctx->session = NULL;
  vec_free(&ctx->tool_memory);
}

void tools_close_context(Context *ctx) {
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < open_contexts.len; i++)
    if (open_contexts.data[i] == ctx) {
      open_contexts.data[i] = open_contexts.data[--open_contexts.len];
      close_device(ctx);
      break;
    }
  pthread_mutex_unlock(&lock);
}

void tools_collect(Module *m) {
  if (!m->ctx) return;
  pthread_mutex_lock(&lock);
  if (m->ctx->session) session_device_collect(m->ctx->session, m->session);
  pthread_mutex_unlock(&lock);
}

void tools_end(void) {
  pthread_mutex_lock(&lock);
  while (open_contexts.len) close_device(open_contexts.data[--open_contexts.len]);
  pthread_mutex_unlock(&lock);
  session_end();
}

SessionDevice *tools_device_begin(Context *ctx) {
  Error err = {{0}};
  pthread_mutex_lock(&lock);
  return open_device(ctx, &err);
}

void tools_device_end(void) { pthread_mutex_unlock(&lock); }

// --- launches ---

static bool is_crowded(Context *ctx) {
  pthread_mutex_lock(&lock);
  bool crowded = ctx->session && session_device_crowded(ctx->session);
  pthread_mutex_unlock(&lock);
  return crowded;
}

// A program that has queued much work waits here, as it would for a device. The wait has a limit,
// since a stream may wait for what the program does next.
static void wait_for_room(Context *ctx) {
  static _Atomic bool in_vain;
  for (uint64_t start = clock_ns(), now = start; !in_vain && is_crowded(ctx); now = clock_ns()) {
    if (now - start > 2000000000u) in_vain = true;
    nanosleep(&(struct timespec){0, 100000}, NULL);
  }
}

SessionLaunch tools_describe(const Context *ctx, const void *stream, bool captured,
                             const KernelWork *k) {
  SessionLaunch l = {.kernel = k->function->session,
                     .shared = k->shared,
                     .stream = stream,
                     .device = ctx->device->ordinal,
                     .cooperative = k->cooperative,
                     .overlaps = k->overlaps,
                     .captured = captured};
  memcpy(l.grid, k->grid, sizeof l.grid);
  memcpy(l.block, k->block, sizeof l.block);
  memcpy(l.cluster, k->cluster, sizeof l.cluster);
  return l;
}

static bool param_info(void *user, uint32_t i, size_t *offset, size_t *size) {
  const Function *f = user;
  if (i >= f->nparams) return false;
  *offset = f->info->params[i].offset;
  *size = f->info->params[i].size;
  return true;
}

static void fill_record(Context *ctx, bool captured, KernelWork *k) {
  Function *f = k->function;
  const WovenKernel *code = session_kernel_code(f->session);
  unsigned char *record = code && code->record_bytes ? k->params + code->record_offset : NULL;
  if (!record || !session_launch_selected(f->session)) return;  // a record of zeros: no checks
  Error err = {{0}};
  k->record_at = code->record_offset;
  if (!captured) wait_for_room(ctx);
  pthread_mutex_lock(&lock);
  SessionDevice *d = open_device(ctx, &err);
  SessionParams params = {.buffer = k->params, .buffer_bytes = f->param_bytes};
  k->checked = d && session_device_record(d, f->session, k->launch, &params, record);
  pthread_mutex_unlock(&lock);
  if (!d && err.text[0]) session_kernel_uncovered(f->session, err.text, NULL);
}

static SessionParams params_of(const KernelWork *k) {
  return (SessionParams){.buffer = k->params, .buffer_bytes = k->function->param_bytes};
}

static SessionInputs *inputs_of(const SessionCall *call) {
  SessionInputs *in = session_inputs(call);
  session_inputs_tell(in);
  return in;
}

void tools_launch(Context *ctx, const void *stream, bool captured, KernelWork *k) {
  Function *f = k->function;
  SessionLaunch l = tools_describe(ctx, stream, captured, k);
  k->launch = session_launch(&l);
  k->captured = captured;
  if (stream && ((const Stream *)stream)->legacy) l.stream = NULL;
  session_launched_on(l.stream);
  SessionParams params = params_of(k);
  SessionCall call = {&l, k->launch, &params, param_info, f};
  session_log_launch(&l, k->launch, &params, param_info, f);
  fill_record(ctx, captured, k);
  k->inputs = captured ? NULL : inputs_of(&call);
  session_launch_taken(&call);
}

// --- buffers that are looked at after a launch ---

static void add_outputs(SessionOutputs *o, const KernelWork *k) {
  session_outputs_add(
      o, k->function->session,
      &(SessionParams){.buffer = k->params, .buffer_bytes = k->function->param_bytes}, param_info,
      k->function);
}

static SessionOutputs *close_outputs(SessionOutputs *o, const void *stream) {
  o = session_outputs_close(o, stream);
  if (o) session_outputs_tell(o);
  return o;
}

SessionOutputs *tools_outputs(const Context *ctx, const void *stream, const KernelWork *k) {
  if (!session_wants_outputs() || k->captured) return NULL;
  SessionOutputs *o = session_outputs_begin(k->launch, ctx->device->ordinal);
  add_outputs(o, k);
  return close_outputs(o, stream);
}

static void add_plan(SessionOutputs *o, const Plan *p) {
  for (uint32_t i = 0; i < p->steps.len; i++) {
    const PlanStep *s = &p->steps.data[i];
    if (s->disabled) continue;
    for (uint32_t k = 0; k < s->nbodies; k++) add_plan(o, s->bodies[k]);
    if (s->work.kind == WORK_KERNEL) add_outputs(o, &s->work.kernel);
  }
}

SessionOutputs *tools_graph_outputs(const Context *ctx, const void *stream, const Plan *p) {
  if (!session_wants_outputs()) return NULL;
  SessionOutputs *o = session_outputs_begin(0, ctx->device->ordinal);
  add_plan(o, p);
  return close_outputs(o, stream);
}

// --- graphs ---

void tools_launch_inputs(Context *ctx, const void *stream, KernelWork *k, bool once) {
  if (!session_wants(SESSION_WANTS_INPUTS)) return;
  if (!once) {
    session_unknown_writes(stream);
    return;
  }
  SessionLaunch l = tools_describe(ctx, stream, false, k);
  uint32_t number = k->execution = session_launch_in_graph(&l);
  SessionParams params = params_of(k);
  SessionCall call = {&l, number, &params, param_info, k->function};
  k->inputs = inputs_of(&call);
  session_launch_taken(&call);
}

uint32_t tools_launch_captured(Context *ctx, KernelWork *k, const void *stream, bool once,
                               const SessionBeside *beside) {
  if (!k->checked || !ctx) return 0;
  uint32_t number = 0;
  SessionLaunch shape = tools_describe(ctx, stream, false, k);
  shape.beside = beside;
  shape.overlaps = false;  // the graph's edges tell which nodes it may overlap
  SessionParams params = {.buffer = k->params, .buffer_bytes = k->function->param_bytes};
  pthread_mutex_lock(&lock);
  if (ctx->session)
    number = session_device_refresh(ctx->session, k->function->session, &params,
                                    once ? &shape : NULL, k->params + k->record_at);
  pthread_mutex_unlock(&lock);
  return once ? number : 0;
}

uint32_t tools_copy_captured(Context *ctx, Work *w, const void *stream,
                             const SessionBeside *beside) {
  if (!ctx || !session_wants(SESSION_WANTS_GRAPH_ORDER)) return 0;
  uint32_t number = 0;
  uint64_t tag = 0;
  SessionCopy c = events_node(w, stream);
  c.device = ctx->device->ordinal;
  pthread_mutex_lock(&lock);
  if (ctx->session) tag = session_graph_copy(ctx->session, &c, beside, &number);
  pthread_mutex_unlock(&lock);
  *(w->kind == WORK_COPY ? &w->copy.tag : &w->set.tag) = tag;
  return number;
}

uint32_t tools_launch_number(const KernelWork *k) {
  WgLaunch r = {0};
  if (k->execution) return k->execution;
  if (!k->checked || !k->captured || !session_wants(SESSION_WANTS_GRAPH_NODES)) return k->launch;
  memcpy(&r, k->params + k->record_at, sizeof r);
  return r.launch;
}

void tools_done(Context *ctx, const KernelWork *k) {
  if (!k->checked || !ctx) return;
  pthread_mutex_lock(&lock);
  // its function may be gone
  if (ctx->session) session_device_done(ctx->session, k->params + k->record_at);
  pthread_mutex_unlock(&lock);
}

// A captured launch was counted when it was captured; every run but the first counts again.
void tools_run_captured(const Context *ctx, const KernelWork *k) {
  static U64Map ran;
  if (session_logs_launches()) {
    SessionLaunch l = tools_describe(ctx, NULL, true, k);
    Str text = {0};
    session_log_text(
        &text, &l, &(SessionParams){.buffer = k->params, .buffer_bytes = k->function->param_bytes},
        param_info, k->function);
    session_log_again(k->launch, l.device, NULL, text.data);
    str_free(&text);
  }
  pthread_mutex_lock(&lock);
  bool again = u64map_get(&ran, k->launch) != NULL;
  if (!again) u64map_put(&ran, k->launch, (void *)&ran);
  pthread_mutex_unlock(&lock);
  if (again) session_launch_again(k->function->session, k->checked);
}

// --- launches that are refused ---

typedef struct Asked {
  Context *ctx;
  const LaunchRequest *request;
  Function *function;
} Asked;

static bool answer(void *user, SessionQuestion what, int attribute, int *value) {
  const Asked *a = user;
  bool known = false;
  switch (what) {
    case SESSION_ASK_DEVICE:
      *value = device_attribute(a->ctx->device, attribute, &known);
      return known;
    case SESSION_ASK_KERNEL:
      return function_attribute(value, (CUfunction_attribute)attribute, a->function) ==
             CUDA_SUCCESS;
    case SESSION_ASK_REQUIRED_BLOCK:
      *value = (int)a->function->info->reqntid[attribute];
      return true;
    case SESSION_ASK_RESIDENT: {
      const unsigned *b = a->request->block;
      *value = (int)vgpu_max_resident_blocks(a->function->vgpu, b[0] * b[1] * b[2],
                                             a->request->shared);
      return true;
    }
  }
  return false;
}

void tools_refused(Context *ctx, const void *stream, const LaunchRequest *r, CUresult result) {
  Function *f;
  if (!session_tools() || result == CUDA_ERROR_INVALID_HANDLE ||
      function_get(r->function, ctx, &f) != CUDA_SUCCESS)
    return;
  SessionLaunch l = {.kernel = f->session,
                     .shared = r->shared,
                     .stream = stream,
                     .device = ctx->device->ordinal,
                     .cooperative = r->cooperative};
  memcpy(l.grid, r->grid, sizeof l.grid);
  memcpy(l.block, r->block, sizeof l.block);
  memcpy(l.cluster, r->cluster, sizeof l.cluster);
  session_launch_refused(&(SessionRefusal){&l, (int)result, true, answer, &(Asked){ctx, r, f}});
}

// --- faults ---

// The kind of finding that a tool has for this fault, else "launch-failure".
static const char *kind_of_access(const VgpuFault *f, SessionFaultReason what) {
  const char *kind = session_fault_kind(&(SessionFault){.what = what,
                                                        .load = f->classes & CLASS_LOAD,
                                                        .store = f->classes & CLASS_STORE,
                                                        .atomic = f->classes & CLASS_ATOMIC,
                                                        .surface = f->classes & CLASS_SURFACE,
                                                        .sync = f->classes & CLASS_SYNC});
  return kind ? kind : "launch-failure";
}

static const char *kind_of(const VgpuFault *f) {
  switch (f->status) {
    case VGPU_ILLEGAL_ADDRESS: return kind_of_access(f, SESSION_FAULT_ADDRESS);
    case VGPU_TRAP: return kind_of_access(f, SESSION_FAULT_TRAP);
    case VGPU_MISALIGNED: return kind_of_access(f, SESSION_FAULT_MISALIGNED);
    case VGPU_ASSERT: return "assert";
    case VGPU_DEADLOCK: return "hang";
    case VGPU_STACK_OVERFLOW: return "stack-overflow";
    default: return "launch-failure";
  }
}

void tools_fault(const KernelWork *k, const VgpuFault *fault) {
  Arena arena = {0};
  const SitePlace *places = NULL;
  uint32_t nplaces = fault->module && fault->loc
                         ? weave_places(&arena, fault->module, fault->loc, &places)
                         : 0;
  const char *text = fault->text;
  if (fault->what_bytes)
    text = arena_printf(&arena, "%.*s%s%s", (int)fault->what_bytes, fault->text,
                        nplaces ? "" : "; at ", nplaces ? "" : fault->place);
  SessionFinding f = {.kind = kind_of(fault),
                      .text = text,
                      .kernel = k->function->session,
                      .launch = k->launch,
                      .places = places,
                      .nplaces = nplaces,
                      .has_thread = fault->what_bytes != 0};
  memcpy(f.block, fault->block, sizeof f.block);
  memcpy(f.thread, fault->thread, sizeof f.thread);
  if (fault->status == VGPU_ILLEGAL_ADDRESS || fault->status == VGPU_MISALIGNED) {
    f.has_address = true;
    f.address = fault->address;
  }
  session_finding(&f);
  arena_free(&arena);
}
