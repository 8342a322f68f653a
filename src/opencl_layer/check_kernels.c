// Programs and kernels: for each one there is a second one with checks, made when a kernel is first
// enqueued. Arguments are set in both.
#include "opencl_layer/checks.h"

#include <pthread.h>

typedef struct CheckedProgram {
  cl_program twin;  // NULL: without checks
  OpenclProgram *code;
  char why[256];
} CheckedProgram;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map programs, kernels;

void checks_kernels_lock(void) { pthread_mutex_lock(&lock); }
void checks_kernels_unlock(void) { pthread_mutex_unlock(&lock); }

// --- programs ---

// Call when a program's code changes, or when a new program gets its handle.
static void forget_program(cl_program handle) {
  pthread_mutex_lock(&lock);
  CheckedProgram *p = u64map_remove(&programs, (uintptr_t)handle);
  pthread_mutex_unlock(&lock);
  if (p && p->twin) checks_below.clReleaseProgram(p->twin);
  free(p);
}

static char *binary_of(cl_program handle, size_t *size) {
  size_t sizes[16] = {0};
  checks_below.clGetProgramInfo(handle, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, NULL);
  *size = sizes[0];
  char *text = sizes[0] ? mem_alloc(sizes[0] + 1) : NULL;
  unsigned char *list[16] = {(unsigned char *)text};
  if (text &&
      checks_below.clGetProgramInfo(handle, CL_PROGRAM_BINARIES, sizeof list[0], list, NULL)) {
    free(text);
    text = NULL;
  }
  return text;
}

// The compiler's message in one line.
static void build_failed(CheckedProgram *p, cl_device_id device) {
  char log[160] = "";
  checks_below.clGetProgramBuildInfo(p->twin, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log,
                                     NULL);
  log[strcspn(log, "\n")] = 0;
  snprintf(p->why, sizeof p->why, "the platform does not take its code with checks: %s", log);
  checks_below.clReleaseProgram(p->twin);
  p->twin = NULL;
}

// Returns the only build option that still matters, because it restricts launches; the code
// contains the effects of the others.
static const char *launch_option(cl_program handle, cl_device_id device) {
  static const char uniform[] = "-cl-uniform-work-group-size";
  char options[4096] = "";
  checks_below.clGetProgramBuildInfo(handle, device, CL_PROGRAM_BUILD_OPTIONS, sizeof options - 1,
                                     options, NULL);
  return strstr(options, uniform) ? uniform : "";
}

static void build_twin(CheckedProgram *p, cl_program handle, cl_context context,
                       cl_device_id device, const char *text) {
  const unsigned char *binary = (const unsigned char *)text;
  size_t size = strlen(text);
  cl_int error = CL_SUCCESS;
  p->twin = checks_below.clCreateProgramWithBinary(context, 1, &device, &size, &binary, NULL,
                                                   &error);
  if (!p->twin)
    snprintf(p->why, sizeof p->why, "the platform does not take its code with checks: %d", error);
  else if (checks_below.clBuildProgram(p->twin, 1, &device, launch_option(handle, device), NULL,
                                       NULL))
    build_failed(p, device);
}

// With the lock.
static CheckedProgram *program_of(cl_program handle, CheckedContext *c) {
  CheckedProgram *p = u64map_get(&programs, (uintptr_t)handle);
  if (p) return p;
  p = mem_alloc(sizeof *p);
  u64map_put(&programs, (uintptr_t)handle, p);
  size_t size = 0;
  char *ptx = binary_of(handle, &size), *woven = NULL;
  cl_context context = NULL;
  checks_below.clGetProgramInfo(handle, CL_PROGRAM_CONTEXT, sizeof context, &context, NULL);
  bool is_ptx = ptx && strstr(ptx, ".version") && strstr(ptx, ".entry");
  if (is_ptx) p->code = checks_code->weave(ptx, strlen(ptx), &woven, p->why);
  else snprintf(p->why, sizeof p->why, "the platform returns no PTX");
  if (p->code) build_twin(p, handle, context, checks_device_id(c), woven);
  free(ptx);
  free(woven);
  return p;
}

