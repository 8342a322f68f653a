// Copies and sets that are wrong. What the driver says to each is its own affair; on the virtual
// device it refuses what leaves an allocation.
#include "driver_test.h"

static CUdeviceptr device(size_t n) {
  CUdeviceptr p = 0;
  OK(cuMemAlloc_v2(&p, n));
  return p;
}

static CUDA_MEMCPY2D rectangle(CUdeviceptr d, size_t pitch, const void *h, size_t hpitch, size_t w,
                               size_t rows) {
  return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                         .srcHost = h,
                         .srcPitch = hpitch,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = d,
                         .dstPitch = pitch,
                         .WidthInBytes = w,
                         .Height = rows};
}

static CUcontext ctx;
static char host[1 << 16];
static CUdeviceptr a, b;  // 1024 and 4096 bytes
static void *pinned;      // 1000 bytes

static void extents(void) {
// finds: api-misuse text=cuMemcpyHtoD: 1500 bytes are written where 1024 are left of the
//    allocation: 476 too many in the destination
  cuMemcpyHtoD_v2(a, host, 1500);
// finds: api-misuse text=cuMemcpyDtoH: 1024 bytes are read where 1000 are left of the allocation:
//    24 too many in the source
  cuMemcpyDtoH_v2(host, a + 24, 1024);
// finds: api-misuse text=cuMemcpyDtoD: 2000 bytes are written where 1024 are left of the
//    allocation: 976 too many in the destination
  cuMemcpyDtoD_v2(a, b, 2000);
// finds: api-misuse text=cuMemcpyHtoDAsync: 1004 bytes are read where 1000 are left of the
//    allocation: 4 too many in the source
  cuMemcpyHtoDAsync_v2(b, pinned, 1004, NULL);
// finds: api-misuse text=cuMemsetD32: 1028 bytes are set where 1024 are left of the allocation: 4
//    too many in the memory that is set
  cuMemsetD32_v2(a, 1, 257);
// finds: api-misuse text=cuMemsetD2D8: 4 rows of 200 bytes, 300 apart, are set: they end 76 bytes
//    behind the allocation of the memory that is set
  cuMemsetD2D8_v2(a, 300, 0, 200, 4);
}

static void kinds_of_memory(void) {
  CUdeviceptr gone = device(512);
// finds: api-misuse text=cuMemcpyHtoD: the source is given as host memory, but is device memory:
//    the direction of the copy is wrong
  cuMemcpyHtoD_v2(a, (void *)(uintptr_t)b, 512);
// finds: api-misuse text=cuMemcpyDtoH: the destination is given as host memory, but is device
//    memory: the direction of the copy is wrong
  cuMemcpyDtoH_v2((void *)(uintptr_t)b, a, 512);
// finds: api-misuse text=cuMemcpyHtoD: the destination is given as device memory, but nothing is
//    allocated there
  RETURNS(cuMemcpyHtoD_v2((uintptr_t)host, host + 4096, 512), CUDA_ERROR_INVALID_VALUE);
// finds: api-misuse text=cuMemcpyDtoH: the source is a null pointer
  RETURNS(cuMemcpyDtoH_v2(host, 0, 16), CUDA_ERROR_INVALID_VALUE);

  OK(cuMemFree_v2(gone));
// finds: api-misuse text=cuMemcpyDtoH: the source was freed before
  cuMemcpyDtoH_v2(host, gone, 16);
// finds: api-misuse text=cuMemcpy: the source was freed before
  cuMemcpy((uintptr_t)host, gone, 16);
// finds: api-misuse text=cuMemsetD8Async: the memory that is set was freed before
  cuMemsetD8Async(gone, 0, 16, NULL);

// finds: api-misuse text=cuMemcpyDtoD: source and destination overlap by 100 bytes
  OK(cuMemcpyDtoD_v2(b + 100, b, 200));
}

