// host_region: which host memory a command reads or writes, as the arguments of its call say.
#ifndef WG_OPENCL_LAYER_HOST_REGION_H
#define WG_OPENCL_LAYER_HOST_REGION_H

#include "opencl_layer/layer.h"

#include <CL/cl_icd.h>

// What is not an argument of the call is 0.
typedef struct HostTransfer {
  bool is_write, is_read, blocks;
  const void *memory;
  size_t size;                         // of a buffer's transfer
  const size_t *region, *host_origin;  // of an image's or a rectangle's
  size_t row_pitch, slice_pitch;
  cl_mem image;
} HostTransfer;

// Rows of equal length. Bytes between them do not belong to it.
typedef struct HostRegion {
  const char *first;
  size_t row, rows, slices;
  size_t row_pitch, slice_pitch;
} HostRegion;

// false: the arguments are wrong, or name no memory
bool host_region_of(const cl_icd_dispatch *next, const HostTransfer *t, HostRegion *out);
size_t host_region_bytes(const HostRegion *r);  // without those between rows
size_t host_region_span(const HostRegion *r);   // from the first byte to the last
// The address of a byte of the region; *length is shortened to what follows in its row.
const char *host_region_at(const HostRegion *r, size_t byte, size_t *length);
#endif
