// Mapping of buffers and images: a copy in host memory, or the program's own host pointer;
// unmapping writes it back if it was mapped for writing.
#include "opencl/transfer.h"

typedef struct Mapped {
  cl_mem memory;
  OclMapping mapping;
} Mapped;

static cl_int run_map(OclCommand *c) {
  const Mapped *m = c->work;
  if (m->memory->is_svm) return CL_SUCCESS;
  if (m->mapping.flags & CL_MAP_WRITE_INVALIDATE_REGION) return CL_SUCCESS;
  return ocl_error(ocl_transfer(m->mapping.box, c->stream), CL_OUT_OF_RESOURCES);
}

static cl_int run_unmap(OclCommand *c) {
  const Mapped *m = c->work;
  OclTransfer back = *m->mapping.box;
  CUresult r = CUDA_SUCCESS;
  back.to = m->mapping.box->from;
  back.from = m->mapping.box->to;
  if (!m->memory->is_svm && m->mapping.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))
    r = ocl_transfer(&back, c->stream);
  if (!r && m->mapping.ours) r = cuStreamSynchronize(c->stream);
  if (m->mapping.ours) free(m->mapping.host);
  free(m->mapping.box);
  return ocl_error(r, CL_OUT_OF_RESOURCES);
}

static bool flags_fit(cl_map_flags flags) {
  cl_map_flags known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
  bool both = flags & CL_MAP_WRITE_INVALIDATE_REGION && flags & (CL_MAP_READ | CL_MAP_WRITE);
  return !(flags & ~known) && !both;
}

typedef struct Call {
  cl_command_type type;
  cl_command_queue queue;
  cl_mem memory;
  cl_bool blocking;
  cl_map_flags flags;
  OclWaits waits;
} Call;

// box: from the device to host memory: the program's, or ours if the program gives none.
static void *map(const Call *call, OclTransfer *box, cl_int *error) {
  cl_mem m = call->memory;
  bool reads = call->flags & CL_MAP_READ, writes = call->flags & ~(cl_map_flags)CL_MAP_READ;
  if ((reads && !ocl_host_may(m, true)) || (writes && !ocl_host_may(m, false))) {
    *error = CL_INVALID_OPERATION;
    return NULL;
  }
  OclCommand *c = ocl_command(call->queue, call->type, call->waits, error);
  if (!c) return NULL;
  bool ours = !box->to.host;
  if (ours) box->to.host = mem_alloc(box->to.slice * box->size[2]);
  size_t offset = box->to.z * box->to.slice + box->to.y * box->to.row + box->to.x;
  OclMapping mapping = {.host = (char *)box->to.host + offset, .flags = call->flags, .ours = ours};
  mapping.box = mem_alloc(sizeof *box);
  *mapping.box = *box;
  Mapped *work = c->work = mem_alloc(sizeof *work);
  *work = (Mapped){m, mapping};
  c->run = run_map;
  ocl_command_uses(c, m);
  ocl_begin();
  vec_push(&m->mappings, mapping);
  ocl_end();
  *error = ocl_enqueue(c, call->waits, call->blocking);
  return *error ? NULL : mapping.host;
}

void *clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool blocking, cl_map_flags flags,
                         size_t offset, size_t size, cl_uint n, const cl_event *list,
                         cl_event *event, cl_int *error) {
  cl_int ignored;
  if (!error) error = &ignored;
  *error = ocl_check_memory(m, q);
  if (*error) return NULL;
  if (!size || offset > m->size || size > m->size - offset || !flags_fit(flags)) {
    *error = CL_INVALID_VALUE;
    return NULL;
  }
  OclTransfer box = {.from = {.device = m->address, .x = offset, .row = size, .slice = size},
                     .to = {.on_host = true, .host = m->host, .row = size, .slice = size},
                     .size = {size, 1, 1}};
  if (m->host) box.to.x = offset;
  Call call = {CL_COMMAND_MAP_BUFFER, q, m, blocking, flags, {n, list, event}};
  return map(&call, &box, error);
}

void *clEnqueueMapImage(cl_command_queue q, cl_mem m, cl_bool blocking, cl_map_flags flags,
                        const size_t *origin, const size_t *region, size_t *row, size_t *slice,
                        cl_uint n, const cl_event *list, cl_event *event, cl_int *error) {
  cl_int ignored;
  if (!error) error = &ignored;
  *error = ocl_check_image(m, q);
  if (!*error) *error = ocl_check_region(m, origin, region);
  bool has_slices = !*error && (m->image->head.layers || m->type == CL_MEM_OBJECT_IMAGE3D);
  if (!*error && (!flags_fit(flags) || !row || (has_slices && !slice))) *error = CL_INVALID_VALUE;
  if (*error) return NULL;
  OclTransfer box = {.from = ocl_image_place(m, origin)};
  ocl_image_size(m, region, box.size);
  box.to = (OclPlace){.on_host = true, .row = box.size[0], .slice = box.size[0] * box.size[1]};
  if (m->host) {
    box.to = box.from;
    box.to.on_host = true;
    box.to.host = m->host;
    box.to.device = 0;
    box.to.row = m->image->host_row;
    box.to.slice = m->image->host_slice;
  }
  bool layers_are_rows = m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  *row = box.to.row;
  if (slice) *slice = !has_slices ? 0 : layers_are_rows ? box.to.row : box.to.slice;
  Call call = {CL_COMMAND_MAP_IMAGE, q, m, blocking, flags, {n, list, event}};
  return map(&call, &box, error);
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
