// The entry points that the table alone defines: same-signature versions, per-thread twins, and
// functions that are not supported.
#include "driver/driver.h"

__thread bool stream_zero_is_per_thread;

static CUresult not_supported(const char *name) {
  log_once(name, "%s is not supported by the virtual device; it returns CUDA_ERROR_NOT_SUPPORTED",
           name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

#define NONE(base, suffix, kind, since) \
  CUresult base##suffix##kind(void) { return not_supported(#base #suffix #kind); }
#include "cuda/api.def"

#define SAME(base, suffix, since, target, params, args) \
  CUresult base##suffix params { return base##target args; }
#include "cuda/api.def"

#define PER_THREAD(base, suffix, kind, since, params, args) \
  CUresult base##suffix##kind params { \
    bool before = stream_zero_is_per_thread; \
    stream_zero_is_per_thread = true; \
    CUresult result = base##suffix args; \
    stream_zero_is_per_thread = before; \
    return result; \
  }
#include "cuda/api.def"

// Never finds a table: tables of undocumented functions serve only NVIDIA's runtime, which does not
// run on this device.
CUresult cuGetExportTable(const void **table, const CUuuid *id) {
  if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
  *table = NULL;
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuProfilerInitialize(const char *config, const char *output, int mode) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuProfilerStart(void) { return driver_check(); }
CUresult cuProfilerStop(void) { return driver_check(); }
CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                    CUflushGPUDirectRDMAWritesScope scope) {
  return driver_check();
}
