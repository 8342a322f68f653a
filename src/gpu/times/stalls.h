// Why warps wait, by sampling.
#ifndef WG_GPU_STALLS_H
#define WG_GPU_STALLS_H

#include "gpu/times/cupti_stalls.h"
#include "gpu/gpu.h"

void gpu_stalls_open(GpuContext *c);
void gpu_stalls_close(GpuContext *c);

// --- stall_lines.c ---
typedef struct GpuStallLine {
  const char *file;  // NULL: not known
  uint32_t line;
} GpuStallLine;
void gpu_stall_lines_open(void);  // before the driver loads code
GpuStallLine gpu_stall_line(const CuptiPlace *p);

#endif
