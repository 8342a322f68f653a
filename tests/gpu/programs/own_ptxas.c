// The program compiles PTX with ptxas itself and loads the machine code, as Triton and JAX do.
// coverage: all
// cpu: approximate functions
#include <cuda.h>
#include <unistd.h>
#include "gpu_test.h"

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .u32 calls = 5;\n"
    ".visible .entry scale(.param .u64 p, .param .f32 a, .param .f32 b) {\n .reg .b64 %rd<5>; .reg "
    ".b32 %r<4>; .reg .f32 %f<6>;\n"
    ".loc 1 3 0\n ld.param.u64 %rd1, [p]; ld.param.f32 %f1, [a]; ld.param.f32 %f2, [b]; "
    "cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, "
    "%rd2, %rd3;\n"
    ".loc 1 4 0\n ld.global.f32 %f3, [%rd4]; mul.f32 %f4, %f3, %f1; add.f32 %f5, %f4, %f2; "
    "st.global.f32 [%rd4], %f5;\n"
    ".loc 1 5 0\n atom.global.add.u32 %r2, [calls], 1; ret;\n}\n.file 1 \"own_script.py\"\n";

// Fused or not, the last bits differ: what the options say must hold for the code that runs.
static void *compile(const char *options) {
  char folder[] = "/tmp/own_XXXXXX", command[1024], path[300];
  const char *ptxas = getenv("TRITON_PTXAS_PATH");
  if (!mkdtemp(folder)) exit(3);
  snprintf(path, sizeof path, "%s/k.ptx", folder);
  FILE *f = fopen(path, "w");
  fputs(ptx, f);
  fclose(f);
  snprintf(command, sizeof command,
           "%s -lineinfo %s -v --gpu-name=sm_90 %s/k.ptx -o %s/k.cubin 2> /dev/null",
           ptxas && *ptxas ? ptxas : "ptxas", options, folder, folder);
  int code = system(command);
  if (code) { printf("ptxas ended with %d\n", code); exit(3); }
  snprintf(path, sizeof path, "%s/k.cubin", folder);
  f = fopen(path, "rb");
  char *cubin = calloc(1, 1 << 20);
  size_t n = fread(cubin, 1, 1 << 20, f);
  EXPECT(n > 0);
  fclose(f);
  snprintf(command, sizeof command, "rm -r %s", folder);
  EXPECT(system(command) == 0);
  return cubin;
}
static void run(const char *options) {
  CUmodule m;
  CUfunction f;
  CUdeviceptr d, calls;
  size_t size;
  float h[64], a = 1.0f / 3, b = 0.7f;
  unsigned n = 0;
  void *cubin = compile(options);
  CU(cuModuleLoadData(&m, cubin));
  free(cubin);
  CU(cuModuleGetFunction(&f, m, "scale"));
  CU(cuMemAlloc(&d, sizeof h));
  for (int i = 0; i < 64; i++) h[i] = i * 0.37f;
  CU(cuMemcpyHtoD(d, h, sizeof h));
  void *args[] = {&d, &a, &b};
  CU(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
  CU(cuMemcpyDtoH(h, d, sizeof h));
  CU(cuModuleGetGlobal(&calls, &size, m, "calls"));
  CU(cuMemcpyDtoH(&n, calls, 4));
  EXPECT(n == 69);
  show(options, h, sizeof h);
  CU(cuModuleUnload(m));
}
int main(void) {
  CUdevice d;
  CUcontext c;
  CU(cuInit(0));
  CU(cuDeviceGet(&d, 0));
  CU(cuDevicePrimaryCtxRetain(&c, d));
  CU(cuCtxSetCurrent(c));
  run("");
  run("--fmad=false");
  run("--opt-level 0");
  return finish();
}
