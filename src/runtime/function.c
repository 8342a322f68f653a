// Kernels as objects: attributes, names, parameters, handles; and the occupancy of a kernel.
#include "runtime/internal.h"

#define FIND_KERNEL(func, kernel) \
  CUkernel kernel; \
  do { \
    RT_ENTER(); \
    cudaError_t find_error_ = rt_find_kernel(func, &kernel); \
    if (find_error_) return rt_return(find_error_); \
  } while (0)

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *out, const void *func) {
  if (!out) return rt_return(cudaErrorInvalidValue);
  FIND_KERNEL(func, kernel);
  int v[CU_FUNC_ATTRIBUTE_MAX] = {0};
  for (int i = 0; i < CU_FUNC_ATTRIBUTE_MAX; i++)
    cuFuncGetAttribute(&v[i], (CUfunction_attribute)i, (CUfunction)kernel);
  memset(out, 0, sizeof *out);
  out->sharedSizeBytes = (size_t)v[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES];
  out->constSizeBytes = (size_t)v[CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES];
  out->localSizeBytes = (size_t)v[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES];
  out->maxThreadsPerBlock = v[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK];
  out->numRegs = v[CU_FUNC_ATTRIBUTE_NUM_REGS];
  out->ptxVersion = v[CU_FUNC_ATTRIBUTE_PTX_VERSION];
  out->binaryVersion = v[CU_FUNC_ATTRIBUTE_BINARY_VERSION];
  out->cacheModeCA = v[CU_FUNC_ATTRIBUTE_CACHE_MODE_CA];
  out->maxDynamicSharedSizeBytes = v[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
  out->preferredShmemCarveout = v[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT];
  out->clusterDimMustBeSet = v[CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET];
  out->requiredClusterWidth = v[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
  out->requiredClusterHeight = v[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT];
  out->requiredClusterDepth = v[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH];
  out->clusterSchedulingPolicyPreference =
      v[CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE];
  out->nonPortableClusterSizeAllowed = v[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED];
  return cudaSuccess;
}

// The runtime's attribute numbers are the driver's.
cudaError_t cudaFuncSetAttribute(const void *func, int attribute, int value) {
  FIND_KERNEL(func, kernel);
  return rt_done(cuFuncSetAttribute((CUfunction)kernel, (CUfunction_attribute)attribute, value));
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t func, int attribute, int value,
                                            int device) {
  FIND_KERNEL(func, kernel);
  return rt_done(cuKernelSetAttribute((CUfunction_attribute)attribute, value, kernel, device));
}

cudaError_t cudaFuncSetCacheConfig(const void *func, int config) {
  FIND_KERNEL(func, kernel);
  return rt_done(cuFuncSetCacheConfig((CUfunction)kernel, (CUfunc_cache)config));
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func, int config) {
  FIND_KERNEL(func, kernel);
  return rt_done(cuFuncSetSharedMemConfig((CUfunction)kernel, (CUsharedconfig)config));
}

cudaError_t cudaFuncGetName(const char **name, const void *func) {
  if (!name) return rt_return(cudaErrorInvalidValue);
  FIND_KERNEL(func, kernel);
  return rt_done(cuFuncGetName(name, (CUfunction)kernel));
}

cudaError_t cudaFuncGetParamInfo(const void *func, size_t index, size_t *offset, size_t *size) {
  FIND_KERNEL(func, kernel);
  return rt_done(cuFuncGetParamInfo((CUfunction)kernel, index, offset, size));
}

cudaError_t cudaFuncGetParamCount(const void *func, size_t *count) {
  if (!count) return rt_return(cudaErrorInvalidValue);
  FIND_KERNEL(func, kernel);
  size_t n = 0, offset, size;
  while (cuFuncGetParamInfo((CUfunction)kernel, n, &offset, &size) == CUDA_SUCCESS) n++;
  *count = n;
  return cudaSuccess;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *func) {
  if (!out) return rt_return(cudaErrorInvalidValue);
  FIND_KERNEL(func, kernel);
  return rt_done(cuKernelGetFunction(out, kernel));
}

cudaError_t cudaGetKernel(cudaKernel_t *out, const void *func) {
  if (!out) return rt_return(cudaErrorInvalidValue);
  FIND_KERNEL(func, kernel);
  *out = kernel;
  return cudaSuccess;
}

// --- occupancy ---

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *func,
                                                                   int threads, size_t shared,
                                                                   unsigned flags) {
  if (!blocks) return rt_return(cudaErrorInvalidValue);
  FIND_KERNEL(func, kernel);
  return rt_done(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (CUfunction)kernel,
                                                                      threads, shared, flags));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *func,
                                                          int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, func, threads, shared,
                                                                CU_OCCUPANCY_DEFAULT);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *func, int blocks,
                                                      int threads) {
  if (!bytes) return rt_return(cudaErrorInvalidValue);
  FIND_KERNEL(func, kernel);
  return rt_done(
      cuOccupancyAvailableDynamicSMemPerBlock(bytes, (CUfunction)kernel, blocks, threads));
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *func,
                                                 const cudaLaunchConfig_t *config) {
  if (!size || !config) return rt_return(cudaErrorInvalidValue);
  FIND_KERNEL(func, kernel);
  CUlaunchConfig c;
  rt_launch_config(config, &c);
  return rt_done(cuOccupancyMaxPotentialClusterSize(size, (CUfunction)kernel, &c));
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *func,
                                           const cudaLaunchConfig_t *config) {
  if (!clusters || !config) return rt_return(cudaErrorInvalidValue);
  FIND_KERNEL(func, kernel);
  CUlaunchConfig c;
  rt_launch_config(config, &c);
  return rt_done(cuOccupancyMaxActiveClusters(clusters, (CUfunction)kernel, &c));
}
