// --record=inputs, inside gpu/.
#ifndef WG_GPU_INPUTS_H
#define WG_GPU_INPUTS_H

#include "gpu/gpu.h"
#include "probe/inputs_abi.h"

// --- inputs_stage.c: pages that wait in device memory ---
typedef struct GpuStage GpuStage;
GpuStage *gpu_stage_open(GpuContext *c);   // in the context. NULL: there is not enough memory
void gpu_stage_use(const GpuStage *s, WgInputsWork *w);      // NULL: nothing
void gpu_stage_close(GpuStage *s);         // all work of the context has ended, or never will: takes what there is

#endif
