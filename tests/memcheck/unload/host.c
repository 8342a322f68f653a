// A module that is unloaded, and a context that is destroyed, before anybody reads what was found
// in them; two contexts and two devices with memory of their own. Arguments: the PTX, how many
// elements too many.
#include <stdio.h>
#include <stdlib.h>

#include "cuda/abi.h"

#define OK(call) \
  do { \
    CUresult r = (call); \
    if (r) { \
      printf("%s: %d\n", #call, (int)r); \
      exit(1); \
    } \
  } while (0)

static void once(CUdevice device, const char *file, int more) {
  CUcontext ctx;
  CUmodule module;
  CUfunction f;
  CUdeviceptr p;
  OK(cuCtxCreate_v2(&ctx, 0, device));
  OK(cuModuleLoad(&module, file));
  OK(cuModuleGetFunction(&f, module, "past_the_end"));
  OK(cuMemAlloc_v2(&p, 32 * 4));
  int n = 31 + more;
  OK(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL));
  OK(cuModuleUnload(module));
  OK(cuModuleLoad(&module, file));
  OK(cuCtxDestroy_v2(ctx));                    // takes module and memory along
}

int main(int argc, char **argv) {
  int devices, more = atoi(argv[2]);
  OK(cuInit(0));
  OK(cuDeviceGetCount(&devices));
  for (int d = 0; d < devices; d++) once(d, argv[1], more);
  once(0, argv[1], more);
  puts("done");
}
