// Launches whose arguments are one buffer ("extra") instead of an array of pointers, in a launch
// and in a graph node; the buffer is longer or shorter than the parameters. The driver is opened by
// its other name.
// coverage: all
// finding: api-misuse: launches that the driver refuses
// cflags: -ldl
#include <cuda.h>
#include <dlfcn.h>
#include "gpu_test.h"

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry mixed(.param .u8 a, .param .u64 p, .param .align 4 .b8 "
                          "s[12]) {\n .reg .b64 %rd<3>; .reg .b32 %r<6>;\n ld.param.u8 %r1, [a]; "
                          "ld.param.u64 %rd1, [p]; ld.param.u32 %r2, [s+8];\n"
                          " cvta.to.global.u64 %rd2, %rd1; add.u32 %r3, %r1, %r2; mov.u32 %r4, "
                          "%tid.x; add.u32 %r3, %r3, %r4; st.global.u32 [%rd2], %r3; ret;\n}\n";
#define GET(name) \
  __typeof__(&name) p_##name = (__typeof__(&name))(uintptr_t)dlsym(lib, SYMBOL(name)); \
  if (!p_##name) { \
    printf("%s is missing\n", SYMBOL(name)); \
    return 3; \
  }
#define SYMBOL(name) TEXT(name)
#define TEXT(name) #name

int main(void) {
  void *lib = dlopen("libcuda.so.1", RTLD_NOW);
  if (!lib) { printf("%s\n", dlerror()); return 3; }
  GET(cuInit)
  GET(cuDeviceGet) GET(cuDevicePrimaryCtxRetain) GET(cuCtxSetCurrent) GET(cuMemAlloc)
      GET(cuModuleLoadDataEx) GET(cuModuleGetFunction) GET(cuLaunchKernel) GET(cuMemcpyDtoH)
          GET(cuGraphCreate) GET(cuGraphAddKernelNode) GET(cuGraphKernelNodeGetParams)
              GET(cuGraphInstantiateWithFlags) GET(cuGraphLaunch) GET(cuCtxSynchronize) CUdevice d;
  CUcontext c;
  CUdeviceptr out;
  CUmodule m;
  CUfunction f;
  CU(p_cuInit(0));
  CU(p_cuDeviceGet(&d, 0));
  CU(p_cuDevicePrimaryCtxRetain(&c, d));
  CU(p_cuCtxSetCurrent(c));
  CU(p_cuMemAlloc(&out, 4));
  CU(p_cuModuleLoadDataEx(&m, ptx, 0, NULL, NULL));
  CU(p_cuModuleGetFunction(&f, m, "mixed"));
  struct {
    unsigned char a, pad[7];
    CUdeviceptr p;
    unsigned s[3], beyond[9];
  } buffer = {7, {0}, out, {1, 2, 300}, {9, 9, 9, 9, 9, 9, 9, 9, 9}};
  unsigned r = 0;
  for (size_t size = 28; size <= sizeof buffer; size += 4) {
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    buffer.s[2] = 300 + (unsigned)size;
    CUresult e = p_cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
    printf("%zu bytes: %d\n", size, (int)e);
    CU(p_cuMemcpyDtoH(&r, out, 4));
    if (e == CUDA_SUCCESS) EXPECT(r == 307 + size);
  }
  CUgraph g;
  CUgraphNode n;
  CUgraphExec x;
  size_t size = 28;
  buffer.s[2] = 1000;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  CUDA_KERNEL_NODE_PARAMS p = {.func = f,
                               .gridDimX = 1,
                               .gridDimY = 1,
                               .gridDimZ = 1,
                               .blockDimX = 1,
                               .blockDimY = 1,
                               .blockDimZ = 1,
                               .extra = extra},
                          q = {0};
  CU(p_cuGraphCreate(&g, 0));
  CU(p_cuGraphAddKernelNode(&n, g, NULL, 0, &p));
  buffer.s[2] = 0;
  CU(p_cuGraphKernelNodeGetParams(n, &q));
  EXPECT(q.func == f);
  if (q.kernelParams)
    EXPECT(*(unsigned char *)q.kernelParams[0] == 7 && ((unsigned *)q.kernelParams[2])[2] == 1000);
  CU(p_cuGraphInstantiateWithFlags(&x, g, 0));
  CU(p_cuGraphLaunch(x, NULL));
  CU(p_cuCtxSynchronize());
  CU(p_cuMemcpyDtoH(&r, out, 4));
  EXPECT(r == 1007);
  printf("%u\n", r);
  return finish();
}
