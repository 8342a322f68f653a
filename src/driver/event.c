// Events: a position in a stream's queue, with the time it was reached.
#include "driver/driver.h"

#include <time.h>

// Counted under their own lock: work is freed with and without queue_lock held.
static pthread_mutex_t refs_lock = PTHREAD_MUTEX_INITIALIZER;

void event_retain(Event *e) {
  pthread_mutex_lock(&refs_lock);
  e->refs++;
  pthread_mutex_unlock(&refs_lock);
}

void event_release(Event *e) {
  pthread_mutex_lock(&refs_lock);
  int left = --e->refs;
  pthread_mutex_unlock(&refs_lock);
  if (left) return;
  vec_free(&e->capture_deps);
  free(e);
}

CUresult event_get(CUevent handle, Event **out) {
  TRY(driver_check());
  Event *e = object_use(handle, OBJECT_EVENT, SESSION_EVENT_GONE);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  *out = e;
  return (CUresult)e->ctx->error;
}

CUresult cuEventCreate(CUevent *out, unsigned flags) {
  Context *ctx;
  TRY(context_current(&ctx));
  if (!out || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  if (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING))
    return CUDA_ERROR_INVALID_VALUE;
  Event *e = object_new(OBJECT_EVENT, sizeof *e);
  e->ctx = ctx;
  e->flags = flags;
  e->refs = 1;
  *out = (CUevent)e;
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent handle) {
  TRY(driver_check());
  Event *e = object_use(handle, OBJECT_EVENT, SESSION_EVENT_GONE);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  session_destroyed(SESSION_EVENT_GONE, handle);
  object_forget(e);
  pthread_mutex_lock(&queue_lock);
  if (e->stream) stream_release(e->stream);
  e->stream = NULL;
  pthread_mutex_unlock(&queue_lock);
  event_release(e);
  return CUDA_SUCCESS;
}

void event_move(Event *e, Stream *s, uint64_t seq) {
  stream_retain(s);
  if (e->stream) stream_release(e->stream);
  e->stream = s;
  e->seq = seq;
  e->capture = NULL;
}

static CUresult record(Event *e, Stream *s, unsigned flags) {
  bool external = flags & CU_EVENT_RECORD_EXTERNAL;
  pthread_mutex_lock(&queue_lock);
  if (s->capture && !external) {
    CUresult result = capture_record_event(s, e);
    pthread_mutex_unlock(&queue_lock);
    return result;
  }
  bool captured = s->capture;
  pthread_mutex_unlock(&queue_lock);
  session_order_record(e, s->legacy ? NULL : s);
  event_retain(e);
  Work w = {.kind = WORK_RECORD, .event = e};
  uint64_t seq;
  TRY(queue_submit_after(s, &w, NULL, 0, &seq, SUBMIT_INLINE));
  if (captured) return CUDA_SUCCESS;
  pthread_mutex_lock(&queue_lock);
  event_move(e, s, seq);
  pthread_mutex_unlock(&queue_lock);
  return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned flags) {
  Event *e;
  Stream *s;
  if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
  TRY(event_get(handle, &e));
  TRY(stream_get(stream, &s));
  if (e->ctx != s->ctx) return CUDA_ERROR_INVALID_HANDLE;
  return record(e, s, flags);
}

CUresult cuEventRecord(CUevent handle, CUstream stream) {
  return cuEventRecordWithFlags(handle, stream, 0);
}

// The position of the last record; false: never recorded. The caller releases *s.
static bool position(Event *e, Stream **s, uint64_t *seq) {
  pthread_mutex_lock(&queue_lock);
  *s = e->stream;
  *seq = e->seq;
  if (*s) stream_retain(*s);
  pthread_mutex_unlock(&queue_lock);
  return *s != NULL;
}

