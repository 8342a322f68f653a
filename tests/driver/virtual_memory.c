// The virtual memory API: addresses, physical memory, mappings, access.
// prints: all checks passed
#include "driver_test.h"

int main(void) {
  start();
  CUmodule m = load(common_ptx);
  CUfunction fill = get(m, "fill"), add = get(m, "add");
  CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                              .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                              .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
  CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  size_t g, before, total, now;
  CUdeviceptr p, q;
  CUmemGenericAllocationHandle h[2], again, imported;
  OK(cuMemGetAllocationGranularity(&g, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT(g && !(g & (g - 1)));
  OK(cuMemGetInfo_v2(&before, &total));
  OK(cuMemAddressReserve(&p, 4 * g, 0, 0, 0));
  RETURNS(cuMemCreate(&h[0], g / 2, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemCreate(&h[0], g, &prop, 0));
  OK(cuMemCreate(&h[1], g, &prop, 0));
  OK(cuMemGetInfo_v2(&now, &total));
  EXPECT(before - now == 2 * g);
  OK(cuMemMap(p, g, 0, h[0], 0));
  OK(cuMemMap(p + g, g, 0, h[1], 0));
  RETURNS(cuMemMap(p + g, g, 0, h[1], 0), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemSetAccess(p, 2 * g, &access, 1));
  RETURNS(cuMemSetAccess(p + 2 * g, g, &access, 1), CUDA_ERROR_INVALID_VALUE);
  unsigned long long flags;
  OK(cuMemGetAccess(&flags, &access.location, p + g));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

  // One range to the program: a kernel and a copy cross the border of the two.
  CUdeviceptr border = p + g - 64;
  OK(LAUNCH(fill, 1, 32, NULL, &border, &(unsigned){9}));
  unsigned got[32];
  OK(cuMemcpyDtoH_v2(got, border, sizeof got));
  EXPECT(got[0] == 9 && got[15] == 9 && got[16] == 9 && got[31] == 9);
  OK(cuMemsetD32_v2(border, 1, 32));
  EXPECT(read_int(border + 124) == 1);

  // The same memory at a second address.
  OK(cuMemAddressReserve(&q, g, 0, 0, 0));
  OK(cuMemMap(q, g, 0, h[0], 0));
  OK(cuMemSetAccess(q, g, &access, 1));
  OK(LAUNCH(add, 1, 1, NULL, &q, &(unsigned){1}, &(unsigned){33}));
  EXPECT(read_int(p) == 33);
  OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)q));
  EXPECT(again == h[0]);
  OK(cuMemRelease(again));

  // Handles may go before mappings do.
  int fd = -1;
  OK(cuMemExportToShareableHandle(&fd, h[1], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  OK(cuMemRelease(h[0]));
  OK(cuMemRelease(h[1]));
  RETURNS(cuMemRelease(h[0]), CUDA_ERROR_INVALID_VALUE);
  EXPECT(read_int(border + 124) == 1);
  RETURNS(cuMemAddressFree(q, g), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemUnmap(q, g));
  OK(cuMemAddressFree(q, g));
  OK(cuMemUnmap(p, 2 * g));

  // What was exported is still there.
  OK(cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)fd,
                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(fd);
  OK(cuMemMap(p + 2 * g, g, 0, imported, 0));
  OK(cuMemSetAccess(p + 2 * g, g, &access, 1));
  EXPECT(read_int(p + 2 * g) == 1);
  OK(cuMemUnmap(p + 2 * g, g));
  OK(cuMemRelease(imported));
  OK(cuMemAddressFree(p, 4 * g));
  OK(cuMemGetInfo_v2(&now, &total));
  EXPECT(before == now);
  return finish();
}