// --- kernels ---

static void free_kernel(CheckedKernel *k) {
  if (!k) return;
  if (k->twin) checks_below.clReleaseKernel(k->twin);
  for (uint32_t i = 0; i < k->arguments.len; i++) free(k->arguments.data[i].value);
  vec_free(&k->arguments);
  free(k);
}

static void meet(cl_kernel handle) {
  cl_context context = NULL;
  cl_uint n = 0;
  if (!handle) return;
  checks_below.clGetKernelInfo(handle, CL_KERNEL_CONTEXT, sizeof context, &context, NULL);
  CheckedContext *c = checks_context(context);
  CheckedKernel *k = c ? mem_alloc(sizeof *k) : NULL;
  checks_below.clGetKernelInfo(handle, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL);
  if (k) *k = (CheckedKernel){.context = c, .handle = handle};
  for (cl_uint i = 0; k && i < n; i++) vec_push(&k->arguments, (CheckedArgument){0});
  pthread_mutex_lock(&lock);
  free_kernel(u64map_remove(&kernels, (uintptr_t)handle));
  if (k) u64map_put(&kernels, (uintptr_t)handle, k);
  pthread_mutex_unlock(&lock);
}

static cl_int set_in(cl_kernel kernel, cl_uint i, const CheckedArgument *a) {
  if (a->is_svm) return checks_below.clSetKernelArgSVMPointer(kernel, i, *(void **)a->value);
  return checks_below.clSetKernelArg(kernel, i, a->size, a->value);
}

// With the lock.
static void make_twin(CheckedKernel *k) {
  char name[1024] = "";
  cl_program handle = NULL;
  cl_int error;
  checks_below.clGetKernelInfo(k->handle, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, NULL);
  checks_below.clGetKernelInfo(k->handle, CL_KERNEL_PROGRAM, sizeof handle, &handle, NULL);
  CheckedProgram *p = program_of(handle, k->context);
  if (p->twin) k->code = checks_code->kernel(p->code, name);
  if (k->code) k->twin = checks_below.clCreateKernel(p->twin, name, &error);
  if (!k->twin)
    k->code = checks_code->unchecked(name, *p->why ? p->why
                                                   : "the platform does not take its code "
                                                     "with checks");
  for (uint32_t i = 0; k->twin && i < k->arguments.len; i++)
    if (k->arguments.data[i].set) set_in(k->twin, i, &k->arguments.data[i]);
}

CheckedKernel *checks_kernel(cl_kernel handle) {
  CheckedKernel *k = u64map_get(&kernels, (uintptr_t)handle);
  if (k && !k->code) make_twin(k);
  return k;
}

static void keep(cl_kernel handle, cl_uint i, CheckedArgument a) {
  const void *value = a.value;
  pthread_mutex_lock(&lock);
  CheckedKernel *k = u64map_get(&kernels, (uintptr_t)handle);
  if (k && i < k->arguments.len) {
    CheckedArgument *to = &k->arguments.data[i];
    free(to->value);
    a.set = true;
    a.value = value ? memcpy(mem_alloc(a.size), value, a.size) : NULL;
    *to = a;
    if (k->twin) set_in(k->twin, i, to);
  }
  pthread_mutex_unlock(&lock);
}

// --- the program's calls ---

static cl_kernel CL_API_CALL checked_clCreateKernel(cl_program p, const char *name, cl_int *error) {
  cl_kernel k = checks_below.clCreateKernel(p, name, error);
  meet(k);
  return k;
}

static cl_int CL_API_CALL checked_clCreateKernelsInProgram(cl_program p, cl_uint room,
                                                           cl_kernel *out, cl_uint *n) {
  cl_uint made = 0;
  cl_int error = checks_below.clCreateKernelsInProgram(p, room, out, &made);
  if (n) *n = made;
  for (cl_uint i = 0; !error && out && i < made; i++) meet(out[i]);
  return error;
}

