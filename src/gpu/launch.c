// Launches: our code runs in place of the program's, with one parameter more where a tool has added
// one.
#include "gpu/closed/closed.h"
#include "gpu/gpu.h"
#include "gpu/interrupts/interrupts.h"

// --- from what the program asks for to what the driver is given ---

bool gpu_launch_extra(void **extra, const void **buffer, size_t *size) {
  *buffer = NULL;
  *size = 0;
  for (unsigned i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END && i < 8; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) *buffer = extra[i + 1];
    else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) *size = *(const size_t *)extra[i + 1];
    else return false;
  }
  return *buffer || !*size;
}

// The program's parameters in one buffer, and the record after them.
static void extend_buffer(GpuLaunch *l, const WovenKernel *code, const SessionParams *given,
                          const void *record) {
  size_t all = (size_t)code->record_offset + code->record_bytes;
  uint8_t *copy = all <= sizeof l->room ? l->room : (l->heap = mem_alloc(all));
  memset(copy, 0, code->record_offset);
  memcpy(copy, given->buffer, MIN(given->buffer_bytes, (size_t)code->record_offset));
  memcpy(copy + code->record_offset, record, code->record_bytes);
  l->size = all;
  l->list[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
  l->list[1] = copy;
  l->list[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
  l->list[3] = &l->size;
  l->list[4] = CU_LAUNCH_PARAM_END;
  l->extra = l->list;
}

static void extend_list(GpuLaunch *l, const WovenKernel *code, void *record) {
  size_t n = code->user_params;
  void **list = (n + 1) * sizeof *list <= sizeof l->room
                    ? (void **)l->room
                    : (l->heap = mem_alloc((n + 1) * sizeof *list));
  if (n) memcpy(list, l->params, n * sizeof *list);
  list[n] = record;
  l->params = list;
}

WgLaunch *gpu_launch_record(const GpuLaunch *l) {
  const WovenKernel *code = l->of ? l->of->code : NULL;
  bool added = code && code->record_bytes && l->extra == l->list;
  return added ? (WgLaunch *)((uint8_t *)l->list[1] + code->record_offset) : NULL;
}

// false: parameters that the driver may refuse. Drivers differ on buffers that are too long or too
// short: NVIDIA's takes a short one and leaves the rest undefined.
static bool read_params(const GpuLaunch *l, const WovenKernel *code, SessionParams *given) {
  *given = (SessionParams){l->params, NULL, 0};
  if (l->params) return !l->extra;
  if (!l->extra) return !code->user_params;
  return gpu_launch_extra(l->extra, &given->buffer, &given->buffer_bytes) &&
         given->buffer_bytes == code->user_param_bytes;
}

// Counts the launch, once. The context remembers its last launch, in case the kernel fails.
static uint32_t tell(GpuLaunch *l) {
  if (l->told) return l->number;
  uint32_t number = l->number = session_launch_count(&l->event);
  l->told = true;
  // without tools no report needs the launch before it runs: sending it can overlap the kernel
  l->untold = !session_tools();
  if (!l->untold) session_launch_tell(&l->event, number);
  if (l->context && !l->event.captured) {
    atomic_store_explicit(&l->context->last_launch, number, memory_order_relaxed);
    atomic_store_explicit(&l->context->last_kernel, l->of->kernel, memory_order_relaxed);
  }
  return number;
}

// A record of zeros means: check nothing. Launches that were not selected get one, and those for
// which there is no session any more.
static void add_record(GpuLaunch *l, const WovenKernel *code) {
  SessionParams given;
  if (!read_params(l, code, &given)) {
    l->function = l->of->handle;  // the driver gives the same error as without us
    return;
  }
  void *record = code->record_bytes <= sizeof l->record
                     ? l->record
                     : (l->record_heap = mem_alloc(code->record_bytes));
  memset(record, 0, code->record_bytes);
  SessionDevice *device = session_launch_selected(l->of->kernel) ? gpu_context_use(l->context)
                                                                 : NULL;
  if (device) {
    uint32_t number = tell(l);
    bool filled = session_device_record(device, l->of->kernel, number, &given, record);
    if (!filled) memset(record, 0, code->record_bytes);
    gpu_run_begins(l, device, &given, record);
    gpu_context_used(l->context);
    if (filled && l->of->is_free && !l->event.captured &&
        session_launch_settled(l->of->kernel, record)) {
      l->function = l->of->handle;
      return;
    }
  }
  if (!l->function) l->function = gpu_function_target(l->of);
  if (l->function == l->of->handle && !l->of->is_resume) return;
  if (l->extra) extend_buffer(l, code, &given, record);
  else extend_list(l, code, record);
}

// --- buffers that are looked at after the launch ---

static SessionOutputs *find_outputs(GpuLaunch *l) {
  if (!session_wants_outputs() || !l->context || l->event.captured) return NULL;
  SessionParams given = {l->params, NULL, 0};
  if (!l->params && !gpu_launch_extra(l->extra, &given.buffer, &given.buffer_bytes)) return NULL;
  SessionOutputs *o = session_outputs_begin(tell(l), l->context->device);
  session_outputs_add(o, l->of->kernel, &given, gpu_launch_param, l->of);
  return session_outputs_close(o, l->event.stream);
}

// The last thing before the launch.
static void measure_duration(GpuLaunch *l) {
  if (l->outputs && session_outputs_may_wait())
    l->duration = gpu_duration_begin(l->of, l->function, l->context,
                                     (CUstream)(uintptr_t)l->event.stream, &l->duration_number,
                                     &l->duration_measured);
}

static void look_at_outputs(GpuLaunch *l, bool launched) {
  CUstream stream = (CUstream)(uintptr_t)l->event.stream;
  if (launched) {
    gpu_outputs_look(l->context, stream, l->outputs, l->duration, l->duration_number);
    return;
  }
  session_outputs_unseen();  // these buffers will not be read
  session_outputs_free(l->outputs);
}

// --- memory before the launch ---

static void keep_inputs(GpuLaunch *l) {
  if (!l->context) return;
  SessionParams given = {l->params, NULL, 0};
  if (!l->params && !gpu_launch_extra(l->extra, &given.buffer, &given.buffer_bytes)) return;
  uint32_t number = tell(l);
  gpu_code_tell(l->of);
  l->inputs = session_inputs(&(SessionCall){&l->event, number, &given, gpu_launch_param, l->of});
  gpu_pages_keep(l->context, (CUstream)(uintptr_t)l->event.stream, l->inputs);
}

// --- the launch log ---

static bool ask_param(const GpuFunction *f, uint32_t i, size_t *offset, size_t *size) {
  if (f->is_kernel)
    return gpu_real.cuKernelGetParamInfo &&
           gpu_real.cuKernelGetParamInfo((CUkernel)f->handle, i, offset, size) == CUDA_SUCCESS;
  return gpu_real.cuFuncGetParamInfo &&
         gpu_real.cuFuncGetParamInfo(f->handle, i, offset, size) == CUDA_SUCCESS;
}

// Every launch needs this: the driver is asked once for each function.
bool gpu_launch_param(void *user, uint32_t i, size_t *offset, size_t *size) {
  GpuFunction *f = user;
  const GpuParams *known = atomic_load_explicit(&f->params, memory_order_acquire), *none = NULL;
  if (!known) {
    size_t at, n;
    uint32_t count = 0;
    while (ask_param(f, count, &at, &n)) count++;
    GpuParams *p = mem_alloc(sizeof *p + count * sizeof p->list[0]);
    while (p->n < count && ask_param(f, p->n, &p->list[p->n].offset, &p->list[p->n].size)) p->n++;
    if (atomic_compare_exchange_strong(&f->params, &none, p)) none = p;
    else free(p);
    known = none;
  }
  if (i >= known->n) return false;
  *offset = known->list[i].offset;
  *size = known->list[i].size;
  return true;
}

static void write_log(GpuLaunch *l) {
  SessionParams given = {l->params, NULL, 0};
  if (!l->params && !gpu_launch_extra(l->extra, &given.buffer, &given.buffer_bytes))
    given = (SessionParams){0};
  session_log_launch(&l->event, tell(l), &given, gpu_launch_param, l->of);
}

// --- what was refused ---

static bool answer(void *user, SessionQuestion what, int attribute, int *value) {
  const GpuLaunch *l = user;
  const GpuFunction *f = l->of;
  CUdevice device = l->context ? l->context->device : 0;
  const uint32_t *b = l->event.block;
  switch (what) {
    case SESSION_ASK_DEVICE:
      return gpu_real.cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, device) ==
             CUDA_SUCCESS;
    case SESSION_ASK_KERNEL:
      if (f->is_kernel)
        return gpu_real.cuKernelGetAttribute(value, (CUfunction_attribute)attribute,
                                             (CUkernel)f->handle, device) == CUDA_SUCCESS;
      return gpu_real.cuFuncGetAttribute(value, (CUfunction_attribute)attribute, f->handle) ==
             CUDA_SUCCESS;
    case SESSION_ASK_REQUIRED_BLOCK: return false;  // the driver does not tell
    case SESSION_ASK_RESIDENT:
      return gpu_real.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                 value, f->handle, (int)(b[0] * b[1] * b[2]), l->event.shared) == CUDA_SUCCESS;
  }
  return false;
}

