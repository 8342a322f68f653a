// Two devices, several contexts on one, a context that is destroyed, a device that is reset and
// used again.
// options: --devices=2
#include "count_test.h"

static void use(CUmodule m, unsigned blocks) {
  CUdeviceptr p = new_ints(blocks * 64);
  unsigned v = 5;
  OK(LAUNCH(get(m, "fill"), blocks, 64, NULL, &p, &v));
  OK(cuCtxSynchronize());
  EXPECT(read_int(p + blocks * 256 - 4) == 5);
  count_fill(blocks * 64, blocks * 2);
}

int main(void) {
  start();
  CUmodule first = load(common_ptx);
  use(first, 3);

  CUcontext other, second_device;
  OK(cuCtxCreate_v2(&other, 0, 0));
  CUmodule m = load(common_ptx);
  use(m, 4);
  use(m, 1);
  OK(cuCtxDestroy_v2(other));

  OK(cuDevicePrimaryCtxRetain(&second_device, 1));
  OK(cuCtxSetCurrent(second_device));
  m = load(common_ptx);
  use(m, 7);
  OK(cuDevicePrimaryCtxReset_v2(1));
  OK(cuDevicePrimaryCtxRetain(&second_device, 1));
  OK(cuCtxSetCurrent(second_device));
  use(load(common_ptx), 2);

  // A library is one program in all contexts.
  CUlibrary lib;
  CUkernel k;
  OK(cuLibraryLoadData(&lib, common_ptx, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryGetKernel(&k, lib, "fill"));
  CUcontext contexts[2] = {second_device, NULL};
  OK(cuDevicePrimaryCtxRetain(&contexts[1], 0));
  for (int i = 0; i < 2; i++) {
    OK(cuCtxSetCurrent(contexts[i]));
    CUdeviceptr p = new_ints(32);
    unsigned v = 6;
    OK(LAUNCH((CUfunction)k, 1, 32, NULL, &p, &v));
    OK(cuCtxSynchronize());
    EXPECT(read_int(p) == 6);
    count_fill(32, 1);
  }
  OK(cuLibraryUnload(lib));

  use(first, 5);                            // the first context is as it was
  return finish_counted();
}
