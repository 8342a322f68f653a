// Kernel launches: the <<<>>> configuration of each thread, and the entry points that take a kernel
// and its arguments.
#include "runtime/internal.h"

typedef struct Configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
} Configuration;
// a stack: an argument of a launch may itself launch
static _Thread_local VEC(Configuration) configurations;
// set between a stub's two calls: the next launch comes from kernel<<<…>>>(…)
static _Thread_local bool in_stub;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  vec_push(&configurations, (Configuration){grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
  if (!configurations.len) return rt_return(cudaErrorMissingConfiguration);
  Configuration c = configurations.data[--configurations.len];
  if (!configurations.len) vec_free(&configurations);
  *grid = c.grid;
  *block = c.block;
  *shared = c.shared;
  *(cudaStream_t *)stream = c.stream;
  in_stub = true;
  return cudaSuccess;
}

static bool fits(unsigned value, unsigned limit) { return value >= 1 && value <= limit; }

// Refuses shapes that no launch can have as invalid values, like CUDA 13's runtime on a GPU
// (measured).
cudaError_t rt_check_launch(dim3 grid, dim3 block) {
  static const CUdevice_attribute ids[7] = {
      CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,       CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
      CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,       CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
      CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,      CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
      CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK};
  static unsigned limits[7];  // all devices are alike; racing threads write the same numbers
  if (!__atomic_load_n(&limits[6], __ATOMIC_ACQUIRE))
    for (int i = 0; i < 7; i++) {
      int value = 0;
      cuDeviceGetAttribute(&value, ids[i], 0);
      __atomic_store_n(&limits[i], (unsigned)value, __ATOMIC_RELEASE);
    }
  bool ok = fits(grid.x, limits[0]) && fits(grid.y, limits[1]) && fits(grid.z, limits[2]) &&
            fits(block.x, limits[3]) && fits(block.y, limits[4]) && fits(block.z, limits[5]) &&
            (uint64_t)block.x * block.y * block.z <= limits[6];
  return ok ? cudaSuccess : cudaErrorInvalidValue;
}

typedef struct Launch {
  const void *func;
  dim3 grid, block;
  void **args;
  size_t shared;
  cudaStream_t stream;
  bool cooperative;
} Launch;
static cudaError_t run_launch(const Launch *l) {
  dim3 grid = l->grid, block = l->block;
  cudaError_t e = rt_enter();
  if (e) return e;
  CUkernel kernel;
  e = rt_find_kernel(l->func, &kernel);
  if (!e && l->shared > UINT32_MAX) e = cudaErrorInvalidValue;
  if (e) return e;
  CUfunction f = (CUfunction)kernel;
  unsigned bytes = (unsigned)l->shared;
  e = rt_check_launch(grid, block);
  CUresult r = l->cooperative
                   ? cuLaunchCooperativeKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                               bytes, l->stream, l->args)
                   : cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z, bytes,
                                    l->stream, l->args, NULL);
  return e ? e : rt_result(r);  // the driver refuses a bad shape too, and explains it there
}

static cudaError_t launch(const Launch *l) {
  bool by_stub = in_stub;
  in_stub = false;
  cudaError_t e = run_launch(l);
  return by_stub ? rt_return_to_stub(e) : rt_return(e);
}

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
                             cudaStream_t stream) {
  return launch(&(Launch){func, grid, block, args, shared, stream, .cooperative = false});
}
cudaError_t cudaLaunchKernel_ptsz(const void *func, dim3 grid, dim3 block, void **args,
                                  size_t shared, cudaStream_t stream) {
  return launch(
      &(Launch){func, grid, block, args, shared, STREAM_PTSZ(stream), .cooperative = false});
}
// nvcc 13's stubs pass the handle they got from __cudaGetKernel.
cudaError_t __cudaLaunchKernel(CUkernel kernel, dim3 grid, dim3 block, void **args, size_t shared,
                               cudaStream_t stream) {
  return launch(&(Launch){kernel, grid, block, args, shared, stream, .cooperative = false});
}
cudaError_t __cudaLaunchKernel_ptsz(CUkernel kernel, dim3 grid, dim3 block, void **args,
                                    size_t shared, cudaStream_t stream) {
  return launch(
      &(Launch){kernel, grid, block, args, shared, STREAM_PTSZ(stream), .cooperative = false});
}
cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block, void **args,
                                        size_t shared, cudaStream_t stream) {
  return launch(&(Launch){func, grid, block, args, shared, stream, .cooperative = true});
}
cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *func, dim3 grid, dim3 block, void **args,
                                             size_t shared, cudaStream_t stream) {
  return launch(
      &(Launch){func, grid, block, args, shared, STREAM_PTSZ(stream), .cooperative = true});
}

