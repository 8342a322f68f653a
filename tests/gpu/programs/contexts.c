// Two contexts of one device, driver API: the same module in both, memory and variables apart; one
// is destroyed, the other goes on.
// coverage: all
#include <cuda.h>
#include "gpu_test.h"

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 total;\n"
    ".visible .entry add(.param .u64 p, .param .u32 v) {\n .reg .b64 %rd<3>; .reg .b32 %r<5>;\n "
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];\n"
    " cvta.to.global.u64 %rd2, %rd1; ld.global.u32 %r2, [total]; add.u32 %r3, %r2, %r1; "
    "st.global.u32 [total], %r3; st.global.u32 [%rd2], %r3; ret;\n}\n";

typedef struct Half { CUcontext c; CUmodule m; CUfunction f; CUdeviceptr out; CUstream s; } Half;
static void open_half(Half *h, CUdevice d) {
#if CUDA_VERSION >= 13000
  CU(cuCtxCreate(&h->c, NULL, 0, d));
#else
  CU(cuCtxCreate(&h->c, 0, d));
#endif
  CU(cuModuleLoadData(&h->m, ptx));
  CU(cuModuleGetFunction(&h->f, h->m, "add"));
  CU(cuMemAlloc(&h->out, 4));
  CU(cuStreamCreate(&h->s, CU_STREAM_NON_BLOCKING));
}
static unsigned add(Half *h, unsigned v) {
  unsigned r = 0;
  void *args[] = {&h->out, &v};
  CU(cuCtxPushCurrent(h->c));
  CU(cuLaunchKernel(h->f, 1, 1, 1, 1, 1, 1, 0, h->s, args, NULL));
  CU(cuMemcpyDtoHAsync(&r, h->out, 4, h->s));
  CU(cuStreamSynchronize(h->s));
  CU(cuCtxPopCurrent(NULL));
  return r;
}
int main(void) {
  CUdevice d;
  Half a, b;
  CU(cuInit(0));
  CU(cuDeviceGet(&d, 0));
  open_half(&a, d);
  open_half(&b, d);
  CU(cuCtxSetCurrent(NULL));
  for (unsigned i = 1; i <= 10; i++) EXPECT(add(&a, i) == i * (i + 1) / 2);
  for (unsigned i = 1; i <= 10; i++) EXPECT(add(&b, 2 * i) == i * (i + 1));
  CU(cuCtxDestroy(a.c));
  unsigned last = add(&b, 5);
  printf("%u\n", last);
  EXPECT(last == 115);
  CUcontext primary;
  CU(cuDevicePrimaryCtxRetain(&primary, d));
  CU(cuCtxSetCurrent(primary));
  Half c = {.c = primary};
  CU(cuModuleLoadData(&c.m, ptx));
  CU(cuModuleGetFunction(&c.f, c.m, "add"));
  CU(cuMemAlloc(&c.out, 4));
  CU(cuStreamCreate(&c.s, 0));
  EXPECT(add(&c, 4) == 4);
  CU(cuCtxDestroy(b.c));
  EXPECT(add(&c, 4) == 8);
  CU(cuDevicePrimaryCtxReset(d));
  CU(cuDevicePrimaryCtxRetain(&c.c, d));
  CU(cuCtxSetCurrent(c.c));
  CU(cuModuleLoadData(&c.m, ptx));
  CU(cuModuleGetFunction(&c.f, c.m, "add"));
  CU(cuMemAlloc(&c.out, 4));
  CU(cuStreamCreate(&c.s, 0));
  EXPECT(add(&c, 9) == 9);
  return finish();
}
