// Commands, from clEnqueue… to the device. A command whose events are all submitted is handed to
// its stream by the thread that enqueues it: host stacks in reports are those of the call. One that
// waits for a user event, directly or through another command, stays in its queue's list until the
// event is set.
#include "opencl/opencl.h"

static pthread_mutex_t ocl_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static VEC(cl_command_queue) queues;  // ocl_lock
static VEC(OclCommand *) submitted;   // ocl_lock; to be freed without it

void ocl_command_free(OclCommand *c) {
  for (uint32_t i = 0; i < c->after.len; i++) ocl_drop(c->after.data[i]);
  for (uint32_t i = 0; i < c->holds.len; i++) ocl_drop(c->holds.data[i]);
  vec_free(&c->after);
  vec_free(&c->holds);
  if (c->end) c->end(c->work);
  free(c->work);
  ocl_drop(c->event);
  ocl_drop(c->queue);
  free(c);
}

void ocl_begin(void) { pthread_mutex_lock(&ocl_lock); }

void ocl_end(void) {
  VEC(OclCommand *) list = {0};
  for (uint32_t i = 0; i < submitted.len; i++) vec_push(&list, submitted.data[i]);
  submitted.len = 0;
  pthread_mutex_unlock(&ocl_lock);
  for (uint32_t i = 0; i < list.len; i++) ocl_command_free(list.data[i]);
  vec_free(&list);
}

void ocl_wait_for_change(void) { pthread_cond_wait(&changed, &ocl_lock); }

void ocl_queue_known(cl_command_queue q, bool known) {
  ocl_begin();
  if (known) vec_push(&queues, q);
  for (uint32_t i = 0; !known && i < queues.len; i++)
    if (queues.data[i] == q) queues.data[i] = queues.data[--queues.len];
  ocl_end();
}

OclCommand *ocl_command(cl_command_queue q, cl_command_type type, OclWaits waits, cl_int *error) {
  *error = CL_INVALID_COMMAND_QUEUE;
  if (!ocl_is(q, OCL_QUEUE)) return NULL;
  *error = CL_INVALID_EVENT_WAIT_LIST;
  if (!waits.n != !waits.list) return NULL;
  for (cl_uint i = 0; i < waits.n; i++)
    if (!ocl_is(waits.list[i], OCL_EVENT)) return NULL;
  *error = CL_INVALID_CONTEXT;
  for (cl_uint i = 0; i < waits.n; i++)
    if (waits.list[i]->context != q->context) return NULL;
  OclCommand *c = mem_alloc(sizeof *c);
  c->queue = q;
  ocl_hold(q);
  c->event = ocl_event_new(q->context, q, type);
  for (cl_uint i = 0; i < waits.n; i++) {
    ocl_hold(waits.list[i]);
    vec_push(&c->after, waits.list[i]);
  }
  *error = CL_SUCCESS;
  return c;
}

void ocl_command_uses(OclCommand *c, void *object) {
  ocl_hold(object);
  vec_push(&c->holds, object);
}

static bool in_order(cl_command_queue q) { return q->streams == 1; }

// Makes `from` wait for all work that `to` has been given so far.
static CUresult stream_joins(CUstream from, CUstream to) {
  enum { CU_EVENT_DISABLE_TIMING_FLAG = 2 };
  CUevent e;
  CUresult r = cuEventCreate(&e, CU_EVENT_DISABLE_TIMING_FLAG);
  if (r) return r;
  r = cuEventRecord(e, to);
  if (!r) r = cuStreamWaitEvent(from, e, 0);
  cuEventDestroy_v2(e);
  return r;
}

static CUresult wait_for_others(OclCommand *c) {
  cl_command_queue q = c->queue;
  CUresult r = CUDA_SUCCESS;
  bool all = c->joins || c->blocks;
  for (unsigned i = 0; all && !r && i < q->streams; i++)
    if (q->stream[i] != c->stream) r = stream_joins(c->stream, q->stream[i]);
  for (uint32_t i = 0; !r && i < c->after.len; i++) {
    cl_event e = c->after.data[i];
    bool ordered = e->queue == q && in_order(q);
    if (e->end && !ordered) r = cuStreamWaitEvent(c->stream, e->end, 0);
  }
  return r;
}

