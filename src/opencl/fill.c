// Fills of buffers with a pattern of up to 128 bytes.
#include "opencl/opencl.h"

enum { MOST_PATTERN = 128 };

typedef struct Fill {
  CUdeviceptr to;
  size_t pattern_bytes, size;
  unsigned char pattern[MOST_PATTERN];
} Fill;

// A long pattern is repeated in host memory, and copied.
static CUresult fill_by_copy(const Fill *f, CUstream stream) {
  unsigned char *all = mem_alloc(f->size);
  for (size_t i = 0; i < f->size; i += f->pattern_bytes)
    memcpy(all + i, f->pattern, f->pattern_bytes);
  CUresult r = cuMemcpyHtoDAsync_v2(f->to, all, f->size, stream);
  if (!r) r = cuStreamSynchronize(stream);
  free(all);
  return r;
}

static cl_int run_fill(OclCommand *c) {
  const Fill *f = c->work;
  uint16_t half;
  uint32_t word;
  memcpy(&half, f->pattern, sizeof half);
  memcpy(&word, f->pattern, sizeof word);
  CUresult r;
  switch (f->pattern_bytes) {
    case 1: r = cuMemsetD8Async(f->to, f->pattern[0], f->size, c->stream); break;
    case 2: r = cuMemsetD16Async(f->to, half, f->size / 2, c->stream); break;
    case 4: r = cuMemsetD32Async(f->to, word, f->size / 4, c->stream); break;
    default: r = fill_by_copy(f, c->stream);
  }
  return ocl_error(r, CL_OUT_OF_RESOURCES);
}

cl_int clEnqueueFillBuffer(cl_command_queue q, cl_mem m, const void *pattern, size_t pattern_bytes,
                           size_t offset, size_t size, cl_uint n, const cl_event *list,
                           cl_event *event) {
  OclWaits w = {n, list, event};
  cl_int error = ocl_check_memory(m, q);
  if (error) return error;
  bool power = pattern_bytes && !(pattern_bytes & (pattern_bytes - 1));
  if (!pattern || !power || pattern_bytes > MOST_PATTERN || offset % pattern_bytes ||
      size % pattern_bytes || offset > m->size || size > m->size - offset || !size)
    return CL_INVALID_VALUE;
  OclCommand *c = ocl_command(q, CL_COMMAND_FILL_BUFFER, w, &error);
  if (!c) return error;
  Fill *f = c->work = mem_alloc(sizeof *f);
  f->to = m->address + offset;
  f->pattern_bytes = pattern_bytes;
  f->size = size;
  memcpy(f->pattern, pattern, pattern_bytes);
  c->run = run_fill;
  ocl_command_uses(c, m);
  return ocl_enqueue(c, w, CL_FALSE);
}
