// The device side of the viewer's calculator (view/calc_device.c): reads a line for each
// calculation, runs its PTX on the device, and prints a line with the result.
//
//   in:  three arguments in hexadecimal, and a kernel "calculate" of PTX on the rest of the line
//   out: first the name of the device; then for each line its result in hexadecimal, or ! and why
//   there is none
#include "cli/cli.h"
#include "cli/driver_calls.h"

#include <stdio.h>

static CUdeviceptr result_at;

static bool start(char *name, int size, Error *err) {
  CUdevice device;
  if (!cli_driver_start(&device, err)) return false;
  CLI_DRIVER_DO(cuDeviceGetName(name, size, device), "there is no device");
  CLI_DRIVER_DO(cuMemAlloc(&result_at, 8), "there is no memory");
  return true;
}

static bool run(CUmodule module, uint64_t *arguments, uint64_t *out, Error *err) {
  CUfunction function;
  CUlaunchConfig c = {
      .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
  void *params[] = {&result_at, &arguments[0], &arguments[1], &arguments[2]};
  *out = 0;
  CLI_DRIVER_DO(cuModuleGetFunction(&function, module, "calculate"), "it has no kernel");
  CLI_DRIVER_DO(cuMemcpyHtoD(result_at, out, 8), "memory cannot be written");
  CLI_DRIVER_DO(cuLaunchKernelEx(&c, function, params, NULL), "it was not launched");
  CLI_DRIVER_DO(cuCtxSynchronize(), "it failed");
  CLI_DRIVER_DO(cuMemcpyDtoH(out, result_at, 8), "memory cannot be read");
  return true;
}

static bool calculate(char *line, uint64_t *out, Error *err) {
  uint64_t arguments[3];
  CUmodule module;
  for (int i = 0; i < 3; i++) arguments[i] = strtoull(line, &line, 16);
  CLI_DRIVER_DO(cuModuleLoadData(&module, line), "the device does not take it");
  bool ok = run(module, arguments, out, err);
  cu.cuModuleUnload(module);
  return ok;
}

int cli_calculate(void) {
  char name[256] = "", line[4096];
  Error err = {{0}};
  if (!start(name, sizeof name, &err)) return cli_fail("%s", err.text);
  printf("%s\n", name);
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    uint64_t result;
    err.text[0] = 0;
    if (calculate(line, &result, &err)) printf("%llx\n", (unsigned long long)result);
    else printf("! %s\n", err.text);
    fflush(stdout);
  }
  return 0;
}
