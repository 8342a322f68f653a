// A kernel failed: the driver tells the program in some later call. Said once for each context, as
// a finding.
#include "gpu/gpu.h"

// Every one of these leaves the context unusable.
static bool is_fault(CUresult r) {
  switch (r) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE: return true;
    default: return false;
  }
}

static const char *kind_of(CUresult r) {
  return r == CUDA_ERROR_ASSERT                 ? "assert"
         : r == CUDA_ERROR_HARDWARE_STACK_ERROR ? "stack-overflow"
                                                : "launch-failure";
}

void gpu_fault_in(GpuContext *c, CUresult result) {
  if (!is_fault(result) || atomic_exchange(&c->faulted, true)) return;
  const char *name = "an error", *meaning = "unknown";
  gpu_real.cuGetErrorName(result, &name);
  gpu_real.cuGetErrorString(result, &meaning);
  SessionKernel *kernel = atomic_load_explicit(&c->last_kernel, memory_order_relaxed);
  char text[512];
  snprintf(text, sizeof text, "the driver reported %s (%s) for %s", name, meaning,
           kernel ? "the kernel that was launched last, or one before it"
                  : "a kernel that was launched before this call");
  session_finding(&(SessionFinding){
      .kind = kind_of(result),
      .text = text,
      .kernel = kernel,
      .launch = kernel ? atomic_load_explicit(&c->last_launch, memory_order_relaxed) : 0});
}

void gpu_fault(CUresult result) {
  GpuContext *c = is_fault(result) ? gpu_context_current() : NULL;
  if (c) gpu_fault_in(c, result);
}
