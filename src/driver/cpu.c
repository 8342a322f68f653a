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

CUresult cpu_launch(Context *ctx, const VgpuLaunch *launch) {
  VgpuFault fault;
  fault.text[0] = 0;
  VgpuStatus status = vgpu_launch(launch, &fault);
  if (status == VGPU_OK) return CUDA_SUCCESS;
  if (status == VGPU_UNSUPPORTED) cpu_unsupported_exit(fault.text);
  if (status != VGPU_CANCELLED && fault.text[0]) log_error("%s", fault.text);
  return result_of(status);
}
