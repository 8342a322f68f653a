// clBuildProgram, clCompileProgram and clLinkProgram. All three finish before they return, and call
// the program's callback at the end.
#include "opencl/opencl.h"

typedef void(CL_CALLBACK *Notify)(cl_program, void *);

static cl_int check_devices(cl_context context, cl_uint n, const cl_device_id *devices) {
  if (!n != !devices) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < n; i++)
    if (!ocl_is(devices[i], OCL_DEVICE) || !ocl_context_has(context, devices[i]))
      return CL_INVALID_DEVICE;
  return CL_SUCCESS;
}

static void begin(cl_program p, const char *options) {
  free(p->options);
  p->options = mem_strdup(options ? options : "");
  p->log.len = 0;
  if (p->log.data) p->log.data[0] = 0;
  p->status = CL_BUILD_IN_PROGRESS;
}

static cl_int finish(cl_program p, cl_int result, Notify notify, void *user) {
  p->status = result ? CL_BUILD_ERROR : CL_BUILD_SUCCESS;
  if (p->log.len) log_verbose("OpenCL build log:\n%s", p->log.data);
  if (notify) notify(p, user);
  return result;
}

// Gives the program its compiled code: a program image, or with `mark` an object.
static bool take_code(cl_program p, const char *mark, Str *code) {
  Str binary = {0};
  if (mark) str_add(&binary, mark);
  str_add(&binary, code->data);
  str_free(&p->binary);
  p->binary = binary;
  ocl_image_free(&p->image);
  return mark || ocl_image_read(p->binary.data, &p->image);
}

static const char *object_text(cl_program p) { return p->binary.data + strlen(OCL_OBJECT_MARK); }

static cl_int build_source(cl_program p) {
  Str image = {0};
  OclRequest r = {.options = p->options, .source = p->source, .link = true};
  cl_int result = ocl_compile(&r, &image, &p->log);
  if (result == CL_COMPILE_PROGRAM_FAILURE || result == CL_LINK_PROGRAM_FAILURE)
    result = CL_BUILD_PROGRAM_FAILURE;
  if (!result && !take_code(p, NULL, &image)) result = CL_BUILD_PROGRAM_FAILURE;
  if (!result) p->type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  str_free(&image);
  return result;
}

static cl_int build_il(cl_program p) {
  Str assembly = {0}, image = {0};
  OclRequest r = {.options = p->options, .link = true};
  cl_int result = ocl_translate(&p->il, &p->constants, &assembly, &p->log);
  if (!result) vec_push(&r.objects, assembly.data);
  if (!result) result = ocl_compile(&r, &image, &p->log);
  if (result == CL_LINK_PROGRAM_FAILURE) result = CL_BUILD_PROGRAM_FAILURE;
  if (result == CL_INVALID_LINKER_OPTIONS) result = CL_INVALID_BUILD_OPTIONS;
  if (!result && !take_code(p, NULL, &image)) result = CL_BUILD_PROGRAM_FAILURE;
  if (!result) p->type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  vec_free(&r.objects);
  str_free(&assembly);
  str_free(&image);
  return result;
}

static cl_int build_binary(cl_program p) {
  if (p->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE) {
    ocl_image_free(&p->image);
    return ocl_image_read(p->binary.data, &p->image) ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
  }
  Str image = {0};
  OclRequest r = {.options = p->options, .link = true};
  vec_push(&r.objects, object_text(p));
  cl_int result = ocl_compile(&r, &image, &p->log);
  if (!result && !take_code(p, NULL, &image)) result = CL_BUILD_PROGRAM_FAILURE;
  if (!result) p->type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  vec_free(&r.objects);
  str_free(&image);
  return result;
}

cl_int clBuildProgram(cl_program p, cl_uint n, const cl_device_id *devices, const char *options,
                      Notify notify, void *user) {
  if (!ocl_is(p, OCL_PROGRAM)) return CL_INVALID_PROGRAM;
  if (!notify && user) return CL_INVALID_VALUE;
  cl_int result = check_devices(p->context, n, devices);
  if (result) return result;
  if (p->kernels) return CL_INVALID_OPERATION;
  if (!p->source && !p->il.len && !p->binary.len) return CL_INVALID_BINARY;
  for (uint32_t i = 0; i < p->modules.len; i++) {
    if (!p->modules.data[i]) continue;
    ocl_enter(p->devices.data[i]);
    cuModuleUnload(p->modules.data[i]);
    ocl_leave();
    p->modules.data[i] = NULL;
  }
  begin(p, options);
  result = p->source ? build_source(p) : p->il.len ? build_il(p) : build_binary(p);
  return finish(p, result, notify, user);
}

