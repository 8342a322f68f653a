// NVIDIA's OpenCL platform without a GPU: ours over the virtual device, with no tool in it. Like
// NVIDIA's it returns PTX as a program's binary, takes changed PTX back, and gives a kernel of such
// a program one argument more where its code has one.
#include "opencl/opencl.h"

static VEC(char *) known;  // descriptions of kernels whose PTX was handed out

static const char address_facts[] = "kernel wg_address 0 0 0 0 2\n1 8 \tlong*\t\tout\n"
                                    "1 8 \tchar*\t\tof\n";

// Functions of Warpgrind's library, which is not asked here.
void wg_opencl_call(int begins) {}
void wg_opencl_arguments(const uint64_t (*list)[3], uint32_t n) {}
int wg_opencl_tests_indices(void) { return 0; }

cl_int __real_clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t room, void *value,
                              size_t *needed);
cl_int __wrap_clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t room, void *value,
                              size_t *needed) {
  if (what == CL_DEVICE_VENDOR)
    return ocl_answer_text((OclAnswer){room, value, needed}, "NVIDIA's stand-in");
  return __real_clGetDeviceInfo(d, what, room, value, needed);
}

// --- programs ---

// The lines before the PTX, without the mark.
static void remember(cl_program p) {
  const char *facts = p->binary.data + strlen(OCL_IMAGE_MARK), *end = strstr(facts, "\nptx\n");
  if (end) vec_push(&known, strndup(facts, (size_t)(end - facts) + 1));
}

cl_int __real_clGetProgramInfo(cl_program p, cl_program_info what, size_t room, void *value,
                               size_t *needed);
cl_int __wrap_clGetProgramInfo(cl_program p, cl_program_info what, size_t room, void *value,
                               size_t *needed) {
  OclAnswer to = {room, value, needed};
  if (!p->image.ptx) return __real_clGetProgramInfo(p, what, room, value, needed);
  if (what == CL_PROGRAM_BINARY_SIZES) return OCL_ANSWER(to, size_t, strlen(p->image.ptx));
  if (what != CL_PROGRAM_BINARIES) return __real_clGetProgramInfo(p, what, room, value, needed);
  remember(p);
  if (value) memcpy(*(char **)value, p->image.ptx, strlen(p->image.ptx));
  return CL_SUCCESS;
}

static const char *facts_of(const char *ptx) {
  char name[200], entry[220];
  if (strstr(ptx, ".entry wg_address(")) return address_facts;
  for (uint32_t i = known.len; i-- > 0;) {
    if (sscanf(known.data[i], "kernel %199s", name) != 1) continue;
    snprintf(entry, sizeof entry, ".entry %s", name);
    if (strstr(ptx, entry)) return known.data[i];
  }
  return NULL;
}

cl_program __real_clCreateProgramWithBinary(cl_context context, cl_uint n,
                                            const cl_device_id *devices, const size_t *lengths,
                                            const unsigned char **binaries, cl_int *status,
                                            cl_int *error);
cl_program __wrap_clCreateProgramWithBinary(cl_context context, cl_uint n,
                                            const cl_device_id *devices, const size_t *lengths,
                                            const unsigned char **binaries, cl_int *status,
                                            cl_int *error) {
  Str image = {0};
  char *ptx = strndup((const char *)binaries[0], lengths[0]);
  const char *facts = facts_of(ptx);
  str_printf(&image, "%s%sptx\n%s", OCL_IMAGE_MARK, facts ? facts : "", ptx);
  const unsigned char *text = (const unsigned char *)image.data;
  cl_program p = __real_clCreateProgramWithBinary(context, 1, devices, &(size_t){image.len}, &text,
                                                  status, error);
  str_free(&image);
  free(ptx);
  return p;
}

// --- the argument behind the program's own ---

typedef struct Added {  // behind so many other parameters
  uint32_t others;
  void *value;
} Added;
static U64Map added;  // by CUfunction

cl_int __real_clSetKernelArg(cl_kernel k, cl_uint i, size_t size, const void *value);
cl_int __wrap_clSetKernelArg(cl_kernel k, cl_uint i, size_t size, const void *value) {
  if (i != k->entry->parameters.len || !strstr(k->program->image.ptx, "_record"))
    return __real_clSetKernelArg(k, i, size, value);
  Added *a = mem_alloc(sizeof *a);  // of a kernel that may run later: it is never freed
  *a = (Added){k->entry->parameters.len + k->entry->has_launch,
               memcpy(mem_alloc(size), value, size)};
  u64map_put(&added, (uintptr_t)k->functions.data[0], a);
  return CL_SUCCESS;
}

CUresult __real_cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned shared, CUstream stream,
                               void **params, void **extra);
CUresult __wrap_cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned shared, CUstream stream,
                               void **params, void **extra) {
  const Added *a = u64map_get(&added, (uintptr_t)f);
  void *list[64];
  if (!a) return __real_cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
  memcpy(list, params, a->others * sizeof *list);
  list[a->others] = a->value;
  return __real_cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, list, extra);
}
