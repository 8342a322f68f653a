// Copies and sets that are right, each close to a wrong one.
#include "driver_test.h"

static CUstream s;
static char host[1 << 16];
static CUdeviceptr a, b;  // 1024 and 4096 bytes

static void plain(void) {
  CUdeviceptr managed, gone;
  void *pinned;
  OK(cuMemAllocHost_v2(&pinned, 1000));
  OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  // to the last byte
  OK(cuMemcpyHtoD_v2(a, host, 1024));
  OK(cuMemcpyDtoH_v2(host, a + 24, 1000));
  OK(cuMemcpyHtoDAsync_v2(b, pinned, 1000, s));
  OK(cuMemcpyHtoDAsync_v2(b, (char *)pinned + 999, 1, s));
  OK(cuMemsetD32_v2(a, 1, 256));
  OK(cuMemsetD2D8_v2(a, 300, 0, 124, 4));
  OK(cuMemcpyHtoD_v2(a + 1024, host, 0));
  // memory that is on both sides
  OK(cuMemcpyHtoD_v2(a, (void *)(uintptr_t)managed, 1024));
  OK(cuMemcpyDtoH_v2((void *)(uintptr_t)managed, a, 1024));
  OK(cuMemcpyDtoD_v2(managed, (uintptr_t)pinned, 1000));
  OK(cuMemcpy((uintptr_t)host, a, 1024));
  OK(cuMemcpy(a, (uintptr_t)host, 1024));
  // neighbours, the same place, other columns of the same rows
  OK(cuMemcpyDtoD_v2(b + 200, b, 200));
  OK(cuMemcpyDtoD_v2(b, b, 200));
  CUDA_MEMCPY2D columns = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = b,
                           .srcPitch = 256,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = b + 128,
                           .dstPitch = 256,
                           .WidthInBytes = 128,
                           .Height = 16};
  OK(cuMemcpy2D_v2(&columns));
  // memory that was freed and is there again; freed host memory may belong to anybody
  OK(cuMemAlloc_v2(&gone, 512));
  OK(cuMemFree_v2(gone));
  OK(cuMemAlloc_v2(&gone, 512));
  OK(cuMemcpyHtoD_v2(gone, host, 512));
  OK(cuMemHostRegister_v2(host, 8192, 0));
  OK(cuMemcpyHtoDAsync_v2(b, host, 4096, s));
  OK(cuStreamSynchronize(s));
  OK(cuMemHostUnregister(host));
  OK(cuMemcpyHtoD_v2(b, host + 8000, 4096));
}

static void rows_and_arrays(void) {
  // pitched memory, all of it, and a part of it
  CUdeviceptr pitched;
  size_t pitch;
  OK(cuMemAllocPitch_v2(&pitched, &pitch, 100, 16, 4));
  CUDA_MEMCPY2D r = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                     .srcHost = host,
                     .srcPitch = 100,
                     .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                     .dstDevice = pitched,
                     .dstPitch = pitch,
                     .WidthInBytes = 100,
                     .Height = 16};
  OK(cuMemcpy2D_v2(&r));
  r.dstPitch = 2 * pitch;
  r.Height = 8;
  OK(cuMemcpy2D_v2(&r));
  CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = host,
                       .srcPitch = 64,
                       .srcHeight = 4,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstDevice = b,
                       .dstPitch = 128,
                       .dstHeight = 8,
                       .WidthInBytes = 64,
                       .Height = 4,
                       .Depth = 4};
  OK(cuMemcpy3D_v2(&box));
  // all of an array
  CUarray array;
  OK(cuArrayCreate_v2(
      &array, &(CUDA_ARRAY_DESCRIPTOR){
                  .Width = 32, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1}));
  CUDA_MEMCPY2D into = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = host,
                        .srcPitch = 128,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = array,
                        .WidthInBytes = 128,
                        .Height = 8};
  OK(cuMemcpy2D_v2(&into));
  CUtexObject t;
  CUDA_RESOURCE_DESC linear = {.resType = CU_RESOURCE_TYPE_LINEAR,
                               .res.linear = {a, CU_AD_FORMAT_FLOAT, 1, 1024}};
  CUDA_RESOURCE_DESC plane = {.resType = CU_RESOURCE_TYPE_PITCH2D,
                              .res.pitch2D = {b, CU_AD_FORMAT_FLOAT, 1, 32, 8, 512}};
  CUDA_TEXTURE_DESC how = {0};
  OK(cuTexObjectCreate(&t, &linear, &how, NULL));
  OK(cuTexObjectCreate(&t, &plane, &how, NULL));
}

int main(void) {
  CUcontext ctx;
  CUdevice dev;
  CUdeviceptr pooled;
  OK(cuInit(0));
  OK(cuDeviceGet(&dev, 0));
  OK(cuCtxCreate_v2(&ctx, 0, dev));
  OK(cuStreamCreate(&s, 0));
  OK(cuMemAlloc_v2(&a, 1024));
  OK(cuMemAlloc_v2(&b, 4096));
  plain();
  rows_and_arrays();
  // pools in order
  OK(cuMemAllocAsync(&pooled, 256, s));
  OK(cuMemsetD8Async(pooled, 0, 256, s));
  OK(cuMemFreeAsync(pooled, s));
  OK(cuMemAllocAsync(&pooled, 256, s));
  OK(cuMemcpyDtoDAsync_v2(b, pooled, 256, s));
  OK(cuMemFreeAsync(pooled, s));
  // pageable memory, and the program waits at once
  OK(cuMemcpyHtoDAsync_v2(b, host, 4096, s));
  OK(cuStreamSynchronize(s));
  OK(cuMemcpyDtoHAsync_v2(host, b, 4096, s));
  OK(cuCtxSynchronize());
  return finish();
}
