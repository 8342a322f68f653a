// The host memory of writes and reads of buffers, rectangles and images.
#include "opencl_layer/host_region.h"

static void of_rectangle(const HostTransfer *t, HostRegion *r) {
  const size_t *at = t->host_origin;
  r->row = t->region[0];
  r->row_pitch = t->row_pitch ? t->row_pitch : r->row;
  r->slice_pitch = t->slice_pitch ? t->slice_pitch : r->row_pitch * r->rows;
  r->first += at[2] * r->slice_pitch + at[1] * r->row_pitch + at[0];
}

static bool of_image(const cl_icd_dispatch *next, const HostTransfer *t, HostRegion *r) {
  size_t element = 0;
  cl_mem_object_type type = 0;
  if (next->clGetImageInfo(t->image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL) ||
      next->clGetMemObjectInfo(t->image, CL_MEM_TYPE, sizeof type, &type, NULL))
    return false;
  bool layers_are_rows = type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  r->row = t->region[0] * element;
  r->row_pitch = t->row_pitch ? t->row_pitch : r->row;
  if (layers_are_rows && t->slice_pitch) r->row_pitch = t->slice_pitch;
  r->slice_pitch = r->row_pitch * r->rows;
  if (!layers_are_rows && t->slice_pitch) r->slice_pitch = t->slice_pitch;
  return true;
}

bool host_region_of(const cl_icd_dispatch *next, const HostTransfer *t, HostRegion *out) {
  *out = (HostRegion){.first = t->memory, .rows = 1, .slices = 1, .row = t->size};
  if (!t->memory) return false;
  if (t->region) {
    out->rows = t->region[1];
    out->slices = t->region[2];
    if (t->host_origin) of_rectangle(t, out);
    else if (!t->image || !of_image(next, t, out)) return false;
  }
  return host_region_bytes(out) != 0;
}

size_t host_region_bytes(const HostRegion *r) { return r->row * r->rows * r->slices; }

size_t host_region_span(const HostRegion *r) {
  return (r->slices - 1) * r->slice_pitch + (r->rows - 1) * r->row_pitch + r->row;
}

const char *host_region_at(const HostRegion *r, size_t byte, size_t *length) {
  size_t line = byte / r->row, x = byte % r->row;
  *length = MIN(*length, r->row - x);
  return r->first + line / r->rows * r->slice_pitch + line % r->rows * r->row_pitch + x;
}
