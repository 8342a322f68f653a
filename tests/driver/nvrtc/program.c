// Compiles a kernel for sm_90 while it runs, takes the machine code, and launches it.
#include "driver_test.h"

#include <nvrtc.h>

int main(void) {
  start();
  const char *source = "extern \"C\" __global__ void twice(int *p) { p[threadIdx.x] *= 2; }";
  const char *options[] = {"--gpu-architecture=sm_90"};
  nvrtcProgram program;
  EXPECT(!nvrtcCreateProgram(&program, source, "twice.cu", 0, NULL, NULL));
  EXPECT(!nvrtcCompileProgram(program, 1, options));
  size_t size = 0;
  EXPECT(!nvrtcGetCUBINSize(program, &size) && size > 0);
  char *code = malloc(size);
  EXPECT(!nvrtcGetCUBIN(program, code));
  EXPECT(!nvrtcDestroyProgram(&program));
  CUmodule m;
  OK(cuModuleLoadDataEx(&m, code, 0, NULL, NULL));
  free(code);
  CUdeviceptr p = new_ints(4);
  OK(cuMemsetD32_v2(p, 21, 4));
  OK(LAUNCH(get(m, "twice"), 1, 4, NULL, &p));
  EXPECT(read_int(p + 12) == 42);
  return finish();
}
