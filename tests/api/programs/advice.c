// Warnings alone: the exit code is the program's own.
#include "driver_test.h"

int main(void) {
  CUcontext ctx;
  CUdevice dev;
  CUstream s;
  CUdeviceptr p;
  static char in[4096], out[4096];
  OK(cuInit(0));
  OK(cuDeviceGet(&dev, 0));
  OK(cuCtxCreate_v2(&ctx, 0, dev));
  OK(cuStreamCreate(&s, 0));
  OK(cuMemAlloc_v2(&p, sizeof in));
// finds: api-advice text=asynchronous copy from pageable host memory: it does not run in the
//    background (cudaMallocHost or cudaHostRegister make it so)
// finds: api-advice text=asynchronous copy to pageable host memory: it does not run in the
//    background (cudaMallocHost or cudaHostRegister make it so)
  for (int i = 0; i < 3; i++) {                // once for each place
    OK(cuMemcpyHtoDAsync_v2(p, in, sizeof in, s));
    OK(cuMemcpyDtoHAsync_v2(out, p, sizeof out, s));
  }
  OK(cuMemsetD8Async(p, 0, sizeof in, s));
  OK(cuStreamSynchronize(s));
  return finish() ? 1 : 7;
}
// exit: 7
