// When work of the device ran: by events in its stream (times.c) or by CUPTI (times_cupti.c).
#ifndef WG_GPU_TIMES_H
#define WG_GPU_TIMES_H

#include "gpu/gpu.h"

// --- times.c ---
void gpu_timed_ran(const GpuTimed *what, const SessionTimes *t);  // tells the session

// --- cupti_library.c ---
void *gpu_cupti_library(void);  // NULL: it is not installed, or the program uses it

// --- times_cupti.c ---
bool gpu_cupti_open(void);  // false: it is not installed, or somebody else uses it
void gpu_cupti_asked(CUcontext context, CUstream stream, const GpuTimed *what);
void gpu_cupti_stream_made(void);
void gpu_cupti_flush(void);  // reports all times of work that has ended. Without locks

#endif