// Facts about the launch that a tool or the run file keeps: context, device, stream.
static GpuContext *look_around(GpuLaunch *l, CUcontext ctx) {
  CUstream stream = (CUstream)(uintptr_t)l->event.stream;
  GpuContext *c = ctx ? gpu_context_of(ctx) : gpu_context_of_stream(stream);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (c) l->event.device = c->device;
  if (!l->event.captured && gpu_may_capture() && gpu_real.cuStreamIsCapturing &&
      gpu_real.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS)
    l->event.captured = status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return c;
}

// A captured launch runs with the record of the launch of its graph: it is not checked.
static void check_machine_code(GpuLaunch *l) {
  SessionParams given = {l->params, NULL, 0};
  if (!l->context || l->event.captured || !session_closed_selected(l->of->kernel)) return;
  if (!l->params) gpu_launch_extra(l->extra, &given.buffer, &given.buffer_bytes);
  gpu_closed_begin(l, &(SessionCall){&l->event, tell(l), &given, gpu_launch_param, l->of});
}

// Waits until earlier launches of this stream have served all their interrupts. If one of them
// failed, this launch is refused with its error. A launch with interrupts of its own may go first.
static bool wait_for_interrupts(GpuLaunch *l) {
  if (l->of->interrupts) return gpu_interrupts_begin(l);
  l->refused = gpu_interrupts_wait_in((uint64_t)(uintptr_t)l->event.stream);
  l->gone = l->refused != CUDA_SUCCESS;
  return !l->gone;
}

