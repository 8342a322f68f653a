// Contexts: created ones and each device's primary one, the stack of every thread, limits.
#include "driver/driver.h"

#define STACK_DEPTH 256
static __thread struct {
  Context *stack[STACK_DEPTH];
  int depth;
} thread;

pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t next_id = 1;

static void set_defaults(Context *ctx) {
  ctx->api_version = 3020;
  ctx->error = CUDA_SUCCESS;
  memset(ctx->limits, 0, sizeof ctx->limits);
  ctx->limits[CU_LIMIT_STACK_SIZE] = 1024;
  ctx->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
  ctx->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
  ctx->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
  ctx->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  ctx->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
}

static void start(Context *ctx, Device *dev, unsigned flags) {
  ctx->device = dev;
  ctx->flags = flags;
  ctx->id = next_id++;
  set_defaults(ctx);
  session_quarantine_open(dev->ordinal, dev->memory);
  ctx->active = true;
  ctx->legacy = stream_create(ctx, CU_STREAM_DEFAULT, 0);
  ctx->legacy->legacy = true;
}

// Waits for its work, then gives back everything that was made in it.
static void stop(Context *ctx) {
  context_wait(ctx);
  print_flush();
  library_forget_context(ctx);
  while (ctx->modules.len) module_unload(ctx->modules.data[ctx->modules.len - 1]);
  tools_close_context(ctx);
  stream_discard_all(ctx);
  ctx->legacy = NULL;
  array_forget_context(ctx);
  alloc_free_all(ctx);
  vec_free(&ctx->peers);
  ctx->active = false;
}

static CUresult usable(Context *ctx, Context **out) {
  if (!ctx) return CUDA_ERROR_INVALID_CONTEXT;
  if (!object_get(ctx, OBJECT_CONTEXT) || !ctx->active) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *out = ctx;
  return CUDA_SUCCESS;
}

CUresult context_of_thread(Context **out) {
  TRY(driver_check());
  return usable(thread.depth ? thread.stack[thread.depth - 1] : NULL, out);
}

CUresult context_current(Context **out) {
  TRY(context_of_thread(out));
  return (CUresult)(*out)->error;
}

CUresult context_get(CUcontext handle, Context **out) {
  if (!handle) return context_current(out);
  TRY(driver_check());
  Context *ctx = object_use(handle, OBJECT_CONTEXT, SESSION_CONTEXT_GONE);
  if (!ctx) return CUDA_ERROR_INVALID_CONTEXT;
  TRY(usable(ctx, out));
  return (CUresult)ctx->error;
}

void context_poison(Context *ctx, CUresult error) {
  int none = CUDA_SUCCESS;
  atomic_compare_exchange_strong(&ctx->error, &none, (int)error);
}

CUresult context_wait(Context *ctx) {
  Stream *own = interrupts_stream();
  if (own) {  // the launch that is suspended must not be waited for
    queue_wait(own, own->submitted);
    print_flush();
    return (CUresult)ctx->error;
  }
  pthread_mutex_lock(&queue_lock);
  QueueDeps all = {0};
  for (uint32_t i = 0; i < ctx->streams.len; i++) {
    Stream *s = ctx->streams.data[i];
    stream_retain(s);
    vec_push(&all, (QueueDep){s, s->submitted});
  }
  pthread_mutex_unlock(&queue_lock);
  queue_wait_all(&all);
  print_flush();
  return (CUresult)ctx->error;
}

// --- created contexts ---

static CUresult create(CUcontext *out, unsigned flags, CUdevice handle) {
  TRY(driver_check());
  Device *dev = device_get(handle);
  if (!dev) return CUDA_ERROR_INVALID_DEVICE;
  if (!out || flags & ~(unsigned)CU_CTX_FLAGS_MASK || thread.depth == STACK_DEPTH)
    return CUDA_ERROR_INVALID_VALUE;
  Context *ctx = object_new(OBJECT_CONTEXT, sizeof *ctx);
  start(ctx, dev, flags);
  thread.stack[thread.depth++] = ctx;
  *out = (CUcontext)ctx;
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice dev) {
  return create(out, flags, dev);
}

CUresult cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *params, int nparams, unsigned flags,
                        CUdevice dev) {
  if (nparams) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return create(out, flags, dev);
}

CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *params, unsigned flags, CUdevice dev) {
  if (params && params->numExecAffinityParams) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  if (params && params->cigParams) return CUDA_ERROR_NOT_SUPPORTED;
  return create(out, flags, dev);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  TRY(driver_check());
  Context *ctx = object_use(handle, OBJECT_CONTEXT, SESSION_CONTEXT_GONE);
  if (!ctx || ctx->primary) return CUDA_ERROR_INVALID_CONTEXT;
  session_destroyed(SESSION_CONTEXT_GONE, handle);
  stop(ctx);
  if (thread.depth && thread.stack[thread.depth - 1] == ctx) thread.depth--;
  // the memory stays: other threads' stacks and pending events may still name it
  object_forget(ctx);
  return CUDA_SUCCESS;
}

CUresult cuCtxAttach(CUcontext *out, unsigned flags) {
  Context *ctx;
  if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
  TRY(context_current(&ctx));
  *out = (CUcontext)ctx;
  return CUDA_SUCCESS;
}
CUresult cuCtxDetach(CUcontext handle) {
  return object_get(handle, OBJECT_CONTEXT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

// --- the thread's stack ---

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  TRY(driver_check());
  Context *ctx = object_use(handle, OBJECT_CONTEXT, SESSION_CONTEXT_GONE);
  if (!ctx) return CUDA_ERROR_INVALID_CONTEXT;
  if (thread.depth == STACK_DEPTH) return CUDA_ERROR_INVALID_VALUE;
  thread.stack[thread.depth++] = ctx;
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *out) {
  TRY(driver_check());
  if (!thread.depth) return CUDA_ERROR_INVALID_CONTEXT;
  Context *top = thread.stack[--thread.depth];
  if (out) *out = (CUcontext)top;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext handle) {
  TRY(driver_check());
  if (!handle) {
    if (thread.depth) thread.depth--;
    return CUDA_SUCCESS;
  }
  Context *ctx = object_use(handle, OBJECT_CONTEXT, SESSION_CONTEXT_GONE);
  if (!ctx) return CUDA_ERROR_INVALID_CONTEXT;
  if (!thread.depth) thread.depth = 1;
  thread.stack[thread.depth - 1] = ctx;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *out) {
  TRY(driver_check());
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = thread.depth ? (CUcontext)thread.stack[thread.depth - 1] : NULL;
  return CUDA_SUCCESS;
}

// --- primary contexts ---

#define DEVICE_OR_RETURN(dev, handle) \
  TRY(driver_check()); \
  Device *dev = device_get(handle); \
  if (!dev) return CUDA_ERROR_INVALID_DEVICE

CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice handle) {
  DEVICE_OR_RETURN(dev, handle);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&device_lock);
  if (!dev->primary) {
    dev->primary = object_new(OBJECT_CONTEXT, sizeof *dev->primary);
    dev->primary->primary = true;
  }
  if (!dev->primary->active) start(dev->primary, dev, dev->primary_flags);
  dev->primary_refs++;
  *out = (CUcontext)dev->primary;
  pthread_mutex_unlock(&device_lock);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice handle) {
  DEVICE_OR_RETURN(dev, handle);
  CUresult result = CUDA_SUCCESS;
  pthread_mutex_lock(&device_lock);
  if (!dev->primary_refs) result = CUDA_ERROR_INVALID_CONTEXT;
  else if (!--dev->primary_refs) stop(dev->primary);
  pthread_mutex_unlock(&device_lock);
  return result;
}

// The program's references stay: the context comes to life again, empty, at the next retain.
CUresult cuDevicePrimaryCtxReset_v2(CUdevice handle) {
  DEVICE_OR_RETURN(dev, handle);
  pthread_mutex_lock(&device_lock);
  if (dev->primary && dev->primary->active) stop(dev->primary);
  dev->primary_refs = 0;
  pthread_mutex_unlock(&device_lock);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice handle, unsigned flags) {
  DEVICE_OR_RETURN(dev, handle);
  if (flags & ~(unsigned)CU_CTX_FLAGS_MASK) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&device_lock);
  dev->primary_flags = flags;
  if (dev->primary && dev->primary->active) dev->primary->flags = flags;
  pthread_mutex_unlock(&device_lock);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice handle, unsigned *flags, int *active) {
  DEVICE_OR_RETURN(dev, handle);
  if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&device_lock);
  *flags = dev->primary_flags;
  *active = dev->primary && dev->primary->active;
  pthread_mutex_unlock(&device_lock);
  return CUDA_SUCCESS;
}

