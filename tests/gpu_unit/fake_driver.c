#include "fake_driver.h"

GpuReal gpu_real;
FakeDriver fake_driver = {.finishes = true};

enum { DEVICES = 4, CONTEXTS = 16, DEPTH = 16 };
typedef struct Context {
  int device;
  bool alive;
  FakeDevice memory;
} Context;
typedef struct Stream {
  Context *context;
} Stream;
typedef struct Event {
  uint64_t at;  // 0: never recorded
} Event;

static Context contexts[CONTEXTS], primary[DEVICES];
static int references[DEVICES];
static _Thread_local Context *stack[DEPTH];
static _Thread_local uint32_t depth;
static _Thread_local CUstreamCaptureMode mode;
static _Atomic uint64_t now = 1, finished;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static StrMap calls;  // name -> how often
static void note(const char *name) {
  pthread_mutex_lock(&lock);
  strmap_put(&calls, name, (void *)((uintptr_t)strmap_get(&calls, name) + 1));
  pthread_mutex_unlock(&lock);
}

uint32_t fake_calls(const char *name) {
  pthread_mutex_lock(&lock);
  uint32_t n = (uint32_t)(uintptr_t)strmap_get(&calls, name);
  pthread_mutex_unlock(&lock);
  return n;
}

void fake_driver_finish(void) { finished = now; }

// --- contexts ---

static Context *top(void) { return depth ? stack[depth - 1] : NULL; }

CUcontext fake_current(void) { return (CUcontext)top(); }
uint32_t fake_depth(void) { return depth; }
bool fake_context_alive(CUcontext c) { return ((Context *)c)->alive; }
FakeDevice *fake_context_memory(CUcontext c) { return &((Context *)c)->memory; }

CUcontext fake_context(int device) {
  for (int i = 0; i < CONTEXTS; i++)
    if (!contexts[i].alive) {
      contexts[i] = (Context){.device = device, .alive = true};
      gpu_real.cuCtxSetCurrent((CUcontext)&contexts[i]);
      return (CUcontext)&contexts[i];
    }
  return NULL;
}

static CUresult ctx_get_current(CUcontext *out) {
  *out = (CUcontext)top();
  return CUDA_SUCCESS;
}
static CUresult ctx_set_current(CUcontext c) {
  if (!depth) depth = 1;
  stack[depth - 1] = (Context *)c;
  return CUDA_SUCCESS;
}
static CUresult ctx_push(CUcontext c) {
  if (!((Context *)c)->alive) return CUDA_ERROR_INVALID_CONTEXT;
  CHECK(depth < DEPTH);
  stack[depth++] = (Context *)c;
  return CUDA_SUCCESS;
}
static CUresult ctx_pop(CUcontext *out) {
  CHECK(depth);
  *out = (CUcontext)stack[--depth];
  return CUDA_SUCCESS;
}
static CUresult ctx_get_device(CUdevice *out) {
  *out = top()->device;
  return CUDA_SUCCESS;
}
static CUresult ctx_synchronize(void) {
  note("cuCtxSynchronize");
  finished = now;
  return fake_driver.fault;
}
static CUresult ctx_destroy(CUcontext c) {
  Context *context = (Context *)c;
  note("cuCtxDestroy");
  if (!context->alive) return CUDA_ERROR_INVALID_CONTEXT;
  context->alive = false;
  return CUDA_SUCCESS;
}

static CUresult primary_state(CUdevice d, unsigned *flags, int *active) {
  *flags = 0;
  *active = primary[d].alive;
  return CUDA_SUCCESS;
}
static CUresult primary_retain(CUcontext *out, CUdevice d) {
  if (!primary[d].alive) primary[d] = (Context){.device = d, .alive = true};
  references[d]++;
  *out = (CUcontext)&primary[d];
  return CUDA_SUCCESS;
}
static CUresult primary_release(CUdevice d) {
  if (!references[d]) return CUDA_ERROR_INVALID_CONTEXT;
  if (!--references[d]) primary[d].alive = false;
  return CUDA_SUCCESS;
}
static CUresult primary_reset(CUdevice d) {
  note("cuDevicePrimaryCtxReset");
  primary[d].alive = false;
  return CUDA_SUCCESS;
}

static CUresult device_attribute(int *value, CUdevice_attribute what, CUdevice d) {
  *value = what == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : d;
  return CUDA_SUCCESS;
}
static CUresult total_memory(size_t *out, CUdevice d) {
  *out = (size_t)1 << 34;
  return CUDA_SUCCESS;
}
static CUresult exchange_mode(CUstreamCaptureMode *m) {
  CUstreamCaptureMode old = mode;
  mode = *m;
  *m = old;
  return CUDA_SUCCESS;
}

// --- streams and events ---

CUstream fake_stream(CUcontext c) {
  Stream *s = mem_alloc(sizeof *s);
  s->context = (Context *)c;
  return (CUstream)s;
}
static CUresult stream_create(CUstream *out, unsigned flags) {
  *out = fake_stream((CUcontext)top());
  return CUDA_SUCCESS;
}
static CUresult stream_context(CUstream s, CUcontext *out) {
  *out = (CUcontext)((Stream *)s)->context;
  return CUDA_SUCCESS;
}
static CUresult stream_synchronize(CUstream s) { return fake_driver.fault; }
static CUresult stream_wait(CUstream s, CUevent e, unsigned flags) { return CUDA_SUCCESS; }

