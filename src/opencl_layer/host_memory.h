// host_memory: the source of a write that does not block must stay as it is until the command is
// complete.
#ifndef WG_OPENCL_LAYER_HOST_MEMORY_H
#define WG_OPENCL_LAYER_HOST_MEMORY_H

#include "opencl_layer/host_region.h"

#include <CL/cl_icd.h>

bool host_memory_is_watched(void);
// Before the command is queued. true: it needs an event, and *out is its memory
bool host_memory_begins(const cl_icd_dispatch *next, const HostTransfer *t, HostRegion *out);
// It is queued: watches the source of a write, and remembers what a read will change.
void host_memory_queued(const cl_icd_dispatch *next, cl_event event, const HostRegion *r,
                        bool is_write, const LayerCall *call);
void host_memory_call_ends(void);
// Kernels may change this memory, too: it is not watched.
void host_memory_shared(const void *first, size_t size);
void host_memory_object_made(const cl_icd_dispatch *next, const void *object, cl_mem_flags flags,
                             const void *host);
// The program may learn in another way that a command is complete.
void host_memory_give_up(void);
uint64_t host_memory_found(void);  // how often memory was changed or unmapped too early
#endif
