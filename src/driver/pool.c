// Memory pools and stream-ordered allocation.
//
// cuMemAllocAsync gets its memory at once, since the address is needed at once; cuMemFreeAsync
// gives it back in stream order. A pool keeps freed blocks up to its release threshold and hands
// them out again for the same size.
#include "driver/driver.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static Pool *new_pool(Device *dev, const CUmemPoolProps *props) {
  Pool *p = object_new(OBJECT_POOL, sizeof *p);
  p->device = dev;
  p->props = *props;
  p->settings[0] = p->settings[1] = p->settings[2] = 1;
  return p;
}

static Pool *default_pool(Device *dev) {
  pthread_mutex_lock(&device_lock);
  if (!dev->default_pool) {
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, dev->ordinal}};
    dev->default_pool = new_pool(dev, &props);
    dev->default_pool->is_default = true;
    dev->pool = dev->default_pool;
  }
  Pool *p = dev->default_pool;
  pthread_mutex_unlock(&device_lock);
  return p;
}

static void count(Pool *p, int64_t used, int64_t reserved) {
  p->used += (uint64_t)used;
  p->reserved += (uint64_t)reserved;
  p->used_high = MAX(p->used_high, p->used);
  p->reserved_high = MAX(p->reserved_high, p->reserved);
}

// Blocks of one size. Base 0: a tool holds the block's memory, and other memory takes its place.
typedef struct PoolBlocks {
  VEC(uintptr_t) bases;
} PoolBlocks;

static void keep_block(Pool *p, uintptr_t base, size_t size) {
  PoolBlocks *b = sorted_get(&p->cached, size);
  if (!b) {
    b = mem_alloc(sizeof *b);
    sorted_put(&p->cached, size, b);
  }
  vec_push(&b->bases, base);
}

static uintptr_t take_block(Pool *p, PoolBlocks *b, size_t size) {
  uintptr_t base = b->bases.data[--b->bases.len];
  if (b->bases.len) return base;
  sorted_remove(&p->cached, size);
  vec_free(&b->bases);
  free(b);
  return base;
}

