// Reads, writes, copies and fills of images.
#include "opencl/transfer.h"

typedef struct HostBox {  // of clEnqueueReadImage and clEnqueueWriteImage
  const size_t *origin, *region;
  size_t row, slice;
  void *host;
} HostBox;

static cl_int with_host(OclCommand *c, cl_mem m, const HostBox *b, bool read, OclTransfer *t) {
  OclPlace *device = read ? &t->from : &t->to, *host = read ? &t->to : &t->from;
  *device = ocl_image_place(m, b->origin);
  ocl_image_size(m, b->region, t->size);
  bool layers_are_rows = m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  size_t row = b->row ? b->row : t->size[0];
  if (layers_are_rows && b->slice) row = b->slice;
  *host = (OclPlace){.on_host = true, .host = b->host, .row = row, .slice = row * t->size[1]};
  if (!layers_are_rows && b->slice) host->slice = b->slice;
  ocl_command_uses(c, m);
  return row >= t->size[0] && host->slice >= row * t->size[1] ? CL_SUCCESS : CL_INVALID_VALUE;
}

static cl_int host_command(cl_command_queue q, cl_mem m, const HostBox *b, bool read,
                           cl_bool blocking, OclWaits w) {
  OclTransfer t = {0};
  cl_int error = ocl_check_image(m, q);
  if (!error) error = ocl_check_region(m, b->origin, b->region);
  if (!error && !b->host) error = CL_INVALID_VALUE;
  if (!error && !ocl_host_may(m, read)) error = CL_INVALID_OPERATION;
  if (error) return error;
  OclCommand *c = ocl_command(q, read ? CL_COMMAND_READ_IMAGE : CL_COMMAND_WRITE_IMAGE, w, &error);
  if (!c) return error;
  error = with_host(c, m, b, read, &t);
  if (!error) return ocl_enqueue_transfer(c, &t, w, blocking);
  ocl_command_free(c);
  return error;
}

cl_int clEnqueueReadImage(cl_command_queue q, cl_mem m, cl_bool blocking, const size_t *origin,
                          const size_t *region, size_t row, size_t slice, void *host, cl_uint n,
                          const cl_event *list, cl_event *event) {
  HostBox b = {origin, region, row, slice, host};
  return host_command(q, m, &b, true, blocking, (OclWaits){n, list, event});
}

cl_int clEnqueueWriteImage(cl_command_queue q, cl_mem m, cl_bool blocking, const size_t *origin,
                           const size_t *region, size_t row, size_t slice, const void *host,
                           cl_uint n, const cl_event *list, cl_event *event) {
  HostBox b = {origin, region, row, slice, (void *)host};
  return host_command(q, m, &b, false, blocking, (OclWaits){n, list, event});
}

// Fills a box with one color: copies pixels from host memory.
static cl_int run_fill(OclCommand *c) {
  const OclTransfer *t = c->work;
  CUresult r = ocl_transfer(t, c->stream);
  if (!r) r = cuStreamSynchronize(c->stream);
  return ocl_error(r, CL_OUT_OF_RESOURCES);
}

static void end_fill(void *work) { free(((OclTransfer *)work)->from.host); }

cl_int clEnqueueFillImage(cl_command_queue q, cl_mem m, const void *color, const size_t *origin,
                          const size_t *region, cl_uint n, const cl_event *list, cl_event *event) {
  enum { MOST_PIXEL = 16 };
  OclWaits w = {n, list, event};
  unsigned char pixel[MOST_PIXEL];
  cl_int error = ocl_check_image(m, q);
  if (!error) error = ocl_check_region(m, origin, region);
  if (!error && !color) error = CL_INVALID_VALUE;
  if (error) return error;
  OclCommand *c = ocl_command(q, CL_COMMAND_FILL_IMAGE, w, &error);
  if (!c) return error;
  OclTransfer *t = c->work = mem_alloc(sizeof *t);
  t->to = ocl_image_place(m, origin);
  ocl_image_size(m, region, t->size);
  size_t all = t->size[0] * t->size[1] * t->size[2], bytes = m->image->head.bytes;
  t->from = (OclPlace){
      .on_host = true, .host = mem_alloc(all), .row = t->size[0], .slice = t->size[0] * t->size[1]};
  ocl_format_pixel(&m->image->format, color, pixel);
  for (size_t i = 0; i < all; i += bytes) memcpy((char *)t->from.host + i, pixel, bytes);
  c->run = run_fill;
  c->end = end_fill;
  ocl_command_uses(c, m);
  return ocl_enqueue(c, w, CL_FALSE);
}

