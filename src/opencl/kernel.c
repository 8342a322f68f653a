// Kernels and their arguments.
#include "opencl/opencl.h"

void ocl_kernel_free(void *object) {
  cl_kernel k = object;
  for (uint32_t i = 0; i < k->entry->parameters.len; i++) {
    ocl_drop(k->arguments[i].memory);
    ocl_drop(k->arguments[i].sampler);
    free(k->arguments[i].value);
  }
  free(k->arguments);
  vec_free(&k->functions);
  k->program->kernels--;
  ocl_drop(k->program);
}

static cl_kernel new_kernel(cl_program p, OclEntry *entry) {
  cl_kernel k = ocl_object_new(OCL_KERNEL, sizeof *k);
  k->program = p;
  ocl_hold(p);
  p->kernels++;
  k->entry = entry;
  k->arguments = mem_alloc((entry->parameters.len + 1) * sizeof *k->arguments);
  for (uint32_t i = 0; i < entry->parameters.len; i++)
    k->arguments[i].value = mem_alloc(entry->parameters.data[i].bytes + 1);
  for (uint32_t i = 0; i < p->devices.len; i++) vec_push(&k->functions, NULL);
  return k;
}

bool ocl_kernel_function(cl_kernel k, cl_device_id device, CUfunction *out) {
  CUmodule m;
  for (uint32_t i = 0; i < k->functions.len; i++) {
    if (k->program->devices.data[i] != device) continue;
    *out = k->functions.data[i];
    if (*out) return true;
    if (!ocl_program_module(k->program, device, &m)) return false;
    ocl_enter(device);
    CUresult r = cuModuleGetFunction(out, m, k->entry->name);
    ocl_leave();
    if (r != CUDA_SUCCESS) ocl_name_refusal(r, k->entry->name);
    k->functions.data[i] = *out;
    return r == CUDA_SUCCESS;
  }
  return false;
}

cl_kernel clCreateKernel(cl_program p, const char *name, cl_int *error) {
  cl_int ignored;
  CUfunction f;
  if (!error) error = &ignored;
  if (!ocl_is(p, OCL_PROGRAM)) {
    *error = CL_INVALID_PROGRAM;
    return NULL;
  }
  if (!p->image.ptx) {
    *error = CL_INVALID_PROGRAM_EXECUTABLE;
    return NULL;
  }
  if (!name) {
    *error = CL_INVALID_VALUE;
    return NULL;
  }
  *error = CL_INVALID_KERNEL_NAME;
  for (uint32_t i = 0; i < p->image.kernels.len; i++) {
    if (strcmp(p->image.kernels.data[i]->name, name)) continue;
    cl_kernel k = new_kernel(p, p->image.kernels.data[i]);
    // the driver compiles it now: clCreateKernel is where a program looks for errors
    *error = ocl_kernel_function(k, p->devices.data[0], &f) ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
    if (*error == CL_SUCCESS) return k;
    ocl_drop(k);
    break;
  }
  return NULL;
}

cl_int clCreateKernelsInProgram(cl_program p, cl_uint room, cl_kernel *out, cl_uint *n) {
  if (!ocl_is(p, OCL_PROGRAM)) return CL_INVALID_PROGRAM;
  if (!p->image.ptx) return CL_INVALID_PROGRAM_EXECUTABLE;
  if (out && room < p->image.kernels.len) return CL_INVALID_VALUE;
  for (uint32_t i = 0; out && i < p->image.kernels.len; i++)
    out[i] = new_kernel(p, p->image.kernels.data[i]);
  if (n) *n = p->image.kernels.len;
  return CL_SUCCESS;
}

cl_kernel clCloneKernel(cl_kernel from, cl_int *error) {
  if (error) *error = ocl_is(from, OCL_KERNEL) ? CL_SUCCESS : CL_INVALID_KERNEL;
  if (!ocl_is(from, OCL_KERNEL)) return NULL;
  cl_kernel k = new_kernel(from->program, from->entry);
  for (uint32_t i = 0; i < k->entry->parameters.len; i++) {
    OclArgument *a = &k->arguments[i];
    unsigned char *value = a->value;
    *a = from->arguments[i];
    a->value = value;
    memcpy(value, from->arguments[i].value, k->entry->parameters.data[i].bytes);
    ocl_hold(a->memory);
    ocl_hold(a->sampler);
  }
  return k;
}

cl_int clRetainKernel(cl_kernel k) { return ocl_retain(k, OCL_KERNEL, CL_INVALID_KERNEL); }
cl_int clReleaseKernel(cl_kernel k) { return ocl_release(k, OCL_KERNEL, CL_INVALID_KERNEL); }

