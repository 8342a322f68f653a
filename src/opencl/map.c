// Mapping of buffers: a copy in host memory, or the program's own host pointer; unmapping writes it
// back if it was mapped for writing.
#include "opencl/opencl.h"

typedef struct Mapped {
  cl_mem memory;
  OclMapping mapping;
} Mapped;

static cl_int run_map(OclCommand *c) {
  const Mapped *m = c->work;
  if (m->mapping.flags & CL_MAP_WRITE_INVALIDATE_REGION) return CL_SUCCESS;
  return ocl_error(cuMemcpyDtoHAsync_v2(m->mapping.host, m->memory->address + m->mapping.offset,
                                        m->mapping.size, c->stream),
                   CL_OUT_OF_RESOURCES);
}

static cl_int run_unmap(OclCommand *c) {
  const Mapped *m = c->work;
  CUresult r = CUDA_SUCCESS;
  if (m->mapping.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))
    r = cuMemcpyHtoDAsync_v2(m->memory->address + m->mapping.offset, m->mapping.host,
                             m->mapping.size, c->stream);
  if (!r && m->mapping.ours) r = cuStreamSynchronize(c->stream);
  if (m->mapping.ours) free(m->mapping.host);
  return ocl_error(r, CL_OUT_OF_RESOURCES);
}

void *clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool blocking, cl_map_flags flags,
                         size_t offset, size_t size, cl_uint n, const cl_event *list,
                         cl_event *event, cl_int *error) {
  OclWaits w = {n, list, event};
  cl_int ignored;
  if (!error) error = &ignored;
  *error = ocl_check_memory(m, q);
  if (*error) return NULL;
  cl_map_flags known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
  bool both = flags & CL_MAP_WRITE_INVALIDATE_REGION && flags & (CL_MAP_READ | CL_MAP_WRITE);
  if (!size || offset > m->size || size > m->size - offset || flags & ~known || both) {
    *error = CL_INVALID_VALUE;
    return NULL;
  }
  cl_mem_flags no_read = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;
  cl_mem_flags no_write = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
  if ((flags & CL_MAP_READ && m->flags & no_read) ||
      (flags & ~(cl_map_flags)CL_MAP_READ && m->flags & no_write)) {
    *error = CL_INVALID_OPERATION;
    return NULL;
  }
  OclCommand *c = ocl_command(q, CL_COMMAND_MAP_BUFFER, w, error);
  if (!c) return NULL;
  Mapped *work = c->work = mem_alloc(sizeof *work);
  work->memory = m;
  work->mapping = (OclMapping){.offset = offset, .size = size, .flags = flags, .ours = !m->host};
  work->mapping.host = m->host ? (char *)m->host + offset : mem_alloc(size);
  OclMapping mapping = work->mapping;
  c->run = run_map;
  ocl_command_uses(c, m);
  ocl_begin();
  vec_push(&m->mappings, mapping);
  ocl_end();
  *error = ocl_enqueue(c, w, blocking);
  return *error ? NULL : mapping.host;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue q, cl_mem m, void *host, cl_uint n,
                               const cl_event *list, cl_event *event) {
  OclWaits w = {n, list, event};
  cl_int error;
  if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!ocl_is(m, OCL_MEMORY)) return CL_INVALID_MEM_OBJECT;
  OclMapping mapping = {0};
  ocl_begin();
  for (uint32_t i = 0; i < m->mappings.len && !mapping.host; i++) {
    if (m->mappings.data[i].host != host) continue;
    mapping = m->mappings.data[i];
    m->mappings.data[i] = m->mappings.data[--m->mappings.len];
  }
  ocl_end();
  if (!mapping.host) return CL_INVALID_VALUE;
  OclCommand *c = ocl_command(q, CL_COMMAND_UNMAP_MEM_OBJECT, w, &error);
  if (!c) {
    ocl_begin();
    vec_push(&m->mappings, mapping);
    ocl_end();
    return error;
  }
  Mapped *work = c->work = mem_alloc(sizeof *work);
  work->memory = m;
  work->mapping = mapping;
  c->run = run_unmap;
  ocl_command_uses(c, m);
  return ocl_enqueue(c, w, CL_FALSE);
}
