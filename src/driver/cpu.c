// Kernels on the virtual device, and what its answers mean to a CUDA program.
#include "driver/driver.h"

#include <unistd.h>

#include "base/runstats.h"

_Noreturn void cpu_unsupported_exit(const char *text) {
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&once);                             // the first thread ends the process
  print_flush();
  fflush(NULL);
  runstats_fail("%s", text);
  log_error("%s", text);
  _exit(125);
}

static CUresult result_of(VgpuStatus status) {
  switch (status) {
  case VGPU_OK: return CUDA_SUCCESS;
  case VGPU_ILLEGAL_ADDRESS: return CUDA_ERROR_ILLEGAL_ADDRESS;
  case VGPU_MISALIGNED: return CUDA_ERROR_MISALIGNED_ADDRESS;
  case VGPU_ASSERT: return CUDA_ERROR_ASSERT;
  case VGPU_STACK_OVERFLOW: return CUDA_ERROR_HARDWARE_STACK_ERROR;
  case VGPU_INVALID_PC: return CUDA_ERROR_INVALID_PC;
  case VGPU_INVALID_LAUNCH: return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  case VGPU_DEADLOCK: return CUDA_ERROR_LAUNCH_TIMEOUT;
  case VGPU_CANCELLED: return CUDA_ERROR_DEINITIALIZED;
  case VGPU_TRAP:
  case VGPU_UNSUPPORTED: break;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

// Where code has no line table the message names a line of PTX: put that PTX beside the report, where it can be read.
static void keep_ptx(const VgpuFault *fault) {
  if (!fault->ptx) return;
  Str path = {0};
  Error err = {{0}};
  const char *log = settings()->log_path, *slash = log ? strrchr(log, '/') : NULL;
  if (slash) str_addn(&path, log, (size_t)(slash - log) + 1);
  str_printf(&path, "warpgrind-%d.ptx", (int)getpid());
  if (file_write(path.data, fault->ptx, fault->ptx_bytes, &err)) log_error("the PTX of that kernel is in %s", path.data);
  else log_error("%s", err.text);
  str_free(&path);
}

CUresult cpu_launch(const VgpuLaunch *launch, const KernelWork *k) {
  VgpuFault fault = {0};
  VgpuStatus status = vgpu_launch(launch, &fault);
  if (status == VGPU_OK) return CUDA_SUCCESS;
  if (status == VGPU_UNSUPPORTED) {
    keep_ptx(&fault);
    session_kernel_uncovered(k->function->session, fault.text, NULL);
    cpu_unsupported_exit(fault.text);
  }
  if (status != VGPU_CANCELLED && fault.text[0]) {
    if (session_tools()) tools_fault(k, &fault);
    else log_error("%s", fault.text);
    keep_ptx(&fault);
  }
  return result_of(status);
}
