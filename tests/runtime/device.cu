// Devices: count, properties and attributes that agree, limits, flags, peers, versions.
// options: --devices=2
// prints: all checks passed
#include "check.h"

static void peers() {
  int can = 0;
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT(can == 1);
#if CUDART_VERSION >= 13000
  cudaAtomicOperation operations[] = {cudaAtomicOperationIntegerAdd, cudaAtomicOperationCAS};
  unsigned atomics[2] = {9, 9};
  OK(cudaDeviceGetHostAtomicCapabilities(atomics, operations, 2, 0));
  EXPECT(!atomics[0] && !atomics[1]);
  OK(cudaDeviceGetP2PAtomicCapabilities(atomics, operations, 2, 0, 1));
  EXPECT(atomics[0] & cudaAtomicCapabilityScalar64 && atomics[1] & cudaAtomicCapabilityScalar128);
  RETURNS(cudaDeviceGetP2PAtomicCapabilities(atomics, operations, 2, 1, 1),
          cudaErrorInvalidDevice);
#endif
  OK(cudaDeviceEnablePeerAccess(0, 0));
  RETURNS(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
  OK(cudaDeviceDisablePeerAccess(0));
  int *a, *b, x[4] = {1, 2, 3, 4}, y[4] = {0};
  OK(cudaSetDevice(0));
  OK(cudaMalloc(&a, sizeof x));
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&b, sizeof x));
  OK(cudaMemcpy(a, x, sizeof x, cudaMemcpyHostToDevice));
  OK(cudaMemcpyPeer(b, 1, a, 0, sizeof x));
  OK(cudaMemcpy(y, b, sizeof y, cudaMemcpyDeviceToHost));
  EXPECT(!memcmp(x, y, sizeof x));
  cudaPointerAttributes where;
  OK(cudaPointerGetAttributes(&where, a));
  EXPECT(where.device == 0 && where.type == cudaMemoryTypeDevice);
  OK(cudaPointerGetAttributes(&where, b));
  EXPECT(where.device == 1);
}

int main() {
  int n = 0, device = -1, value = 0;
  OK(cudaGetDeviceCount(&n));
  EXPECT(n == 2);
  OK(cudaGetDevice(&device));
  EXPECT(device == 0);
  cudaDeviceProp p;
  memset(&p, 0xff, sizeof p);
  OK(cudaGetDeviceProperties(&p, 1));
  EXPECT(strlen(p.name) > 0 && strlen(p.name) < 256);
  EXPECT(p.totalGlobalMem > (size_t)1 << 28);
  EXPECT(p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.maxThreadsDim[2] == 64 &&
         p.maxGridSize[0] == 2147483647);
  EXPECT(p.major >= 7 && p.multiProcessorCount > 0 && p.regsPerBlock == 65536 &&
         p.sharedMemPerBlock == 49152);
  EXPECT(p.unifiedAddressing == 1 && p.managedMemory == 1 && p.cooperativeLaunch == 1 &&
         p.memoryPoolsSupported == 1);
  EXPECT(p.reserved[0] == 0);
  struct { int attribute, expected;
  } same[] = {{cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
              {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
              {cudaDevAttrComputeCapabilityMajor, p.major},
              {cudaDevAttrComputeCapabilityMinor, p.minor},
              {cudaDevAttrMaxSharedMemoryPerBlockOptin, (int)p.sharedMemPerBlockOptin},
              {cudaDevAttrL2CacheSize, p.l2CacheSize},
              {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
              {cudaDevAttrWarpSize, 32}};
  for (auto &s : same) {
    OK(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)s.attribute, 1));
    EXPECT(value == s.expected);
  }
  RETURNS(cudaGetDeviceProperties(&p, 2), cudaErrorInvalidDevice);
  RETURNS(cudaSetDevice(2), cudaErrorInvalidDevice);
  RETURNS(cudaGetLastError(), cudaErrorInvalidDevice);
  RETURNS(cudaGetLastError(), cudaSuccess);

  OK(cudaSetDevice(1));
  OK(cudaGetDevice(&device));
  EXPECT(device == 1);
  char id[32];
  OK(cudaDeviceGetPCIBusId(id, sizeof id, 1));
  OK(cudaDeviceGetByPCIBusId(&device, id));
  EXPECT(device == 1);

  size_t limit = 0;
  OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
  OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  EXPECT(limit >= 32 << 20);
  OK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
  EXPECT(limit >= 1024);
  RETURNS(cudaDeviceGetLimit(&limit, (cudaLimit)99), cudaErrorUnsupportedLimit);
  peers();

  int runtime = 0, driver = 0;
  OK(cudaRuntimeGetVersion(&runtime));
  OK(cudaDriverGetVersion(&driver));
  EXPECT(runtime / 1000 == CUDART_VERSION / 1000 && driver >= runtime);
  unsigned flags = 0;
  OK(cudaGetDeviceFlags(&flags));
  EXPECT(flags & cudaDeviceMapHost);
  int least, greatest;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(greatest <= least);
  cudaDeviceProp wanted = p;
  OK(cudaChooseDevice(&device, &wanted));
  return finish();
}