cl_int clCompileProgram(cl_program p, cl_uint n, const cl_device_id *devices, const char *options,
                        cl_uint n_headers, const cl_program *headers, const char **names,
                        Notify notify, void *user) {
  if (!ocl_is(p, OCL_PROGRAM)) return CL_INVALID_PROGRAM;
  if (!notify && user) return CL_INVALID_VALUE;
  if (!n_headers != !headers || !n_headers != !names) return CL_INVALID_VALUE;
  cl_int result = check_devices(p->context, n, devices);
  if (result) return result;
  if (p->kernels || (!p->source && !p->il.len)) return CL_INVALID_OPERATION;
  Str object = {0};
  OclRequest r = {.source = p->source};
  for (cl_uint i = 0; i < n_headers; i++) {
    if (!ocl_is(headers[i], OCL_PROGRAM) || !headers[i]->source) return CL_INVALID_PROGRAM;
    vec_push(&r.headers, names[i]);
    vec_push(&r.headers, headers[i]->source);
  }
  begin(p, options);
  r.options = p->options;
  result = p->source ? ocl_compile(&r, &object, &p->log)
                     : ocl_translate(&p->il, &p->constants, &object, &p->log);
  if (result == CL_INVALID_BUILD_OPTIONS) result = CL_INVALID_COMPILER_OPTIONS;
  if (!result) {
    take_code(p, OCL_OBJECT_MARK, &object);
    p->type = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
  }
  vec_free(&r.headers);
  str_free(&object);
  return finish(p, result, notify, user);
}

// A library is the concatenation of its objects.
static void add_objects(const char *text, Arena *a, OclRequest *r) {
  for (const char *next; text; text = next) {
    next = strstr(text, "\n" OCL_OBJECT_MARK);
    size_t len = next ? (size_t)(next - text) + 1 : strlen(text);
    vec_push(&r->objects, arena_strndup(a, text, len));
    if (next) next += 1 + strlen(OCL_OBJECT_MARK);
  }
}

static cl_int link_into(cl_program p, const OclRequest *r, bool library) {
  Str code = {0};
  cl_int result = CL_SUCCESS;
  if (library)
    for (uint32_t i = 0; i < r->objects.len; i++)
      str_printf(&code, "%s%s%s", i ? "\n" : "", i ? OCL_OBJECT_MARK : "", r->objects.data[i]);
  else result = ocl_compile(r, &code, &p->log);
  if (!result && !take_code(p, library ? OCL_LIBRARY_MARK : NULL, &code))
    result = CL_LINK_PROGRAM_FAILURE;
  if (!result)
    p->type = library ? CL_PROGRAM_BINARY_TYPE_LIBRARY : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  str_free(&code);
  return result;
}

cl_program clLinkProgram(cl_context context, cl_uint n, const cl_device_id *devices,
                         const char *options, cl_uint n_inputs, const cl_program *inputs,
                         Notify notify, void *user, cl_int *error) {
  cl_int ignored;
  if (!error) error = &ignored;
  if (!ocl_is(context, OCL_CONTEXT)) {
    *error = CL_INVALID_CONTEXT;
    return NULL;
  }
  if (!n_inputs || !inputs || (!notify && user)) {
    *error = CL_INVALID_VALUE;
    return NULL;
  }
  if ((*error = check_devices(context, n, devices))) return NULL;
  for (cl_uint i = 0; i < n_inputs; i++) {
    if (!ocl_is(inputs[i], OCL_PROGRAM)) {
      *error = CL_INVALID_PROGRAM;
      return NULL;
    }
    bool object = inputs[i]->type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT ||
                  inputs[i]->type == CL_PROGRAM_BINARY_TYPE_LIBRARY;
    if (!object) {
      *error = CL_INVALID_OPERATION;
      return NULL;
    }
  }
  Str words = {0};
  const char *bad;
  bool library;
  bool known = ocl_options(options, &words, &bad, &library);
  str_free(&words);
  if (!known) {
    *error = CL_INVALID_LINKER_OPTIONS;
    return NULL;
  }
  Arena a = {0};
  OclRequest r = {.link = true};
  for (cl_uint i = 0; i < n_inputs; i++) add_objects(object_text(inputs[i]), &a, &r);
  cl_program p = ocl_program_new(context);
  begin(p, options);
  *error = finish(p, link_into(p, &r, library), notify, user);
  vec_free(&r.objects);
  arena_free(&a);
  return p;
}

// Logs the driver's error: the program itself only gets CL_OUT_OF_RESOURCES.
void ocl_name_refusal(CUresult r, const char *what) {
  const char *name = NULL;
  if (cuGetErrorName(r, &name) != CUDA_SUCCESS || !name) name = "an unknown error";
  log_error("the device does not take the code of an OpenCL program: %s%s%s", name,
            *what ? "\n" : "", what);
}

static CUresult load_module(const char *ptx, CUmodule *out) {
  char log[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)sizeof log};
  CUresult r = cuModuleLoadDataEx(out, ptx, ARRAY_LEN(options), options, values);
  log[sizeof log - 1] = 0;
  if (r != CUDA_SUCCESS) ocl_name_refusal(r, log);
  return r;
}

// Several threads may ask for the first kernel of a program at once.
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

bool ocl_program_module(cl_program p, cl_device_id device, CUmodule *out) {
  for (uint32_t i = 0; i < p->devices.len; i++) {
    if (p->devices.data[i] != device) continue;
    CUresult r = CUDA_SUCCESS;
    pthread_mutex_lock(&loading);
    ocl_enter(device);
    if (!p->modules.data[i]) r = load_module(p->image.ptx, &p->modules.data[i]);
    ocl_leave();
    *out = p->modules.data[i];
    pthread_mutex_unlock(&loading);
    return r == CUDA_SUCCESS;
  }
  return false;
}
