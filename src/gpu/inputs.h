// --record=inputs, inside gpu/.
#ifndef WG_GPU_INPUTS_H
#define WG_GPU_INPUTS_H

#include "gpu/gpu.h"
#include "tools/record/inputs_abi.h"

// --- inputs_stage.c: pages that wait in device memory ---
typedef struct GpuStage GpuStage;
GpuStage *gpu_stage_open(GpuContext *c);  // in the context. NULL: there is not enough memory
void gpu_stage_use(const GpuStage *s, WgInputsWork *w);  // NULL: nothing
// all work of the context has ended, or never will: takes what there is
void gpu_stage_close(GpuStage *s);
uint64_t gpu_stage_taken(const GpuStage *s);  // positions; NULL: 0
// --- inputs_ends.c: says of each step when all its pages were taken ---
typedef struct GpuInputsEnds GpuInputsEnds;
typedef struct GpuInputsRings {
  const WgInputsRing *ring;
  const GpuStage *stage;
  CUdeviceptr head;
} GpuInputsRings;
GpuInputsEnds *gpu_inputs_ends_open(GpuContext *c, const GpuInputsRings *rings);
// in the context, behind the kernel that keeps them
void gpu_inputs_ends_await(GpuInputsEnds *g, CUstream stream, uint32_t step);
void gpu_inputs_ends_close(GpuInputsEnds *g);

#endif
