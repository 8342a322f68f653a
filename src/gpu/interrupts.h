// Kernels that call interrupts, on a GPU: interrupts.c.
#ifndef WG_GPU_INTERRUPTS_H
#define WG_GPU_INTERRUPTS_H

#include "gpu/gpu.h"

// Memory and the added parameter. false: it is not to be launched, l->refused says why
bool gpu_interrupts_begin(GpuLaunch *l);
// The driver has taken the launch, or not (result). Its interrupts are served by another thread;
// where tools run, before it returns. Frees l->interrupts, then or later.
CUresult gpu_interrupts_end(GpuLaunch *l, CUresult result);
void gpu_interrupts_forget(CUcontext ctx);  // it is gone

// A launch that has been made; any thread may ask.
bool gpu_interrupts_has_ended(const GpuLaunch *l);         // its first kernel
bool gpu_interrupts_suspended_nobody(const GpuLaunch *l);  // … and nothing went wrong: waits for it
CUresult gpu_interrupts_serve(GpuLaunch *l, bool suspended);  // frees l->interrupts

// --- interrupt_pending.c ---
// From now on calls of the driver, but for launches, call gpu_interrupts_wait first. Set before the
// first call.
extern void (*gpu_hold_calls)(void);
void gpu_interrupts_add(const GpuLaunch *l);
// Until launches are served: all of the calling thread's (the program's, or those of the handler
// that runs on it), or those that come before work in a stream. Each error is reported once.
CUresult gpu_interrupts_wait(void);
CUresult gpu_interrupts_wait_in(uint64_t stream);

#endif