void gpu_launch_begin(GpuLaunch *l, CUfunction handle, void **params, void **extra, CUcontext ctx) {
  l->function = handle;
  l->params = params;
  l->extra = extra;
  l->told = l->untold = false;
  if (session_wants(SESSION_WANTS_CONTENTS)) l->run = (SessionRun){0};
  l->inputs = NULL;
  l->heap = l->record_heap = NULL;
  l->outputs = NULL;
  l->duration = NULL;
  l->duration_measured = false;
  l->timed = NULL;
  l->closed = NULL;
  l->context = NULL;
  l->refused = CUDA_SUCCESS;
  l->interrupts = NULL;
  l->gone = session_use(SESSION_STREAM_GONE, l->event.stream);
  l->of = gpu_function(handle);
  if (!l->of && session_use(SESSION_FUNCTION_GONE, handle)) l->gone = true;
  if (l->gone) l->of = NULL;
  if (!l->of) {
    session_outputs_unseen();
    session_unknown_writes(l->event.stream);
    gpu_hash_before_launch(NULL);
  }
  if (!l->of) return;
  l->function = atomic_load_explicit(&l->of->target, memory_order_acquire);
  l->event.kernel = l->of->kernel;
  if (session_wants_launches()) l->context = look_around(l, ctx);
  const WovenKernel *code = l->function || l->event.captured ? NULL : gpu_function_early(l->of);
  if (!l->function && !code) l->function = gpu_function_target(l->of);
  if (!wait_for_interrupts(l)) return;
  if (session_logs_launches()) write_log(l);
  l->outputs = find_outputs(l);
  gpu_hash_before_launch(l->outputs);
  if (session_wants(SESSION_WANTS_INPUTS) && !l->event.captured) keep_inputs(l);
  if (!code && (l->function != handle || l->of->is_resume)) code = l->of->code;
  if (code && code->record_bytes) add_record(l, code);
  else if (l->of->unchanged && session_launch_selected(l->of->kernel))
    session_launch_unchanged(l->of->kernel);
  else if (l->of->machine_code) check_machine_code(l);
  if (session_wants(SESSION_WANTS_LAUNCHES_TAKEN) && !l->event.captured)
    l->timed = gpu_times_begin(l->context, (CUstream)(uintptr_t)l->event.stream);
  measure_duration(l);
}

static void tell_the_rest(GpuLaunch *l) {
  if (l->untold) session_launch_tell(&l->event, l->number);
  session_inputs_tell(l->inputs);
  session_inputs_free(l->inputs);
  if (l->outputs) session_outputs_tell(l->outputs);
}

