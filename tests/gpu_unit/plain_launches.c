// Without a tool a launch is only counted: the program's parameters reach the driver as they are,
// and one that the driver refuses does not count.
#include "channel/channel.h"
#include "fake_driver.h"
#include "gpu/modules/modules.h"
#include "tools/tool.h"
#include "unit.h"

const Tool *const tool_table[TOOL_COUNT_] = {0};

static int handle, twin;
static GpuModule module;
static GpuFunction *kernel;
static CUresult answer;
static CUfunction launched;
static void **given;

static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, CUstream s, void **params,
                       void **extra) {
  launched = f;
  given = params;
  return answer;
}
static CUresult launch_ex(const CUlaunchConfig *c, CUfunction f, void **params, void **extra) {
  launched = f;
  given = params;
  return answer;
}

static uint64_t launches(void) { return channel_kernel_counts(kernel->kernel->id)->launches; }

static CUresult run(void **params) {
  return gpu_cuLaunchKernel((CUfunction)&handle, 1, 1, 1, 32, 1, 1, 0, fake_stream(fake_current()),
                            params, NULL);
}

static void test_counted(void) {
  int value = 7;
  void *params[] = {&value};
  uint64_t before = launches();
  CUlaunchConfig config = {1, 1, 1, 32, 1, 1, 0, fake_stream(fake_current()), NULL, 0};
  answer = CUDA_SUCCESS;
  EXPECT(run(params) == CUDA_SUCCESS && launched == (CUfunction)&handle && given == params);
  EXPECT(gpu_cuLaunchKernelEx(&config, (CUfunction)&handle, params, NULL) == CUDA_SUCCESS);
  EXPECT(launches() == before + 2);
}

static void test_in_place(void) {
  atomic_store(&kernel->target, (CUfunction)&twin);
  EXPECT(run(NULL) == CUDA_SUCCESS && launched == (CUfunction)&twin);
  atomic_store(&kernel->target, (CUfunction)&handle);
}

static void test_refused(void) {
  uint64_t before = launches();
  answer = CUDA_ERROR_INVALID_VALUE;
  EXPECT(run(NULL) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(launches() == before);
}

int main(void) {
  setenv("WARPGRIND_TOOL", "none", 1);
  session_start("gpu");
  fake_driver_install();
  gpu_real.cuLaunchKernel = launch;
  gpu_real.cuLaunchKernelEx = launch_ex;
  fake_context(0);
  module = (GpuModule){.session = fake_module("m.cu", "k", 0),
                       .context = gpu_context_current()->handle};
  kernel = gpu_function_register(&module, (CUfunction)&handle, false, "k");
  atomic_store(&kernel->target, (CUfunction)&handle);
  SUBJECT(counted);
  SUBJECT(in_place);
  SUBJECT(refused);
}
