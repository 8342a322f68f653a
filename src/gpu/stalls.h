// Why warps wait, by sampling.
#ifndef WG_GPU_STALLS_H
#define WG_GPU_STALLS_H

#include "gpu/gpu.h"

void gpu_stalls_open(GpuContext *c);
void gpu_stalls_close(GpuContext *c);

#endif
