// The stack of functions that call themselves, or that are called through pointers. The driver
// cannot know how deep it gets: every thread has what the program asked for (cudaLimitStackSize).
// With checks a call needs more, two to three times as much in the tests; so such kernels get four
// times the requested size; queries of the program return the requested size.
#include "gpu/gpu.h"

enum { DEEPER = 4 };

void gpu_stack_deepen(GpuContext *c) {
  size_t now = 0;
  if (!c || atomic_load(&c->stack_asked) || !gpu_real.cuCtxGetLimit ||
      gpu_real.cuCtxGetLimit(&now, CU_LIMIT_STACK_SIZE) != CUDA_SUCCESS || !now)
    return;
  if (gpu_real.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, now * DEEPER) == CUDA_SUCCESS)
    atomic_store(&c->stack_asked, now);
  else
    log_verbose("the driver gives threads no more than %zu bytes of stack: with checks in them, "
                "functions that call themselves may not get as deep",
                now);
}

CUresult gpu_cuCtxSetLimit(CUlimit limit, size_t value) {
  GpuContext *c = limit == CU_LIMIT_STACK_SIZE ? gpu_context_current() : NULL;
  if (!c || !atomic_load(&c->stack_asked)) return gpu_checked(gpu_real.cuCtxSetLimit(limit, value));
  CUresult result = gpu_real.cuCtxSetLimit(limit, value * DEEPER);
  if (result != CUDA_SUCCESS) result = gpu_real.cuCtxSetLimit(limit, value);
  if (result == CUDA_SUCCESS) atomic_store(&c->stack_asked, value);
  return gpu_checked(result);
}

CUresult gpu_cuCtxGetLimit(size_t *value, CUlimit limit) {
  CUresult result = gpu_real.cuCtxGetLimit(value, limit);
  GpuContext *c = limit == CU_LIMIT_STACK_SIZE && result == CUDA_SUCCESS ? gpu_context_current()
                                                                         : NULL;
  if (c && atomic_load(&c->stack_asked)) *value = atomic_load(&c->stack_asked);
  return gpu_checked(result);
}
