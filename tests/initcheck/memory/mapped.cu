// Virtual memory: what is initialised belongs to the physical memory, whatever it is mapped to. On
// a GPU mapped memory counts as initialised.
// nvcc: -lcuda
#include "check.h"

static char host[2 << 20];
static CUmemAllocationProp device_memory() {
  CUmemAllocationProp p = {};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  return p;
}
static CUdeviceptr map(CUmemGenericAllocationHandle h, size_t size) {
  CUdeviceptr p;
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CHECK(cuMemAddressReserve(&p, size, 0, 0, 0));
  CHECK(cuMemMap(p, size, 0, h, 0));
  CHECK(cuMemSetAccess(p, size, &access, 1));
  return p;
}

int main() {
  size_t size = 2 << 20;
  CHECK(cudaFree(0));
  CUmemGenericAllocationHandle h;
  CUmemAllocationProp prop = device_memory();
  CHECK(cuMemCreate(&h, size, &prop, 0));
  CUdeviceptr p = map(h, size), q = map(h, size);
  CHECK(cuMemcpyDtoH(host, p, size));  // finds-cpu: uninit-copy bytes=2097152
  CHECK(cuMemsetD8(p, 1, 1 << 20));
  CHECK(cuMemcpyDtoH(host, q, 1 << 20));
  CHECK(cuMemcpyDtoH(host, q, size));  // finds-cpu: uninit-copy bytes=1048576
  CHECK(cuMemUnmap(p, size));
  CHECK(cuMemUnmap(q, size));
  CUdeviceptr r = map(h, size);
  CHECK(cuMemcpyDtoH(host, r, 1 << 20));
  CHECK(cuMemcpyDtoH(host, r, size));  // finds-cpu: uninit-copy bytes=1048576
  CHECK(cuMemUnmap(r, size));
  CHECK(cuMemRelease(h));
  CHECK(cuMemCreate(&h, size, &prop, 0));
  r = map(h, size);
  CHECK(cuMemcpyDtoH(host, r, 64));  // finds-cpu: uninit-copy bytes=64
  CHECK(cuMemUnmap(r, size));
  CHECK(cuMemRelease(h));
  // once others have it, nobody knows
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  int fd;
  CHECK(cuMemCreate(&h, size, &prop, 0));
  r = map(h, size);
  CHECK(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CHECK(cuMemcpyDtoH(host, r, size));
  printf("done\n");
  return 0;
}
