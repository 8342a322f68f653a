// NVTX memory annotations: a program with an allocator of its own says which device memory is in
// use. Its NVTX code loads the library that NVTX_INJECTION64_PATH names and hands it a table to
// fill with functions. Layouts: nvtx3/nvToolsExtMem.h of CUDA 13, version 0x0102.
#include "preload/preload.h"

#include <stdint.h>

#include "session/session.h"

typedef struct Segment {
  size_t id, count;
  intptr_t *functions;
} Segment;
typedef struct ModuleInfo {
  uint16_t version, size, module, compatible;
  size_t nsegments;
  Segment *segments;
  void *get_export;
  const void *extra;
} ModuleInfo;
typedef struct Range {
  size_t size;
  const void *base;
} Range;
// the structure goes on with names, which we do not use
typedef struct HeapDesc {
  uint16_t compatible, size;
  uint32_t reserved, usage, type;
  size_t range_size;
  const Range *range;
} HeapDesc;
typedef struct Register {
  uint16_t compatible, size;
  uint32_t type;
  void *heap;
  size_t count, element;
  const char *ranges;
  void **handles;
} Register;
typedef struct Resize {
  uint16_t compatible, size;
  uint32_t type;
  size_t count, element;
  const char *ranges;
} Resize;
typedef struct Unregister {
  uint16_t compatible, size;
  uint32_t type;
  size_t count, element;
  const char *pieces;
} Unregister;

enum { MEMORY_MODULE = 1, MEMORY_VERSION = 0x0102, SUB_ALLOCATOR = 1, VIRTUAL_ADDRESS = 1 };

// A heap's handle is the number of its pool, a region's handle is its address. NULL: no tool.
static void *heap_register(void *domain, const HeapDesc *d) {
  if (d->usage != SUB_ALLOCATOR || d->type != VIRTUAL_ADDRESS || !d->range ||
      d->range_size < sizeof(Range))
    return NULL;
  return (void *)(uintptr_t)session_pool_begin((uintptr_t)d->range->base, d->range->size);
}

static void heap_unregister(void *domain, void *heap) { session_pool_end((uintptr_t)heap); }
static void heap_reset(void *domain, void *heap) { session_pool_reset((uintptr_t)heap); }

static void regions_register(void *domain, const Register *d) {
  for (size_t i = 0; d->type == VIRTUAL_ADDRESS && d->element >= sizeof(Range) && i < d->count;
       i++) {
    const Range *r = (const Range *)(d->ranges + i * d->element);
    session_pool_piece((uintptr_t)d->heap, (uintptr_t)r->base, r->size);
    if (d->handles) d->handles[i] = (void *)(uintptr_t)r->base;
  }
}

static void regions_resize(void *domain, const Resize *d) {
  for (size_t i = 0; d->type == VIRTUAL_ADDRESS && d->element >= sizeof(Range) && i < d->count;
       i++) {
    const Range *r = (const Range *)(d->ranges + i * d->element);
    session_pool_piece_resized((uintptr_t)r->base, r->size);
  }
}

static void regions_unregister(void *domain, const Unregister *d) {
  for (size_t i = 0; d->element >= sizeof(void *) && i < d->count; i++)
    session_pool_piece_freed((uintptr_t) * (void *const *)(d->pieces + i * d->element));
}

static const intptr_t functions[] = {
    (intptr_t)heap_register,    (intptr_t)heap_unregister, (intptr_t)heap_reset,
    (intptr_t)regions_register, (intptr_t)regions_resize,  (intptr_t)regions_unregister,
};

__attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(ModuleInfo *m) {
  if (m->module != MEMORY_MODULE || m->compatible != MEMORY_VERSION || !m->nsegments ||
      m->segments->count < ARRAY_LEN(functions))
    return 0;
  for (size_t i = 0; i < ARRAY_LEN(functions); i++) m->segments->functions[i] = functions[i];
  return 1;
}
