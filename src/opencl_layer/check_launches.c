// Runs the kernel with checks in place of an enqueued one, with one more argument. Reads its
// findings after calls that wait.
#include "opencl_layer/checks.h"

typedef struct Asked {  // the program's call
  cl_command_queue queue;
  cl_kernel kernel;
  cl_uint dimensions;
  const size_t *offset, *global, *local;
  cl_uint n;
  const cl_event *list;
  cl_event *event;
} Asked;

static cl_int enqueue_as_is(const Asked *a) {
  return checks_below.clEnqueueNDRangeKernel(a->queue, a->kernel, a->dimensions, a->offset,
                                             a->global, a->local, a->n, a->list, a->event);
}

// Chooses the work-group size if the program leaves it to the platform: the kernel's required size,
// or the largest one-dimensional size that divides the NDRange.
static void choose_items(const Asked *a, const CheckedKernel *k, size_t out[3]) {
  size_t most = 256, required[3] = {0};
  cl_device_id d = checks_device_id(k->context);
  checks_below.clGetKernelWorkGroupInfo(a->kernel, d, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                        sizeof required, required, NULL);
  checks_below.clGetKernelWorkGroupInfo(k->twin ? k->twin : a->kernel, d, CL_KERNEL_WORK_GROUP_SIZE,
                                        sizeof most, &most, NULL);
  most = MIN(MAX(most, 1u), 256u);
  for (cl_uint i = 0; i < a->dimensions; i++) {
    size_t size = required[0] ? required[i] : i == 0 ? MIN(most, a->global[0]) : 1;
    while (size > 1 && a->global[i] % size) size--;
    out[i] = size;
  }
}

// --- arguments, as the session sees them ---

typedef struct Values {
  VEC(OpenclArgument) list;
  uint64_t *addresses;  // of buffers, by argument
} Values;

static void read_values(const CheckedKernel *k, Values *out) {
  out->addresses = mem_alloc((k->arguments.len + 1) * sizeof *out->addresses);
  for (uint32_t i = 0; i < k->arguments.len; i++) {
    const CheckedArgument *a = &k->arguments.data[i];
    OpenclArgument v = {.value = a->value};
    CheckedBuffer b;
    cl_mem handle = NULL;
    if (a->size == sizeof handle && a->value && !a->is_svm) memcpy(&handle, a->value, a->size);
    if (handle && checks_buffer(handle, &b)) {
      out->addresses[i] = b.address;
      v = (OpenclArgument){.value = &out->addresses[i],
                           .base = b.address,
                           .size = b.size,
                           .no_reads = b.flags & CL_MEM_WRITE_ONLY,
                           .no_writes = b.flags & CL_MEM_READ_ONLY};
    }
    vec_push(&out->list, v);
  }
}

static void free_values(Values *v) {
  vec_free(&v->list);
  free(v->addresses);
}

// --- the launch ---

static void tell(const Asked *a, CheckedKernel *k, const size_t items[3], void *record) {
  OpenclNdRange r = {.groups = {1, 1, 1}, .items = {1, 1, 1}};
  Values v = {0};
  for (cl_uint i = 0; i < a->dimensions; i++) {
    r.items[i] = (uint32_t)items[i];
    r.groups[i] = (uint32_t)((a->global[i] + items[i] - 1) / MAX(items[i], 1u));
  }
  read_values(k, &v);
  r.arguments = v.list.data;
  r.n = v.list.len;
  checks_code->launch(k->twin ? checks_device(k->context) : NULL, k->code, &r, record);
  free_values(&v);
}

// A kernel with checks may need more registers than work-groups of this size can have: then the
// program's own runs.
static cl_int enqueue_twin(const Asked *a, CheckedKernel *k, const size_t items[3]) {
  size_t bytes = checks_code->record_bytes(k->code);
  void *record = mem_alloc(bytes);
  cl_event event = NULL;
  tell(a, k, items, record);
  cl_int error = checks_below.clSetKernelArg(k->twin, k->arguments.len, bytes, record);
  if (!error)
    error = checks_below.clEnqueueNDRangeKernel(a->queue, k->twin, a->dimensions, a->offset,
                                                a->global, items, a->n, a->list, &event);
  if (error) {
    const char *text = layer_error_text(error);
    free(record);
    error = enqueue_as_is(a);
    if (!error) checks_code->refused(k->code, text ? text : "the platform refused the launch");
    return error;
  }
  if (a->event) {
    checks_below.clRetainEvent(event);
    *a->event = event;
  }
  checks_launched(k->context, event, k->code, record);
  return CL_SUCCESS;
}

static cl_int enqueue(const Asked *a) {
  size_t items[3] = {1, 1, 1};
  bool usual = a->dimensions >= 1 && a->dimensions <= 3 && a->global;
  for (cl_uint i = 0; usual && i < a->dimensions; i++)
    usual = a->global[i] && (!a->local || a->local[i]);
  if (!usual) return enqueue_as_is(a);
  checks_kernels_lock();
  CheckedKernel *k = checks_kernel(a->kernel);
  if (k && a->local) memcpy(items, a->local, a->dimensions * sizeof *items);
  else if (k) choose_items(a, k, items);
  cl_int error;
  if (k && k->twin) error = enqueue_twin(a, k, items);
  else {
    error = enqueue_as_is(a);
    if (k && !error) tell(a, k, items, NULL);
  }
  checks_kernels_unlock();
  return error;
}

static cl_int CL_API_CALL checked_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                         cl_uint dimensions, const size_t *offset,
                                                         const size_t *global, const size_t *local,
                                                         cl_uint n, const cl_event *list,
                                                         cl_event *event) {
  Asked a = {queue, kernel, dimensions, offset, global, local, n, list, event};
  return enqueue(&a);
}

static cl_int CL_API_CALL checked_clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint n,
                                                const cl_event *list, cl_event *event) {
  static const size_t one = 1;
  Asked a = {queue, kernel, 1, NULL, &one, &one, n, list, event};
  return enqueue(&a);
}

// --- calls that may have waited ---

static cl_int CL_API_CALL checked_clFinish(cl_command_queue queue) {
  cl_int error = checks_below.clFinish(queue);
  checks_collect();
  return error;
}

static cl_int CL_API_CALL checked_clWaitForEvents(cl_uint n, const cl_event *list) {
  cl_int error = checks_below.clWaitForEvents(n, list);
  checks_collect();
  return error;
}

static cl_int CL_API_CALL checked_clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer,
                                                      cl_bool blocking, size_t offset, size_t size,
                                                      void *to, cl_uint n, const cl_event *list,
                                                      cl_event *event) {
  cl_int error = checks_below.clEnqueueReadBuffer(queue, buffer, blocking, offset, size, to, n,
                                                  list, event);
  if (blocking) checks_collect();
  return error;
}

static void *CL_API_CALL checked_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer,
                                                    cl_bool blocking, cl_map_flags flags,
                                                    size_t offset, size_t size, cl_uint n,
                                                    const cl_event *list, cl_event *event,
                                                    cl_int *error) {
  void *p = checks_below.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, n, list,
                                            event, error);
  if (blocking) checks_collect();
  return p;
}

void checks_launches_install(cl_icd_dispatch *t) {
  t->clEnqueueNDRangeKernel = checked_clEnqueueNDRangeKernel;
  t->clEnqueueTask = checked_clEnqueueTask;
  t->clFinish = checked_clFinish;
  t->clWaitForEvents = checked_clWaitForEvents;
  t->clEnqueueReadBuffer = checked_clEnqueueReadBuffer;
  t->clEnqueueMapBuffer = checked_clEnqueueMapBuffer;
}
