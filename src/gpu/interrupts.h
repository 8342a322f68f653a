// Kernels that call interrupts, on a GPU: interrupts.c.
#ifndef WG_GPU_INTERRUPTS_H
#define WG_GPU_INTERRUPTS_H

#include "gpu/gpu.h"

// Memory and the added parameter. false: it is not to be launched, l->refused says why
bool gpu_interrupts_begin(GpuLaunch *l);
// The driver has taken the launch: serves its interrupts. Frees l->interrupts.
CUresult gpu_interrupts_end(GpuLaunch *l, CUresult result);
void gpu_interrupts_forget(CUcontext ctx);  // it is gone

#endif
