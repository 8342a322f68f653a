// One allocation of every kind, named by its size; some are freed. tests/tools/memory.sh looks for
// them in the run file.
#include "../driver/driver_test.h"

__attribute__((noinline)) static CUdeviceptr device_memory(size_t size) {
  CUdeviceptr p = 0;
  OK(cuMemAlloc_v2(&p, size));              // label: device_memory
  return p;
}

int main(void) {
  CUcontext ctx = start();
  CUdeviceptr p = device_memory(1000), q, pitched, pooled;
  void *pinned, *page = aligned_alloc(4096, 4096);
  size_t pitch;
  CUstream s;
  CUmodule m = load(PTX_HEADER
                    ".visible .global .align 4 .b8 table[1006];\n.visible .entry k() { ret; }\n");
  OK(cuMemAllocManaged(&q, 1001, CU_MEM_ATTACH_GLOBAL));
  OK(cuMemHostAlloc(&pinned, 1002, 0));
  OK(cuMemAllocPitch_v2(&pitched, &pitch, 100, 3, 4));
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuMemAllocAsync(&pooled, 1003, s));
  OK(cuMemHostRegister_v2(page, 4096, 0));
  CUDA_ARRAY3D_DESCRIPTOR d = {
      .Width = 251, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1};
  CUarray array;
  OK(cuArray3DCreate_v2(&array, &d));
  OK(cuMemFree_v2(q));
  OK(cuMemFreeAsync(pooled, s));
  OK(cuStreamSynchronize(s));
  OK(cuMemHostUnregister(page));
  OK(cuModuleUnload(m));

  CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                              .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
  size_t granularity;
  CUmemGenericAllocationHandle handle;
  CUdeviceptr reserved;
  OK(cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  OK(cuMemCreate(&handle, granularity, &prop, 0));
  OK(cuMemAddressReserve(&reserved, granularity, 0, 0, 0));
  OK(cuMemMap(reserved, granularity, 0, handle, 0));
  printf("virtual %zu\n", granularity);
  printf("device 0x%llx\n", (unsigned long long)p);
  (void)ctx;
  return finish();
}
