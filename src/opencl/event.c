// Events of commands and of the program.
#include "opencl/opencl.h"

// The program has no reference to the new event yet; the caller owns the one hold.
cl_event ocl_event_new(cl_context context, cl_command_queue queue, cl_command_type type) {
  cl_event e = ocl_object_new(OCL_EVENT, sizeof *e);
  e->object.references = 0;
  e->context = context;
  ocl_hold(context);
  e->queue = queue;
  ocl_hold(queue);
  e->type = type;
  e->status = CL_QUEUED;
  e->queued_ns = clock_ns();
  return e;
}

void ocl_event_free(void *object) {
  cl_event e = object;
  if (e->queue) ocl_enter(e->queue->device);
  if (e->start) cuEventDestroy_v2(e->start);
  if (e->end) cuEventDestroy_v2(e->end);
  if (e->queue) ocl_leave();
  vec_free(&e->calls);
  ocl_drop(e->queue);
  ocl_drop(e->context);
}

bool ocl_event_is_open(const cl_event e) {
  return e->status == CL_QUEUED || (!e->queue && e->status > CL_COMPLETE);
}

static cl_int query(cl_event e) {
  ocl_enter(e->queue->device);
  CUresult r = cuEventQuery(e->end);
  ocl_leave();
  return r == CUDA_SUCCESS           ? CL_COMPLETE
         : r == CUDA_ERROR_NOT_READY ? CL_RUNNING
                                     : ocl_error(r, CL_OUT_OF_RESOURCES);
}

// Only commands with profiling know their start; others count as submitted until they are done.
static bool has_started(cl_event e) {
  if (!e->start) return false;
  ocl_enter(e->queue->device);
  bool started = cuEventQuery(e->start) == CUDA_SUCCESS;
  ocl_leave();
  return started;
}

cl_int ocl_event_status(cl_event e) {
  ocl_begin();
  if (e->queue && e->end && e->status > CL_COMPLETE) {
    cl_int now = query(e);
    if (now <= CL_COMPLETE) e->status = now;
    else e->status = has_started(e) ? CL_RUNNING : CL_SUBMITTED;
  }
  cl_int status = e->status;
  ocl_end();
  return status;
}

cl_int ocl_event_wait(cl_event e) {
  ocl_begin();
  while (ocl_event_is_open(e)) ocl_wait_for_change();
  cl_int status = e->status;
  ocl_end();
  if (status <= CL_COMPLETE) return status;
  ocl_enter(e->queue->device);
  CUresult r = cuEventSynchronize(e->end);
  ocl_leave();
  cl_int error = ocl_error(r, CL_OUT_OF_RESOURCES);
  ocl_begin();
  e->status = error < 0 ? error : CL_COMPLETE;
  ocl_end();
  return error;
}

cl_int clWaitForEvents(cl_uint n, const cl_event *list) {
  if (!n || !list) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < n; i++)
    if (!ocl_is(list[i], OCL_EVENT)) return CL_INVALID_EVENT;
  for (cl_uint i = 0; i < n; i++)
    if (list[i]->context != list[0]->context) return CL_INVALID_CONTEXT;
  cl_int result = CL_SUCCESS;
  for (cl_uint i = 0; i < n; i++)
    if (ocl_event_wait(list[i]) < 0) result = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  return result;
}

cl_int clRetainEvent(cl_event e) { return ocl_retain(e, OCL_EVENT, CL_INVALID_EVENT); }
cl_int clReleaseEvent(cl_event e) { return ocl_release(e, OCL_EVENT, CL_INVALID_EVENT); }

