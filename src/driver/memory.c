// The table of all ranges by address, and memory of the plain kinds: device, pinned, registered,
// managed, pitched.
#include "driver/driver.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static SortedMap table;  // base address -> Alloc
static uint64_t next_id = 1;

static Alloc *find_locked(uintptr_t address) {
  Alloc *a = sorted_below(&table, address, NULL);
  return a && (address - a->base < a->size || (address == a->base && !a->size)) ? a : NULL;
}

static SessionMemoryKind session_kind(AllocKind k) {
  switch (k) {
    case ALLOC_DEVICE: return SESSION_DEVICE;
    case ALLOC_HOST: return SESSION_PINNED;
    case ALLOC_REGISTERED: return SESSION_REGISTERED;
    case ALLOC_MANAGED: return SESSION_MANAGED;
    case ALLOC_POOL: return SESSION_POOL;
    case ALLOC_GRAPH: return SESSION_GRAPH;
    case ALLOC_MAPPED: return SESSION_VIRTUAL;
    case ALLOC_GLOBAL: return SESSION_VARIABLE;
    case ALLOC_ARRAY: return SESSION_ARRAY;
  }
  return SESSION_DEVICE;
}

void alloc_add(const Alloc *a) {
  session_alloc(a->base, a->size, session_kind(a->kind), a->device ? a->device->ordinal : 0,
                a->name);
  events_alloc(a);
  Alloc *copy = mem_alloc(sizeof *copy);
  *copy = *a;
  pthread_mutex_lock(&lock);
  copy->id = next_id++;
  free(sorted_remove(&table, a->base));
  sorted_put(&table, a->base, copy);
  pthread_mutex_unlock(&lock);
}

bool alloc_find(uintptr_t address, Alloc *out) {
  pthread_mutex_lock(&lock);
  Alloc *a = find_locked(address);
  if (a) *out = *a;
  pthread_mutex_unlock(&lock);
  return a != NULL;
}

bool alloc_change(uintptr_t address, void (*change)(Alloc *a, const void *user), const void *user) {
  pthread_mutex_lock(&lock);
  Alloc *a = find_locked(address);
  if (a) change(a, user);
  pthread_mutex_unlock(&lock);
  return a != NULL;
}

static bool remove_range(uintptr_t base, Alloc *out) {
  session_memory_event(&(SessionMemoryEvent){MEMORY_GONE, .base = base});
  pthread_mutex_lock(&lock);
  Alloc *a = sorted_remove(&table, base);
  pthread_mutex_unlock(&lock);
  if (a) *out = *a;
  free(a);
  return a != NULL;
}

bool alloc_remove(uintptr_t base, Alloc *out) {
  Alloc a;
  // before its memory can be had by others
  if (alloc_find(base, &a) && a.base == base && !a.freeing) session_free(base);
  return remove_range(base, out);
}

static void mark_freeing(Alloc *a, const void *unused) { a->freeing = true; }

void alloc_free_later(uintptr_t base) {
  session_free(base);
  alloc_change(base, mark_freeing, NULL);
}

static void release_memory(const Alloc *a);

static void release_held(const SessionHeld *h);

void alloc_free_all(Context *ctx) {
  VEC(Alloc) gone = {0};
  pthread_mutex_lock(&lock);
  uint64_t base = 0;
  for (Alloc *a; (a = sorted_from(&table, base, &base)); base++) {
    bool portable = a->kind == ALLOC_MAPPED;  // virtual memory does not belong to a context
    if (a->ctx != ctx || portable) continue;
    vec_push(&gone, *a);
    free(sorted_remove(&table, base));
  }
  pthread_mutex_unlock(&lock);
  for (uint32_t i = 0; i < gone.len; i++) {
    session_free(gone.data[i].base);
    session_memory_event(&(SessionMemoryEvent){MEMORY_GONE, .base = gone.data[i].base});
    release_memory(&gone.data[i]);
  }
  vec_free(&gone);
  session_quarantine_release(ctx->device->ordinal, ctx, release_held);
}

bool memory_is_pageable(const void *p) {
  Alloc a;
  return !vgpu_in_window(p) && !alloc_find((uintptr_t)p, &a);
}

// --- getting and giving back ---

static bool take(Device *dev, size_t size) {
  size_t before = atomic_fetch_add(&dev->used, size);
  if (before + size <= dev->memory && before + size >= before) return true;
  atomic_fetch_sub(&dev->used, size);
  return false;
}

// SESSION_WANTS_GAPS: small allocations, which share pages, lie apart, so that a pointer that runs
// a little over its allocation is in no other. Large ones have pages of their own with a gap after
// them.
enum { GAP = 256, SHARES_PAGES = 1 << 20 };
static size_t padded(size_t size) {
  return size < SHARES_PAGES && session_wants(SESSION_WANTS_GAPS) ? size + GAP : size;
}

