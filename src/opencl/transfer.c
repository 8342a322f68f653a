// Reads, writes, copies and fills of buffers. All are boxes: bytes, rows and slices.
#include "opencl/transfer.h"

static size_t offset_of(const OclPlace *p) { return p->z * p->slice + p->y * p->row + p->x; }

static CUresult copy_line(const OclTransfer *t, CUstream stream) {
  char *to = (char *)t->to.host + offset_of(&t->to);
  const char *from = (const char *)t->from.host + offset_of(&t->from);
  CUdeviceptr to_device = t->to.device + offset_of(&t->to);
  CUdeviceptr from_device = t->from.device + offset_of(&t->from);
  if (t->to.on_host) return cuMemcpyDtoHAsync_v2(to, from_device, t->size[0], stream);
  if (t->from.on_host) return cuMemcpyHtoDAsync_v2(to_device, from, t->size[0], stream);
  return cuMemcpyDtoDAsync_v2(to_device, from_device, t->size[0], stream);
}

static size_t rows_of_slice(const OclPlace *p, const OclTransfer *t) {
  size_t rows = p->slice / p->row;
  // nothing follows the only slice: its length does not matter
  return t->size[2] == 1 && rows < t->size[1] ? t->size[1] : rows;
}

// Adds the origin to the pointers: CUDA requires that rows and slices hold origin and region,
// OpenCL only the region.
static CUresult copy_box(const OclTransfer *t, CUstream stream) {
  CUDA_MEMCPY3D c = {.WidthInBytes = t->size[0], .Height = t->size[1], .Depth = t->size[2]};
  c.dstMemoryType = t->to.on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  c.srcMemoryType = t->from.on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  if (t->to.on_host) c.dstHost = (char *)t->to.host + offset_of(&t->to);
  else c.dstDevice = t->to.device + offset_of(&t->to);
  if (t->from.on_host) c.srcHost = (const char *)t->from.host + offset_of(&t->from);
  else c.srcDevice = t->from.device + offset_of(&t->from);
  c.dstPitch = t->to.row;
  c.dstHeight = rows_of_slice(&t->to, t);
  c.srcPitch = t->from.row;
  c.srcHeight = rows_of_slice(&t->from, t);
  return cuMemcpy3DAsync_v2(&c, stream);
}

// CUDA counts rows in a slice; a slice that is no whole number of rows is copied row by row.
static CUresult copy_rows(const OclTransfer *t, CUstream stream) {
  CUresult r = CUDA_SUCCESS;
  for (size_t z = 0; z < t->size[2]; z++) {
    for (size_t y = 0; !r && y < t->size[1]; y++) {
      OclTransfer line = *t;
      line.size[1] = line.size[2] = 1;
      line.to.y += y;
      line.from.y += y;
      line.to.z += z;
      line.from.z += z;
      r = copy_line(&line, stream);
    }
  }
  return r;
}

CUresult ocl_transfer(const OclTransfer *t, CUstream stream) {
  bool line = t->size[1] == 1 && t->size[2] == 1;
  bool whole = line || (t->to.slice % t->to.row == 0 && t->from.slice % t->from.row == 0);
  return line ? copy_line(t, stream) : whole ? copy_box(t, stream) : copy_rows(t, stream);
}

static cl_int run_transfer(OclCommand *c) {
  return ocl_error(ocl_transfer(c->work, c->stream), CL_OUT_OF_RESOURCES);
}

cl_int ocl_enqueue_transfer(OclCommand *c, const OclTransfer *t, OclWaits w, cl_bool blocking) {
  c->work = mem_alloc(sizeof *t);
  *(OclTransfer *)c->work = *t;
  c->run = run_transfer;
  return ocl_enqueue(c, w, blocking);
}

static bool inside(cl_mem m, size_t offset, size_t size) {
  return offset <= m->size && size <= m->size - offset;
}

bool ocl_host_may(cl_mem m, bool read) {
  return !(m->flags &
           (CL_MEM_HOST_NO_ACCESS | (read ? CL_MEM_HOST_WRITE_ONLY : CL_MEM_HOST_READ_ONLY)));
}