// --- properties and settings of a context ---

#define CURRENT_OR_RETURN(ctx) \
  Context *ctx; \
  TRY(context_current(&ctx))

CUresult cuCtxGetDevice(CUdevice *out) {
  Context *ctx;
  TRY(context_of_thread(&ctx));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = ctx->device->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(CUdevice *out, CUcontext handle) {
  Context *ctx;
  TRY(context_get(handle, &ctx));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = ctx->device->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned *flags) {
  CURRENT_OR_RETURN(ctx);
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = ctx->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned flags) {
  CURRENT_OR_RETURN(ctx);
  if (flags & ~(unsigned)CU_CTX_FLAGS_MASK) return CUDA_ERROR_INVALID_VALUE;
  ctx->flags = flags;
  if (ctx->primary) ctx->device->primary_flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long *id) {
  Context *ctx;
  TRY(context_get(handle, &ctx));
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  *id = ctx->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned *version) {
  Context *ctx;
  TRY(context_get(handle, &ctx));
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = ctx->api_version;
  return CUDA_SUCCESS;
}

static CUresult synchronize(Context *ctx) {
  TRY(capture_forbids_unsafe_call());
  session_synchronised_all();
  session_wait_ended(&(SessionHostWait){.call = "cuCtxSynchronize", .all = true});
  return context_wait(ctx);
}

CUresult cuCtxSynchronize(void) {
  Context *ctx;
  TRY(context_of_thread(&ctx));
  return synchronize(ctx);
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  Context *ctx;
  TRY(context_get(handle, &ctx));
  return synchronize(ctx);
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  CURRENT_OR_RETURN(ctx);
  switch ((int)limit) {
    case CU_LIMIT_STACK_SIZE:
      if (value > 512 << 10) return CUDA_ERROR_INVALID_VALUE;
      value = (value + 15) & ~(size_t)15;
      break;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: break;
    case CU_LIMIT_MALLOC_HEAP_SIZE: vgpu_heap_set_limit(MAX(value, vgpu_heap_limit())); break;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
      if (value > 128) return CUDA_ERROR_INVALID_VALUE;
      break;
    default: return CUDA_ERROR_UNSUPPORTED_LIMIT;
  }
  ctx->limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
  CURRENT_OR_RETURN(ctx);
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if ((unsigned)limit > CU_LIMIT_PERSISTING_L2_CACHE_SIZE) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = ctx->limits[limit];
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *out) {
  CURRENT_OR_RETURN(ctx);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = ctx->cache_config;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  CURRENT_OR_RETURN(ctx);
  if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  ctx->cache_config = config;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *out) {
  CURRENT_OR_RETURN(ctx);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;  // the hardware has no other
  return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  CURRENT_OR_RETURN(ctx);
  if ((unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE) return CUDA_ERROR_INVALID_VALUE;
  ctx->shared_config = config;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  CURRENT_OR_RETURN(ctx);
  (void)ctx;
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache(void) {
  CURRENT_OR_RETURN(ctx);
  (void)ctx;
  return CUDA_SUCCESS;
}

// --- peers ---

static int find_peer(const Context *ctx, const Context *peer) {
  for (uint32_t i = 0; i < ctx->peers.len; i++)
    if (ctx->peers.data[i] == peer) return (int)i;
  return -1;
}

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags) {
  CURRENT_OR_RETURN(ctx);
  Context *peer = object_get(handle, OBJECT_CONTEXT);
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  if (!peer || peer->device == ctx->device) return CUDA_ERROR_INVALID_CONTEXT;
  if (find_peer(ctx, peer) >= 0) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  vec_push(&ctx->peers, peer);
  return CUDA_SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext handle) {
  CURRENT_OR_RETURN(ctx);
  Context *peer = object_get(handle, OBJECT_CONTEXT);
  if (!peer) return CUDA_ERROR_INVALID_CONTEXT;
  int i = find_peer(ctx, peer);
  if (i < 0) return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  ctx->peers.data[i] = ctx->peers.data[--ctx->peers.len];
  return CUDA_SUCCESS;
}
