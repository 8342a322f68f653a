// Memory of all kinds, what pointers are, copies and sets in one, two and three dimensions, arrays.
// prints: all checks passed
#include "driver_test.h"

static void attributes(void) {
  CUdeviceptr d = new_ints(256), m;
  void *h;
  unsigned type;
  bool managed;
  CUcontext ctx, current;
  OK(cuMemHostAlloc(&h, 4096, CU_MEMHOSTALLOC_PORTABLE));
  OK(cuMemAllocManaged(&m, 4096, CU_MEM_ATTACH_GLOBAL));
  OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d + 100));
  EXPECT(type == CU_MEMORYTYPE_DEVICE);
  OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)h));
  EXPECT(type == CU_MEMORYTYPE_HOST);
  OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, m));
  EXPECT(managed);
  OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, d));
  EXPECT(!managed);
  OK(cuPointerGetAttribute(&ctx, CU_POINTER_ATTRIBUTE_CONTEXT, d));
  OK(cuCtxGetCurrent(&current));
  EXPECT(ctx == current);
  int local;
  RETURNS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                (CUdeviceptr)(uintptr_t)&local),
          CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr base;
  size_t size;
  OK(cuMemGetAddressRange_v2(&base, &size, d + 1000));
  EXPECT(base == d && size == 1024);
  RETURNS(cuMemGetAddressRange_v2(&base, &size, 4096), CUDA_ERROR_NOT_FOUND);
  // Many at once, also for memory that is not ours.
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  int ordinal;
  void *data[] = {&type, &size, &ordinal};
  OK(cuPointerGetAttributes(3, which, data, d + 8));
  EXPECT(type == CU_MEMORYTYPE_DEVICE && size == 1024 && ordinal == 0);
  OK(cuPointerGetAttributes(3, which, data, (CUdeviceptr)(uintptr_t)&local));
  EXPECT(type == 0 && size == 0 && ordinal == -2);
  int where;
  OK(cuMemAdvise_v2(m, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
                    (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0}));
  OK(cuMemRangeGetAttribute(&where, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, m, 4096));
  EXPECT(where == 0);
  OK(cuMemPrefetchAsync_v2(m, 4096, (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0}, 0, NULL));
  OK(cuMemRangeGetAttribute(&where, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, m, 4096));
  EXPECT(where == CU_DEVICE_CPU);
  unsigned flags;
  OK(cuMemHostGetFlags(&flags, h));
  EXPECT(flags & CU_MEMHOSTALLOC_PORTABLE);
  RETURNS(cuMemFree_v2(d + 4), CUDA_ERROR_INVALID_VALUE);
  RETURNS(cuMemFree_v2((CUdeviceptr)(uintptr_t)h), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFree_v2(d));
  RETURNS(cuMemFree_v2(d), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFree_v2(0));
  OK(cuMemFree_v2(m));
  OK(cuMemFreeHost(h));
}