// Reports the launch with its parameters as the program gave them.
static void tell_call(GpuLaunch *l) {
  SessionParams given = {l->params, NULL, 0};
  if (!l->params && !gpu_launch_extra(l->extra, &given.buffer, &given.buffer_bytes))
    given = (SessionParams){0};
  session_launch_taken(&(SessionCall){&l->event, l->number, &given, gpu_launch_param, l->of});
}

static GpuTimed shape_of(const GpuLaunch *l, bool made) {
  const SessionLaunch *e = &l->event;
  return (GpuTimed){.number = made ? l->number : 0,
                    .blocks = (uint64_t)e->grid[0] * e->grid[1] * e->grid[2],
                    .threads = e->block[0] * e->block[1] * e->block[2]};
}

CUresult gpu_launch_end(GpuLaunch *l, CUresult result) {
  if (session_reads_closed() && !(l->closed && l->closed_looks)) session_launch_unseen();
  if (l->closed) gpu_closed_end(l, result == CUDA_SUCCESS);
  if (l->duration_measured)
    gpu_duration_end(l->duration, l->context, (CUstream)(uintptr_t)l->event.stream);
  if (l->of && !l->told && result == CUDA_SUCCESS) tell(l);
  tell_the_rest(l);
  if (l->of && __builtin_expect(result != CUDA_SUCCESS, 0))
    session_launch_refused(
        &(SessionRefusal){&l->event, (int)result, l->function == l->of->handle, answer, l});
  if (l->timed)
    gpu_times_end(l->context, (CUstream)(uintptr_t)l->event.stream, l->timed,
                  shape_of(l, result == CUDA_SUCCESS));
  if (result == CUDA_SUCCESS) gpu_run_ends(l);
  if (result == CUDA_SUCCESS && l->of) {
    bool wanted = session_wants(SESSION_WANTS_LAUNCHES_TAKEN);
    if (wanted || session_has_tensor_maps()) tell_call(l);
    if (wanted) gpu_code_tell(l->of);
  }
  if (l->outputs) look_at_outputs(l, result == CUDA_SUCCESS);
  if (l->interrupts) result = gpu_interrupts_end(l, result);
  free(l->heap);
  free(l->record_heap);
  return gpu_checked(result);
}

// --- launches that are only counted: with --tool=none every nanosecond of the host is ours ---

// The function to launch; NULL: there is more to do.
static CUfunction plain_target(CUfunction handle, GpuFunction **of) {
  if (!session_only_counts_launches() || gpu_interrupts_pending()) return NULL;
  *of = gpu_function(handle);
  CUfunction target = *of ? atomic_load_explicit(&(*of)->target, memory_order_acquire) : NULL;
  bool has_record = target != handle && target && (*of)->code;
  return has_record || (target && ((*of)->interrupts || (*of)->is_resume)) ? NULL : target;
}

static CUresult plain_end(GpuFunction *of, CUfunction target, SessionLaunch event,
                          CUresult result) {
  event.kernel = of->kernel;
  if (__builtin_expect(result == CUDA_SUCCESS, 1)) {
    session_launch_count(&event);
    return result;
  }
  GpuLaunch l = {.of = of, .function = target, .event = event};
  return gpu_launch_end(&l, result);
}

// --- the program's calls ---

#define PER_THREAD_STREAM(s) ((s) ? (s) : CU_STREAM_PER_THREAD)
#define SHAPE(gx, gy, gz, bx, by, bz, bytes, on) \
  (SessionLaunch) { \
    .grid = {gx, gy, gz}, .block = {bx, by, bz}, .cluster = {1, 1, 1}, .shared = (bytes), \
    .stream = (on) \
  }

