// A program with an allocator of its own that annotates it. Arguments: what to do wrong, if
// anything.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nvtx3/nvToolsExtMem.h>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
__global__ void fill(int *a, int n) { int i = threadIdx.x; if (i < n) a[i] = i; }

static nvtxDomainHandle_t domain;
static nvtxMemHeapHandle_t heap;

static void piece(char *p, size_t size) {
  nvtxMemVirtualRangeDesc_t range = {size, p};
  nvtxMemRegionsRegisterBatch_t b = {NVTX_EXT_COMPATID_MEM,
                                     sizeof b,
                                     NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                     heap,
                                     1,
                                     sizeof range,
                                     &range,
                                     nullptr};
  nvtxMemRegionsRegister(domain, &b);
}

static void give_back(char *p) {
  nvtxMemRegionRef_t ref; ref.pointer = p;
  nvtxMemRegionsUnregisterBatch_t b = {
      NVTX_EXT_COMPATID_MEM, sizeof b, NVTX_MEM_REGION_REF_TYPE_POINTER, 1, sizeof ref, &ref};
  nvtxMemRegionsUnregister(domain, &b);
}

int main(int argc, char **argv) {
  const char *bug = argc > 1 ? argv[1] : "";
  char *pool;
  OK(cudaMalloc(&pool, 1 << 16));
  domain = nvtxDomainCreateA("pool");
  nvtxMemVirtualRangeDesc_t range = {1 << 15, pool};           // half of it
  nvtxMemHeapDesc_t desc; memset(&desc, 0, sizeof desc);
  desc.extCompatID = NVTX_EXT_COMPATID_MEM;
  desc.structSize = sizeof desc;
  desc.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
  desc.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  desc.typeSpecificDescSize = sizeof range;
  desc.typeSpecificDesc = &range;
  heap = nvtxMemHeapRegister(domain, &desc);
  piece(pool, 128); piece(pool + 128, 128); piece(pool + 1024, 256);
  fill<<<1, 64>>>((int *)pool, 32);
  fill<<<1, 64>>>((int *)(pool + 128), 32);
  fill<<<1, 64>>>((int *)(pool + 1024), 64);
  fill<<<1, 64>>>((int *)(pool + (1 << 15)), 64);              // the other half is not dealt out
  if (!strcmp(bug, "neighbour")) fill<<<1, 64>>>((int *)pool, 33);
  give_back(pool + 128);
  if (!strcmp(bug, "freed")) fill<<<1, 64>>>((int *)(pool + 128), 5);
  piece(pool + 128, 64); fill<<<1, 64>>>((int *)(pool + 128), 16);
  nvtxMemHeapReset(domain, heap);
  if (!strcmp(bug, "reset")) fill<<<1, 64>>>((int *)(pool + 1024), 7);
  nvtxMemHeapUnregister(domain, heap);
  fill<<<1, 64>>>((int *)(pool + 2000), 64);                   // one allocation again
  if (!strcmp(bug, "open")) {
    heap = nvtxMemHeapRegister(domain, &desc);
    piece(pool, 128);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(pool));
    fill<<<1, 64>>>((int *)pool, 3);
  } else {
    OK(cudaDeviceSynchronize());
    OK(cudaFree(pool));
  }
  OK(cudaDeviceSynchronize());
  printf("%s\n", heap ? "heard" : "no tool");
}
