#ifndef WG_GPU_CLOSED_H
#define WG_GPU_CLOSED_H

#include "gpu/gpu.h"
#include "probe/closed_abi.h"

// The original runs, for this reason. true: its launches may be checked. false: it has
// been named as unchecked.
bool gpu_closed_takes(GpuFunction *f, const char *reason, const char *cure);
// A launch of such a kernel that is to be checked. If l->closed is set: gpu_closed_end must follow,
// when the driver has taken it or refused it.
void gpu_closed_begin(GpuLaunch *l, const SessionCall *call);
void gpu_closed_end(GpuLaunch *l, bool launched);
// Bytes to leave free after an allocation: a patch finds the allocation by the address alone, so
// that an access past the end must not hit the next one.
size_t gpu_closed_gap(size_t bytes);
// closed_stores.c; NULL: not known. It stays for as long as the process lives.
const SassStores *gpu_closed_stores(const GpuFunction *f);
void gpu_closed_unloaded(GpuFunction *f);
void gpu_closed_context_gone(GpuContext *c);

#endif
