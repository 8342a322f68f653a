// Devices: choosing, asking, limits, peers, reset; the thread API that came before it.
#include "runtime/internal.h"

cudaError_t cudaGetDeviceCount(int *count) {
  if (!count) return rt_return(cudaErrorInvalidValue);
  cudaError_t e = rt_init();
  *count = 0;
  return e ? rt_return(e) : rt_done(cuDeviceGetCount(count));
}

cudaError_t cudaSetDevice(int device) { return rt_return(rt_set_device(device)); }

cudaError_t cudaGetDevice(int *device) {
  if (!device) return rt_return(cudaErrorInvalidValue);
  cudaError_t e = rt_init();
  if (e) return rt_return(e);
  *device = rt_device();
  return cudaSuccess;
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  CUcontext context;
  cudaError_t e = rt_context_of(device, &context);
  if (!e && (flags & 1))
    e = rt_result(cuDevicePrimaryCtxSetFlags_v2(device, device_flags & cudaDeviceFlagsMask &
                                                            ~cudaDeviceMapHost));
  return rt_return(e);
}

// The list is the order in which devices are to be tried; all virtual devices work, so only the
// first matters.
cudaError_t cudaSetValidDevices(int *devices, int n) {
  if (n > 0 && !devices) return rt_return(cudaErrorInvalidValue);
  return n > 0 ? cudaSetDevice(devices[0]) : cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  cudaError_t e = rt_init();
  if (!e && (flags & ~(unsigned)cudaDeviceFlagsMask)) e = cudaErrorInvalidValue;
  // mapping is always on
  if (!e)
    e = rt_result(cuDevicePrimaryCtxSetFlags_v2(rt_device(), flags & ~(unsigned)cudaDeviceMapHost));
  return rt_return(e);
}

cudaError_t cudaGetDeviceFlags(unsigned *flags) {
  if (!flags) return rt_return(cudaErrorInvalidValue);
  cudaError_t e = rt_init();
  int active;
  if (!e) e = rt_result(cuDevicePrimaryCtxGetState(rt_device(), flags, &active));
  if (!e) *flags |= cudaDeviceMapHost;
  return rt_return(e);
}

cudaError_t cudaDeviceReset(void) { return rt_return(rt_reset_device()); }

cudaError_t cudaDeviceSynchronize(void) {
  RT_ENTER();
  return rt_done(cuCtxSynchronize());
}

// Attribute numbers are the driver's.
cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device) {
  cudaError_t e = rt_init();
  return e ? rt_return(e)
           : rt_done(cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, device));
}

cudaError_t cudaDeviceGetLimit(size_t *value, int limit) {
  RT_ENTER();
  return rt_done(cuCtxGetLimit(value, (CUlimit)limit));
}
cudaError_t cudaDeviceSetLimit(int limit, size_t value) {
  RT_ENTER();
  return rt_done(cuCtxSetLimit((CUlimit)limit, value));
}
cudaError_t cudaDeviceGetCacheConfig(int *config) {
  RT_ENTER();
  return rt_done(cuCtxGetCacheConfig((CUfunc_cache *)config));
}
cudaError_t cudaDeviceSetCacheConfig(int config) {
  RT_ENTER();
  return rt_done(cuCtxSetCacheConfig((CUfunc_cache)config));
}
cudaError_t cudaDeviceGetSharedMemConfig(int *config) {
  RT_ENTER();
  return rt_done(cuCtxGetSharedMemConfig((CUsharedconfig *)config));
}
cudaError_t cudaDeviceSetSharedMemConfig(int config) {
  RT_ENTER();
  return rt_done(cuCtxSetSharedMemConfig((CUsharedconfig)config));
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  RT_ENTER();
  return rt_done(cuCtxGetStreamPriorityRange(least, greatest));
}
cudaError_t cudaCtxResetPersistingL2Cache(void) {
  RT_ENTER();
  return rt_done(cuCtxResetPersistingL2Cache());
}
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id) {
  cudaError_t e = rt_init();
  return e ? rt_return(e) : rt_done(cuDeviceGetByPCIBusId(device, id));
}
cudaError_t cudaDeviceGetPCIBusId(char *id, int len, int device) {
  cudaError_t e = rt_init();
  return e ? rt_return(e) : rt_done(cuDeviceGetPCIBusId(id, len, device));
}
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope) {
  RT_ENTER();
  return rt_done(cuFlushGPUDirectRDMAWrites((CUflushGPUDirectRDMAWritesTarget)target,
                                            (CUflushGPUDirectRDMAWritesScope)scope));
}