static cl_kernel CL_API_CALL checked_clCloneKernel(cl_kernel from, cl_int *error) {
  cl_kernel k = checks_below.clCloneKernel(from, error);
  meet(k);
  pthread_mutex_lock(&lock);
  const CheckedKernel *old = k ? u64map_get(&kernels, (uintptr_t)from) : NULL;
  CheckedKernel *new = old ? u64map_get(&kernels, (uintptr_t)k) : NULL;
  for (uint32_t i = 0; new &&i < MIN(new->arguments.len, old->arguments.len); i++) {
    CheckedArgument a = old->arguments.data[i];
    if (a.value) a.value = memcpy(mem_alloc(a.size), a.value, a.size);
    new->arguments.data[i] = a;
  }
  pthread_mutex_unlock(&lock);
  return k;
}

static cl_int CL_API_CALL checked_clReleaseKernel(cl_kernel handle) {
  cl_uint references = 0;
  CheckedKernel *gone = NULL;
  checks_below.clGetKernelInfo(handle, CL_KERNEL_REFERENCE_COUNT, sizeof references, &references,
                               NULL);
  pthread_mutex_lock(&lock);
  if (references == 1) gone = u64map_remove(&kernels, (uintptr_t)handle);
  pthread_mutex_unlock(&lock);
  free_kernel(gone);
  return checks_below.clReleaseKernel(handle);
}

static cl_int CL_API_CALL checked_clSetKernelArg(cl_kernel k, cl_uint i, size_t size,
                                                 const void *value) {
  cl_int error = checks_below.clSetKernelArg(k, i, size, value);
  if (!error)
    keep(k, i, (CheckedArgument){.size = size, .value = (unsigned char *)(uintptr_t)value});
  return error;
}

static cl_int CL_API_CALL checked_clSetKernelArgSVMPointer(cl_kernel k, cl_uint i,
                                                           const void *value) {
  cl_int error = checks_below.clSetKernelArgSVMPointer(k, i, value);
  if (!error)
    keep(k, i,
         (CheckedArgument){.size = sizeof value, .value = (unsigned char *)&value, .is_svm = true});
  return error;
}

static cl_int CL_API_CALL checked_clSetKernelExecInfo(cl_kernel handle, cl_kernel_exec_info what,
                                                      size_t size, const void *value) {
  cl_int error = checks_below.clSetKernelExecInfo(handle, what, size, value);
  pthread_mutex_lock(&lock);
  CheckedKernel *k = error ? NULL : checks_kernel(handle);
  if (k && k->twin) checks_below.clSetKernelExecInfo(k->twin, what, size, value);
  pthread_mutex_unlock(&lock);
  return error;
}

typedef void(CL_CALLBACK *Notify)(cl_program, void *);

static cl_int CL_API_CALL checked_clBuildProgram(cl_program p, cl_uint n,
                                                 const cl_device_id *devices, const char *options,
                                                 Notify notify, void *user) {
  forget_program(p);
  return checks_below.clBuildProgram(p, n, devices, options, notify, user);
}

static cl_program CL_API_CALL checked_clLinkProgram(cl_context context, cl_uint n,
                                                    const cl_device_id *devices,
                                                    const char *options, cl_uint inputs,
                                                    const cl_program *list, Notify notify,
                                                    void *user, cl_int *error) {
  cl_program p = checks_below.clLinkProgram(context, n, devices, options, inputs, list, notify,
                                            user, error);
  forget_program(p);
  return p;
}

void checks_kernels_install(cl_icd_dispatch *t) {
  t->clCreateKernel = checked_clCreateKernel;
  t->clCreateKernelsInProgram = checked_clCreateKernelsInProgram;
  t->clCloneKernel = checked_clCloneKernel;
  t->clReleaseKernel = checked_clReleaseKernel;
  t->clSetKernelArg = checked_clSetKernelArg;
  t->clSetKernelArgSVMPointer = checked_clSetKernelArgSVMPointer;
  t->clSetKernelExecInfo = checked_clSetKernelExecInfo;
  t->clBuildProgram = checked_clBuildProgram;
  t->clLinkProgram = checked_clLinkProgram;
}
