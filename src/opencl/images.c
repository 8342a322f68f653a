// Images: a head that describes the image to kernels (library/images.cl), then its pixels row by
// row, in device memory. An image over a buffer has its pixels in the buffer.
#include "opencl/transfer.h"

enum { HEAD_BYTES = 256 };  // pixels begin at a multiple of it

static const struct {
  cl_mem_object_type type;
  const char *name;
  unsigned dimensions;
  bool layers;
} kinds[] = {{CL_MEM_OBJECT_IMAGE1D, "image1d_t", 1, false},
             {CL_MEM_OBJECT_IMAGE1D_BUFFER, "image1d_buffer_t", 1, false},
             {CL_MEM_OBJECT_IMAGE1D_ARRAY, "image1d_array_t", 1, true},
             {CL_MEM_OBJECT_IMAGE2D, "image2d_t", 2, false},
             {CL_MEM_OBJECT_IMAGE2D_ARRAY, "image2d_array_t", 2, true},
             {CL_MEM_OBJECT_IMAGE3D, "image3d_t", 3, false}};

cl_mem_object_type ocl_image_type_named(const char *type) {
  for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
    if (!strcmp(kinds[i].name, type)) return kinds[i].type;
  return 0;
}

// Extents, 1 where the type has none.
static cl_int read_extents(const cl_image_desc *d, OclImageHead *h) {
  size_t k = 0;
  while (k < ARRAY_LEN(kinds) && kinds[k].type != d->image_type) k++;
  if (k == ARRAY_LEN(kinds) || d->num_mip_levels || d->num_samples)
    return CL_INVALID_IMAGE_DESCRIPTOR;
  size_t height = kinds[k].dimensions > 1 ? d->image_height : 1;
  size_t depth = kinds[k].dimensions > 2 ? d->image_depth : 1;
  size_t layers = kinds[k].layers ? d->image_array_size : 1;
  enum { MOST_EXTENT = 1 << 15, MOST_IN_BUFFER = 1 << 27 };
  size_t most = d->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER ? MOST_IN_BUFFER : MOST_EXTENT;
  if (!d->image_width || !height || !depth || !layers) return CL_INVALID_IMAGE_SIZE;
  if (d->image_width > most || height > MOST_EXTENT || depth > MOST_EXTENT || layers > MOST_EXTENT)
    return CL_INVALID_IMAGE_SIZE;
  h->width = (int32_t)d->image_width;
  h->height = (int32_t)height;
  h->depth = (int32_t)(kinds[k].layers ? layers : depth);
  h->layers = kinds[k].layers ? (int32_t)layers : 0;
  return CL_SUCCESS;
}

// Pitches of the host pointer: 0 means rows and slices without gaps.
static cl_int read_pitches(const cl_image_desc *d, const void *host, OclImageData *out) {
  const OclImageHead *h = &out->head;
  size_t row = (size_t)h->width * h->bytes;
  if (!host && !d->mem_object && (d->image_row_pitch || d->image_slice_pitch))
    return CL_INVALID_IMAGE_DESCRIPTOR;
  out->host_row = d->image_row_pitch ? d->image_row_pitch : row;
  out->host_slice = d->image_slice_pitch ? d->image_slice_pitch : out->host_row * (size_t)h->height;
  bool fits = out->host_row >= row && out->host_row % h->bytes == 0 &&
              out->host_slice >= out->host_row * (size_t)(h->height - 1) + row;
  // layers of one row each are copied as rows
  if (d->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY) out->host_row = out->host_slice;
  return fits ? CL_SUCCESS : CL_INVALID_IMAGE_DESCRIPTOR;
}

static cl_int check_buffer(const cl_image_desc *d, const OclImageHead *h, cl_context context) {
  bool needs = d->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
  cl_mem b = d->mem_object;
  // only devices with cl_khr_image2d_from_buffer allow it
  if (b && d->image_type == CL_MEM_OBJECT_IMAGE2D) return CL_INVALID_OPERATION;
  if (needs != (b != NULL)) return CL_INVALID_IMAGE_DESCRIPTOR;
  if (!b) return CL_SUCCESS;
  if (!ocl_is(b, OCL_MEMORY) || b->image || b->context != context)
    return CL_INVALID_IMAGE_DESCRIPTOR;
  return (size_t)h->width * h->bytes <= b->size ? CL_SUCCESS : CL_INVALID_IMAGE_SIZE;
}