static void limits(void) {
  CUdeviceptr p;
  size_t free_bytes, total;
  OK(cuMemGetInfo_v2(&free_bytes, &total));
  EXPECT(free_bytes <= total);
  RETURNS(cuMemAlloc_v2(&p, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
  RETURNS(cuMemAlloc_v2(&p, 0), CUDA_ERROR_INVALID_VALUE);
  // Copies and sets that leave an allocation are refused.
  char host[64];
  p = new_ints(8);
  RETURNS(cuMemcpyHtoD_v2(p, host, 64), CUDA_ERROR_INVALID_VALUE);
  RETURNS(cuMemcpyDtoH_v2(host, p + 16, 32), CUDA_ERROR_INVALID_VALUE);
  RETURNS(cuMemcpyHtoD_v2(12345, host, 4), CUDA_ERROR_INVALID_VALUE);
  RETURNS(cuMemsetD8_v2(p, 0, 33), CUDA_ERROR_INVALID_VALUE);
  RETURNS(cuMemsetD32_v2(p + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemcpyHtoD_v2(p, host, 0));
  OK(cuMemFree_v2(p));
}

static void sets(void) {
  unsigned char got[64];
  CUdeviceptr p;
  OK(cuMemAlloc_v2(&p, 64));
  OK(cuMemsetD8_v2(p, 0xab, 64));
  OK(cuMemsetD16_v2(p + 2, 0x1234, 3));
  OK(cuMemsetD32Async(p + 8, 0x99887766, 2, NULL));
  OK(cuMemsetD2D8_v2(p + 32, 8, 0x55, 3, 4));
  OK(cuMemcpyDtoH_v2(got, p, 64));
  EXPECT(got[0] == 0xab && got[2] == 0x34 && got[3] == 0x12 && got[7] == 0x12 && got[8] == 0x66 &&
         got[15] == 0x99 && got[16] == 0xab);
  EXPECT(got[32] == 0x55 && got[34] == 0x55 && got[35] == 0xab && got[40] == 0x55 &&
         got[58] == 0x55 && got[59] == 0xab);
  OK(cuMemFree_v2(p));
}

static void pitched(void) {
  CUdeviceptr p;
  size_t pitch;
  int in[5][7], out[5][7] = {{0}};
  for (int y = 0; y < 5; y++)
    for (int x = 0; x < 7; x++) in[y][x] = y * 100 + x;
  OK(cuMemAllocPitch_v2(&p, &pitch, sizeof in[0], 5, 4));
  EXPECT(pitch >= sizeof in[0] && pitch % 32 == 0);
  CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                     .srcHost = in,
                     .srcPitch = sizeof in[0],
                     .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                     .dstDevice = p,
                     .dstPitch = pitch,
                     .WidthInBytes = sizeof in[0],
                     .Height = 5};
  OK(cuMemcpy2D_v2(&c));
  EXPECT(read_int(p + 3 * pitch + 8) == 302);
  // A part of it back, to another place.
  CUDA_MEMCPY2D d = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                     .srcDevice = p,
                     .srcPitch = pitch,
                     .srcXInBytes = 8,
                     .srcY = 1,
                     .dstMemoryType = CU_MEMORYTYPE_HOST,
                     .dstHost = out,
                     .dstPitch = sizeof out[0],
                     .dstXInBytes = 4,
                     .dstY = 2,
                     .WidthInBytes = 12,
                     .Height = 3};
  OK(cuMemcpy2DAsync_v2(&d, NULL));
  OK(cuCtxSynchronize());
  EXPECT(out[2][1] == 102 && out[2][3] == 104 && out[4][3] == 304 && out[1][1] == 0 &&
         out[2][4] == 0);
  c.dstPitch = 4;
  RETURNS(cuMemcpy2D_v2(&c), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFree_v2(p));
}

static void volumes_and_arrays(void) {
  unsigned short in[3][4][6], out[3][4][6];
  for (int i = 0; i < 72; i++) (&in[0][0][0])[i] = (unsigned short)(i * 7);
  CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 6,
                               .Height = 4,
                               .Depth = 3,
                               .Format = CU_AD_FORMAT_UNSIGNED_INT16,
                               .NumChannels = 1},
                          back;
  CUarray a, flat, level;
  OK(cuArray3DCreate_v2(&a, &d));
  OK(cuArray3DGetDescriptor_v2(&back, a));
  EXPECT(back.Width == 6 && back.Height == 4 && back.Depth == 3 &&
         back.Format == CU_AD_FORMAT_UNSIGNED_INT16);
  CUDA_MEMCPY3D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                      .srcHost = in,
                      .srcPitch = 12,
                      .srcHeight = 4,
                      .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                      .dstArray = a,
                      .WidthInBytes = 12,
                      .Height = 4,
                      .Depth = 3};
  OK(cuMemcpy3D_v2(&up));
  memset(out, 0, sizeof out);
  CUDA_MEMCPY3D down = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                        .srcArray = a,
                        .srcXInBytes = 2,
                        .srcY = 1,
                        .srcZ = 1,
                        .dstMemoryType = CU_MEMORYTYPE_HOST,
                        .dstHost = out,
                        .dstPitch = 12,
                        .dstHeight = 4,
                        .WidthInBytes = 4,
                        .Height = 2,
                        .Depth = 2};
  OK(cuMemcpy3DAsync_v2(&down, NULL));
  OK(cuCtxSynchronize());
  EXPECT(out[0][0][0] == in[1][1][1] && out[1][1][1] == in[2][2][2] && out[1][1][2] == 0);
  down.Depth = 3;
  RETURNS(cuMemcpy3D_v2(&down), CUDA_ERROR_INVALID_VALUE);
  // One-dimensional entry points.
  CUDA_ARRAY_DESCRIPTOR d1 = {
      .Width = 16, .Height = 0, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
  OK(cuArrayCreate_v2(&flat, &d1));
  float f[16], g[16];
  for (int i = 0; i < 16; i++) f[i] = (float)i;
  OK(cuMemcpyHtoA_v2(flat, 0, f, sizeof f));
  OK(cuMemcpyAtoA_v2(flat, 0, flat, 32, 32));
  OK(cuMemcpyAtoH_v2(g, flat, 0, sizeof g));
  EXPECT(g[0] == 8 && g[7] == 15 && g[8] == 8);
  RETURNS(cuMemcpyAtoH_v2(g, flat, 4, sizeof g), CUDA_ERROR_INVALID_VALUE);
  OK(cuArrayDestroy(flat));
  RETURNS(cuArrayDestroy(flat), CUDA_ERROR_INVALID_HANDLE);
  OK(cuArrayDestroy(a));
  CUmipmappedArray mip;
  CUDA_ARRAY3D_DESCRIPTOR dm = {
      .Width = 16, .Height = 8, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
  OK(cuMipmappedArrayCreate(&mip, &dm, 4));
  OK(cuMipmappedArrayGetLevel(&level, mip, 2));
  OK(cuArray3DGetDescriptor_v2(&back, level));
  EXPECT(back.Width == 4 && back.Height == 2);
  RETURNS(cuMipmappedArrayGetLevel(&level, mip, 4), CUDA_ERROR_INVALID_VALUE);
  OK(cuMipmappedArrayDestroy(mip));
}

static void batches(void) {
  CUstream s;
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CUdeviceptr a = new_ints(4), b = new_ints(4);
  unsigned in[2] = {11, 22}, out[2] = {0};
  CUdeviceptr dst[] = {a, b},
              src[] = {(CUdeviceptr)(uintptr_t)&in[0], (CUdeviceptr)(uintptr_t)&in[1]};
  size_t sizes[] = {4, 4}, index[] = {0};
  CUmemcpyAttributes attrs[] = {{.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}};
  OK(cuMemcpyBatchAsync_v2(dst, src, sizes, 2, attrs, index, 1, s));
  OK(cuMemcpyDtoHAsync_v2(&out[0], a, 4, s));
  OK(cuMemcpyDtoHAsync_v2(&out[1], b, 4, s));
  EXPECT(out[0] == 11 && out[1] == 22);
  RETURNS(cuMemcpyBatchAsync_v2(dst, src, sizes, 2, attrs, index, 1, NULL),
          CUDA_ERROR_INVALID_VALUE);
  OK(cuStreamDestroy_v2(s));
}

// An asynchronous copy from pageable memory has read it when the call returns, also behind other
// work.
static void pageable(void) {
  CUmodule m = load(common_ptx);
  CUstream s;
  unsigned *flag, v = 1;
  CUdeviceptr p = new_ints(2), out = new_ints(1);
  OK(cuMemAllocHost_v2((void **)&flag, 4));
  *flag = 0;
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(LAUNCH(get(m, "spin"), 1, 1, s, &flag, &out));
  OK(cuMemcpyHtoDAsync_v2(p, &v, 4, s));
  v = 2;
  __atomic_store_n(flag, 5, __ATOMIC_SEQ_CST);
  OK(cuStreamSynchronize(s));
  EXPECT(read_int(p) == 1);
  OK(cuStreamDestroy_v2(s));
}

int main(void) {
  start();
  attributes();
  limits();
  sets();
  pitched();
  volumes_and_arrays();
  batches();
  pageable();
  return finish();
}
