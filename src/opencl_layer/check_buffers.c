// The program's buffers: their addresses, and when they are created and released.
#include "opencl_layer/checks.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map buffers;  // cl_mem -> CheckedBuffer

bool checks_buffer(cl_mem handle, CheckedBuffer *out) {
  pthread_mutex_lock(&lock);
  const CheckedBuffer *b = u64map_get(&buffers, (uintptr_t)handle);
  if (b) *out = *b;
  pthread_mutex_unlock(&lock);
  return b != NULL;
}

static void put(cl_mem handle, const CheckedBuffer *b) {
  CheckedBuffer *kept = mem_alloc(sizeof *kept);
  *kept = *b;
  pthread_mutex_lock(&lock);
  free(u64map_remove(&buffers, (uintptr_t)handle));
  u64map_put(&buffers, (uintptr_t)handle, kept);
  pthread_mutex_unlock(&lock);
}

static void meet(cl_mem handle, cl_mem_flags flags, bool is_part) {
  cl_context context = NULL;
  CheckedBuffer b = {.flags = flags, .is_part = is_part};
  if (!handle) return;
  checks_below.clGetMemObjectInfo(handle, CL_MEM_CONTEXT, sizeof context, &context, NULL);
  b.context = checks_context(context);
  if (!b.context) return;
  checks_below.clGetMemObjectInfo(handle, CL_MEM_SIZE, sizeof b.size, &b.size, NULL);
  if (!checks_address(checks_memory(b.context), handle, &b.address)) return;
  put(handle, &b);
  if (!is_part) checks_code->allocated(checks_device(b.context), b.address, b.size);
}

// A part inherits what its flags leave open.
static cl_mem_flags flags_of_part(cl_mem of, cl_mem_flags flags) {
  enum { ACCESS = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY };
  CheckedBuffer whole;
  return flags & ACCESS || !checks_buffer(of, &whole) ? flags : flags | (whole.flags & ACCESS);
}

static cl_mem CL_API_CALL checked_clCreateBuffer(cl_context context, cl_mem_flags flags,
                                                 size_t size, void *host, cl_int *error) {
  cl_mem m = checks_below.clCreateBuffer(context, flags, size, host, error);
  meet(m, flags, false);
  return m;
}

static cl_mem CL_API_CALL checked_clCreateBufferWithProperties(cl_context context,
                                                               const cl_mem_properties *properties,
                                                               cl_mem_flags flags, size_t size,
                                                               void *host, cl_int *error) {
  cl_mem m = checks_below.clCreateBufferWithProperties(context, properties, flags, size, host,
                                                       error);
  meet(m, flags, false);
  return m;
}

static cl_mem CL_API_CALL checked_clCreateSubBuffer(cl_mem of, cl_mem_flags flags,
                                                    cl_buffer_create_type type, const void *info,
                                                    cl_int *error) {
  cl_mem m = checks_below.clCreateSubBuffer(of, flags, type, info, error);
  meet(m, flags_of_part(of, flags), true);
  return m;
}

static cl_int CL_API_CALL checked_clReleaseMemObject(cl_mem handle) {
  cl_uint references = 0;
  CheckedBuffer b = {0};
  bool known = checks_buffer(handle, &b);
  if (known)
    checks_below.clGetMemObjectInfo(handle, CL_MEM_REFERENCE_COUNT, sizeof references, &references,
                                    NULL);
  if (references == 1) {
    pthread_mutex_lock(&lock);
    free(u64map_remove(&buffers, (uintptr_t)handle));
    pthread_mutex_unlock(&lock);
    if (!b.is_part) checks_code->freed(checks_device(b.context), b.address);
  }
  return checks_below.clReleaseMemObject(handle);
}

// --- memory of the host and of kernels: its address is known ---

static void *CL_API_CALL checked_clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size,
                                            cl_uint alignment) {
  void *p = checks_below.clSVMAlloc(context, flags, size, alignment);
  CheckedContext *c = p ? checks_context(context) : NULL;
  if (c) checks_code->allocated(checks_device(c), (uintptr_t)p, size);
  return p;
}

static void CL_API_CALL checked_clSVMFree(cl_context context, void *p) {
  CheckedContext *c = p ? checks_context(context) : NULL;
  if (c) checks_code->freed(checks_device(c), (uintptr_t)p);
  checks_below.clSVMFree(context, p);
}

void checks_buffers_install(cl_icd_dispatch *t) {
  t->clCreateBuffer = checked_clCreateBuffer;
  t->clCreateBufferWithProperties = checked_clCreateBufferWithProperties;
  t->clCreateSubBuffer = checked_clCreateSubBuffer;
  t->clReleaseMemObject = checked_clReleaseMemObject;
  t->clSVMAlloc = checked_clSVMAlloc;
  t->clSVMFree = checked_clSVMFree;
}