OclPlace ocl_image_place(cl_mem m, const size_t *origin) {
  const OclImageHead *h = &m->image->head;
  bool layers_are_rows = m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  OclPlace p = {.device = m->address,
                .x = origin[0] * h->bytes,
                .y = origin[1],
                .z = origin[2],
                .row = h->row,
                .slice = h->slice};
  if (layers_are_rows) p.slice = h->row * (size_t)h->layers;
  return p;
}

void ocl_image_size(cl_mem m, const size_t *region, size_t *size) {
  size[0] = region[0] * m->image->head.bytes;
  size[1] = region[1];
  size[2] = region[2];
}

// Allocates device memory, and fills in the head and the pixels that the host pointer gives.
static cl_int fill(cl_mem m, const void *host) {
  OclImageData *d = m->image;
  OclImageHead *h = &d->head;
  static const size_t start[3];
  bool layers_are_rows = m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  size_t rows = (size_t)(layers_are_rows ? h->layers : h->height);
  ocl_enter(m->context->devices.data[0]);
  CUresult r = cuMemAlloc_v2(&d->head_address, HEAD_BYTES + (m->parent ? 0 : m->size));
  m->address = m->parent ? m->parent->address : d->head_address + HEAD_BYTES;
  h->pixels = m->address;
  if (!r) r = cuMemcpyHtoD_v2(d->head_address, h, sizeof *h);
  OclTransfer t = {
      .from = {.on_host = true, .host = (void *)host, .row = d->host_row, .slice = d->host_slice},
      .to = ocl_image_place(m, start),
      .size = {(size_t)h->width * h->bytes, rows, layers_are_rows ? 1 : (size_t)h->depth}};
  if (!r && host) r = ocl_transfer(&t, NULL);
  if (!r && host) r = cuStreamSynchronize(NULL);
  ocl_leave();
  return ocl_error(r, CL_OUT_OF_RESOURCES);
}

static cl_int check_image(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                          const cl_image_desc *desc, const void *host, OclImageData *out) {
  if (!ocl_is(context, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
  if (ocl_check_flags(flags, host) == CL_INVALID_VALUE) return CL_INVALID_VALUE;
  if (!format || !ocl_format_exists(format)) return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
  if (!desc) return CL_INVALID_IMAGE_DESCRIPTOR;
  out->format = *format;
  out->desc = *desc;
  OclImageHead *h = &out->head;
  cl_int error = read_extents(desc, h);
  if (error) return error;
  h->bytes = (uint32_t)ocl_format_bytes(format);
  h->order = format->image_channel_order;
  h->type = format->image_channel_data_type;
  if (!h->bytes) return CL_IMAGE_FORMAT_NOT_SUPPORTED;
  h->row = (uint64_t)h->width * h->bytes;
  h->slice = h->row * (uint64_t)h->height;
  error = check_buffer(desc, h, context);
  if (!error) error = ocl_check_flags(flags, host);
  return error ? error : read_pitches(desc, host, out);
}

cl_mem clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties,
                                   cl_mem_flags flags, const cl_image_format *format,
                                   const cl_image_desc *desc, void *host, cl_int *error) {
  cl_int ignored;
  OclImageData data = {0};
  if (!error) error = &ignored;
  cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
  *error = check_image(context, flags, format, desc, host, &data);
  if (!*error && properties && *properties) *error = CL_INVALID_PROPERTY;
  if (*error) return NULL;
  cl_mem buffer = desc->mem_object;
  if (!(flags & access)) flags |= buffer ? buffer->flags & access : CL_MEM_READ_WRITE;
  cl_mem m = ocl_memory_new(context, desc->image_type, flags,
                            (size_t)data.head.slice * (size_t)data.head.depth);
  m->image = mem_alloc(sizeof *m->image);
  *m->image = data;
  m->parent = buffer;
  ocl_hold(buffer);
  if (flags & CL_MEM_USE_HOST_PTR) m->host = host;
  if (properties) vec_push(&m->properties, 0);
  *error = fill(m, host);
  if (!*error) return m;
  ocl_drop(m);
  return NULL;
}

cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                     const cl_image_desc *desc, void *host, cl_int *error) {
  return clCreateImageWithProperties(context, NULL, flags, format, desc, host, error);
}

