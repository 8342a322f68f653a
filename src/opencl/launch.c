// clEnqueueNDRangeKernel: an NDRange is one launch, or several if its last work-groups are smaller
// than the others or a grid cannot hold all work-groups.
#include "opencl/transfer.h"

enum { ALIGNMENT_OF_LOCAL = 128 };  // of the largest vector, long16

typedef struct Launch {
  CUfunction function;
  OclLaunch range;
  size_t shared;
  size_t most_groups[3];  // in one launch
  uint32_t n;
  void **values;  // of the parameters; the last is `range` where the kernel has that one
  unsigned char *bytes;
  uint64_t (*buffers)[3];  // of wg_opencl_arguments
} Launch;

static void launch_end(void *work) {
  Launch *l = work;
  free(l->values);
  free(l->bytes);
  free(l->buffers);
}

// Part of the NDRange in one dimension: work-groups of the same size.
typedef struct Part {
  uint64_t first_group, groups, size;
} Part;

static uint32_t parts_of(const Launch *l, int d, Part *out, uint32_t room) {
  uint64_t size = l->range.local_size[d], whole = l->range.global_size[d] / size;
  uint64_t rest = l->range.global_size[d] % size;
  uint32_t n = 0;
  for (uint64_t at = 0; at < whole && n + 1 < room; at += l->most_groups[d])
    out[n++] = (Part){at, MIN(whole - at, l->most_groups[d]), size};
  if (rest) out[n++] = (Part){whole, 1, rest};
  return n;
}

static CUresult launch_part(const Launch *l, const Part *const part[3], CUstream stream) {
  OclLaunch range = l->range;
  for (int d = 0; d < 3; d++) {
    range.first_group[d] = part[d]->first_group;
    range.first_item[d] = range.offset[d] + part[d]->first_group * range.local_size[d];
  }
  void **values = mem_alloc((l->n + 2) * sizeof *values);
  memcpy(values, l->values, l->n * sizeof *values);
  values[l->n] = &range;
  wg_opencl_arguments(l->buffers, l->n);
  CUresult r = cuLaunchKernel(l->function, (unsigned)part[0]->groups, (unsigned)part[1]->groups,
                              (unsigned)part[2]->groups, (unsigned)part[0]->size,
                              (unsigned)part[1]->size, (unsigned)part[2]->size, (unsigned)l->shared,
                              stream, values, NULL);
  wg_opencl_arguments(NULL, 0);
  free(values);
  return r;
}

static cl_int run_launch(OclCommand *c) {
  enum { MOST_PARTS = 1024 };
  const Launch *l = c->work;
  Part *parts = mem_alloc(3 * MOST_PARTS * sizeof *parts);
  uint32_t n[3];
  for (int d = 0; d < 3; d++) n[d] = parts_of(l, d, parts + d * MOST_PARTS, MOST_PARTS);
  CUresult r = CUDA_SUCCESS;
  for (uint32_t z = 0; z < n[2]; z++)
    for (uint32_t y = 0; y < n[1]; y++)
      for (uint32_t x = 0; !r && x < n[0]; x++) {
        const Part *part[3] = {parts + x, parts + MOST_PARTS + y, parts + 2 * MOST_PARTS + z};
        r = launch_part(l, part, c->stream);
      }
  free(parts);
  return ocl_error(r, CL_OUT_OF_RESOURCES);
}

// A size for work-groups where the program leaves it to us: of the divisors of each size, the
// largest that fit.
static void choose_local(const uint64_t *global, size_t most, uint64_t *out) {
  enum { GOOD_SIZE = 256 };
  uint64_t left = MIN(most, GOOD_SIZE);
  for (int d = 0; d < 3; d++) {
    uint64_t best = 1;
    for (uint64_t i = 1; i <= MIN(left, d == 2 ? 64 : left) && i <= global[d]; i++)
      if (global[d] % i == 0) best = i;
    out[d] = best;
    left /= best;
  }
}

typedef struct Range {  // of the call
  cl_uint dimensions;
  const size_t *offset, *global, *local;
} Range;

