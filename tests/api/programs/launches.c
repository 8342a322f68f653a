// Launches that cannot work.
#include "driver_test.h"

static const char code[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry plain(.param .u64 p) { ret; }\n"
    ".visible .entry bounded() .maxntid 64, 1, 1 { ret; }\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".visible .entry shared() { .shared .align 4 .b8 fixed[1000]; .reg .b32 %r<3>; mov.u32 %r1, "
    "fixed; mov.u32 %r2, dynamic; st.shared.u32 [%r1], %r1; st.shared.u32 [%r2], %r1; ret; }\n";

static CUresult go(CUfunction f, unsigned grid, unsigned block, unsigned shared) {
  CUdeviceptr p = 0;
  return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, NULL, (void *[]){&p}, NULL);
}

static CUresult clusters(CUfunction f, unsigned grid, unsigned size) {
  CUlaunchAttribute a = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                         .value = {.clusterDim = {size, 1, 1}}};
  CUlaunchConfig c = {.gridDimX = grid,
                      .gridDimY = 1,
                      .gridDimZ = 1,
                      .blockDimX = 32,
                      .blockDimY = 1,
                      .blockDimZ = 1,
                      .attrs = &a,
                      .numAttrs = 1};
  CUdeviceptr p = 0;
  return cuLaunchKernelEx(&c, f, (void *[]){&p}, NULL);
}

int main(void) {
  CUcontext ctx;
  CUmodule m;
  CUfunction plain, bounded, shared;
  CUdevice d;
  OK(cuInit(0));
  OK(cuDeviceGet(&d, 0));
  OK(cuCtxCreate_v2(&ctx, 0, d));
  OK(cuModuleLoadData(&m, code));
  OK(cuModuleGetFunction(&plain, m, "plain"));
  OK(cuModuleGetFunction(&bounded, m, "bounded"));
  OK(cuModuleGetFunction(&shared, m, "shared"));
  OK(go(plain, 1, 1024, 0));
  OK(go(bounded, 1, 64, 0));
  OK(go(shared, 1, 32, 40000));
  OK(clusters(plain, 8, 8));
// finds: api-misuse text=launch that cannot work: a block without threads: 0 x 1 x 1; the call
//    returns CUDA_ERROR_INVALID_VALUE
  RETURNS(go(plain, 1, 0, 0), CUDA_ERROR_INVALID_VALUE);
// finds: api-misuse text=launch that cannot work: a grid without blocks: 0 x 1 x 1; the call
//    returns CUDA_ERROR_INVALID_VALUE
  RETURNS(go(plain, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
// finds: api-misuse text=launch that cannot work: a block of 2048 x 1 x 1: this device can have
//    1024 in x; the call returns CUDA_ERROR_INVALID_VALUE
  RETURNS(go(plain, 1, 2048, 0), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr p = 0;
// finds: api-misuse text=launch that cannot work: a block of 2048 threads: at most 1024 are
//    possible; the call returns CUDA_ERROR_INVALID_VALUE
  RETURNS(cuLaunchKernel(plain, 1, 1, 1, 64, 32, 1, 0, NULL, (void *[]){&p}, NULL),
          CUDA_ERROR_INVALID_VALUE);
  // finds: api-misuse text=launch that cannot work: a grid of 1 x 70000 x 1: this device can have
  //    65535 in y; the call returns CUDA_ERROR_INVALID_VALUE
  RETURNS(cuLaunchKernel(plain, 1, 70000, 1, 64, 1, 1, 0, NULL, (void *[]){&p}, NULL),
          CUDA_ERROR_INVALID_VALUE);
  // finds: api-misuse text=launch that cannot work: a block of 65 threads: this kernel can have 64,
  //    as its __launch_bounds__ say; the call returns CUDA_ERROR_INVALID_VALUE
  RETURNS(go(bounded, 1, 65, 0), CUDA_ERROR_INVALID_VALUE);
// finds: api-misuse text=launch that cannot work: 60000 bytes of dynamic shared memory besides 1008
//    of static: the kernel may have 48144 until cudaFuncSetAttribute(kernel,
//    cudaFuncAttributeMaxDynamicSharedMemorySize, 60000) was called; the call returns
//    CUDA_ERROR_INVALID_VALUE
  RETURNS(go(shared, 1, 32, 60000), CUDA_ERROR_INVALID_VALUE);
// finds: api-misuse text=launch that cannot work: 300000 bytes of dynamic shared memory besides
//    1008 of static: a block of this device has at most 232448; the call returns
//    CUDA_ERROR_INVALID_VALUE
  RETURNS(go(shared, 1, 32, 300000), CUDA_ERROR_INVALID_VALUE);
  OK(cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
  OK(go(shared, 1, 32, 60000));
// finds: api-misuse text=launch that cannot work: a grid of 6 x 1 x 1 blocks, which is no multiple
//    of the cluster size 4 x 1 x 1; the call returns CUDA_ERROR_INVALID_CLUSTER_SIZE
  RETURNS(clusters(plain, 6, 4), CUDA_ERROR_INVALID_CLUSTER_SIZE);
// finds: api-misuse text=launch that cannot work: clusters of 16 blocks: at most 8 are possible
//    until cudaFuncAttributeNonPortableClusterSizeAllowed is set; the call returns
//    CUDA_ERROR_INVALID_CLUSTER_SIZE
  RETURNS(clusters(plain, 16, 16), CUDA_ERROR_INVALID_CLUSTER_SIZE);
// finds: api-misuse text=launch that cannot work: a cooperative launch of 100000 blocks: the device
//    holds 264 of this kernel at a time (2 on each of 132 multiprocessors); the call returns
//    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
  RETURNS(cuLaunchCooperativeKernel(plain, 100000, 1, 1, 1024, 1, 1, 0, NULL, (void *[]){&p}),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  OK(cuCtxSynchronize());
  return finish();
}