cl_int clGetEventInfo(cl_event e, cl_event_info what, size_t room, void *value, size_t *needed) {
  OclAnswer to = {room, value, needed};
  if (!ocl_is(e, OCL_EVENT)) return CL_INVALID_EVENT;
  switch (what) {
    case CL_EVENT_COMMAND_QUEUE: return OCL_ANSWER(to, cl_command_queue, e->queue);
    case CL_EVENT_CONTEXT: return OCL_ANSWER(to, cl_context, e->context);
    case CL_EVENT_COMMAND_TYPE: return OCL_ANSWER(to, cl_command_type, e->type);
    case CL_EVENT_COMMAND_EXECUTION_STATUS: return OCL_ANSWER(to, cl_int, ocl_event_status(e));
    case CL_EVENT_REFERENCE_COUNT: return OCL_ANSWER(to, cl_uint, ocl_references(e));
  }
  return CL_INVALID_VALUE;
}

cl_event clCreateUserEvent(cl_context context, cl_int *error) {
  cl_int ignored;
  if (!error) error = &ignored;
  if (!ocl_is(context, OCL_CONTEXT)) {
    *error = CL_INVALID_CONTEXT;
    return NULL;
  }
  cl_event e = ocl_event_new(context, NULL, CL_COMMAND_USER);
  e->object.references = 1;
  e->status = CL_SUBMITTED;
  *error = CL_SUCCESS;
  return e;
}

cl_int clSetUserEventStatus(cl_event e, cl_int status) {
  if (!ocl_is(e, OCL_EVENT) || e->queue) return CL_INVALID_EVENT;
  if (status > CL_COMPLETE) return CL_INVALID_VALUE;
  ocl_begin();
  bool set = e->status <= CL_COMPLETE;
  if (!set) {
    e->status = status;
    ocl_submit_ready();
  }
  ocl_end();
  return set ? CL_INVALID_OPERATION : CL_SUCCESS;
}

cl_int clSetEventCallback(cl_event e, cl_int status, OclEventCallback call, void *user) {
  if (!ocl_is(e, OCL_EVENT)) return CL_INVALID_EVENT;
  bool known = status == CL_SUBMITTED || status == CL_RUNNING || status == CL_COMPLETE;
  if (!call || !known) return CL_INVALID_VALUE;
  ocl_begin();
  vec_push(&e->calls, (OclEventCall){call, status, user});
  ocl_end();
  ocl_event_watch(e);
  return CL_SUCCESS;
}

// Nanoseconds from a to b; false: not both have happened.
static bool between(CUevent a, CUevent b, cl_ulong *ns) {
  float ms;
  if (cuEventElapsedTime(&ms, a, b)) return false;
  *ns = ms > 0 ? (cl_ulong)((double)ms * 1e6) : 0;
  return true;
}

cl_int clGetEventProfilingInfo(cl_event e, cl_profiling_info what, size_t room, void *value,
                               size_t *needed) {
  OclAnswer to = {room, value, needed};
  if (!ocl_is(e, OCL_EVENT)) return CL_INVALID_EVENT;
  if (what < CL_PROFILING_COMMAND_QUEUED || what > CL_PROFILING_COMMAND_COMPLETE)
    return CL_INVALID_VALUE;
  if (!e->queue || !e->start || ocl_event_status(e) != CL_COMPLETE)
    return CL_PROFILING_INFO_NOT_AVAILABLE;
  if (what == CL_PROFILING_COMMAND_QUEUED) return OCL_ANSWER(to, cl_ulong, e->queued_ns);
  if (what == CL_PROFILING_COMMAND_SUBMIT) return OCL_ANSWER(to, cl_ulong, e->submitted_ns);
  cl_ulong start, length;
  ocl_enter(e->queue->device);
  bool known = between(e->queue->began, e->start, &start) && between(e->start, e->end, &length);
  ocl_leave();
  if (!known) return CL_PROFILING_INFO_NOT_AVAILABLE;
  // two clocks: nothing starts before it was submitted
  start = MAX(e->queue->began_ns + start, e->submitted_ns);
  if (what == CL_PROFILING_COMMAND_START) return OCL_ANSWER(to, cl_ulong, start);
  return OCL_ANSWER(to, cl_ulong, start + length);
}