// The attribute list has the same layout in both interfaces.
void rt_launch_config(const cudaLaunchConfig_t *in, CUlaunchConfig *out) {
  *out = (CUlaunchConfig){.gridDimX = in->gridDim.x,
                          .gridDimY = in->gridDim.y,
                          .gridDimZ = in->gridDim.z,
                          .blockDimX = in->blockDim.x,
                          .blockDimY = in->blockDim.y,
                          .blockDimZ = in->blockDim.z,
                          .sharedMemBytes = (unsigned)in->dynamicSmemBytes,
                          .hStream = in->stream,
                          .attrs = (CUlaunchAttribute *)in->attrs,
                          .numAttrs = in->numAttrs};
}

static cudaError_t launch_ex(const cudaLaunchConfig_t *config, const void *func, void **args,
                             bool per_thread) {
  RT_ENTER();
  if (!config) return rt_return(cudaErrorInvalidValue);
  CUkernel kernel;
  CUlaunchConfig c;
  cudaError_t e = rt_find_kernel(func, &kernel);
  if (!e && config->dynamicSmemBytes > UINT32_MAX) e = cudaErrorInvalidValue;
  if (e) return rt_return(e);
  rt_launch_config(config, &c);
  if (per_thread) c.hStream = STREAM_PTSZ(c.hStream);
  e = rt_check_launch(config->gridDim, config->blockDim);
  CUresult r = cuLaunchKernelEx(&c, (CUfunction)kernel, args, NULL);
  return e ? rt_return(e) : rt_done(r);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args) {
  return launch_ex(config, func, args, false);
}
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func,
                                     void **args) {
  return launch_ex(config, func, args, true);
}

cudaError_t cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams *list, unsigned count,
                                                   unsigned flags) {
  RT_ENTER();
  if (!list || !count) return rt_return(cudaErrorInvalidValue);
  CUDA_LAUNCH_PARAMS *converted = mem_alloc(count * sizeof *converted);
  cudaError_t e = cudaSuccess;
  for (unsigned i = 0; i < count && !e; i++) {
    const cudaLaunchParams *l = &list[i];
    CUkernel kernel = NULL;
    e = rt_find_kernel(l->func, &kernel);
    converted[i] = (CUDA_LAUNCH_PARAMS){
        (CUfunction)kernel, l->gridDim.x,  l->gridDim.y,           l->gridDim.z, l->blockDim.x,
        l->blockDim.y,      l->blockDim.z, (unsigned)l->sharedMem, l->stream,    l->args};
  }
  if (!e) e = rt_result(cuLaunchCooperativeKernelMultiDevice(converted, count, flags));
  free(converted);
  return rt_return(e);
}

static cudaError_t launch_host(cudaStream_t stream, cudaHostFn_t fn, void *user) {
  RT_ENTER();
  return rt_done(cuLaunchHostFunc(stream, fn, user));
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *user) {
  return launch_host(stream, fn, user);
}
cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t fn, void *user) {
  return launch_host(STREAM_PTSZ(stream), fn, user);
}