static cl_int between(cl_command_type type, cl_command_queue q, cl_mem from, cl_mem to,
                      const OclTransfer *t, OclWaits w) {
  cl_int error;
  OclCommand *c = ocl_command(q, type, w, &error);
  if (!c) return error;
  ocl_command_uses(c, from);
  ocl_command_uses(c, to);
  return ocl_enqueue_transfer(c, t, w, CL_FALSE);
}

static bool overlap(const size_t *a, const size_t *b, const size_t *region) {
  for (int i = 0; i < 3; i++)
    if (a[i] + region[i] <= b[i] || b[i] + region[i] <= a[i]) return false;
  return true;
}

// The same box of two types of image: layers of one are rows of the other.
static void as_slices(cl_mem m, OclPlace *p, const cl_mem other) {
  bool rows = m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  if (rows && other->type != CL_MEM_OBJECT_IMAGE1D_ARRAY) p->slice = p->row;
}

cl_int clEnqueueCopyImage(cl_command_queue q, cl_mem from, cl_mem to, const size_t *from_origin,
                          const size_t *to_origin, const size_t *region, cl_uint n,
                          const cl_event *list, cl_event *event) {
  cl_int error = ocl_check_image(from, q);
  if (!error) error = ocl_check_image(to, q);
  if (error) return error;
  if (memcmp(&from->image->format, &to->image->format, sizeof from->image->format))
    return CL_IMAGE_FORMAT_MISMATCH;
  error = ocl_check_region(from, from_origin, region);
  if (!error) error = ocl_check_region(to, to_origin, region);
  if (error) return error;
  if (from == to && overlap(from_origin, to_origin, region)) return CL_MEM_COPY_OVERLAP;
  OclTransfer t = {.from = ocl_image_place(from, from_origin),
                   .to = ocl_image_place(to, to_origin)};
  ocl_image_size(from, region, t.size);
  as_slices(from, &t.from, to);
  as_slices(to, &t.to, from);
  return between(CL_COMMAND_COPY_IMAGE, q, from, to, &t, (OclWaits){n, list, event});
}

// Pixels without gaps in a buffer.
static cl_int in_buffer(cl_mem buffer, size_t offset, const size_t *size, OclPlace *out) {
  size_t all = size[0] * size[1] * size[2];
  if (offset > buffer->size || all > buffer->size - offset) return CL_INVALID_VALUE;
  *out = (OclPlace){.device = buffer->address + offset, .row = size[0], .slice = size[0] * size[1]};
  return CL_SUCCESS;
}

cl_int clEnqueueCopyImageToBuffer(cl_command_queue q, cl_mem from, cl_mem to, const size_t *origin,
                                  const size_t *region, size_t offset, cl_uint n,
                                  const cl_event *list, cl_event *event) {
  OclTransfer t = {0};
  cl_int error = ocl_check_image(from, q);
  if (!error) error = ocl_check_memory(to, q);
  if (!error) error = ocl_check_region(from, origin, region);
  if (error) return error;
  t.from = ocl_image_place(from, origin);
  ocl_image_size(from, region, t.size);
  error = in_buffer(to, offset, t.size, &t.to);
  if (error) return error;
  return between(CL_COMMAND_COPY_IMAGE_TO_BUFFER, q, from, to, &t, (OclWaits){n, list, event});
}

cl_int clEnqueueCopyBufferToImage(cl_command_queue q, cl_mem from, cl_mem to, size_t offset,
                                  const size_t *origin, const size_t *region, cl_uint n,
                                  const cl_event *list, cl_event *event) {
  OclTransfer t = {0};
  cl_int error = ocl_check_memory(from, q);
  if (!error) error = ocl_check_image(to, q);
  if (!error) error = ocl_check_region(to, origin, region);
  if (error) return error;
  t.to = ocl_image_place(to, origin);
  ocl_image_size(to, region, t.size);
  error = in_buffer(from, offset, t.size, &t.from);
  if (error) return error;
  return between(CL_COMMAND_COPY_BUFFER_TO_IMAGE, q, from, to, &t, (OclWaits){n, list, event});
}
