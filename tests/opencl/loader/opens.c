// Opens OpenCL's loader at run time by the name it is given, as PyOpenCL does, and prints how many
// platforms there are; a function of a later version that the loader may lack is asked for, too.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) {
    puts(dlerror());
    return 1;
  }
  cl_int (*platforms)(cl_uint, cl_platform_id *, cl_uint *) = dlsym(library, "clGetPlatformIDs");
  cl_mem (*image)(cl_context, cl_mem_flags, const cl_image_format *, const cl_image_desc *, void *,
                  cl_int *) = dlsym(library, "clCreateImage");
  cl_uint n = 0;
  cl_int error = platforms(0, NULL, &n);
  printf("%s: %d, %u platforms\n", argv[1], error, n);
  error = 0;
  if (image && (image(NULL, 0, NULL, NULL, NULL, &error) || !error)) puts("an image of nothing");
  return 0;
}
