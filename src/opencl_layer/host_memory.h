// host_memory: the source of a write that does not block must stay as it is until the command is
// complete.
#ifndef WG_OPENCL_LAYER_HOST_MEMORY_H
#define WG_OPENCL_LAYER_HOST_MEMORY_H

#include "opencl_layer/layer.h"

#include <CL/cl_icd.h>

bool host_memory_watched(cl_bool blocking, const void *host, size_t size);
void host_memory_watch(const cl_icd_dispatch *next, cl_event event, const void *host, size_t size,
                       const LayerCall *call);
void host_memory_call_ends(void);
// The program may learn in another way that a command is complete.
void host_memory_give_up(void);
uint64_t host_memory_found(void);  // how often memory was changed or unmapped too early
#endif
