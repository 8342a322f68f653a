// Occupancy against the toolkit's own cuda_occupancy.h: all architectures, random kernels.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_occupancy.h"

#include "tools/profile/report_occupancy.c"

static cudaOccDeviceProp device(const struct Arch *h) {
  cudaOccDeviceProp p;
  memset(&p, 0, sizeof p);
  p.computeMajor = (int)h->arch / 10;
  p.computeMinor = (int)h->arch % 10;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiprocessor = (int)h->warps * 32;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.sharedMemPerMultiprocessor = h->shared;
  p.sharedMemPerBlockOptin = p.sharedMemPerBlock = h->shared - h->reserved;
  p.reservedSharedMemPerBlock = h->reserved;
  p.numSms = 100;
  return p;
}

static int check(const struct Arch *h, unsigned *seed) {
  cudaOccDeviceProp p = device(h);
  int bad = 0, n = 0;
  for (int i = 0; i < 20000; i++) {
    int threads = 1 + rand_r(seed) % 1024, registers = 1 + rand_r(seed) % 255;
    size_t shared = (size_t)(rand_r(seed) % (int)(h->shared - h->reserved)) >> rand_r(seed) % 8;
    cudaOccFuncAttributes f;
    cudaOccDeviceState state;
    cudaOccResult r;
    memset(&f, 0, sizeof f);
    memset(&state, 0, sizeof state);
    f.maxThreadsPerBlock = 1024;
    f.numRegs = registers;
    f.maxDynamicSharedSizeBytes = p.sharedMemPerBlockOptin;
    f.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &state, threads, shared) !=
        CUDA_OCC_SUCCESS)
      continue;
    OccupancyAsk a = {h->arch, (uint32_t)threads, (uint32_t)registers, (uint32_t)shared, 0};
    Occupancy o = occupancy_of(&a);
    n++;
    if ((int)o.blocks == r.activeBlocksPerMultiprocessor) continue;
    if (!bad++)
      printf("sm_%u, %d threads, %d registers, %zu bytes: %u blocks, the toolkit says %d\n",
             h->arch, threads, registers, shared, o.blocks, r.activeBlocksPerMultiprocessor);
  }
  printf("%s sm_%u: %d kernels\n", bad || !n ? "FAIL" : "ok", h->arch, n);
  return bad != 0;
}

// One block of 32 warps on a multiprocessor, in groups of 16: clusters of 6 leave 4 of them empty.
static int check_clusters(void) {
  OccupancyAsk a = {90, 1024, 64, 0, 8};
  Occupancy whole = occupancy_of(&a);
  a.cluster = 6;
  Occupancy rest = occupancy_of(&a);
  int bad = whole.warps != 32 || whole.limit == LIMIT_CLUSTER || rest.warps != 24 ||
            rest.limit != LIMIT_CLUSTER;
  printf("%s clusters: %u and %u warps\n", bad ? "FAIL" : "ok", whole.warps, rest.warps);
  return bad;
}

int main(void) {
  unsigned seed = 1, bad = (unsigned)check_clusters();
  for (unsigned i = 0; i < sizeof archs / sizeof archs[0]; i++)
    bad += (unsigned)check(&archs[i], &seed);
  return bad != 0;
}