typedef struct Call {  // what calls that move data between host and buffer have in common
  cl_command_type type;
  cl_command_queue queue;
  cl_mem buffer;
  cl_bool blocking;
  void *host;
  OclWaits waits;
} Call;

static cl_int host_call(const Call *call, bool read, OclTransfer *t) {
  cl_int error = ocl_check_memory(call->buffer, call->queue);
  if (error) return error;
  if (!ocl_host_may(call->buffer, read)) return CL_INVALID_OPERATION;
  OclCommand *c = ocl_command(call->queue, call->type, call->waits, &error);
  if (!c) return error;
  OclPlace *host = read ? &t->to : &t->from, *device = read ? &t->from : &t->to;
  host->on_host = true;
  host->host = call->host;
  device->device = call->buffer->address;
  ocl_command_uses(c, call->buffer);
  return ocl_enqueue_transfer(c, t, call->waits, call->blocking);
}

static cl_int linear(const Call *call, bool read, size_t offset, size_t size) {
  if (!ocl_is(call->queue, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!ocl_is(call->buffer, OCL_MEMORY)) return CL_INVALID_MEM_OBJECT;
  if (!call->host || !size || !inside(call->buffer, offset, size)) return CL_INVALID_VALUE;
  OclTransfer t = {.to.row = size, .from.row = size, .size = {size, 1, 1}};
  *(read ? &t.from.x : &t.to.x) = offset;
  return host_call(call, read, &t);
}

cl_int clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset,
                           size_t size, void *host, cl_uint n, const cl_event *list,
                           cl_event *event) {
  Call call = {CL_COMMAND_READ_BUFFER, q, m, blocking, host, {n, list, event}};
  return linear(&call, true, offset, size);
}

cl_int clEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset,
                            size_t size, const void *host, cl_uint n, const cl_event *list,
                            cl_event *event) {
  Call call = {CL_COMMAND_WRITE_BUFFER, q, m, blocking, (void *)host, {n, list, event}};
  return linear(&call, false, offset, size);
}

// One end of a rectangle; false: pitches that do not fit the region.
static bool set_place(OclPlace *p, const size_t *origin, const size_t *region, size_t row,
                      size_t slice) {
  p->row = row ? row : region[0];
  p->slice = slice ? slice : region[1] * p->row;
  p->x = origin[0];
  p->y = origin[1];
  p->z = origin[2];
  return p->row >= region[0] && p->slice >= region[1] * p->row && (p->slice % p->row == 0 || slice);
}

static bool box_inside(cl_mem m, const OclPlace *p, const size_t *region) {
  size_t end = offset_of(p) + (region[2] - 1) * p->slice + (region[1] - 1) * p->row + region[0];
  return end <= m->size;
}

typedef struct Pitches {
  const size_t *origin;
  size_t row, slice;
} Pitches;

