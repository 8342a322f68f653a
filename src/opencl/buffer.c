// Buffers and sub-buffers, and the code that images share with them. A buffer is device memory of
// the context's first device; a host pointer given with it is copied, and written again when the
// buffer is mapped.
#include "opencl/opencl.h"

void ocl_memory_free(void *object) {
  cl_mem m = object;
  for (uint32_t i = m->ends.len; i > 0; i--) m->ends.data[i - 1].call(m, m->ends.data[i - 1].user);
  for (uint32_t i = 0; i < m->mappings.len; i++) {
    if (m->mappings.data[i].ours) free(m->mappings.data[i].host);
    free(m->mappings.data[i].box);
  }
  bool is_own = !m->parent && !m->is_svm;
  CUdeviceptr memory = m->image ? m->image->head_address : is_own ? m->address : 0;
  if (memory) {
    ocl_enter(m->context->devices.data[0]);
    cuMemFree_v2(memory);
    ocl_leave();
  }
  free(m->image);
  vec_free(&m->ends);
  vec_free(&m->mappings);
  vec_free(&m->properties);
  ocl_drop(m->parent);
  ocl_drop(m->context);
}

static bool only_one(cl_mem_flags flags, cl_mem_flags of) {
  return !((flags & of) & ((flags & of) - 1));
}

static bool flags_fit(cl_mem_flags flags) {
  cl_mem_flags device = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
  cl_mem_flags host = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
  cl_mem_flags place = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
  return !(flags & ~(device | host | place)) && only_one(flags, device) && only_one(flags, host) &&
         !(flags & CL_MEM_USE_HOST_PTR && flags & (place & ~CL_MEM_USE_HOST_PTR));
}

cl_int ocl_check_flags(cl_mem_flags flags, const void *host) {
  if (!flags_fit(flags)) return CL_INVALID_VALUE;
  bool uses_host = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
  return uses_host == (host != NULL) ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

cl_mem ocl_memory_new(cl_context context, cl_mem_object_type type, cl_mem_flags flags,
                      size_t size) {
  cl_mem m = ocl_object_new(OCL_MEMORY, sizeof *m);
  m->context = context;
  ocl_hold(context);
  m->type = type;
  m->flags = flags;
  m->size = size;
  return m;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                      cl_int *error) {
  return clCreateBufferWithProperties(context, NULL, flags, size, host, error);
}

static cl_int get_memory(cl_mem m, void *host) {
  cl_device_id device = m->context->devices.data[0];
  size_t svm = m->host ? ocl_svm_bytes(m->host) : 0;
  m->is_svm = svm != 0;
  if (m->is_svm) {
    m->address = (uintptr_t)host;
    return m->size <= svm ? CL_SUCCESS : CL_INVALID_BUFFER_SIZE;
  }
  ocl_enter(device);
  CUresult r = cuMemAlloc_v2(&m->address, m->size);
  if (!r && host) r = cuMemcpyHtoD_v2(m->address, host, m->size);
  ocl_leave();
  if (!r) return CL_SUCCESS;
  cl_ulong most = 0;
  clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
  return m->size > most ? CL_INVALID_BUFFER_SIZE : ocl_error(r, CL_OUT_OF_RESOURCES);
}

cl_mem clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties,
                                    cl_mem_flags flags, size_t size, void *host, cl_int *error) {
  cl_int ignored;
  if (!error) error = &ignored;
  if (!flags) flags = CL_MEM_READ_WRITE;
  if (!ocl_is(context, OCL_CONTEXT)) {
    *error = CL_INVALID_CONTEXT;
    return NULL;
  }
  if (properties && *properties) {
    *error = CL_INVALID_PROPERTY;
    return NULL;
  }
  *error = ocl_check_flags(flags, host);
  if (*error) return NULL;
  if (!size) {
    *error = CL_INVALID_BUFFER_SIZE;
    return NULL;
  }
  if (!(flags & (CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY))) flags |= CL_MEM_READ_WRITE;
  cl_mem m = ocl_memory_new(context, CL_MEM_OBJECT_BUFFER, flags, size);
  if (flags & CL_MEM_USE_HOST_PTR) m->host = host;
  if (properties) vec_push(&m->properties, 0);
  *error = get_memory(m, host);
  if (!*error) return m;
  ocl_drop(m);
  return NULL;
}

