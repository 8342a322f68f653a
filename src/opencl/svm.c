// Shared virtual memory, coarse-grained: memory that host and device reach by the same address. The
// host may use it between map and unmap; both only order commands here.
#include "opencl/opencl.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static SortedMap sizes;  // address -> bytes

void *clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  enum { CU_MEM_ATTACH_GLOBAL_FLAG = 1, MOST_ALIGNMENT = 256 };
  cl_svm_mem_flags known = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
  CUdeviceptr p;
  if (!ocl_is(context, OCL_CONTEXT) || !size || flags & ~known) return NULL;
  if (alignment & (alignment - 1) || alignment > MOST_ALIGNMENT) return NULL;
  ocl_enter(context->devices.data[0]);
  CUresult r = cuMemAllocManaged(&p, size, CU_MEM_ATTACH_GLOBAL_FLAG);
  ocl_leave();
  if (r) return NULL;
  pthread_mutex_lock(&lock);
  sorted_put(&sizes, p, (void *)size);
  pthread_mutex_unlock(&lock);
  return (void *)(uintptr_t)p;
}

size_t ocl_svm_bytes(const void *p) {
  uint64_t start = 0;
  pthread_mutex_lock(&lock);
  size_t bytes = (size_t)sorted_below(&sizes, (uintptr_t)p, &start);
  pthread_mutex_unlock(&lock);
  uint64_t offset = (uintptr_t)p - start;
  return offset < bytes ? bytes - offset : 0;
}

static void give_back(cl_device_id device, void *p) {
  pthread_mutex_lock(&lock);
  bool ours = sorted_remove(&sizes, (uintptr_t)p);
  pthread_mutex_unlock(&lock);
  if (!ours) return;
  ocl_enter(device);
  cuMemFree_v2((uintptr_t)p);
  ocl_leave();
}

void clSVMFree(cl_context context, void *p) {
  if (p && ocl_is(context, OCL_CONTEXT)) give_back(context->devices.data[0], p);
}

typedef void(CL_CALLBACK *FreeCallback)(cl_command_queue, cl_uint, void **, void *);
typedef struct Frees {
  FreeCallback call;
  void *user;
  cl_uint n;
  void **list;
} Frees;

static cl_int run_free(OclCommand *c) {
  Frees *f = c->work;
  cuStreamSynchronize(c->stream);
  if (f->call) f->call(c->queue, f->n, f->list, f->user);
  for (cl_uint i = 0; !f->call && i < f->n; i++) give_back(c->queue->device, f->list[i]);
  return CL_SUCCESS;
}

static void end_free(void *work) { free(((Frees *)work)->list); }

cl_int clEnqueueSVMFree(cl_command_queue q, cl_uint count, void *list[], FreeCallback call,
                        void *user, cl_uint n, const cl_event *waits, cl_event *event) {
  OclWaits w = {n, waits, event};
  cl_int error;
  if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!count != !list) return CL_INVALID_VALUE;
  OclCommand *c = ocl_command(q, CL_COMMAND_SVM_FREE, w, &error);
  if (!c) return error;
  Frees *f = c->work = mem_alloc(sizeof *f);
  f->call = call;
  f->user = user;
  f->n = count;
  f->list = mem_alloc((count + 1) * sizeof *f->list);
  if (count) memcpy(f->list, list, count * sizeof *f->list);
  c->end = end_free;
  c->run = run_free;
  return ocl_enqueue(c, w, CL_FALSE);
}

typedef struct Move {
  void *to;
  const void *from;  // NULL: fill
  size_t size, pattern_bytes;
  unsigned char pattern[128];
} Move;

static cl_int run_move(OclCommand *c) {
  const Move *m = c->work;
  CUresult r = CUDA_SUCCESS;
  if (m->from) r = cuMemcpyAsync((uintptr_t)m->to, (uintptr_t)m->from, m->size, c->stream);
  else if (m->pattern_bytes == 1)
    r = cuMemsetD8Async((uintptr_t)m->to, m->pattern[0], m->size, c->stream);
  else {
    r = cuStreamSynchronize(c->stream);
    for (size_t i = 0; i < m->size; i += m->pattern_bytes)
      memcpy((char *)m->to + i, m->pattern, m->pattern_bytes);
  }
  return ocl_error(r, CL_OUT_OF_RESOURCES);
}

static cl_int enqueue_move(cl_command_queue q, cl_command_type type, const Move *move, OclWaits w,
                           cl_bool blocking) {
  cl_int error;
  OclCommand *c = ocl_command(q, type, w, &error);
  if (!c) return error;
  Move *m = c->work = mem_alloc(sizeof *m);
  *m = *move;
  c->run = run_move;
  return ocl_enqueue(c, w, blocking);
}

cl_int clEnqueueSVMMemcpy(cl_command_queue q, cl_bool blocking, void *to, const void *from,
                          size_t size, cl_uint n, const cl_event *waits, cl_event *event) {
  if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!to || !from) return CL_INVALID_VALUE;
  const char *a = to, *b = from;
  if (a < b + size && b < a + size) return CL_MEM_COPY_OVERLAP;
  Move m = {.to = to, .from = from, .size = size};
  return enqueue_move(q, CL_COMMAND_SVM_MEMCPY, &m, (OclWaits){n, waits, event}, blocking);
}

cl_int clEnqueueSVMMemFill(cl_command_queue q, void *to, const void *pattern, size_t pattern_bytes,
                           size_t size, cl_uint n, const cl_event *waits, cl_event *event) {
  if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  bool power = pattern_bytes && !(pattern_bytes & (pattern_bytes - 1)) && pattern_bytes <= 128;
  if (!to || !pattern || !power || size % pattern_bytes || (uintptr_t)to % pattern_bytes)
    return CL_INVALID_VALUE;
  Move m = {.to = to, .size = size, .pattern_bytes = pattern_bytes};
  memcpy(m.pattern, pattern, pattern_bytes);
  return enqueue_move(q, CL_COMMAND_SVM_MEMFILL, &m, (OclWaits){n, waits, event}, CL_FALSE);
}

static cl_int enqueue_order(cl_command_queue q, cl_command_type type, OclWaits w,
                            cl_bool blocking) {
  cl_int error;
  OclCommand *c = ocl_command(q, type, w, &error);
  return c ? ocl_enqueue(c, w, blocking) : error;
}

cl_int clEnqueueSVMMap(cl_command_queue q, cl_bool blocking, cl_map_flags flags, void *p,
                       size_t size, cl_uint n, const cl_event *waits, cl_event *event) {
  if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!p || !size) return CL_INVALID_VALUE;
  return enqueue_order(q, CL_COMMAND_SVM_MAP, (OclWaits){n, waits, event}, blocking);
}

cl_int clEnqueueSVMUnmap(cl_command_queue q, void *p, cl_uint n, const cl_event *waits,
                         cl_event *event) {
  if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!p) return CL_INVALID_VALUE;
  return enqueue_order(q, CL_COMMAND_SVM_UNMAP, (OclWaits){n, waits, event}, CL_FALSE);
}

cl_int clEnqueueSVMMigrateMem(cl_command_queue q, cl_uint count, const void **list,
                              const size_t *bytes, cl_mem_migration_flags flags, cl_uint n,
                              const cl_event *waits, cl_event *event) {
  if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!count || !list) return CL_INVALID_VALUE;
  return enqueue_order(q, CL_COMMAND_SVM_MIGRATE_MEM, (OclWaits){n, waits, event}, CL_FALSE);
}
