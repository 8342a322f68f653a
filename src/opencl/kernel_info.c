// Queries about kernels.
#include "opencl/opencl.h"

cl_int clGetKernelInfo(cl_kernel k, cl_kernel_info what, size_t room, void *value, size_t *needed) {
  OclAnswer to = {room, value, needed};
  if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
  switch (what) {
    case CL_KERNEL_FUNCTION_NAME: return ocl_answer_text(to, k->entry->name);
    case CL_KERNEL_NUM_ARGS: return OCL_ANSWER(to, cl_uint, k->entry->parameters.len);
    case CL_KERNEL_REFERENCE_COUNT: return OCL_ANSWER(to, cl_uint, ocl_references(k));
    case CL_KERNEL_CONTEXT: return OCL_ANSWER(to, cl_context, k->program->context);
    case CL_KERNEL_PROGRAM: return OCL_ANSWER(to, cl_program, k->program);
    case CL_KERNEL_ATTRIBUTES: return ocl_answer_text(to, k->entry->attributes);
  }
  return CL_INVALID_VALUE;
}

static cl_kernel_arg_address_qualifier space_of(const OclParameter *p) {
  static const cl_kernel_arg_address_qualifier spaces[] = {
      CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_CONSTANT,
      CL_KERNEL_ARG_ADDRESS_LOCAL};
  return spaces[p->space & 3];
}

static cl_kernel_arg_access_qualifier access_of(const OclParameter *p) {
  if (!strcmp(p->access, "read_only")) return CL_KERNEL_ARG_ACCESS_READ_ONLY;
  if (!strcmp(p->access, "write_only")) return CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
  if (!strcmp(p->access, "read_write")) return CL_KERNEL_ARG_ACCESS_READ_WRITE;
  return CL_KERNEL_ARG_ACCESS_NONE;
}

static cl_kernel_arg_type_qualifier qualifiers_of(const OclParameter *p) {
  cl_kernel_arg_type_qualifier q = CL_KERNEL_ARG_TYPE_NONE;
  if (strstr(p->qualifiers, "const")) q |= CL_KERNEL_ARG_TYPE_CONST;
  if (strstr(p->qualifiers, "restrict")) q |= CL_KERNEL_ARG_TYPE_RESTRICT;
  if (strstr(p->qualifiers, "volatile")) q |= CL_KERNEL_ARG_TYPE_VOLATILE;
  return q;
}

cl_int clGetKernelArgInfo(cl_kernel k, cl_uint index, cl_kernel_arg_info what, size_t room,
                          void *value, size_t *needed) {
  OclAnswer to = {room, value, needed};
  if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
  if (index >= k->entry->parameters.len) return CL_INVALID_ARG_INDEX;
  const OclParameter *p = &k->entry->parameters.data[index];
  switch (what) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
      return OCL_ANSWER(to, cl_kernel_arg_address_qualifier, space_of(p));
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
      return OCL_ANSWER(to, cl_kernel_arg_access_qualifier, access_of(p));
    case CL_KERNEL_ARG_TYPE_NAME: return ocl_answer_text(to, p->type);
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
      return OCL_ANSWER(to, cl_kernel_arg_type_qualifier, qualifiers_of(p));
    case CL_KERNEL_ARG_NAME: return ocl_answer_text(to, p->name);
  }
  return CL_INVALID_VALUE;
}

static size_t attribute(CUfunction f, CUfunction_attribute which) {
  int value = 0;
  return cuFuncGetAttribute(&value, which, f) ? 0 : (size_t)value;
}

// Bytes of the __local variables of a kernel: clang calls them KERNEL_$_NAME.
static cl_ulong local_variables(const char *ptx, const char *kernel) {
  cl_ulong sum = 0;
  size_t n = strlen(kernel);
  for (const char *p = ptx; p && (p = strstr(p, ".shared .align "));) {
    unsigned align;
    char name[256];
    unsigned long long bytes = 1;
    const char *at = p;
    p += strcspn(p, "\n");
    int found = sscanf(at, ".shared .align %u .%*s %255[A-Za-z0-9_$][%llu", &align, name, &bytes);
    bool is_own = found >= 2 && !strncmp(name, kernel, n) && !strncmp(name + n, "_$_", 3);
    if (!is_own) continue;
    if (found == 2) bytes = align;  // a number, not an array
    sum = (sum + align - 1) / align * align + bytes;
  }
  return sum;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel k, cl_device_id device, cl_kernel_work_group_info what,
                                size_t room, void *value, size_t *needed) {
  OclAnswer to = {room, value, needed};
  CUfunction f;
  if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
  if (!device) device = k->program->devices.data[0];
  if (!ocl_is(device, OCL_DEVICE) || !ocl_context_has(k->program->context, device))
    return CL_INVALID_DEVICE;
  if (!ocl_kernel_function(k, device, &f)) return CL_OUT_OF_RESOURCES;
  ocl_enter(device);
  size_t threads = attribute(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  cl_ulong shared = attribute(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  cl_ulong local = attribute(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  ocl_leave();
  // the driver's number extends to the start of the __local arguments
  cl_ulong declared = local_variables(k->program->image.ptx, k->entry->name);
  if (declared) shared = declared;
  for (uint32_t i = 0; i < k->entry->parameters.len; i++) shared += k->arguments[i].local;
  switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE: return OCL_ANSWER(to, size_t, threads);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
      return ocl_answer(to, k->entry->required, sizeof k->entry->required);
    case CL_KERNEL_LOCAL_MEM_SIZE: return OCL_ANSWER(to, cl_ulong, shared);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
      return OCL_ANSWER(to, size_t, (size_t)ocl_attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE));
    case CL_KERNEL_PRIVATE_MEM_SIZE: return OCL_ANSWER(to, cl_ulong, local);
  }
  return CL_INVALID_VALUE;
}

// The devices have no sub-groups.
cl_int clGetKernelSubGroupInfo(cl_kernel k, cl_device_id device, cl_kernel_sub_group_info what,
                               size_t input_size, const void *input, size_t room, void *value,
                               size_t *needed) {
  return ocl_is(k, OCL_KERNEL) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}
