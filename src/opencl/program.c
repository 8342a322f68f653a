// Programs: source text or an image of ours, and facts about them.
#include "opencl/opencl.h"

void ocl_program_free(void *object) {
  cl_program p = object;
  for (uint32_t i = 0; i < p->modules.len; i++) {
    if (!p->modules.data[i]) continue;
    ocl_enter(p->devices.data[i]);
    cuModuleUnload(p->modules.data[i]);
    ocl_leave();
  }
  vec_free(&p->modules);
  vec_free(&p->devices);
  ocl_image_free(&p->image);
  str_free(&p->log);
  str_free(&p->binary);
  str_free(&p->il);
  vec_free(&p->constants);
  free(p->source);
  free(p->options);
  ocl_drop(p->context);
}

cl_program ocl_program_new(cl_context context) {
  cl_program p = ocl_object_new(OCL_PROGRAM, sizeof *p);
  p->context = context;
  ocl_hold(context);
  p->status = CL_BUILD_NONE;
  p->options = mem_strdup("");
  for (uint32_t i = 0; i < context->devices.len; i++) {
    vec_push(&p->devices, context->devices.data[i]);
    vec_push(&p->modules, NULL);
  }
  return p;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint n, const char **texts,
                                     const size_t *lengths, cl_int *error) {
  cl_int ignored;
  if (!error) error = &ignored;
  if (!ocl_is(context, OCL_CONTEXT)) {
    *error = CL_INVALID_CONTEXT;
    return NULL;
  }
  if (!n || !texts) {
    *error = CL_INVALID_VALUE;
    return NULL;
  }
  for (cl_uint i = 0; i < n; i++)
    if (!texts[i]) {
      *error = CL_INVALID_VALUE;
      return NULL;
    }
  Str all = {0};
  str_add(&all, "");
  for (cl_uint i = 0; i < n; i++)
    str_addn(&all, texts[i],
             lengths && lengths[i] ? strnlen(texts[i], lengths[i]) : strlen(texts[i]));
  cl_program p = ocl_program_new(context);
  p->source = all.data;
  *error = CL_SUCCESS;
  return p;
}

static bool starts(const unsigned char *text, size_t n, const char *mark) {
  return n >= strlen(mark) && !memcmp(text, mark, strlen(mark));
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint n, const cl_device_id *devices,
                                     const size_t *lengths, const unsigned char **binaries,
                                     cl_int *status, cl_int *error) {
  cl_int ignored;
  if (!error) error = &ignored;
  if (!ocl_is(context, OCL_CONTEXT)) {
    *error = CL_INVALID_CONTEXT;
    return NULL;
  }
  if (!n || !devices || !lengths || !binaries) {
    *error = CL_INVALID_VALUE;
    return NULL;
  }
  *error = CL_SUCCESS;
  for (cl_uint i = 0; i < n; i++) {
    if (!ocl_is(devices[i], OCL_DEVICE) || !ocl_context_has(context, devices[i])) {
      *error = CL_INVALID_DEVICE;
      return NULL;
    }
    bool given = lengths[i] && binaries[i];
    bool ours = given && (starts(binaries[i], lengths[i], OCL_IMAGE_MARK) ||
                          starts(binaries[i], lengths[i], OCL_OBJECT_MARK));
    if (status) status[i] = ours ? CL_SUCCESS : given ? CL_INVALID_BINARY : CL_INVALID_VALUE;
    if (!ours && !*error) *error = given ? CL_INVALID_BINARY : CL_INVALID_VALUE;
  }
  if (*error) return NULL;
  cl_program p = ocl_program_new(context);
  str_addn(&p->binary, (const char *)binaries[0], lengths[0]);
  bool object = starts(binaries[0], lengths[0], OCL_OBJECT_MARK);
  bool library = starts(binaries[0], lengths[0], OCL_LIBRARY_MARK);
  p->type = library  ? CL_PROGRAM_BINARY_TYPE_LIBRARY
            : object ? CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT
                     : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  return p;
}

cl_program clCreateProgramWithBuiltInKernels(cl_context context, cl_uint n,
                                             const cl_device_id *devices, const char *names,
                                             cl_int *error) {
  if (error) *error = ocl_is(context, OCL_CONTEXT) ? CL_INVALID_VALUE : CL_INVALID_CONTEXT;
  return NULL;
}

// Without a translator no device takes SPIR-V.
cl_program clCreateProgramWithIL(cl_context context, const void *il, size_t length, cl_int *error) {
  cl_int ignored;
  if (!error) error = &ignored;
  *error = CL_SUCCESS;
  if (!ocl_is(context, OCL_CONTEXT)) *error = CL_INVALID_CONTEXT;
  else if (!ocl_translator_present() && ocl_compiler_present()) {
    ocl_translator_missing();
    *error = CL_INVALID_OPERATION;
  } else if (!il || !length || !ocl_is_spirv(il, length)) *error = CL_INVALID_VALUE;
  if (*error) return NULL;
  cl_program p = ocl_program_new(context);
  str_addn(&p->il, il, length);
  return p;
}

cl_int clSetProgramReleaseCallback(cl_program p, void(CL_CALLBACK *call)(cl_program, void *),
                                   void *user) {
  return ocl_is(p, OCL_PROGRAM) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}

