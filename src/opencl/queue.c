// Command queues. One in order is a stream; one out of order has several, and commands go to them
// in turn, so that tools which look for races see what is ordered and what is not.
#include "opencl/opencl.h"

void ocl_queue_free(void *object) {
  cl_command_queue q = object;
  ocl_queue_known(q, false);
  ocl_enter(q->device);
  for (unsigned i = 0; i < q->streams; i++) cuStreamDestroy_v2(q->stream[i]);
  if (q->began) cuEventDestroy_v2(q->began);
  ocl_leave();
  vec_free(&q->properties);
  vec_free(&q->waiting);
  ocl_drop(q->context);
}

static CUresult open_streams(cl_command_queue q) {
  enum { CU_STREAM_NON_BLOCKING_FLAG = 1 };
  unsigned want = q->flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE ? OCL_STREAMS : 1;
  CUresult r = CUDA_SUCCESS;
  for (; !r && q->streams < want; q->streams += !r)
    r = cuStreamCreate(&q->stream[q->streams], CU_STREAM_NON_BLOCKING_FLAG);
  if (r || !(q->flags & CL_QUEUE_PROFILING_ENABLE)) return r;
  r = cuEventCreate(&q->began, 0);
  if (!r) r = cuEventRecord(q->began, q->stream[0]);
  if (!r) r = cuEventSynchronize(q->began);
  q->began_ns = clock_ns();
  return r;
}

static cl_command_queue make(cl_context context, cl_device_id device,
                             cl_command_queue_properties flags, cl_int *error) {
  cl_command_queue_properties known = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                      CL_QUEUE_PROFILING_ENABLE;
  cl_command_queue_properties on_device = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
  if (!ocl_is(context, OCL_CONTEXT)) {
    *error = CL_INVALID_CONTEXT;
    return NULL;
  }
  if (!ocl_is(device, OCL_DEVICE) || !ocl_context_has(context, device)) {
    *error = CL_INVALID_DEVICE;
    return NULL;
  }
  if (flags & ~(known | on_device)) {
    *error = CL_INVALID_VALUE;
    return NULL;
  }
  if (flags & on_device) {
    *error = CL_INVALID_QUEUE_PROPERTIES;
    return NULL;
  }
  cl_command_queue q = ocl_object_new(OCL_QUEUE, sizeof *q);
  q->context = context;
  ocl_hold(context);
  q->device = device;
  q->flags = flags;
  ocl_enter(device);
  CUresult r = open_streams(q);
  ocl_leave();
  ocl_queue_known(q, true);
  *error = ocl_error(r, CL_OUT_OF_RESOURCES);
  if (!r) return q;
  ocl_drop(q);
  return NULL;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties flags, cl_int *error) {
  cl_int ignored;
  return make(context, device, flags, error ? error : &ignored);
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties *properties,
                                                    cl_int *error) {
  cl_int ignored;
  cl_command_queue_properties flags = 0;
  if (!error) error = &ignored;
  for (const cl_queue_properties *p = properties; p && *p; p += 2) {
    if (*p != CL_QUEUE_PROPERTIES && *p != CL_QUEUE_SIZE) {
      *error = CL_INVALID_VALUE;
      return NULL;
    }
    if (*p == CL_QUEUE_SIZE) {
      *error = CL_INVALID_QUEUE_PROPERTIES;
      return NULL;
    }
    flags = p[1];
  }
  cl_command_queue q = make(context, device, flags, error);
  for (const cl_queue_properties *p = properties; q && p && *p; p += 2) {
    vec_push(&q->properties, p[0]);
    vec_push(&q->properties, p[1]);
  }
  if (q && properties) vec_push(&q->properties, 0);
  return q;
}

cl_int clRetainCommandQueue(cl_command_queue q) {
  return ocl_retain(q, OCL_QUEUE, CL_INVALID_COMMAND_QUEUE);
}

cl_int clReleaseCommandQueue(cl_command_queue q) {
  return ocl_release(q, OCL_QUEUE, CL_INVALID_COMMAND_QUEUE);
}

cl_int clGetCommandQueueInfo(cl_command_queue q, cl_command_queue_info what, size_t room,
                             void *value, size_t *needed) {
  OclAnswer to = {room, value, needed};
  if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  switch (what) {
    case CL_QUEUE_CONTEXT: return OCL_ANSWER(to, cl_context, q->context);
    case CL_QUEUE_DEVICE: return OCL_ANSWER(to, cl_device_id, q->device);
    case CL_QUEUE_REFERENCE_COUNT: return OCL_ANSWER(to, cl_uint, ocl_references(q));
    case CL_QUEUE_PROPERTIES: return OCL_ANSWER(to, cl_command_queue_properties, q->flags);
    case CL_QUEUE_PROPERTIES_ARRAY:
      return ocl_answer(to, q->properties.data, q->properties.len * sizeof *q->properties.data);
    case CL_QUEUE_DEVICE_DEFAULT: return OCL_ANSWER(to, cl_command_queue, NULL);
    case CL_QUEUE_SIZE: return CL_INVALID_COMMAND_QUEUE;
  }
  return CL_INVALID_VALUE;
}

// Commands go to the device when they are enqueued.
cl_int clFlush(cl_command_queue q) {
  return ocl_is(q, OCL_QUEUE) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

cl_int clFinish(cl_command_queue q) {
  return ocl_is(q, OCL_QUEUE) ? ocl_queue_finish(q) : CL_INVALID_COMMAND_QUEUE;
}

cl_int clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device, cl_command_queue q) {
  return ocl_is(context, OCL_CONTEXT) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT;
}

// Enqueues a command that only orders others, as its flags say (OclCommand).
static cl_int enqueue_order(cl_command_queue q, cl_command_type type, OclWaits waits, bool blocks) {
  cl_int error;
  OclCommand *c = ocl_command(q, type, waits, &error);
  if (!c) return error;
  c->joins = !waits.n;
  c->blocks = blocks;
  return ocl_enqueue(c, waits, CL_FALSE);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint n, const cl_event *list,
                                   cl_event *event) {
  return enqueue_order(q, CL_COMMAND_MARKER, (OclWaits){n, list, event}, false);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue q, cl_uint n, const cl_event *list,
                                    cl_event *event) {
  return enqueue_order(q, CL_COMMAND_BARRIER, (OclWaits){n, list, event}, true);
}

cl_int clEnqueueMarker(cl_command_queue q, cl_event *event) {
  if (!event) return CL_INVALID_VALUE;
  return enqueue_order(q, CL_COMMAND_MARKER, (OclWaits){0, NULL, event}, false);
}

cl_int clEnqueueBarrier(cl_command_queue q) {
  return enqueue_order(q, CL_COMMAND_BARRIER, (OclWaits){0}, true);
}

cl_int clEnqueueWaitForEvents(cl_command_queue q, cl_uint n, const cl_event *list) {
  if (!n || !list) return CL_INVALID_VALUE;
  return enqueue_order(q, CL_COMMAND_BARRIER, (OclWaits){n, list, NULL}, true);
}
