// oracle: runs the kernels k0, k1, … of a PTX file, one after the other, each with memory of its
// own. oracle FILE BLOCKS THREADS
#include <stdio.h>
#include <stdlib.h>

#include "cuda/abi.h"

#define OK(call) \
  do { \
    CUresult r_ = (call); \
    if (r_) { \
      fprintf(stderr, "%s: error %d\n", #call, (int)r_); \
      exit(1); \
    } \
  } while (0)
enum { WORDS = 4096 };

int main(int argc, char **argv) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction f;
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  OK(cuCtxCreate_v2(&context, 0, device));
  OK(cuModuleLoad(&module, argv[1]));
  for (int i = 0;; i++) {
    char name[16];
    snprintf(name, sizeof name, "k%d", i);
    if (cuModuleGetFunction(&f, module, name)) break;
    CUdeviceptr data, flags;
    OK(cuMemAlloc_v2(&data, 4 * WORDS));
    OK(cuMemAlloc_v2(&flags, 256));
    OK(cuMemsetD8_v2(data, 0, 4 * WORDS));
    OK(cuMemsetD8_v2(flags, 0, 256));
    unsigned n = 5;
    OK(cuLaunchKernel(f, (unsigned)atoi(argv[2]), 1, 1, (unsigned)atoi(argv[3]), 1, 1, 0, NULL,
                      (void *[]){&data, &flags, &n}, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemFree_v2(data));
    OK(cuMemFree_v2(flags));
  }
  return 0;
}
