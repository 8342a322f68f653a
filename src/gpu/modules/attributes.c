// Properties and occupancy of kernels. Queries are answered for the code that runs; settings go to
// both, the original and our code. The list of parameters, the name and the module are the
// original's: the program does not see what we add.
#include "gpu/modules/modules.h"

// The function that runs for a handle; the handle itself if we do not know it.
static CUfunction target_of(CUfunction handle) {
  GpuFunction *f = gpu_function(handle);
  return f ? gpu_function_target(f) : handle;
}

static void set(CUfunction handle, FunctionSetting s) {
  GpuFunction *f = gpu_function(handle);
  if (f) gpu_function_set(f, s);
}

CUresult gpu_cuFuncGetAttribute(int *out, CUfunction_attribute a, CUfunction f) {
  return gpu_real.cuFuncGetAttribute(out, a, target_of(f));
}

CUresult gpu_cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int value) {
  GPU_TRY(gpu_real.cuFuncSetAttribute(f, a, value));
  set(f, (FunctionSetting){.kind = SET_ATTRIBUTE, .attribute = (int)a, .value = value});
  return CUDA_SUCCESS;
}

CUresult gpu_cuFuncSetCacheConfig(CUfunction f, CUfunc_cache config) {
  GPU_TRY(gpu_real.cuFuncSetCacheConfig(f, config));
  set(f, (FunctionSetting){.kind = SET_CACHE, .value = (int)config});
  return CUDA_SUCCESS;
}

CUresult gpu_cuFuncSetSharedMemConfig(CUfunction f, CUsharedconfig config) {
  GPU_TRY(gpu_real.cuFuncSetSharedMemConfig(f, config));
  set(f, (FunctionSetting){.kind = SET_SHARED, .value = (int)config});
  return CUDA_SUCCESS;
}

// The program wants the kernel loaded now, so we load ours, too.
CUresult gpu_cuFuncLoad(CUfunction f) {
  GPU_TRY(gpu_real.cuFuncLoad(f));
  CUfunction target = target_of(f);
  if (target != f) {
    GpuQuiet q = gpu_quiet_begin();
    gpu_real.cuFuncLoad(target);
    gpu_quiet_end(q);
  }
  return CUDA_SUCCESS;
}

CUresult gpu_cuKernelGetAttribute(int *out, CUfunction_attribute a, CUkernel k, CUdevice d) {
  return gpu_real.cuKernelGetAttribute(out, a, (CUkernel)target_of((CUfunction)k), d);
}

CUresult gpu_cuKernelSetAttribute(CUfunction_attribute a, int value, CUkernel k, CUdevice d) {
  GPU_TRY(gpu_real.cuKernelSetAttribute(a, value, k, d));
  set((CUfunction)k, (FunctionSetting){.kind = SET_ATTRIBUTE,
                                       .attribute = (int)a,
                                       .value = value,
                                       .of_kernel = true,
                                       .device = d});
  return CUDA_SUCCESS;
}

CUresult gpu_cuKernelSetCacheConfig(CUkernel k, CUfunc_cache config, CUdevice d) {
  GPU_TRY(gpu_real.cuKernelSetCacheConfig(k, config, d));
  set((CUfunction)k,
      (FunctionSetting){.kind = SET_CACHE, .value = (int)config, .of_kernel = true, .device = d});
  return CUDA_SUCCESS;
}

// --- occupancy ---

CUresult gpu_cuOccupancyAvailableDynamicSMemPerBlock(size_t *out, CUfunction f, int blocks,
                                                     int threads) {
  return gpu_real.cuOccupancyAvailableDynamicSMemPerBlock(out, target_of(f), blocks, threads);
}
CUresult gpu_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction f, int threads,
                                                         size_t shared) {
  return gpu_real.cuOccupancyMaxActiveBlocksPerMultiprocessor(out, target_of(f), threads, shared);
}
CUresult gpu_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, CUfunction f,
                                                                  int threads, size_t shared,
                                                                  unsigned flags) {
  return gpu_real.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, target_of(f), threads,
                                                                       shared, flags);
}
CUresult gpu_cuOccupancyMaxActiveClusters(int *out, CUfunction f, const CUlaunchConfig *config) {
  return gpu_real.cuOccupancyMaxActiveClusters(out, target_of(f), config);
}
CUresult gpu_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f,
                                              CUoccupancyB2DSize size, size_t shared, int limit) {
  return gpu_real.cuOccupancyMaxPotentialBlockSize(grid, block, target_of(f), size, shared, limit);
}
CUresult gpu_cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction f,
                                                       CUoccupancyB2DSize size, size_t shared,
                                                       int limit, unsigned flags) {
  return gpu_real.cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, target_of(f), size, shared,
                                                            limit, flags);
}
CUresult gpu_cuOccupancyMaxPotentialClusterSize(int *out, CUfunction f,
                                                const CUlaunchConfig *config) {
  return gpu_real.cuOccupancyMaxPotentialClusterSize(out, target_of(f), config);
}
