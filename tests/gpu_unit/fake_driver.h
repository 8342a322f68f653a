// A CUDA driver for unit tests of src/gpu: contexts, streams, events and memory, and a list of
// the calls. Nothing runs: a test says when the work that was enqueued so far is done.
#ifndef WG_TESTS_FAKE_DRIVER_H
#define WG_TESTS_FAKE_DRIVER_H

#include "fake_device.h"
#include "gpu/gpu.h"

typedef struct FakeDriver {
  bool finishes;                 // enqueued work is done at once; true at first
  CUresult fault;                // of a kernel: what calls that wait return from now on
  int events;                    // alive
  uint32_t failing_allocations;  // so many calls of cuMemAlloc find no memory
} FakeDriver;
extern FakeDriver fake_driver;

void fake_driver_install(void);      // fills gpu_real
void fake_driver_finish(void);       // all work enqueued so far is done
CUcontext fake_context(int device);  // made current; a destroyed one's handle is used again
CUstream fake_stream(CUcontext c);
bool fake_context_alive(CUcontext c);
FakeDevice *fake_context_memory(CUcontext c);
CUcontext fake_current(void);  // of the calling thread, without a call
uint32_t fake_depth(void);     // of its stack of contexts
uint32_t fake_calls(const char *name);

#endif