static cl_int read_range(cl_kernel k, cl_device_id device, size_t most, const Range *r,
                         OclLaunch *out) {
  static const CUdevice_attribute widest[] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                                              CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                              CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
  const size_t *required = k->entry->required;
  const char *options = k->program->options;
  bool uniform = options && strstr(options, "-cl-uniform-work-group-size");
  uint64_t items = 1;
  out->dimensions = r->dimensions;
  for (cl_uint d = 0; d < 3; d++) {
    bool given = d < r->dimensions;
    out->offset[d] = given && r->offset ? r->offset[d] : 0;
    // a missing size runs nothing, like a size of 0
    out->global_size[d] = !given ? 1 : r->global ? r->global[d] : 0;
    out->local_size[d] = given && r->local ? r->local[d] : 1;
    if (!out->local_size[d]) return CL_INVALID_WORK_GROUP_SIZE;
    if (out->offset[d] + out->global_size[d] < out->offset[d]) return CL_INVALID_GLOBAL_OFFSET;
  }
  if (!r->local && required[0])
    for (int d = 0; d < 3; d++) out->local_size[d] = required[d];
  else if (!r->local && out->global_size[0] && out->global_size[1] && out->global_size[2])
    choose_local(out->global_size, most, out->local_size);
  for (cl_uint d = 0; d < 3; d++) {
    if (required[0] && out->local_size[d] != required[d]) return CL_INVALID_WORK_GROUP_SIZE;
    if (out->local_size[d] > (uint64_t)ocl_attribute(device, widest[d]))
      return CL_INVALID_WORK_ITEM_SIZE;
    if (uniform && out->global_size[d] % out->local_size[d]) return CL_INVALID_WORK_GROUP_SIZE;
    items *= out->local_size[d];
    out->groups[d] = (out->global_size[d] + out->local_size[d] - 1) / out->local_size[d];
  }
  return items > most ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

enum { NO_READS = 1, NO_WRITES = 2 };  // as wg_opencl_arguments takes them

// While the host has a buffer mapped, kernels must not write it; while it is mapped for writing,
// they must not read it either. Mappings of only a part are ignored: the rest stays accessible.
static uint64_t forbidden_by_mapping(cl_mem m, const OclEntry *e, uint32_t argument) {
  uint64_t forbidden = 0;
  ocl_begin();
  for (uint32_t i = 0; !m->image && i < m->mappings.len; i++) {
    const OclMapping *mapping = &m->mappings.data[i];
    if (mapping->box->size[0] != m->size) continue;
    forbidden |= mapping->flags & CL_MAP_READ && !(mapping->flags & CL_MAP_WRITE)
                     ? NO_WRITES
                     : NO_READS | NO_WRITES;
  }
  ocl_end();
  if (forbidden & NO_READS) {
    char key[160];
    snprintf(key, sizeof key, "mapped %s %s", e->name, e->parameters.data[argument].name);
    log_once(key,
             "%s is enqueued while its argument %s is mapped for writing: unmap the buffer "
             "before, with clEnqueueUnmapMemObject",
             e->name, e->parameters.data[argument].name);
  }
  return forbidden;
}

// Copies the arguments as they are now; the program may set others before the command runs.
static cl_int take_arguments(cl_kernel k, OclCommand *c, Launch *l) {
  size_t bytes = 0, local = 0;
  l->n = k->entry->parameters.len;
  for (uint32_t i = 0; i < l->n; i++) {
    if (!k->arguments[i].set) return CL_INVALID_KERNEL_ARGS;
    bytes += (k->entry->parameters.data[i].bytes + 15) / 16 * 16;
  }
  l->values = mem_alloc((l->n + 1) * sizeof *l->values);
  l->bytes = mem_alloc(bytes + 16);
  l->buffers = mem_alloc((l->n + 1) * sizeof *l->buffers);
  for (uint32_t i = 0, at = 0; i < l->n; i++) {
    const OclArgument *a = &k->arguments[i];
    size_t size = k->entry->parameters.data[i].bytes;
    memcpy(l->bytes + at, a->value, size);
    if (a->local) {
      uint64_t offset = local;
      memcpy(l->bytes + at, &offset, MIN(size, sizeof offset));
      local += (a->local + ALIGNMENT_OF_LOCAL - 1) / ALIGNMENT_OF_LOCAL * ALIGNMENT_OF_LOCAL;
      // no padding after the last one, so that an access past its end is outside of all
      if (i + 1 == l->n) local = offset + a->local;
    }
    l->values[i] = l->bytes + at;
    at += (uint32_t)((size + 15) / 16 * 16);
    if (!a->memory) continue;
    ocl_command_uses(c, a->memory);
    l->buffers[i][0] = a->memory->address;
    l->buffers[i][1] = a->memory->size;
    if (a->memory->flags & CL_MEM_WRITE_ONLY) l->buffers[i][2] |= NO_READS;
    if (a->memory->flags & CL_MEM_READ_ONLY) l->buffers[i][2] |= NO_WRITES;
    l->buffers[i][2] |= forbidden_by_mapping(a->memory, k->entry, i);
  }
  l->shared = local;
  return CL_SUCCESS;
}

static int function_attribute(CUfunction f, CUfunction_attribute which) {
  int value = 0;
  return cuFuncGetAttribute(&value, which, f) ? 0 : value;
}

static cl_int prepare(cl_kernel k, cl_command_queue q, const Range *range, OclCommand *c) {
  Launch *l = c->work;
  if (!ocl_kernel_function(k, q->device, &l->function)) return CL_INVALID_PROGRAM_EXECUTABLE;
  ocl_enter(q->device);
  size_t most = (size_t)function_attribute(l->function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  size_t fixed = (size_t)function_attribute(l->function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  ocl_leave();
  cl_int error = read_range(k, q->device, most, range, &l->range);
  if (!error) error = take_arguments(k, c, l);
  if (error) return error;
  size_t shared = (size_t)ocl_attribute(q->device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  if (fixed + l->shared > shared) return CL_OUT_OF_RESOURCES;
  l->most_groups[0] = (size_t)ocl_attribute(q->device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  l->most_groups[1] = (size_t)ocl_attribute(q->device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  l->most_groups[2] = (size_t)ocl_attribute(q->device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  return CL_SUCCESS;
}

static cl_int enqueue(cl_kernel k, cl_command_queue q, const Range *range, cl_command_type type,
                      OclWaits w) {
  cl_int error;
  if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
  if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
  if (k->program->context != q->context) return CL_INVALID_CONTEXT;
  if (range->dimensions < 1 || range->dimensions > 3) return CL_INVALID_WORK_DIMENSION;
  OclCommand *c = ocl_command(q, type, w, &error);
  if (!c) return error;
  c->work = mem_alloc(sizeof(Launch));
  c->end = launch_end;
  ocl_command_uses(c, k);
  error = prepare(k, q, range, c);
  if (error) {
    ocl_command_free(c);
    return error;
  }
  c->run = run_launch;
  return ocl_enqueue(c, w, CL_FALSE);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dimensions,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint n, const cl_event *list, cl_event *event) {
  Range range = {dimensions, offset, global, local};
  return enqueue(k, q, &range, CL_COMMAND_NDRANGE_KERNEL, (OclWaits){n, list, event});
}

cl_int clEnqueueTask(cl_command_queue q, cl_kernel k, cl_uint n, const cl_event *list,
                     cl_event *event) {
  static const size_t one = 1;
  Range range = {1, NULL, &one, &one};
  return enqueue(k, q, &range, CL_COMMAND_TASK, (OclWaits){n, list, event});
}

cl_int clEnqueueNativeKernel(cl_command_queue q, void(CL_CALLBACK *function)(void *), void *args,
                             size_t size, cl_uint n_memory, const cl_mem *memory,
                             const void **places, cl_uint n, const cl_event *list,
                             cl_event *event) {
  return ocl_is(q, OCL_QUEUE) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}