cl_mem clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                       size_t width, size_t height, size_t row, void *host, cl_int *error) {
  cl_image_desc d = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                     .image_width = width,
                     .image_height = height,
                     .image_row_pitch = row};
  return clCreateImage(context, flags, format, &d, host, error);
}

cl_mem clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                       size_t width, size_t height, size_t depth, size_t row, size_t slice,
                       void *host, cl_int *error) {
  cl_image_desc d = {.image_type = CL_MEM_OBJECT_IMAGE3D,
                     .image_width = width,
                     .image_height = height,
                     .image_depth = depth,
                     .image_row_pitch = row,
                     .image_slice_pitch = slice};
  return clCreateImage(context, flags, format, &d, host, error);
}

cl_int clGetImageInfo(cl_mem m, cl_image_info what, size_t room, void *value, size_t *needed) {
  OclAnswer to = {room, value, needed};
  if (!ocl_is(m, OCL_MEMORY) || !m->image) return CL_INVALID_MEM_OBJECT;
  const OclImageHead *h = &m->image->head;
  unsigned dimensions = 0;
  for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
    if (kinds[i].type == m->type) dimensions = kinds[i].dimensions;
  bool is_3d = dimensions == 3, has_slices = is_3d || h->layers;
  switch (what) {
    case CL_IMAGE_FORMAT: return ocl_answer(to, &m->image->format, sizeof m->image->format);
    case CL_IMAGE_ELEMENT_SIZE: return OCL_ANSWER(to, size_t, h->bytes);
    case CL_IMAGE_ROW_PITCH: return OCL_ANSWER(to, size_t, h->row);
    case CL_IMAGE_SLICE_PITCH: return OCL_ANSWER(to, size_t, has_slices ? h->slice : 0);
    case CL_IMAGE_WIDTH: return OCL_ANSWER(to, size_t, (size_t)h->width);
    case CL_IMAGE_HEIGHT: return OCL_ANSWER(to, size_t, dimensions > 1 ? (size_t)h->height : 0);
    case CL_IMAGE_DEPTH: return OCL_ANSWER(to, size_t, is_3d ? (size_t)h->depth : 0);
    case CL_IMAGE_ARRAY_SIZE: return OCL_ANSWER(to, size_t, (size_t)h->layers);
    case CL_IMAGE_BUFFER: return OCL_ANSWER(to, cl_mem, m->parent);
    case CL_IMAGE_NUM_MIP_LEVELS:
    case CL_IMAGE_NUM_SAMPLES: return OCL_ANSWER(to, cl_uint, 0);
  }
  return CL_INVALID_VALUE;
}

cl_int ocl_check_image(cl_mem m, cl_command_queue q) {
  if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!ocl_is(m, OCL_MEMORY) || !m->image) return CL_INVALID_MEM_OBJECT;
  return m->context == q->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int ocl_check_region(cl_mem m, const size_t *origin, const size_t *region) {
  if (!origin || !region) return CL_INVALID_VALUE;
  const OclImageHead *h = &m->image->head;
  bool layers_are_rows = m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  size_t most[3] = {(size_t)h->width, (size_t)h->height, (size_t)h->depth};
  if (layers_are_rows) {
    most[1] = (size_t)h->layers;
    most[2] = 1;
  }
  for (int i = 0; i < 3; i++)
    if (!region[i] || origin[i] >= most[i] || region[i] > most[i] - origin[i])
      return CL_INVALID_VALUE;
  return CL_SUCCESS;
}
