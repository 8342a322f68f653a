// Streams: handles, the default ones, queries, callbacks, attributes.
#include "driver/driver.h"

static _Atomic uint64_t next_id = 1;

Stream *stream_create(Context *ctx, unsigned flags, int priority) {
  Stream *s = object_new(OBJECT_STREAM, sizeof *s);
  s->ctx = ctx;
  s->flags = flags;
  s->priority = priority;
  s->id = next_id++;
  s->refs = 1;
  pthread_mutex_lock(&queue_lock);
  vec_push(&ctx->streams, s);
  pthread_mutex_unlock(&queue_lock);
  return s;
}

// The handle is gone; queued work still runs.
static void retire(Stream *s) {
  object_forget(s);
  pthread_mutex_lock(&queue_lock);
  s->destroyed = true;
  if (!s->head && !s->busy) stream_leave_context(s);
  stream_release(s);  // queued work and events hold their own references
  pthread_mutex_unlock(&queue_lock);
}

void stream_discard_all(Context *ctx) {
  while (ctx->streams.len) {
    Stream *s = ctx->streams.data[ctx->streams.len - 1];
    pthread_mutex_lock(&queue_lock);
    ctx->streams.len--;  // events may keep the structure alive; the list must not
    pthread_mutex_unlock(&queue_lock);
    if (!s->destroyed) retire(s);
  }
  vec_free(&ctx->streams);
}

// --- a thread's own default streams, one per context ---

typedef struct OwnStream {
  Context *ctx;
  uint64_t ctx_id;
  Stream *stream;
} OwnStream;
static __thread VEC(OwnStream) own;
static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;

static void at_thread_end(void *unused) {
  for (uint32_t i = 0; i < own.len; i++)
    if (object_get(own.data[i].stream, OBJECT_STREAM)) retire(own.data[i].stream);
  vec_free(&own);
}
static void make_key(void) { pthread_key_create(&end_key, at_thread_end); }

static Stream *own_stream(Context *ctx) {
  for (uint32_t i = 0; i < own.len; i++)
    if (own.data[i].ctx == ctx && own.data[i].ctx_id == ctx->id) return own.data[i].stream;
  pthread_once(&end_once, make_key);
  pthread_setspecific(end_key, ctx);  // any value: makes the destructor run
  Stream *s = stream_create(ctx, CU_STREAM_DEFAULT, 0);
  s->per_thread = true;
  vec_push(&own, (OwnStream){ctx, ctx->id, s});
  return s;
}

CUresult stream_get(CUstream handle, Stream **out) {
  Context *ctx;
  if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    TRY(context_current(&ctx));
    if (interrupts_stream()) {
      *out = interrupts_stream();
      return CUDA_SUCCESS;
    }
    bool mine = handle == CU_STREAM_PER_THREAD || (!handle && stream_zero_is_per_thread);
    *out = mine ? own_stream(ctx) : ctx->legacy;
    return CUDA_SUCCESS;
  }
  TRY(driver_check());
  *out = object_use(handle, OBJECT_STREAM, SESSION_STREAM_GONE);
  if (!*out) return CUDA_ERROR_INVALID_HANDLE;
  return (CUresult)(*out)->ctx->error;
}

// --- create and destroy ---

CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority) {
  Context *ctx;
  TRY(context_current(&ctx));
  if (!out || flags > 1) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUstream)stream_create(ctx, flags, MIN(MAX(priority, -5), 0));
  session_order_stream(*out, flags & CU_STREAM_NON_BLOCKING);
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *out, unsigned flags) {
  return cuStreamCreateWithPriority(out, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  TRY(driver_check());
  Stream *s = object_use(handle, OBJECT_STREAM, SESSION_STREAM_GONE);
  if (!s || s->legacy || s->per_thread) return CUDA_ERROR_INVALID_HANDLE;
  session_destroyed(SESSION_STREAM_GONE, handle);
  pthread_mutex_lock(&queue_lock);
  if (s->capture && s->capture->origin == s)
    s->capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  pthread_mutex_unlock(&queue_lock);
  retire(s);
  return CUDA_SUCCESS;
}

// --- waiting ---

static CUresult not_captured(Stream *s) {
  pthread_mutex_lock(&queue_lock);
  CUresult result = s->capture ? capture_refuse(s) : CUDA_SUCCESS;
  pthread_mutex_unlock(&queue_lock);
  return result;
}

// Waits for the stream's work so far; on the legacy stream, also for that of all blocking streams.
CUresult cuStreamSynchronize(CUstream handle) {
  Stream *s;
  TRY(stream_get(handle, &s));
  TRY(not_captured(s));
  session_synchronised(s->legacy ? NULL : s);
  session_wait_ended(
      &(SessionHostWait){.call = "cuStreamSynchronize", .stream = s->legacy ? NULL : s});
  Context *ctx = s->ctx;
  if (s->legacy) {
    pthread_mutex_lock(&queue_lock);
    QueueDeps all = {0};
    for (uint32_t i = 0; i < ctx->streams.len; i++) {
      Stream *other = ctx->streams.data[i];
      if (other->flags & CU_STREAM_NON_BLOCKING || other->completed == other->submitted) continue;
      stream_retain(other);
      vec_push(&all, (QueueDep){other, other->submitted});
    }
    pthread_mutex_unlock(&queue_lock);
    queue_wait_all(&all);
  } else {
    queue_wait(s, s->submitted);
  }
  print_flush();
  return (CUresult)ctx->error;
}

CUresult cuStreamQuery(CUstream handle) {
  Stream *s;
  TRY(stream_get(handle, &s));
  TRY(not_captured(s));
  Context *ctx = s->ctx;
  pthread_mutex_lock(&queue_lock);
  bool done = s->completed == s->submitted;
  if (s->legacy)
    for (uint32_t i = 0; i < ctx->streams.len; i++) {
      Stream *other = ctx->streams.data[i];
      if (!(other->flags & CU_STREAM_NON_BLOCKING) && other->completed != other->submitted)
        done = false;
    }
  pthread_mutex_unlock(&queue_lock);
  if (!done) return CUDA_ERROR_NOT_READY;
  session_order_host_saw(s->legacy ? NULL : s);
  print_flush();
  return (CUresult)ctx->error;
}

// --- host functions ---

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn fn, void *user) {
  Stream *s;
  if (!fn) return CUDA_ERROR_INVALID_VALUE;
  TRY(stream_get(handle, &s));
  session_order_host_saw(s->legacy ? NULL : s);  // other threads may wait for the function
  Work w = {.kind = WORK_HOST, .host = {fn, user}};
  return queue_submit(s, &w, 0);
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback fn, void *user, unsigned flags) {
  Stream *s;
  if (!fn || flags) return CUDA_ERROR_INVALID_VALUE;
  TRY(stream_get(handle, &s));
  TRY(not_captured(s));
  session_order_host_saw(s->legacy ? NULL : s);
  Work w = {.kind = WORK_CALLBACK, .callback = {fn, user, handle}};
  return queue_submit(s, &w, 0);
}

// Managed memory is coherent here; the attachment itself needs no work.
CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr p, size_t length, unsigned flags) {
  Stream *s;
  Alloc a;
  TRY(stream_get(handle, &s));
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
    return CUDA_ERROR_INVALID_VALUE;
  if (!alloc_find(p, &a)) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

// --- properties of a stream ---

#define STREAM_OR_RETURN(s, handle, out) \
  Stream *s; \
  TRY(stream_get(handle, &s)); \
  if (!(out)) return CUDA_ERROR_INVALID_VALUE

CUresult cuStreamGetPriority(CUstream handle, int *priority) {
  STREAM_OR_RETURN(s, handle, priority);
  *priority = s->priority;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream handle, unsigned *flags) {
  STREAM_OR_RETURN(s, handle, flags);
  *flags = s->flags;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *id) {
  STREAM_OR_RETURN(s, handle, id);
  *id = s->id;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *ctx) {
  STREAM_OR_RETURN(s, handle, ctx);
  *ctx = (CUcontext)s->ctx;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext *ctx, CUgreenCtx *green) {
  STREAM_OR_RETURN(s, handle, ctx);
  *ctx = (CUcontext)s->ctx;
  if (green) *green = NULL;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice *device) {
  STREAM_OR_RETURN(s, handle, device);
  *device = s->ctx->device->ordinal;
  return CUDA_SUCCESS;
}

static bool known_attribute(CUstreamAttrID id) {
  return id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW ||
         id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY || id == CU_LAUNCH_ATTRIBUTE_PRIORITY ||
         id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP || id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
}

CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID id, CUstreamAttrValue *value) {
  STREAM_OR_RETURN(s, handle, value);
  if (!known_attribute(id)) return CUDA_ERROR_INVALID_VALUE;
  *value = s->attributes[id];
  if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) value->priority = s->priority;
  if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY && !value->syncPolicy) value->syncPolicy = 1;
  return CUDA_SUCCESS;
}

CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID id, const CUstreamAttrValue *value) {
  STREAM_OR_RETURN(s, handle, value);
  if (!known_attribute(id)) return CUDA_ERROR_INVALID_VALUE;
  if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) s->priority = MIN(MAX(value->priority, -5), 0);
  s->attributes[id] = *value;
  return CUDA_SUCCESS;
}

CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  Stream *a, *b;
  TRY(stream_get(to, &a));
  TRY(stream_get(from, &b));
  memcpy(a->attributes, b->attributes, sizeof a->attributes);
  return CUDA_SUCCESS;
}