static cl_int rectangle(const Call *call, bool read, const size_t *region, Pitches buffer,
                        Pitches host) {
  if (!ocl_is(call->queue, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!ocl_is(call->buffer, OCL_MEMORY)) return CL_INVALID_MEM_OBJECT;
  if (!call->host || !region || !buffer.origin || !host.origin) return CL_INVALID_VALUE;
  if (!region[0] || !region[1] || !region[2]) return CL_INVALID_VALUE;
  OclTransfer t = {.size = {region[0], region[1], region[2]}};
  OclPlace *device = read ? &t.from : &t.to, *other = read ? &t.to : &t.from;
  if (!set_place(device, buffer.origin, region, buffer.row, buffer.slice) ||
      !set_place(other, host.origin, region, host.row, host.slice) ||
      !box_inside(call->buffer, device, region))
    return CL_INVALID_VALUE;
  return host_call(call, read, &t);
}

cl_int clEnqueueReadBufferRect(cl_command_queue q, cl_mem m, cl_bool blocking,
                               const size_t *buffer_origin, const size_t *host_origin,
                               const size_t *region, size_t buffer_row, size_t buffer_slice,
                               size_t host_row, size_t host_slice, void *host, cl_uint n,
                               const cl_event *list, cl_event *event) {
  Call call = {CL_COMMAND_READ_BUFFER_RECT, q, m, blocking, host, {n, list, event}};
  return rectangle(&call, true, region, (Pitches){buffer_origin, buffer_row, buffer_slice},
                   (Pitches){host_origin, host_row, host_slice});
}

cl_int clEnqueueWriteBufferRect(cl_command_queue q, cl_mem m, cl_bool blocking,
                                const size_t *buffer_origin, const size_t *host_origin,
                                const size_t *region, size_t buffer_row, size_t buffer_slice,
                                size_t host_row, size_t host_slice, const void *host, cl_uint n,
                                const cl_event *list, cl_event *event) {
  Call call = {CL_COMMAND_WRITE_BUFFER_RECT, q, m, blocking, (void *)host, {n, list, event}};
  return rectangle(&call, false, region, (Pitches){buffer_origin, buffer_row, buffer_slice},
                   (Pitches){host_origin, host_row, host_slice});
}

static cl_int between_buffers(cl_command_type type, cl_command_queue q, cl_mem from, cl_mem to,
                              const OclTransfer *t, OclWaits w) {
  cl_int error;
  OclCommand *c = ocl_command(q, type, w, &error);
  if (!c) return error;
  ocl_command_uses(c, from);
  ocl_command_uses(c, to);
  return ocl_enqueue_transfer(c, t, w, CL_FALSE);
}

static bool same_memory(cl_mem a, cl_mem b) {
  return (a->parent ? a->parent : a) == (b->parent ? b->parent : b);
}

cl_int clEnqueueCopyBuffer(cl_command_queue q, cl_mem from, cl_mem to, size_t from_offset,
                           size_t to_offset, size_t size, cl_uint n, const cl_event *list,
                           cl_event *event) {
  cl_int error = ocl_check_memory(from, q);
  if (!error) error = ocl_check_memory(to, q);
  if (error) return error;
  if (!size || !inside(from, from_offset, size) || !inside(to, to_offset, size))
    return CL_INVALID_VALUE;
  OclTransfer t = {.to = {.device = to->address, .x = to_offset, .row = size},
                   .from = {.device = from->address, .x = from_offset, .row = size},
                   .size = {size, 1, 1}};
  CUdeviceptr a = from->address + from_offset, b = to->address + to_offset;
  if (same_memory(from, to) && a < b + size && b < a + size) return CL_MEM_COPY_OVERLAP;
  return between_buffers(CL_COMMAND_COPY_BUFFER, q, from, to, &t, (OclWaits){n, list, event});
}

// Boxes of the same pitch in one buffer overlap if they do in all three directions.
static bool boxes_overlap(const OclTransfer *t) {
  const OclPlace *a = &t->from, *b = &t->to;
  return a->x < b->x + t->size[0] && b->x < a->x + t->size[0] && a->y < b->y + t->size[1] &&
         b->y < a->y + t->size[1] && a->z < b->z + t->size[2] && b->z < a->z + t->size[2];
}

cl_int clEnqueueCopyBufferRect(cl_command_queue q, cl_mem from, cl_mem to,
                               const size_t *from_origin, const size_t *to_origin,
                               const size_t *region, size_t from_row, size_t from_slice,
                               size_t to_row, size_t to_slice, cl_uint n, const cl_event *list,
                               cl_event *event) {
  cl_int error = ocl_check_memory(from, q);
  if (!error) error = ocl_check_memory(to, q);
  if (error) return error;
  if (!region || !from_origin || !to_origin || !region[0] || !region[1] || !region[2])
    return CL_INVALID_VALUE;
  OclTransfer t = {.size = {region[0], region[1], region[2]}};
  t.from.device = from->address;
  t.to.device = to->address;
  if (!set_place(&t.from, from_origin, region, from_row, from_slice) ||
      !set_place(&t.to, to_origin, region, to_row, to_slice) ||
      !box_inside(from, &t.from, region) || !box_inside(to, &t.to, region))
    return CL_INVALID_VALUE;
  if (from == to && (t.from.row != t.to.row || t.from.slice != t.to.slice)) return CL_INVALID_VALUE;
  if (from == to && boxes_overlap(&t)) return CL_MEM_COPY_OVERLAP;
  return between_buffers(CL_COMMAND_COPY_BUFFER_RECT, q, from, to, &t, (OclWaits){n, list, event});
}