static void release_held(const SessionHeld *h) {
  vgpu_program_free((void *)(uintptr_t)h->base, padded(h->size));
}

bool memory_hold(uintptr_t base, size_t size, Device *dev, const void *owner) {
  return session_quarantine_hold(
      &(SessionHeld){.base = base, .size = size, .device = dev->ordinal, .owner = owner},
      release_held);
}

void memory_give_back(uintptr_t base, size_t size, Device *dev, const void *owner) {
  if (!memory_hold(base, size, dev, owner)) vgpu_program_free((void *)base, padded(size));
}

// Memory held by a tool does not count as used, so that the device's memory never runs out for it;
// the machine's may.
void *memory_take(Device *dev, size_t size, size_t align) {
  void *p = vgpu_program_alloc(padded(size), align);
  if (!p && session_quarantine_release(dev->ordinal, NULL, release_held))
    p = vgpu_program_alloc(padded(size), align);
  return p;
}

CUresult memory_new_like(const Alloc *like, CUdeviceptr *out) {
  Alloc a = *like;
  a.device = a.pool ? a.pool->device : a.ctx->device;
  bool counted = a.kind != ALLOC_HOST;
  if (counted && !take(a.device, a.size)) return CUDA_ERROR_OUT_OF_MEMORY;
  size_t align = a.kind == ALLOC_HOST || a.kind == ALLOC_MANAGED ? 4096 : 512;
  void *p = memory_take(a.device, a.size, align);
  if (!p) {
    if (counted) atomic_fetch_sub(&a.device->used, a.size);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  a.base = (uintptr_t)p;
  alloc_add(&a);
  *out = (CUdeviceptr)(uintptr_t)p;
  return CUDA_SUCCESS;
}

CUresult memory_new(Context *ctx, size_t size, AllocKind kind, unsigned flags, Pool *pool,
                    CUdeviceptr *out) {
  return memory_new_like(
      &(Alloc){.size = size, .kind = kind, .ctx = ctx, .flags = flags, .pool = pool}, out);
}

// Gives the memory back; the range is already removed.
static void release_memory(const Alloc *a) {
  switch (a->kind) {
    case ALLOC_REGISTERED: vgpu_host_unregister((void *)a->base); return;
    case ALLOC_GLOBAL:
    case ALLOC_MAPPED: return;  // the module's, the mapping's
    case ALLOC_POOL: pool_give_back(a); return;
    default: break;
  }
  if (a->kind == ALLOC_HOST) {
    vgpu_program_free((void *)a->base, padded(a->size));
    return;
  }
  atomic_fetch_sub(&a->device->used, a->size);
  memory_give_back(a->base, a->size, a->device, a->ctx);
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
  Context *ctx;
  TRY(context_current(&ctx));
  if (!free_bytes || !total) return CUDA_ERROR_INVALID_VALUE;
  size_t used = ctx->device->used;
  *total = ctx->device->memory;
  *free_bytes = used < *total ? *total - used : 0;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size) {
  Context *ctx;
  TRY(context_current(&ctx));
  if (!out || !size) return CUDA_ERROR_INVALID_VALUE;
  TRY(capture_forbids_unsafe_call());
  return memory_new(ctx, size, ALLOC_DEVICE, 0, NULL, out);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                            unsigned element) {
  if (!pitch || !width || !height || (element != 4 && element != 8 && element != 16))
    return CUDA_ERROR_INVALID_VALUE;
  size_t row = (width + 511) & ~(size_t)511;
  if (row < width || row > SIZE_MAX / height) return CUDA_ERROR_OUT_OF_MEMORY;
  TRY(cuMemAlloc_v2(out, row * height));
  session_pitch(*out, row);
  *pitch = row;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr *out, size_t size, unsigned flags) {
  Context *ctx;
  TRY(context_current(&ctx));
  if (!out || !size || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
    return CUDA_ERROR_INVALID_VALUE;
  TRY(capture_forbids_unsafe_call());
  return memory_new(ctx, size, ALLOC_MANAGED, flags, NULL, out);
}

CUresult memory_refuse_free(const char *call, CUdeviceptr p, unsigned kinds, CUresult error) {
  session_invalid_free(call, p, kinds);
  return error;
}

// As on a device, freeing waits for what was submitted: queued work may still use the memory.
CUresult cuMemFree_v2(CUdeviceptr p) {
  Context *ctx;
  Alloc a;
  TRY(context_current(&ctx));
  if (!p) return CUDA_SUCCESS;
  bool known = alloc_find(p, &a) && a.base == p;
  if (!known || a.freeing ||
      (a.kind != ALLOC_DEVICE && a.kind != ALLOC_MANAGED && a.kind != ALLOC_POOL &&
       a.kind != ALLOC_GRAPH))
    return memory_refuse_free("cuMemFree (cudaFree)", p, MEMORY_FREED_PLAINLY,
                              CUDA_ERROR_INVALID_VALUE);
  TRY(capture_forbids_unsafe_call());
  CUresult error = a.ctx ? context_wait(a.ctx) : CUDA_SUCCESS;
  if (error) return error;
  if (a.kind == ALLOC_GRAPH) session_free(p);
  return memory_free_now(p);
}

CUresult memory_free_now(CUdeviceptr p) {
  Alloc a;
  if (graph_memory_freed(p)) return CUDA_SUCCESS;  // stays with its graph
  if (!alloc_remove(p, &a)) return CUDA_ERROR_INVALID_VALUE;
  release_memory(&a);
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr p) {
  Context *ctx;
  Alloc a;
  TRY(context_current(&ctx));
  if (!alloc_find(p, &a)) return CUDA_ERROR_NOT_FOUND;
  if (base) *base = a.base;
  if (size) *size = a.size;
  return CUDA_SUCCESS;
}

// --- pinned and registered host memory ---

CUresult cuMemHostAlloc(void **out, size_t size, unsigned flags) {
  Context *ctx;
  CUdeviceptr p;
  TRY(context_current(&ctx));
  if (!out || !size || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  TRY(capture_forbids_unsafe_call());
  TRY(memory_new(ctx, size, ALLOC_HOST, flags | CU_MEMHOSTALLOC_DEVICEMAP, NULL, &p));
  *out = (void *)(uintptr_t)p;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocHost_v2(void **out, size_t size) {
  return cuMemHostAlloc(out, size, CU_MEMHOSTALLOC_PORTABLE);
}

CUresult cuMemFreeHost(void *p) {
  Context *ctx;
  Alloc a;
  TRY(context_of_thread(&ctx));
  if (!p) return CUDA_SUCCESS;
  if (!alloc_find((uintptr_t)p, &a) || a.base != (uintptr_t)p || a.kind != ALLOC_HOST)
    return memory_refuse_free("cuMemFreeHost (cudaFreeHost)", (uintptr_t)p, SESSION_BIT(PINNED),
                              CUDA_ERROR_INVALID_VALUE);
  TRY(capture_forbids_unsafe_call());
  CUresult error = context_wait(a.ctx);
  memory_free_now((CUdeviceptr)(uintptr_t)p);
  return error;
}

CUresult cuMemHostGetFlags(unsigned *flags, void *p) {
  Context *ctx;
  Alloc a;
  TRY(context_current(&ctx));
  if (!flags || !alloc_find((uintptr_t)p, &a) ||
      (a.kind != ALLOC_HOST && a.kind != ALLOC_REGISTERED))
    return CUDA_ERROR_INVALID_VALUE;
  *flags = a.flags;
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *p, unsigned flags) {
  Context *ctx;
  Alloc a;
  TRY(context_current(&ctx));
  if (!out || flags || !alloc_find((uintptr_t)p, &a) ||
      (a.kind != ALLOC_HOST && a.kind != ALLOC_REGISTERED))
    return CUDA_ERROR_INVALID_VALUE;
  *out = (CUdeviceptr)(uintptr_t)p;
  return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *p, size_t size, unsigned flags) {
  Context *ctx;
  Alloc a;
  TRY(context_current(&ctx));
  if (!p || !size || flags > 15) return CUDA_ERROR_INVALID_VALUE;
  if (flags & CU_MEMHOSTREGISTER_IOMEMORY) return CUDA_ERROR_NOT_SUPPORTED;
  if (alloc_find((uintptr_t)p, &a) || alloc_find((uintptr_t)p + size - 1, &a))
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  vgpu_host_register(p, size);
  alloc_add(&(Alloc){.base = (uintptr_t)p,
                     .size = size,
                     .kind = ALLOC_REGISTERED,
                     .ctx = ctx,
                     .device = ctx->device,
                     .flags = flags | CU_MEMHOSTREGISTER_DEVICEMAP});
  return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *p) {
  Context *ctx;
  Alloc a;
  TRY(context_of_thread(&ctx));
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  if (!alloc_find((uintptr_t)p, &a) || a.base != (uintptr_t)p || a.kind != ALLOC_REGISTERED)
    return memory_refuse_free("cuMemHostUnregister (cudaHostUnregister)", (uintptr_t)p,
                              SESSION_BIT(REGISTERED), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  CUresult error = context_wait(a.ctx);
  if (alloc_remove(a.base, &a)) release_memory(&a);
  return error;
}
