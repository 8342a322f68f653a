// Handles: a set of all objects that exist, and two counts for each. The program's own references
// are what CL_…_REFERENCE_COUNT tells; commands and objects that use another hold it.
#include "opencl/opencl.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map alive;  // address -> object

static void sampler_free(void *object) {
  cl_sampler s = object;
  vec_free(&s->properties);
  ocl_drop(s->context);
}

static OclFree *const frees[OCL_KINDS] = {
    [OCL_CONTEXT] = ocl_context_free, [OCL_QUEUE] = ocl_queue_free,
    [OCL_MEMORY] = ocl_memory_free,   [OCL_SAMPLER] = sampler_free,
    [OCL_PROGRAM] = ocl_program_free, [OCL_KERNEL] = ocl_kernel_free,
    [OCL_EVENT] = ocl_event_free,
};

void *ocl_object_new(OclKind kind, size_t size) {
  OclObject *o = mem_alloc(size);
  o->dispatch = ocl_dispatch();
  o->kind = kind;
  o->references = 1;
  o->holds = 1;
  pthread_mutex_lock(&lock);
  u64map_put(&alive, (uintptr_t)o, o);
  pthread_mutex_unlock(&lock);
  return o;
}

bool ocl_is(const void *handle, OclKind kind) {
  if (!handle) return false;
  pthread_mutex_lock(&lock);
  const OclObject *o = u64map_get(&alive, (uintptr_t)handle);
  bool is = o && o->kind == kind && o->references;
  pthread_mutex_unlock(&lock);
  return is;
}

void ocl_hold(void *object) {
  OclObject *o = object;
  if (o) o->holds++;
}

// The loader reads the table of a handle before we see it: memory of released objects stays for a
// while, so that a program which uses one gets an error and does not crash.
static void retire(OclObject *o) {
  enum { KEPT = 4096 };
  static OclObject *kept[KEPT];
  static uint32_t next;
  pthread_mutex_lock(&lock);
  OclObject *oldest = kept[next % KEPT];
  kept[next++ % KEPT] = o;
  pthread_mutex_unlock(&lock);
  free(oldest);
}

void ocl_drop(void *object) {
  OclObject *o = object;
  if (!o || --o->holds) return;
  pthread_mutex_lock(&lock);
  u64map_remove(&alive, (uintptr_t)o);
  pthread_mutex_unlock(&lock);
  if (frees[o->kind]) frees[o->kind](o);
  retire(o);
}

cl_int ocl_retain(void *handle, OclKind kind, cl_int invalid) {
  if (!ocl_is(handle, kind)) return invalid;
  ((OclObject *)handle)->references++;
  return CL_SUCCESS;
}

cl_int ocl_release(void *handle, OclKind kind, cl_int invalid) {
  if (!ocl_is(handle, kind)) return invalid;
  if (--((OclObject *)handle)->references == 0) ocl_drop(handle);
  return CL_SUCCESS;
}

cl_uint ocl_references(const void *object) { return ((const OclObject *)object)->references; }