#define LAUNCH_KERNEL(suffix, STREAM) \
  CUresult gpu_cuLaunchKernel##suffix(CUfunction f, unsigned gx, unsigned gy, unsigned gz, \
                                      unsigned bx, unsigned by, unsigned bz, unsigned shared, \
                                      CUstream stream, void **params, void **extra) { \
    GpuFunction *of; \
    CUfunction plain = plain_target(f, &of); \
    if (plain) \
      return plain_end(of, plain, SHAPE(gx, gy, gz, bx, by, bz, shared, STREAM(stream)), \
                       gpu_real.cuLaunchKernel##suffix(plain, gx, gy, gz, bx, by, bz, shared, \
                                                       stream, params, extra)); \
    GpuLaunch l; \
    l.config = NULL; \
    l.event = SHAPE(gx, gy, gz, bx, by, bz, shared, STREAM(stream)); \
    gpu_launch_begin(&l, f, params, extra, NULL); \
    if (l.gone) return GPU_GONE(&l); \
    return gpu_launch_end(&l, gpu_real.cuLaunchKernel##suffix(l.function, gx, gy, gz, bx, by, bz, \
                                                              shared, stream, l.params, l.extra)); \
  } \
  CUresult gpu_cuLaunchCooperativeKernel##suffix( \
      CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
      unsigned shared, CUstream stream, void **params) { \
    GpuLaunch l; \
    l.config = NULL; \
    l.event = SHAPE(gx, gy, gz, bx, by, bz, shared, STREAM(stream)); \
    l.event.cooperative = true; \
    gpu_launch_begin(&l, f, params, NULL, NULL); \
    if (l.gone) return GPU_GONE(&l); \
    return gpu_launch_end(&l, gpu_real.cuLaunchCooperativeKernel##suffix( \
                                  l.function, gx, gy, gz, bx, by, bz, shared, stream, l.params)); \
  } \
  CUresult gpu_cuLaunchKernelEx##suffix(const CUlaunchConfig *config, CUfunction f, void **params, \
                                        void **extra) { \
    if (!config) return gpu_real.cuLaunchKernelEx##suffix(config, f, params, extra); \
    GpuFunction *of; \
    CUfunction plain = plain_target(f, &of); \
    if (plain) \
      return plain_end(of, plain, \
                       SHAPE(config->gridDimX, config->gridDimY, config->gridDimZ, \
                             config->blockDimX, config->blockDimY, config->blockDimZ, \
                             config->sharedMemBytes, STREAM(config->hStream)), \
                       gpu_real.cuLaunchKernelEx##suffix(config, plain, params, extra)); \
    GpuLaunch l; \
    l.config = config; \
    l.event = SHAPE(config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX, \
                    config->blockDimY, config->blockDimZ, config->sharedMemBytes, \
                    STREAM(config->hStream)); \
    read_attributes(&l.event, config); \
    gpu_launch_begin(&l, f, params, extra, NULL); \
    if (l.gone) return GPU_GONE(&l); \
    return gpu_launch_end( \
        &l, gpu_real.cuLaunchKernelEx##suffix(config, l.function, l.params, l.extra)); \
  }

static void read_attributes(SessionLaunch *event, const CUlaunchConfig *config) {
  for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
    const CUlaunchAttribute *a = &config->attrs[i];
    if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) event->cooperative = a->value.cooperative;
    if (a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      event->overlaps = a->value.programmaticStreamSerializationAllowed;
    if (a->id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    event->cluster[0] = a->value.clusterDim.x;
    event->cluster[1] = a->value.clusterDim.y;
    event->cluster[2] = a->value.clusterDim.z;
  }
}

#define AS_IT_IS(s) (s)
LAUNCH_KERNEL(, AS_IT_IS)
LAUNCH_KERNEL(_ptsz, PER_THREAD_STREAM)

// One kernel on several devices at once.
CUresult gpu_cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *given, unsigned n,
                                                  unsigned flags) {
  enum { MOST = 64 };
  if (!given || !n || n > MOST)
    return gpu_real.cuLaunchCooperativeKernelMultiDevice(given, n, flags);
  CUDA_LAUNCH_PARAMS list[MOST];
  GpuLaunch *l = mem_alloc(n * sizeof *l);
  for (unsigned i = 0; i < n; i++) {
    const CUDA_LAUNCH_PARAMS *p = &given[i];
    l[i].event = SHAPE(p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY,
                       p->blockDimZ, p->sharedMemBytes, p->hStream);
    l[i].event.cooperative = true;
    l[i].config = NULL;
    gpu_launch_begin(&l[i], p->function, p->kernelParams, NULL, NULL);
    list[i] = *p;
    list[i].function = l[i].function;
    list[i].kernelParams = l[i].params;
  }
  bool gone = false;
  for (unsigned i = 0; i < n; i++) gone |= l[i].gone;
  CUresult result = gone ? CUDA_ERROR_INVALID_HANDLE
                         : gpu_real.cuLaunchCooperativeKernelMultiDevice(list, n, flags);
  for (unsigned i = 0; i < n; i++) gpu_launch_end(&l[i], result);
  free(l);
  return result;
}
