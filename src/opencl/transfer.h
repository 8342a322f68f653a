// Copies of boxes between buffers, images and host memory: bytes, rows and slices.
#ifndef WG_OPENCL_TRANSFER_H
#define WG_OPENCL_TRANSFER_H

#include "opencl/opencl.h"

typedef struct OclPlace {  // one end of a copy
  bool on_host;
  void *host;
  CUdeviceptr device;
  size_t x, y, z;     // bytes, rows, slices to skip
  size_t row, slice;  // bytes from row to row, slice to slice
} OclPlace;

typedef struct OclTransfer {
  OclPlace to, from;
  size_t size[3];  // bytes, rows, slices
} OclTransfer;

CUresult ocl_transfer(const OclTransfer *t, CUstream stream);
cl_int ocl_enqueue_transfer(OclCommand *c, const OclTransfer *t, OclWaits w, cl_bool blocking);
// Do the flags of the buffer or image let the host read it, or write it?
bool ocl_host_may(cl_mem m, bool read);

// --- images.c ---
// Where a box of an image is: origin in pixels; size becomes bytes, rows, slices.
OclPlace ocl_image_place(cl_mem image, const size_t *origin);
void ocl_image_size(cl_mem image, const size_t *region, size_t *size);
cl_int ocl_check_image(cl_mem m, cl_command_queue q);
// CL_INVALID_VALUE: not inside
cl_int ocl_check_region(cl_mem image, const size_t *origin, const size_t *region);

#endif
