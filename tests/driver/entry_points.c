// cuGetProcAddress, unsupported functions, and what a program finds before and after the driver
// works.
// prints: all checks passed
#define _GNU_SOURCE
#include "driver_test.h"

#include <dlfcn.h>

static void *ask(const char *name, int version, uint64_t flags,
                 CUdriverProcAddressQueryResult expected) {
  void *p = (void *)1;
  CUdriverProcAddressQueryResult status;
  OK(cuGetProcAddress_v2(name, &p, version, flags, &status));
  EXPECT(status == expected);
  return p;
}

int main(void) {
  int version;
  OK(cuDriverGetVersion(&version));
  EXPECT(version == 13000);
  EXPECT(ask("cuMemAlloc", 13000, 0, CU_GET_PROC_ADDRESS_SUCCESS) == (void *)cuMemAlloc_v2);
  EXPECT(ask("cuMemAlloc", 2000, 0, CU_GET_PROC_ADDRESS_SUCCESS) == (void *)cuMemAlloc);
  EXPECT(ask("cuCtxCreate", 12000, 0, CU_GET_PROC_ADDRESS_SUCCESS) == (void *)cuCtxCreate_v3);
  EXPECT(ask("cuCtxCreate", 13000, 0, CU_GET_PROC_ADDRESS_SUCCESS) == (void *)cuCtxCreate_v4);
  EXPECT(ask("cuMemPrefetchAsync", 12000, 0, CU_GET_PROC_ADDRESS_SUCCESS) ==
         (void *)cuMemPrefetchAsync);
  EXPECT(ask("cuMemcpyAsync", 13000, 2, CU_GET_PROC_ADDRESS_SUCCESS) == (void *)cuMemcpyAsync_ptsz);
  EXPECT(ask("cuMemcpyHtoD", 13000, 2, CU_GET_PROC_ADDRESS_SUCCESS) ==
         (void *)cuMemcpyHtoD_v2_ptds);
  EXPECT(ask("cuMemAlloc", 13000, 2, CU_GET_PROC_ADDRESS_SUCCESS) ==
         (void *)cuMemAlloc_v2);  // has no per-thread form
  EXPECT(ask("cuLibraryLoadData", 11000, 0, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT) == NULL);
  EXPECT(ask("cuNoSuchFunction", 13000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) == NULL);
  void *p;
  RETURNS(cuGetProcAddress("cuNoSuchFunction", &p, 13000, 0), CUDA_ERROR_NOT_FOUND);
  OK(cuGetProcAddress("cuInit", &p, 13000, 0));
  EXPECT(p == (void *)cuInit);
  // The library answers to its name.
  void *lib = dlopen("libcuda.so.1", RTLD_NOW);
  EXPECT(lib && dlsym(lib, "cuInit") == (void *)cuInit);
  start();
  const void *table;
  CUuuid id = {{1, 2, 3}};
  RETURNS(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_FOUND);
  RETURNS(cuMulticastCreate(), CUDA_ERROR_NOT_SUPPORTED);
  RETURNS(cuMemAlloc(), CUDA_ERROR_NOT_SUPPORTED);        // 32-bit addresses of CUDA 2
  OK(cuProfilerStart());
  OK(cuProfilerStop());
  _Alignas(128) CUtensorMap map;
  uint64_t dims[] = {64, 32}, strides[] = {256};
  uint32_t box[] = {32, 8}, ones[] = {1, 1};
  CUdeviceptr t = new_ints(64 * 32);
  OK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)(uintptr_t)t, dims,
                            strides, box, ones, 0, CU_TENSOR_MAP_SWIZZLE_128B, 0, 0));
  strides[0] = 100;
  RETURNS(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)(uintptr_t)t,
                                 dims, strides, box, ones, 0, 0, 0, 0),
          CUDA_ERROR_INVALID_VALUE);
  return finish();
}