static void release(Stream *s) {
  pthread_mutex_lock(&queue_lock);
  stream_release(s);
  pthread_mutex_unlock(&queue_lock);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent handle, unsigned flags) {
  Event *e;
  Stream *s, *from;
  uint64_t seq;
  if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
  TRY(stream_get(stream, &s));
  TRY(event_get(handle, &e));
  bool external = flags & CU_EVENT_WAIT_EXTERNAL;
  pthread_mutex_lock(&queue_lock);
  if (!external && (s->capture || capture_of_event(e))) {
    CUresult result = capture_wait_event(s, e);
    pthread_mutex_unlock(&queue_lock);
    return result;
  }
  bool captured = s->capture;
  pthread_mutex_unlock(&queue_lock);
  if (captured) {
    event_retain(e);
    Work w = {.kind = WORK_WAIT, .event = e};
    return queue_submit(s, &w, 0);
  }
  session_order_wait(s->legacy ? NULL : s, e);
  if (!position(e, &from, &seq)) return CUDA_SUCCESS;
  CUresult result = CUDA_SUCCESS;
  if (from != s && !queue_done(from, seq)) {
    Work w = {.kind = WORK_EMPTY};
    QueueDep dep = {from, seq};
    result = queue_submit_after(s, &w, &dep, 1, NULL, 0);
  }
  release(from);
  return result;
}

// Contexts as a whole: every stream of it, present and (for the wait) future legacy work.
CUresult cuCtxRecordEvent(CUcontext handle, CUevent event) {
  Context *ctx;
  Event *e;
  TRY(context_get(handle, &ctx));
  TRY(event_get(event, &e));
  return record(e, ctx->legacy, 0);
}

CUresult cuCtxWaitEvent(CUcontext handle, CUevent event) {
  Context *ctx;
  Event *e;
  Stream *from;
  uint64_t seq;
  TRY(context_get(handle, &ctx));
  TRY(event_get(event, &e));
  if (!position(e, &from, &seq)) return CUDA_SUCCESS;
  QueueDep dep = {from, seq};
  CUresult result = CUDA_SUCCESS;
  pthread_mutex_lock(&queue_lock);
  VEC(Stream *) all = {0};
  for (uint32_t i = 0; i < ctx->streams.len; i++) {
    if (ctx->streams.data[i] == from || ctx->streams.data[i]->destroyed) continue;
    stream_retain(ctx->streams.data[i]);
    vec_push(&all, ctx->streams.data[i]);
  }
  pthread_mutex_unlock(&queue_lock);
  session_order_host_saw_event(e);
  for (uint32_t i = 0; i < all.len; i++) {
    Work w = {.kind = WORK_EMPTY};
    if (!result) result = queue_submit_after(all.data[i], &w, &dep, 1, NULL, 0);
    release(all.data[i]);
  }
  vec_free(&all);
  release(from);
  return result;
}

static CUresult check_not_captured(Event *e) {
  pthread_mutex_lock(&queue_lock);
  Capture *captured = capture_of_event(e);
  if (captured) captured->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  pthread_mutex_unlock(&queue_lock);
  return captured ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent handle) {
  Event *e;
  Stream *s;
  uint64_t seq;
  TRY(event_get(handle, &e));
  TRY(check_not_captured(e));
  if (!position(e, &s, &seq)) return CUDA_SUCCESS;
  bool done = queue_done(s, seq);
  release(s);
  if (!done) return CUDA_ERROR_NOT_READY;
  session_order_host_saw_event(e);
  return (CUresult)e->ctx->error;
}

CUresult cuEventSynchronize(CUevent handle) {
  Event *e;
  Stream *s;
  uint64_t seq;
  TRY(event_get(handle, &e));
  TRY(check_not_captured(e));
  session_wait_ended(&(SessionHostWait){.call = "cuEventSynchronize"});
  if (position(e, &s, &seq)) {
    queue_wait(s, seq);
    release(s);
  }
  session_order_host_saw_event(e);
  print_flush();
  return (CUresult)e->ctx->error;
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end) {
  Event *e[2];
  Stream *s;
  uint64_t seq, time[2];
  if (!ms) return CUDA_ERROR_INVALID_VALUE;
  TRY(event_get(start, &e[0]));
  TRY(event_get(end, &e[1]));
  if ((e[0]->flags | e[1]->flags) & CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_HANDLE;
  for (int i = 0; i < 2; i++) {
    if (!position(e[i], &s, &seq)) return CUDA_ERROR_INVALID_HANDLE;
    bool done = queue_done(s, seq);
    release(s);
    if (!done) return CUDA_ERROR_NOT_READY;
    time[i] = e[i]->time_ns;
  }
  *ms = (float)((double)((int64_t)time[1] - (int64_t)time[0]) / 1e6);
  return CUDA_SUCCESS;
}