static cl_int hand_over(OclCommand *c) {
  cl_command_queue q = c->queue;
  cl_event e = c->event;
  bool timed = q->flags & CL_QUEUE_PROFILING_ENABLE;
  for (uint32_t i = 0; i < c->after.len; i++)
    if (c->after.data[i]->status < 0) return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  CUresult r = wait_for_others(c);
  e->submitted_ns = clock_ns();
  if (!r && timed) r = cuEventCreate(&e->start, 0);
  if (!r && timed) r = cuEventRecord(e->start, c->stream);
  cl_int error = r ? ocl_error(r, CL_OUT_OF_RESOURCES) : c->run ? c->run(c) : CL_SUCCESS;
  if (error) return error;
  r = cuEventCreate(&e->end, timed ? 0 : 2);
  if (!r) r = cuEventRecord(e->end, c->stream);
  for (unsigned i = 0; c->blocks && !r && i < q->streams; i++)
    if (q->stream[i] != c->stream) r = stream_joins(q->stream[i], c->stream);
  return ocl_error(r, CL_OUT_OF_RESOURCES);
}

static void submit(OclCommand *c) {
  cl_command_queue q = c->queue;
  c->stream = q->stream[q->next++ % q->streams];
  ocl_enter(q->device);
  cl_int error = hand_over(c);
  ocl_leave();
  c->event->status = error < 0 ? error : CL_SUBMITTED;
  vec_push(&submitted, c);
  pthread_cond_broadcast(&changed);
}

static bool is_ready(const OclCommand *c) {
  for (uint32_t i = 0; i < c->after.len; i++)
    if (ocl_event_is_open(c->after.data[i])) return false;
  return true;
}

// Submits the commands of one queue that are ready; true: there was one.
static bool submit_some(cl_command_queue q) {
  uint32_t kept = 0;
  bool stopped = false, some = false;
  for (uint32_t i = 0; i < q->waiting.len; i++) {
    OclCommand *c = q->waiting.data[i];
    bool behind = kept && (in_order(q) || c->blocks || c->joins);
    if (!stopped && !behind && is_ready(c)) {
      submit(c);
      some = true;
      continue;
    }
    stopped |= c->blocks;
    q->waiting.data[kept++] = c;
  }
  q->waiting.len = kept;
  return some;
}

void ocl_submit_ready(void) {
  for (bool some = true; some;) {
    some = false;
    for (uint32_t i = 0; i < queues.len; i++) some |= submit_some(queues.data[i]);
  }
  pthread_cond_broadcast(&changed);
}

cl_int ocl_enqueue(OclCommand *c, OclWaits waits, cl_bool blocking) {
  cl_event e = c->event;
  cl_command_queue q = c->queue;
  ocl_hold(e);
  ocl_hold(q);
  if (waits.event) {
    e->object.references = 1;
    ocl_hold(e);
    *waits.event = e;
  }
  ocl_begin();
  vec_push(&q->waiting, c);
  submit_some(q);
  cl_int status = e->status;
  ocl_end();
  // the event itself reports that a command it waited for has failed
  if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST && !blocking) status = CL_SUBMITTED;
  cl_int result = status < 0 ? status : blocking ? ocl_event_wait(e) : CL_SUCCESS;
  if (status < 0 && waits.event) {
    *waits.event = NULL;
    ocl_release(e, OCL_EVENT, CL_INVALID_EVENT);
  }
  ocl_drop(e);
  ocl_drop(q);
  return result;
}

cl_int ocl_queue_finish(cl_command_queue q) {
  ocl_hold(q);
  ocl_begin();
  while (q->waiting.len) ocl_wait_for_change();
  ocl_end();
  CUresult r = CUDA_SUCCESS;
  ocl_enter(q->device);
  for (unsigned i = 0; i < q->streams; i++) {
    CUresult one = cuStreamSynchronize(q->stream[i]);
    if (!r) r = one;
  }
  ocl_leave();
  ocl_drop(q);
  return ocl_error(r, CL_OUT_OF_RESOURCES);
}
