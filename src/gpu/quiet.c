// Our own calls of the driver do not invalidate a stream capture of the program.
#include "gpu/gpu.h"

// In relaxed mode a call of ours that allocates or loads does not invalidate a capture of the
// program's.
GpuQuiet gpu_quiet_begin(void) {
  GpuQuiet q = {CU_STREAM_CAPTURE_MODE_RELAXED, false};
  q.changed = gpu_real.cuThreadExchangeStreamCaptureMode &&
              gpu_real.cuThreadExchangeStreamCaptureMode(&q.mode) == CUDA_SUCCESS;
  return q;
}

void gpu_quiet_end(GpuQuiet q) {
  if (q.changed) gpu_real.cuThreadExchangeStreamCaptureMode(&q.mode);
}
