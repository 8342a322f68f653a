// When work of the device ran: by events in its stream (times.c) or by CUPTI (times_cupti.c).
#ifndef WG_GPU_TIMES_H
#define WG_GPU_TIMES_H

#include "gpu/gpu.h"

// --- times.c ---
void gpu_timed_ran(const GpuTimed *what, const SessionTimes *t);  // tells the session

// --- times_cupti.c ---
bool gpu_cupti_open(void);  // false: it is not installed, or somebody else uses it
// Around a call of the driver, on its thread.
uint64_t gpu_cupti_begin(void);
void gpu_cupti_end(uint64_t id, const GpuTimed *what);
void gpu_cupti_flush(void);  // all times of work that has ended are told. Without locks

#endif
