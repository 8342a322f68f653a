// Memory pools and allocation in stream order.
// prints: all checks passed
#include "driver_test.h"

static uint64_t ask(CUmemoryPool p, CUmemPool_attribute a) {
  uint64_t v = 0;
  OK(cuMemPoolGetAttribute(p, a, &v));
  return v;
}

int main(void) {
  start();
  CUmodule m = load(common_ptx);
  CUfunction add = get(m, "add"), spin = get(m, "spin");
  CUmemoryPool pool, current, own, found;
  CUstream s;
  CUdeviceptr a, b, out = new_ints(1);
  unsigned *flag, n = 256, one = 1;
  OK(cuMemAllocHost_v2((void **)&flag, 4));
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuDeviceGetDefaultMemPool(&pool, 0));
  OK(cuDeviceGetMemPool(&current, 0));
  EXPECT(pool == current);
  RETURNS(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);

  // Free is in stream order: a kernel queued before it still has the memory.
  *flag = 0;
  OK(cuMemAllocAsync(&a, 1024, s));
  OK(cuMemsetD32Async(a, 41, 256, s));
  OK(LAUNCH(spin, 1, 1, s, &flag, &out));
  OK(LAUNCH(add, 2, 128, s, &a, &n, &one));
  OK(cuMemcpyDtoDAsync_v2(out, a + 1020, 4, s));
  OK(cuMemFreeAsync(a, s));
  EXPECT(ask(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 1024);
  __atomic_store_n(flag, 5, __ATOMIC_SEQ_CST);
  OK(cuStreamSynchronize(s));
  EXPECT(read_int(out) == 42);
  EXPECT(ask(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0);
  EXPECT(ask(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) == 1024);
  EXPECT(ask(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
  OK(cuStreamSynchronize(s));
  RETURNS(cuMemFreeAsync(a, s), CUDA_ERROR_INVALID_VALUE);

  // With a release threshold the pool keeps memory and hands it out again.
  uint64_t threshold = UINT64_MAX;
  OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  OK(cuMemAllocAsync(&a, 4096, s));
  OK(cuMemFreeAsync(a, s));
  OK(cuStreamSynchronize(s));
  EXPECT(ask(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 4096);
  OK(cuMemAllocAsync(&b, 4096, s));
  EXPECT(a == b);
  OK(cuMemFree_v2(b));                         // the ordinary free works too
  EXPECT(ask(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0);
  OK(cuMemPoolTrimTo(pool, 0));
  EXPECT(ask(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);

  // A pool of one's own.
  CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                          .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                          .maxSize = 8192};
  OK(cuMemPoolCreate(&own, &props));
  OK(cuMemAllocFromPoolAsync(&a, 4096, own, s));
  OK(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, a));
  EXPECT(found == own);
  RETURNS(cuMemAllocFromPoolAsync(&b, 8192, own, s), CUDA_ERROR_OUT_OF_MEMORY);
  OK(cuDeviceSetMemPool(0, own));
  OK(cuMemAllocAsync(&b, 1024, s));
  EXPECT(ask(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 5120);
  OK(cuMemFreeAsync(a, s));
  OK(cuMemFreeAsync(b, s));
  OK(cuStreamSynchronize(s));
  OK(cuMemPoolDestroy(own));
  RETURNS(cuMemPoolTrimTo(own, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cuDeviceGetMemPool(&current, 0));
  EXPECT(current == pool);
  return finish();
}