// --- peers ---

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  cudaError_t e = rt_init();
  return e ? rt_return(e) : rt_done(cuDeviceCanAccessPeer(can, device, peer));
}
cudaError_t cudaDeviceGetP2PAttribute(int *value, int attribute, int src, int dst) {
  cudaError_t e = rt_init();
  return e ? rt_return(e)
           : rt_done(cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attribute, src, dst));
}
cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned *out, const int *operations,
                                                unsigned count, int device) {
  cudaError_t e = rt_init();
  const CUatomicOperation *list = (const CUatomicOperation *)operations;
  return e ? rt_return(e) : rt_done(cuDeviceGetHostAtomicCapabilities(out, list, count, device));
}
cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned *out, const int *operations, unsigned count,
                                               int src, int dst) {
  cudaError_t e = rt_init();
  const CUatomicOperation *list = (const CUatomicOperation *)operations;
  return e ? rt_return(e) : rt_done(cuDeviceGetP2PAtomicCapabilities(out, list, count, src, dst));
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  RT_ENTER();
  CUcontext context;
  cudaError_t e = rt_context_of(peer, &context);
  return e ? rt_return(e) : rt_done(cuCtxEnablePeerAccess(context, flags));
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  RT_ENTER();
  CUcontext context;
  cudaError_t e = rt_context_of(peer, &context);
  return e ? rt_return(e) : rt_done(cuCtxDisablePeerAccess(context));
}

// --- the names before "device" (toolkit 12 still has them) ---

cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
cudaError_t cudaThreadGetLimit(size_t *value, int limit) {
  return cudaDeviceGetLimit(value, limit);
}
cudaError_t cudaThreadSetLimit(int limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
cudaError_t cudaThreadGetCacheConfig(int *config) { return cudaDeviceGetCacheConfig(config); }
cudaError_t cudaThreadSetCacheConfig(int config) { return cudaDeviceSetCacheConfig(config); }
// doubles are native
cudaError_t cudaSetDoubleForDevice(double *d) {
  return d ? cudaSuccess : rt_return(cudaErrorInvalidValue);
}
cudaError_t cudaSetDoubleForHost(double *d) {
  return d ? cudaSuccess : rt_return(cudaErrorInvalidValue);
}

// --- versions, profiler, driver entry points ---

enum { VERSION_12 = 12090, VERSION_13 = 13000 };

cudaError_t cudaDriverGetVersion(int *version) {
  return version ? rt_done(cuDriverGetVersion(version)) : rt_return(cudaErrorInvalidValue);
}

static cudaError_t runtime_version(int *out, int version) {
  if (!out) return rt_return(cudaErrorInvalidValue);
  *out = version;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion_abi12(int *version) {
  return runtime_version(version, VERSION_12);
}
cudaError_t cudaRuntimeGetVersion_abi13(int *version) {
  return runtime_version(version, VERSION_13);
}

cudaError_t cudaProfilerStart(void) {
  RT_ENTER();
  return rt_done(cuProfilerStart());
}
cudaError_t cudaProfilerStop(void) {
  RT_ENTER();
  return rt_done(cuProfilerStop());
}

static cudaError_t entry_point(const char *symbol, void **fn, unsigned version,
                               unsigned long long flags, int *status, bool per_thread) {
  if (!symbol || !fn) return rt_return(cudaErrorInvalidValue);
  cudaError_t e = rt_init();
  if (e) return rt_return(e);
  if (!flags)
    flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                       : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  CUresult r = cuGetProcAddress_v2(symbol, fn, (int)version, flags, &found);
  if (status) *status = (int)found;
  // the caller gets the answer in the status
  if (status && r == CUDA_ERROR_NOT_FOUND) return cudaSuccess;
  return rt_done(r);
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **fn, unsigned version,
                                             unsigned long long flags, int *status) {
  return entry_point(symbol, fn, version, flags, status, false);
}
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **fn, unsigned version,
                                                  unsigned long long flags, int *status) {
  return entry_point(symbol, fn, version, flags, status, true);
}
cudaError_t cudaGetDriverEntryPoint_abi12(const char *symbol, void **fn, unsigned long long flags,
                                          int *status) {
  return entry_point(symbol, fn, VERSION_12, flags, status, false);
}
cudaError_t cudaGetDriverEntryPoint_abi13(const char *symbol, void **fn, unsigned long long flags,
                                          int *status) {
  return entry_point(symbol, fn, VERSION_13, flags, status, false);
}
cudaError_t cudaGetDriverEntryPoint_ptsz_abi12(const char *symbol, void **fn,
                                               unsigned long long flags, int *status) {
  return entry_point(symbol, fn, VERSION_12, flags, status, true);
}
cudaError_t cudaGetDriverEntryPoint_ptsz_abi13(const char *symbol, void **fn,
                                               unsigned long long flags, int *status) {
  return entry_point(symbol, fn, VERSION_13, flags, status, true);
}

// --- user objects ---

cudaError_t cudaUserObjectCreate(cudaUserObject_t *out, void *ptr, cudaHostFn_t destroy,
                                 unsigned count, unsigned flags) {
  RT_ENTER();
  return rt_done(cuUserObjectCreate(out, ptr, destroy, count, flags));
}
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  RT_ENTER();
  return rt_done(cuUserObjectRetain(object, count));
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  RT_ENTER();
  return rt_done(cuUserObjectRelease(object, count));
}
