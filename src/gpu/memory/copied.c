// Called after the driver has accepted a copy or set, which happens at this point of the stream's
// order.
#include "gpu/gpu.h"

// An address that the session does not know may be device memory of another process or API.
static SessionPlaceKind kind_of(const SessionPlace *p) {
  unsigned type = CU_MEMORYTYPE_HOST;
  if (p->kind != SESSION_PLACE_UNIFIED || !gpu_real.cuPointerGetAttribute) return p->kind;
  bool known = gpu_real.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                              p->address) == CUDA_SUCCESS;
  return known && type != CU_MEMORYTYPE_HOST ? SESSION_PLACE_DEVICE : SESSION_PLACE_UNIFIED;
}

// A captured copy happens when its graph is launched: gpu_unchecked_writes.
void gpu_copy_enqueued(const SessionCopy *c) {
  if (c->captured) return;
  gpu_copy_taken(c);
  if (!session_wants(SESSION_WANTS_CONTENTS) && !c->tag) return;
  GpuContext *context = gpu_context_of_stream((CUstream)(uintptr_t)c->stream);
  SessionDevice *d = gpu_context_use(context);
  if (!d) return;
  SessionCopy copy = *c;
  if (!copy.is_set) copy.to.kind = kind_of(&copy.to);
  if (!copy.stream) copy.stream = CU_STREAM_LEGACY;
  session_copy_runs(d, &copy);
  gpu_context_used(context);
}