static void rows_and_arrays(void) {
  CUDA_MEMCPY2D r = rectangle(b, 100, host, 128, 128, 8);
// finds: api-misuse text=cuMemcpy2D: the pitch of the destination, 100 bytes, is smaller than a row
//    of 128
  RETURNS(cuMemcpy2D_v2(&r), CUDA_ERROR_INVALID_VALUE);
  r = rectangle(b, 512, host, 128, 128, 9);
// finds: api-misuse text=cuMemcpy2D: 9 rows of 128 bytes, 512 apart, are written: they end 128
//    bytes behind the allocation of the destination
  cuMemcpy2D_v2(&r);
  CUdeviceptr pitched;
  size_t pitch;
  OK(cuMemAllocPitch_v2(&pitched, &pitch, 100, 16, 4));
  r = rectangle(pitched, 100, host, 100, 100, 16);
// finds: api-advice text=cuMemcpy2D: the rows of the destination are taken to be 100 bytes apart,
//    but it was allocated with a pitch of 512
  OK(cuMemcpy2D_v2(&r));

  CUarray array;
  OK(cuArrayCreate_v2(
      &array, &(CUDA_ARRAY_DESCRIPTOR){
                  .Width = 32, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1}));
  CUDA_MEMCPY2D into = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = host,
                        .srcPitch = 128,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = array,
                        .dstY = 1,
                        .WidthInBytes = 128,
                        .Height = 8};
  // finds: api-misuse text=cuMemcpy2D: 128 x 8 x 1 (bytes, rows, slices) from (0, 1, 0) of an array
  //    of 128 x 8 x 1: more than the destination has
  RETURNS(cuMemcpy2D_v2(&into), CUDA_ERROR_INVALID_VALUE);
// finds: api-misuse text=cuMemcpyHtoA: 600 x 1 x 1 (bytes, rows, slices) from (512, 0, 0) of an
//    array of 128 x 8 x 1: more than the destination has
  RETURNS(cuMemcpyHtoA_v2(array, 512, host, 600), CUDA_ERROR_INVALID_VALUE);
}

static void graphs_and_textures(void) {
  CUgraph graph;
  CUgraphNode node;
  OK(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS set = {.dst = a, .elementSize = 4, .width = 300, .height = 1};
// finds: api-misuse text=memset node: 1200 bytes are set where 1024 are left of the allocation: 176
//    too many in the memory that is set
  cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, ctx);
  CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = a,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstDevice = b,
                       .WidthInBytes = 1100,
                       .Height = 1,
                       .Depth = 1};
  // finds: api-misuse text=memcpy node: 1100 bytes are read where 1024 are left of the allocation:
  //    76 too many in the source
  cuGraphAddMemcpyNode(&node, graph, NULL, 0, &box, ctx);

  CUtexObject t;
  CUDA_RESOURCE_DESC linear = {.resType = CU_RESOURCE_TYPE_LINEAR,
                               .res.linear = {a, CU_AD_FORMAT_FLOAT, 1, 2048}};
  CUDA_RESOURCE_DESC plane = {.resType = CU_RESOURCE_TYPE_PITCH2D,
                              .res.pitch2D = {b, CU_AD_FORMAT_FLOAT, 1, 32, 9, 512}};
  CUDA_TEXTURE_DESC how = {0};
// finds: api-misuse text=cuTexObjectCreate: the texture covers 2048 bytes where 1024 are left of
//    the allocation: 1024 too many
  cuTexObjectCreate(&t, &linear, &how, NULL);
// finds: api-misuse text=cuTexObjectCreate: the texture covers 4224 bytes where 4096 are left of
//    the allocation: 128 too many
  cuTexObjectCreate(&t, &plane, &how, NULL);
}

int main(void) {
  CUdevice dev;
  OK(cuInit(0));
  OK(cuDeviceGet(&dev, 0));
  OK(cuCtxCreate_v2(&ctx, 0, dev));
  a = device(1024);
  b = device(4096);
  OK(cuMemAllocHost_v2(&pinned, 1000));
  extents();
  kinds_of_memory();
  rows_and_arrays();
  graphs_and_textures();

// finds: api-advice text=asynchronous copy from pageable host memory: it does not run in the
//    background (cudaMallocHost or cudaHostRegister make it so)
  OK(cuMemcpyHtoDAsync_v2(b, host, 4096, NULL));
  OK(cuMemsetD8_v2(a, 0, 1024));
  cuCtxSynchronize();
  return finish();
}
