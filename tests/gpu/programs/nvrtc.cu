// A kernel compiled while the program runs, to PTX.
// coverage: all
// nvcc: -lnvrtc -lcuda
#include <cuda.h>
#include <nvrtc.h>
#include "gpu_test.h"
#define RTC(call) \
  do { \
    nvrtcResult r_ = (call); \
    if (r_ != NVRTC_SUCCESS) { \
      printf("line %d: %s\n", __LINE__, nvrtcGetErrorString(r_)); \
      exit(3); \
    } \
  } while (0)

static const char source[] =
    "template <typename T> __global__ void power(T *p, int n) { int i = blockIdx.x * blockDim.x + "
    "threadIdx.x; T r = 1; for (int k = 0; k < n; k++) r *= p[i]; p[i] = r; }\n"
    "__constant__ int offset; extern \"C\" __global__ void shift(int *p) { p[threadIdx.x] += "
    "offset; }\n";

int main() {
  nvrtcProgram p;
  const char *name, *options[] = {"--gpu-architecture=compute_90", "-lineinfo"};
  RTC(nvrtcCreateProgram(&p, source, "power.cu", 0, 0, 0));
  RTC(nvrtcAddNameExpression(p, "power<int>"));
  RTC(nvrtcCompileProgram(p, 2, options));
  RTC(nvrtcGetLoweredName(p, "power<int>", &name));
  size_t size;
  RTC(nvrtcGetPTXSize(p, &size));
  char *ptx = (char *)malloc(size);
  RTC(nvrtcGetPTX(p, ptx));
  int *d, h[64], three = 3, offset = 1000;
  for (int i = 0; i < 64; i++) h[i] = i;
  OK(cudaMalloc(&d, sizeof h));
  OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyDefault));
  CUmodule m;
  CUfunction f, g;
  CUdeviceptr at;
  CU(cuModuleLoadData(&m, ptx));
  CU(cuModuleGetFunction(&f, m, name));
  CU(cuModuleGetFunction(&g, m, "shift"));
  CU(cuModuleGetGlobal(&at, &size, m, "offset"));
  CU(cuMemcpyHtoD(at, &offset, 4));
  void *args[] = {&d, &three};
  CU(cuLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, 0, args, 0));
  CU(cuLaunchKernel(g, 1, 1, 1, 64, 1, 1, 0, 0, args, 0));
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  for (int i = 0; i < 64; i++) EXPECT(h[i] == i * i * i + 1000);
  show("power", h, sizeof h);
  RTC(nvrtcDestroyProgram(&p));
  return finish();
}