static CUresult take(Context *ctx, Pool *p, size_t size, CUdeviceptr *out) {
  pthread_mutex_lock(&lock);
  if (p->props.maxSize && p->used + size > p->props.maxSize) {
    pthread_mutex_unlock(&lock);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  PoolBlocks *kept = sorted_get(&p->cached, size);
  if (kept) {
    uintptr_t base = take_block(p, kept, size);
    if (!base) base = (uintptr_t)memory_take(p->device, size, 512);
    if (!base) {
      keep_block(p, 0, size);
      pthread_mutex_unlock(&lock);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    count(p, (int64_t)size, 0);
    pthread_mutex_unlock(&lock);
    alloc_add(&(Alloc){.base = base,
                       .size = size,
                       .kind = ALLOC_POOL,
                       .ctx = ctx,
                       .device = p->device,
                       .pool = p});
    *out = base;
    return CUDA_SUCCESS;
  }
  pthread_mutex_unlock(&lock);
  TRY(memory_new(ctx, size, ALLOC_POOL, 0, p, out));
  pthread_mutex_lock(&lock);
  count(p, (int64_t)size, (int64_t)size);
  pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

static void release_block(Pool *p, uintptr_t base, size_t size) {
  atomic_fetch_sub(&p->device->used, size);
  if (base) memory_give_back(base, size, p->device, p);
  count(p, 0, -(int64_t)size);
}

void pool_give_back(const Alloc *a) {
  Pool *p = a->pool;
  pthread_mutex_lock(&lock);
  count(p, -(int64_t)a->size, 0);
  if (!p->destroyed && p->reserved <= p->threshold)
    keep_block(p, memory_hold(a->base, a->size, p->device, p) ? 0 : a->base, a->size);
  else release_block(p, a->base, a->size);
  pthread_mutex_unlock(&lock);
}

static void trim(Pool *p, uint64_t keep) {
  pthread_mutex_lock(&lock);
  uint64_t size;
  for (PoolBlocks *b; p->reserved > keep && (b = sorted_from(&p->cached, 0, &size));)
    release_block(p, take_block(p, b, size), size);
  pthread_mutex_unlock(&lock);
}

// --- pools by device ---

#define DEVICE_OR_RETURN(dev, handle) \
  TRY(driver_check()); \
  Device *dev = device_get(handle); \
  if (!dev) return CUDA_ERROR_INVALID_DEVICE

static CUresult pool_get(CUmemoryPool handle, Pool **out) {
  TRY(driver_check());
  *out = object_get(handle, OBJECT_POOL);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice handle) {
  DEVICE_OR_RETURN(dev, handle);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUmemoryPool)default_pool(dev);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice handle) {
  DEVICE_OR_RETURN(dev, handle);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  default_pool(dev);
  *out = (CUmemoryPool)dev->pool;
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice handle, CUmemoryPool pool) {
  DEVICE_OR_RETURN(dev, handle);
  Pool *p;
  TRY(pool_get(pool, &p));
  default_pool(dev);
  dev->pool = p;
  return CUDA_SUCCESS;
}

// --- pools by location: a device's as above, or one for host and one for managed memory ---

static CUresult pool_slot(const CUmemLocation *l, CUmemAllocationType type, Pool ***slot,
                          Device **dev, CUmemPoolProps *props) {
  TRY(driver_check());
  if (!l || (type != CU_MEM_ALLOCATION_TYPE_PINNED && type != CU_MEM_ALLOCATION_TYPE_MANAGED))
    return CUDA_ERROR_INVALID_VALUE;
  *dev = device_get(l->type == CU_MEM_LOCATION_TYPE_DEVICE ? l->id : 0);
  if (!*dev) return CUDA_ERROR_INVALID_DEVICE;
  *props = (CUmemPoolProps){.allocType = type, .location = *l};
  if (type == CU_MEM_ALLOCATION_TYPE_MANAGED) *slot = &(*dev)->managed_pool;
  else *slot = l->type == CU_MEM_LOCATION_TYPE_DEVICE ? &(*dev)->pool : &(*dev)->host_pool;
  return CUDA_SUCCESS;
}

CUresult cuMemGetMemPool(CUmemoryPool *out, CUmemLocation *l, CUmemAllocationType type) {
  Pool **slot;
  Device *dev;
  CUmemPoolProps props;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  TRY(pool_slot(l, type, &slot, &dev, &props));
  default_pool(dev);
  if (!*slot) *slot = new_pool(dev, &props);
  *out = (CUmemoryPool)*slot;
  return CUDA_SUCCESS;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *out, CUmemLocation *l, CUmemAllocationType type) {
  if (out && l && l->type == CU_MEM_LOCATION_TYPE_DEVICE && type == CU_MEM_ALLOCATION_TYPE_PINNED)
    return cuDeviceGetDefaultMemPool(out, l->id);
  return cuMemGetMemPool(out, l, type);
}

CUresult cuMemSetMemPool(CUmemLocation *l, CUmemAllocationType type, CUmemoryPool pool) {
  Pool **slot, *p;
  Device *dev;
  CUmemPoolProps props;
  TRY(pool_slot(l, type, &slot, &dev, &props));
  TRY(pool_get(pool, &p));
  default_pool(dev);
  *slot = p;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props) {
  TRY(driver_check());
  if (!out || !props) return CUDA_ERROR_INVALID_VALUE;
  if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED &&
      props->allocType != CU_MEM_ALLOCATION_TYPE_MANAGED)
    return CUDA_ERROR_INVALID_VALUE;
  if (props->handleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
  Device *dev = device_get(props->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? props->location.id
                                                                               : 0);
  if (!dev) return CUDA_ERROR_INVALID_DEVICE;
  *out = (CUmemoryPool)new_pool(dev, props);
  session_handle(*out);
  return CUDA_SUCCESS;
}

// Allocations made from it stay usable; the structure stays for them.
CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  Pool *p;
  CUresult found = pool_get(handle, &p);
  if (found == CUDA_ERROR_INVALID_VALUE)
    session_invalid_handle("cuMemPoolDestroy (cudaMemPoolDestroy)", handle);
  TRY(found);
  if (p->is_default) return CUDA_ERROR_INVALID_VALUE;
  session_handle_gone(p);
  trim(p, 0);
  p->destroyed = true;
  if (p->device->pool == p) p->device->pool = p->device->default_pool;
  if (p->device->host_pool == p) p->device->host_pool = NULL;
  if (p->device->managed_pool == p) p->device->managed_pool = NULL;
  object_forget(p);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep) {
  Pool *p;
  TRY(pool_get(handle, &p));
  trim(p, keep);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute which, void *value) {
  Pool *p;
  TRY(pool_get(handle, &p));
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  CUresult result = CUDA_SUCCESS;
  switch ((int)which) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      p->settings[which - 1] = *(int *)value != 0;
      break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: p->threshold = *(uint64_t *)value; break;
    // only a reset is possible
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: p->reserved_high = p->reserved; break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: p->used_high = p->used; break;
    default: result = CUDA_ERROR_INVALID_VALUE;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute which, void *value) {
  Pool *p;
  TRY(pool_get(handle, &p));
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  CUresult result = CUDA_SUCCESS;
  switch ((int)which) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      *(int *)value = (int)p->settings[which - 1];
      break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *(uint64_t *)value = p->threshold; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: *(uint64_t *)value = p->reserved; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: *(uint64_t *)value = p->reserved_high; break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: *(uint64_t *)value = p->used; break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *(uint64_t *)value = p->used_high; break;
    default: result = CUDA_ERROR_INVALID_VALUE;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

// All virtual devices share one memory: everybody may always access a pool.
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *map, size_t n) {
  Pool *p;
  TRY(pool_get(handle, &p));
  if (n && !map) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < n; i++)
    if (map[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE && !device_get(map[i].location.id))
      return CUDA_ERROR_INVALID_DEVICE;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle,
                            CUmemLocation *location) {
  Pool *p;
  TRY(pool_get(handle, &p));
  if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}

// --- allocation in stream order ---

static CUresult alloc_async(CUdeviceptr *out, size_t size, Pool *p, Stream *s) {
  if (!out || !size) return CUDA_ERROR_INVALID_VALUE;
  if (s->capture) {  // becomes a node; the memory belongs to the graph
    Work w = {.kind = WORK_ALLOC, .alloc = {.bytes = size, .props = p->props}};
    TRY(graph_memory_new(s->ctx, size, &w.alloc.memory));
    *out = graph_memory_address(w.alloc.memory);
    return queue_submit(s, &w, 0);
  }
  return take(s->ctx, p, size, out);
}

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t size, CUstream handle) {
  Stream *s;
  TRY(stream_get(handle, &s));
  default_pool(s->ctx->device);
  return alloc_async(out, size, s->ctx->device->pool, s);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t size, CUmemoryPool pool,
                                 CUstream handle) {
  Stream *s;
  Pool *p;
  TRY(stream_get(handle, &s));
  TRY(pool_get(pool, &p));
  return alloc_async(out, size, p, s);
}

CUresult cuMemFreeAsync(CUdeviceptr ptr, CUstream handle) {
  Stream *s;
  Alloc a;
  TRY(stream_get(handle, &s));
  if (!ptr) return CUDA_ERROR_INVALID_VALUE;
  if (!alloc_find(ptr, &a) || a.base != ptr || a.kind == ALLOC_HOST || a.kind == ALLOC_REGISTERED ||
      a.kind == ALLOC_GLOBAL || a.kind == ALLOC_MAPPED || a.kind == ALLOC_ARRAY || a.freeing)
    return memory_refuse_free("cuMemFreeAsync (cudaFreeAsync)", ptr, MEMORY_FREED_PLAINLY,
                              CUDA_ERROR_INVALID_VALUE);
  if (!s->capture && a.kind != ALLOC_GRAPH) alloc_free_later(ptr);
  if (!s->capture && a.kind == ALLOC_GRAPH) session_free(ptr);  // the graph may allocate it again
  Work w = {.kind = WORK_FREE, .free = ptr};
  return queue_submit(s, &w, SUBMIT_INLINE);
}
