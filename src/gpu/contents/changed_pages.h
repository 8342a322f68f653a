// Shared by the files changed_pages*.c.
#ifndef WG_GPU_INPUTS_H
#define WG_GPU_INPUTS_H

#include "gpu/gpu.h"
#include "probe/changed_pages_abi.h"

// --- changed_pages_stage.c: pages that wait in device memory ---
typedef struct GpuStage GpuStage;
GpuStage *gpu_stage_open(GpuContext *c);  // in the context. NULL: there is not enough memory
void gpu_stage_use(const GpuStage *s, WgPagesWork *w);  // NULL: nothing
// takes the pages that are left: all work of the context has ended, or never will
void gpu_stage_close(GpuStage *s);
uint64_t gpu_stage_taken(const GpuStage *s);  // positions; NULL: 0
// --- changed_pages_ends.c: says of each step when all its pages were taken ---
typedef struct GpuPagesEnds GpuPagesEnds;
typedef struct GpuPagesRings {
  const WgPagesRing *ring;
  const GpuStage *stage;
  CUdeviceptr head;
} GpuPagesRings;
GpuPagesEnds *gpu_pages_ends_open(GpuContext *c, const GpuPagesRings *rings);
// in the context, after the kernel that keeps them
void gpu_pages_ends_await(GpuPagesEnds *g, CUstream stream, uint32_t step);
void gpu_pages_ends_close(GpuPagesEnds *g);

#endif