cl_mem clCreateSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                         const void *info, cl_int *error) {
  enum { BASE_ALIGNMENT = 256 };
  cl_int ignored;
  if (!error) error = &ignored;
  if (!ocl_is(parent, OCL_MEMORY) || parent->type != CL_MEM_OBJECT_BUFFER || parent->parent) {
    *error = CL_INVALID_MEM_OBJECT;
    return NULL;
  }
  cl_mem_flags place = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
  cl_mem_flags device = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
  cl_mem_flags host = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
  bool wider = (flags & device & ~parent->flags) && !(parent->flags & CL_MEM_READ_WRITE);
  if (type != CL_BUFFER_CREATE_TYPE_REGION || !info || flags & place || !flags_fit(flags) ||
      wider) {
    *error = CL_INVALID_VALUE;
    return NULL;
  }
  const cl_buffer_region *region = info;
  if (!region->size) {
    *error = CL_INVALID_BUFFER_SIZE;
    return NULL;
  }
  if (region->origin > parent->size || region->size > parent->size - region->origin) {
    *error = CL_INVALID_VALUE;
    return NULL;
  }
  if (region->origin % BASE_ALIGNMENT) {
    *error = CL_MISALIGNED_SUB_BUFFER_OFFSET;
    return NULL;
  }
  if (!(flags & device)) flags |= parent->flags & device;
  if (!(flags & host)) flags |= parent->flags & host;
  flags |= parent->flags & place;
  cl_mem m = ocl_memory_new(parent->context, CL_MEM_OBJECT_BUFFER, flags, region->size);
  m->parent = parent;
  ocl_hold(parent);
  m->origin = region->origin;
  m->address = parent->address + region->origin;
  m->is_svm = parent->is_svm;
  if (parent->host) m->host = (char *)parent->host + region->origin;
  *error = CL_SUCCESS;
  return m;
}

cl_int clRetainMemObject(cl_mem m) { return ocl_retain(m, OCL_MEMORY, CL_INVALID_MEM_OBJECT); }
cl_int clReleaseMemObject(cl_mem m) { return ocl_release(m, OCL_MEMORY, CL_INVALID_MEM_OBJECT); }

cl_int clSetMemObjectDestructorCallback(cl_mem m, OclMemoryCallback call, void *user) {
  if (!ocl_is(m, OCL_MEMORY)) return CL_INVALID_MEM_OBJECT;
  if (!call) return CL_INVALID_VALUE;
  vec_push(&m->ends, (OclMemoryEnd){call, user});
  return CL_SUCCESS;
}

cl_int clGetMemObjectInfo(cl_mem m, cl_mem_info what, size_t room, void *value, size_t *needed) {
  OclAnswer to = {room, value, needed};
  if (!ocl_is(m, OCL_MEMORY)) return CL_INVALID_MEM_OBJECT;
  switch (what) {
    case CL_MEM_TYPE: return OCL_ANSWER(to, cl_mem_object_type, m->type);
    case CL_MEM_FLAGS: return OCL_ANSWER(to, cl_mem_flags, m->flags);
    case CL_MEM_SIZE: return OCL_ANSWER(to, size_t, m->size);
    case CL_MEM_HOST_PTR: return OCL_ANSWER(to, void *, m->host);
    case CL_MEM_MAP_COUNT: return OCL_ANSWER(to, cl_uint, m->mappings.len);
    case CL_MEM_REFERENCE_COUNT: return OCL_ANSWER(to, cl_uint, ocl_references(m));
    case CL_MEM_CONTEXT: return OCL_ANSWER(to, cl_context, m->context);
    case CL_MEM_ASSOCIATED_MEMOBJECT: return OCL_ANSWER(to, cl_mem, m->parent);
    case CL_MEM_OFFSET: return OCL_ANSWER(to, size_t, m->origin);
    case CL_MEM_USES_SVM_POINTER: return OCL_ANSWER(to, cl_bool, m->is_svm);
    case CL_MEM_PROPERTIES:
      return ocl_answer(to, m->properties.data, m->properties.len * sizeof *m->properties.data);
  }
  return CL_INVALID_VALUE;
}

cl_int ocl_check_memory(cl_mem m, cl_command_queue q) {
  if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!ocl_is(m, OCL_MEMORY)) return CL_INVALID_MEM_OBJECT;
  if (m->context != q->context) return CL_INVALID_CONTEXT;
  return m->type == CL_MEM_OBJECT_BUFFER ? CL_SUCCESS : CL_INVALID_MEM_OBJECT;
}

cl_int clEnqueueMigrateMemObjects(cl_command_queue q, cl_uint n, const cl_mem *list,
                                  cl_mem_migration_flags flags, cl_uint n_waits,
                                  const cl_event *waits, cl_event *event) {
  OclWaits w = {n_waits, waits, event};
  cl_mem_migration_flags known = CL_MIGRATE_MEM_OBJECT_HOST |
                                 CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!n || !list || flags & ~known) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < n; i++) {
    if (!ocl_is(list[i], OCL_MEMORY)) return CL_INVALID_MEM_OBJECT;
    if (list[i]->context != q->context) return CL_INVALID_CONTEXT;
  }
  cl_int error;
  OclCommand *c = ocl_command(q, CL_COMMAND_MIGRATE_MEM_OBJECTS, w, &error);
  return c ? ocl_enqueue(c, w, CL_FALSE) : error;
}