static CUresult event_create(CUevent *out, unsigned flags) {
  *out = mem_alloc(sizeof(Event));
  fake_driver.events++;
  return CUDA_SUCCESS;
}
static CUresult event_destroy(CUevent e) {
  fake_driver.events--;
  free(e);
  return CUDA_SUCCESS;
}
static CUresult event_record(CUevent e, CUstream s) {
  ((Event *)e)->at = ++now;
  return CUDA_SUCCESS;
}
static CUresult context_event_record(CUcontext c, CUevent e) { return event_record(e, NULL); }
static CUresult event_query(CUevent e) {
  if (fake_driver.fault) return fake_driver.fault;
  bool done = fake_driver.finishes || ((Event *)e)->at <= finished;
  return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
static CUresult event_synchronize(CUevent e) { return CUDA_SUCCESS; }
// Each operation takes a millisecond.
static CUresult event_elapsed(float *ms, CUevent a, CUevent b) {
  *ms = (float)((int64_t)((Event *)b)->at - (int64_t)((Event *)a)->at);
  return CUDA_SUCCESS;
}

// --- memory ---

static CUresult mem_take(CUdeviceptr *p, size_t size) {
  note("cuMemAlloc");
  if (fake_driver.failing_allocations) {
    fake_driver.failing_allocations--;
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *p = fake_device_ops.alloc(&top()->memory, size);
  return CUDA_SUCCESS;
}
static CUresult mem_give(CUdeviceptr p) {
  note("cuMemFree");
  uint32_t mistakes = top()->memory.mistakes;
  fake_device_ops.free(&top()->memory, p);
  return top()->memory.mistakes == mistakes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
static CUresult mem_set(CUdeviceptr p, unsigned char value, size_t n, CUstream s) {
  bool ok = fake_device_ops.fill(&((Stream *)s)->context->memory, NULL, p, value, n);
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
static CUresult mem_read(void *to, CUdeviceptr from, size_t n, CUstream s) {
  note("cuMemcpyDtoHAsync");
  bool ok = fake_device_ops.read(&((Stream *)s)->context->memory, to, from, n);
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
static CUresult mem_write(CUdeviceptr to, const void *from, size_t n, CUstream s) {
  bool ok = fake_device_ops.write(&((Stream *)s)->context->memory, to, from, n);
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
static CUresult host_register(void *p, size_t n, unsigned flags) {
  top()->memory.mapped++;
  return CUDA_SUCCESS;
}
static CUresult host_unregister(void *p) {
  top()->memory.mapped--;
  return CUDA_SUCCESS;
}
static CUresult host_pointer(CUdeviceptr *out, void *p, unsigned flags) {
  *out = (uintptr_t)p;
  return CUDA_SUCCESS;
}

static CUresult error_text(CUresult r, const char **out) {
  *out = "CUDA_ERROR_FAKE";
  return CUDA_SUCCESS;
}

void fake_driver_install(void) {
  gpu_real = (GpuReal){.cuCtxGetCurrent = ctx_get_current,
                       .cuCtxSetCurrent = ctx_set_current,
                       .cuCtxPushCurrent_v2 = ctx_push,
                       .cuCtxPopCurrent_v2 = ctx_pop,
                       .cuCtxGetDevice = ctx_get_device,
                       .cuCtxSynchronize = ctx_synchronize,
                       .cuCtxDestroy_v2 = ctx_destroy,
                       .cuCtxRecordEvent = context_event_record,
                       .cuDevicePrimaryCtxGetState = primary_state,
                       .cuDevicePrimaryCtxRetain = primary_retain,
                       .cuDevicePrimaryCtxRelease_v2 = primary_release,
                       .cuDevicePrimaryCtxReset_v2 = primary_reset,
                       .cuDeviceGetAttribute = device_attribute,
                       .cuDeviceTotalMem_v2 = total_memory,
                       .cuThreadExchangeStreamCaptureMode = exchange_mode,
                       .cuStreamCreate = stream_create,
                       .cuStreamGetCtx = stream_context,
                       .cuStreamSynchronize = stream_synchronize,
                       .cuStreamWaitEvent = stream_wait,
                       .cuEventCreate = event_create,
                       .cuEventDestroy_v2 = event_destroy,
                       .cuEventRecord = event_record,
                       .cuEventQuery = event_query,
                       .cuEventSynchronize = event_synchronize,
                       .cuEventElapsedTime = event_elapsed,
                       .cuMemAlloc_v2 = mem_take,
                       .cuMemFree_v2 = mem_give,
                       .cuMemsetD8Async = mem_set,
                       .cuMemcpyDtoHAsync_v2 = mem_read,
                       .cuMemcpyHtoDAsync_v2 = mem_write,
                       .cuMemHostRegister_v2 = host_register,
                       .cuMemHostUnregister = host_unregister,
                       .cuMemHostGetDevicePointer_v2 = host_pointer,
                       .cuGetErrorName = error_text,
                       .cuGetErrorString = error_text};
}