// A pointer to a type of the program's own, such as image_data *, is no image.
static bool is_image(const OclParameter *p) {
  return p->space && !strncmp(p->type, "image", 5) && !strchr(p->type, '*');
}
static bool is_sampler(const OclParameter *p) { return !strcmp(p->type, "sampler_t"); }

static cl_int set_memory(OclArgument *a, const OclParameter *p, size_t size, const void *value) {
  if (size != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
  cl_mem m = value ? *(cl_mem *)value : NULL;
  if (m && !ocl_is(m, OCL_MEMORY)) return CL_INVALID_MEM_OBJECT;
  if (is_image(p) && m && !m->image) return CL_INVALID_MEM_OBJECT;
  if (is_image(p) && (!m || m->type != ocl_image_type_named(p->type))) return CL_INVALID_ARG_VALUE;
  if (!is_image(p) && m && m->image) return CL_INVALID_ARG_VALUE;
  bool reads = strcmp(p->access, "write_only"), writes = strcmp(p->access, "read_only");
  if (is_image(p) &&
      ((reads && m->flags & CL_MEM_WRITE_ONLY) || (writes && m->flags & CL_MEM_READ_ONLY)))
    return CL_INVALID_ARG_VALUE;
  ocl_hold(m);
  ocl_drop(a->memory);
  a->memory = m;
  CUdeviceptr address = !m ? 0 : m->image ? m->image->head_address : m->address;
  memcpy(a->value, &address, sizeof address);
  return CL_SUCCESS;
}

static cl_int set_sampler(OclArgument *a, const OclParameter *p, size_t size, const void *value) {
  if (size != sizeof(cl_sampler)) return CL_INVALID_ARG_SIZE;
  cl_sampler s = value ? *(cl_sampler *)value : NULL;
  if (!ocl_is(s, OCL_SAMPLER)) return CL_INVALID_SAMPLER;
  ocl_hold(s);
  ocl_drop(a->sampler);
  a->sampler = s;
  uint64_t bits = ocl_sampler_bits(s);
  memcpy(a->value, &bits, MIN(sizeof bits, p->bytes));
  return CL_SUCCESS;
}

cl_int clSetKernelArg(cl_kernel k, cl_uint index, size_t size, const void *value) {
  if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
  if (index >= k->entry->parameters.len) return CL_INVALID_ARG_INDEX;
  const OclParameter *p = &k->entry->parameters.data[index];
  OclArgument *a = &k->arguments[index];
  enum { PRIVATE, GLOBAL, CONSTANT, LOCAL };
  cl_int error = CL_SUCCESS;
  if (is_sampler(p)) error = set_sampler(a, p, size, value);
  else if (p->space == LOCAL) {
    if (value) return CL_INVALID_ARG_VALUE;
    if (!size) return CL_INVALID_ARG_SIZE;
    a->local = size;
  } else if (p->space == GLOBAL || p->space == CONSTANT || is_image(p)) {
    error = set_memory(a, p, size, value);
  } else {
    if (!value) return CL_INVALID_ARG_VALUE;
    // clang pads vectors of three; the program may give either size
    if (size != p->bytes && !(size < p->bytes && size * 4 == p->bytes * 3))
      return CL_INVALID_ARG_SIZE;
    memcpy(a->value, value, size);
  }
  if (!error) a->set = true;
  return error;
}

cl_int clSetKernelArgSVMPointer(cl_kernel k, cl_uint index, const void *value) {
  if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
  if (index >= k->entry->parameters.len) return CL_INVALID_ARG_INDEX;
  const OclParameter *p = &k->entry->parameters.data[index];
  if (p->space != 1 && p->space != 2) return CL_INVALID_ARG_VALUE;
  memcpy(k->arguments[index].value, &value, sizeof value);
  ocl_drop(k->arguments[index].memory);
  k->arguments[index].memory = NULL;
  k->arguments[index].set = true;
  return CL_SUCCESS;
}

// Kernels reach all SVM allocations without being told.
cl_int clSetKernelExecInfo(cl_kernel k, cl_kernel_exec_info what, size_t size, const void *value) {
  if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
  bool forgets = what == CL_KERNEL_EXEC_INFO_SVM_PTRS && !value && !size;
  if (forgets) return CL_SUCCESS;
  if (!value || !size) return CL_INVALID_VALUE;
  if (what == CL_KERNEL_EXEC_INFO_SVM_PTRS) return CL_SUCCESS;
  return what == CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM ? CL_INVALID_OPERATION
                                                           : CL_INVALID_VALUE;
}