cl_int clSetProgramSpecializationConstant(cl_program p, cl_uint id, size_t size,
                                          const void *value) {
  OclConstant c = {.id = id, .bytes = size};
  if (!ocl_is(p, OCL_PROGRAM)) return CL_INVALID_PROGRAM;
  if (!p->il.len) return CL_INVALID_OPERATION;
  bool known = size == 1 || size == 2 || size == 4 || size == 8;
  if (!value || !known) return CL_INVALID_VALUE;
  memcpy(&c.value, value, size);
  for (uint32_t i = 0; i < p->constants.len; i++)
    if (p->constants.data[i].id == id) {
      p->constants.data[i] = c;
      return CL_SUCCESS;
    }
  vec_push(&p->constants, c);
  return CL_SUCCESS;
}

cl_int clRetainProgram(cl_program p) { return ocl_retain(p, OCL_PROGRAM, CL_INVALID_PROGRAM); }
cl_int clReleaseProgram(cl_program p) { return ocl_release(p, OCL_PROGRAM, CL_INVALID_PROGRAM); }

static cl_int answer_kernel_names(cl_program p, OclAnswer to) {
  Str names = {0};
  for (uint32_t i = 0; i < p->image.kernels.len; i++)
    str_printf(&names, "%s%s", i ? ";" : "", p->image.kernels.data[i]->name);
  cl_int result = ocl_answer_text(to, names.data);
  str_free(&names);
  return result;
}

static cl_int answer_sizes(cl_program p, OclAnswer to) {
  VEC(size_t) sizes = {0};
  for (uint32_t i = 0; i < p->devices.len; i++) vec_push(&sizes, p->binary.len);
  cl_int result = ocl_answer(to, sizes.data, sizes.len * sizeof *sizes.data);
  vec_free(&sizes);
  return result;
}

// The program gives an array of pointers to memory of the sizes that it has asked for.
static cl_int answer_binaries(cl_program p, OclAnswer to) {
  size_t bytes = p->devices.len * sizeof(unsigned char *);
  if (to.needed) *to.needed = bytes;
  if (!to.value) return CL_SUCCESS;
  if (to.room < bytes) return CL_INVALID_VALUE;
  unsigned char **out = to.value;
  for (uint32_t i = 0; i < p->devices.len; i++)
    if (out[i] && p->binary.len) memcpy(out[i], p->binary.data, p->binary.len);
  return CL_SUCCESS;
}

cl_int clGetProgramInfo(cl_program p, cl_program_info what, size_t room, void *value,
                        size_t *needed) {
  OclAnswer to = {room, value, needed};
  if (!ocl_is(p, OCL_PROGRAM)) return CL_INVALID_PROGRAM;
  bool built = p->image.ptx;
  switch (what) {
    case CL_PROGRAM_REFERENCE_COUNT: return OCL_ANSWER(to, cl_uint, ocl_references(p));
    case CL_PROGRAM_CONTEXT: return OCL_ANSWER(to, cl_context, p->context);
    case CL_PROGRAM_NUM_DEVICES: return OCL_ANSWER(to, cl_uint, p->devices.len);
    case CL_PROGRAM_DEVICES:
      return ocl_answer(to, p->devices.data, p->devices.len * sizeof *p->devices.data);
    case CL_PROGRAM_SOURCE: return ocl_answer_text(to, p->source);
    case CL_PROGRAM_IL: return ocl_answer(to, p->il.data, p->il.len);
    case CL_PROGRAM_BINARY_SIZES: return answer_sizes(p, to);
    case CL_PROGRAM_BINARIES: return answer_binaries(p, to);
    case CL_PROGRAM_NUM_KERNELS:
      if (!built) return CL_INVALID_PROGRAM_EXECUTABLE;
      return OCL_ANSWER(to, size_t, p->image.kernels.len);
    case CL_PROGRAM_KERNEL_NAMES:
      return built ? answer_kernel_names(p, to) : CL_INVALID_PROGRAM_EXECUTABLE;
    case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
    case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT: return OCL_ANSWER(to, cl_bool, CL_FALSE);
  }
  return CL_INVALID_VALUE;
}

cl_int clGetProgramBuildInfo(cl_program p, cl_device_id device, cl_program_build_info what,
                             size_t room, void *value, size_t *needed) {
  OclAnswer to = {room, value, needed};
  if (!ocl_is(p, OCL_PROGRAM)) return CL_INVALID_PROGRAM;
  if (!ocl_is(device, OCL_DEVICE) || !ocl_context_has(p->context, device)) return CL_INVALID_DEVICE;
  switch (what) {
    case CL_PROGRAM_BUILD_STATUS: return OCL_ANSWER(to, cl_build_status, p->status);
    case CL_PROGRAM_BUILD_OPTIONS: return ocl_answer_text(to, p->options);
    case CL_PROGRAM_BUILD_LOG: return ocl_answer_text(to, p->log.data);
    case CL_PROGRAM_BINARY_TYPE: return OCL_ANSWER(to, cl_program_binary_type, p->type);
    case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE: return OCL_ANSWER(to, size_t, 0);
  }
  return CL_INVALID_VALUE;
}
