// What a pointer is: cuPointerGetAttribute, cuMemAdvise, prefetch and the attributes of ranges.
#include "driver/driver.h"

static bool is_managed(const Alloc *a) {
  return a->kind == ALLOC_MANAGED || (a->kind == ALLOC_GLOBAL && a->flags) ||
         (a->kind == ALLOC_POOL && a->pool->props.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED);
}
static bool is_host(const Alloc *a) {
  return a->kind == ALLOC_HOST || a->kind == ALLOC_REGISTERED ||
         (a->kind == ALLOC_POOL && !is_managed(a) &&
          a->pool->props.location.type != CU_MEM_LOCATION_TYPE_DEVICE);
}
static bool host_can_touch(const Alloc *a) { return is_host(a) || is_managed(a); }

// INVALID_VALUE for memory we do not know is what cuPointerGetAttribute answers for pageable
// memory.
static CUresult attribute(void *data, CUpointer_attribute which, CUdeviceptr p) {
  Alloc a;
  bool known = alloc_find(p, &a);
  switch ((int)which) {
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      if (!known) return CUDA_ERROR_INVALID_VALUE;
      *(bool *)data = is_managed(&a);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(bool *)data = known; return CUDA_SUCCESS;
  }
  if (!known) return CUDA_ERROR_INVALID_VALUE;
  switch ((int)which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      if (!a.ctx) return CUDA_ERROR_INVALID_VALUE;
      *(CUcontext *)data = (CUcontext)a.ctx;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *(unsigned *)data = is_host(&a) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)data = p; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!host_can_touch(&a)) return CUDA_ERROR_INVALID_VALUE;
      *(void **)data = (void *)(uintptr_t)p;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: *(int *)data = a.sync_memops; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)data = a.id; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *(int *)data = a.device ? a.device->ordinal : 0;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      *(bool *)data = false;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)data = a.base; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)data = a.size; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      *(unsigned long long *)data = a.kind == ALLOC_MAPPED;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      *(bool *)data = false;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      *(int *)data = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      *(CUmemoryPool *)data = (CUmemoryPool)a.pool;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: *(size_t *)data = a.size; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: *(CUdeviceptr *)data = a.base; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      *(unsigned long long *)data = a.id;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: *(bool *)data = false; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS: return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute which, CUdeviceptr p) {
  TRY(driver_check());
  if (!data) return CUDA_ERROR_INVALID_VALUE;
  return attribute(data, which, p);
}

// Many at once: what does not apply is zero, and pageable memory is no error.
CUresult cuPointerGetAttributes(unsigned n, CUpointer_attribute *which, void **data,
                                CUdeviceptr p) {
  TRY(driver_check());
  if (!which || !data) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < n; i++) {
    if (!data[i] || which[i] < CU_POINTER_ATTRIBUTE_CONTEXT ||
        which[i] > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
      return CUDA_ERROR_INVALID_VALUE;
    if (!attribute(data[i], which[i], p)) continue;
    switch ((int)which[i]) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: *(unsigned *)data[i] = 0; break;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)data[i] = -2; break;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: *(bool *)data[i] = false; break;
      case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
        memset(data[i], 0, sizeof(CUDA_POINTER_ATTRIBUTE_P2P_TOKENS));
        break;
      default: *(uint64_t *)data[i] = 0;
    }
  }
  return CUDA_SUCCESS;
}

static void set_sync_memops(Alloc *a, const void *value) { a->sync_memops = *(const int *)value; }

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute which, CUdeviceptr p) {
  TRY(driver_check());
  if (!value || which != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
  return alloc_change(p, set_sync_memops, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// --- advice and prefetch: kept to be asked for, without effect on one memory ---

typedef struct Advice {
  CUmem_advise advice;
  CUmemLocation where;
} Advice;

static uint64_t location_bit(CUmemLocation l) {
  return l.type == CU_MEM_LOCATION_TYPE_DEVICE ? 1ull << (l.id & 63) : 1ull << 63;
}

static void apply_advice(Alloc *a, const void *user) {
  const Advice *v = user;
  switch (v->advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY: a->read_mostly = true; break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: a->read_mostly = false; break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      a->preferred = v->where;
      a->has_preferred = true;
      break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: a->has_preferred = false; break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY: a->accessed_by |= location_bit(v->where); break;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY: a->accessed_by &= ~location_bit(v->where); break;
  }
}

static CUresult check_location(CUmemLocation l) {
  if (l.type == CU_MEM_LOCATION_TYPE_DEVICE)
    return device_get(l.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  return (unsigned)l.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT && l.type
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

static CUresult check_managed(CUdeviceptr p, size_t count) {
  Alloc a;
  if (!count || !alloc_find(p, &a) || p + count > a.base + a.size) return CUDA_ERROR_INVALID_VALUE;
  return is_managed(&a) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAdvise_v2(CUdeviceptr p, size_t count, CUmem_advise advice, CUmemLocation where) {
  Context *ctx;
  TRY(context_current(&ctx));
  if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
    return CUDA_ERROR_INVALID_VALUE;
  TRY(check_managed(p, count));
  if (advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice >= CU_MEM_ADVISE_SET_ACCESSED_BY)
    TRY(check_location(where));
  Advice v = {advice, where};
  alloc_change(p, apply_advice, &v);
  return CUDA_SUCCESS;
}

static CUmemLocation location_of(CUdevice dev) {
  return (CUmemLocation){dev == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST
                                              : CU_MEM_LOCATION_TYPE_DEVICE,
                         dev == CU_DEVICE_CPU ? 0 : dev};
}

CUresult cuMemAdvise(CUdeviceptr p, size_t count, CUmem_advise advice, CUdevice dev) {
  return cuMemAdvise_v2(p, count, advice, location_of(dev));
}

static void apply_prefetch(Alloc *a, const void *user) {
  a->last_prefetch = *(const CUmemLocation *)user;
  a->has_prefetch = true;
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr p, size_t count, CUmemLocation where, unsigned flags,
                               CUstream handle) {
  Stream *s;
  TRY(stream_get(handle, &s));
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  TRY(check_managed(p, count));
  TRY(check_location(where));
  alloc_change(p, apply_prefetch, &where);
  return CUDA_SUCCESS;
}

CUresult cuMemPrefetchAsync(CUdeviceptr p, size_t count, CUdevice dev, CUstream handle) {
  return cuMemPrefetchAsync_v2(p, count, location_of(dev), 0, handle);
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *p, size_t *sizes, size_t count, CUmemLocation *where,
                                 size_t *index, size_t nwhere, unsigned long long flags,
                                 CUstream handle) {
  if (!p || !sizes || !count || !where || !index || !nwhere || flags || index[0])
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0, w = 0; i < count; i++) {
    while (w + 1 < nwhere && index[w + 1] <= i) w++;
    TRY(cuMemPrefetchAsync_v2(p[i], sizes[i], where[w], 0, handle));
  }
  return CUDA_SUCCESS;
}

// Discarding is a licence to lose contents, not an order.
CUresult cuMemDiscardBatchAsync(CUdeviceptr *p, size_t *sizes, size_t count,
                                unsigned long long flags, CUstream handle) {
  Stream *s;
  TRY(stream_get(handle, &s));
  if (!p || !sizes || !count || flags) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++) TRY(check_managed(p[i], sizes[i]));
  return CUDA_SUCCESS;
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *p, size_t *sizes, size_t count,
                                           CUmemLocation *where, size_t *index, size_t nwhere,
                                           unsigned long long flags, CUstream handle) {
  return cuMemPrefetchBatchAsync(p, sizes, count, where, index, nwhere, flags, handle);
}

static int old_style(CUmemLocation l, bool given) {
  if (!given) return CU_DEVICE_INVALID;
  return l.type == CU_MEM_LOCATION_TYPE_DEVICE ? l.id : CU_DEVICE_CPU;
}

CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute which, CUdeviceptr p,
                                size_t count) {
  Context *ctx;
  Alloc a;
  TRY(context_current(&ctx));
  if (!data || size < 4 || size % 4) return CUDA_ERROR_INVALID_VALUE;
  TRY(check_managed(p, count));
  alloc_find(p, &a);
  int *out = data;
  switch ((int)which) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: *out = a.read_mostly; return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      *out = old_style(a.preferred, a.has_preferred);
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      *out = old_style(a.last_prefetch, a.has_prefetch);
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: {
      size_t n = 0;
      if (a.accessed_by >> 63) out[n++] = CU_DEVICE_CPU;
      for (int d = 0; d < device_count() && n < size / 4; d++)
        if (a.accessed_by >> d & 1) out[n++] = d;
      while (n < size / 4) out[n++] = CU_DEVICE_INVALID;
      return CUDA_SUCCESS;
    }
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      *out = a.has_preferred ? (int)a.preferred.type : 0;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      *out = a.has_preferred ? a.preferred.id : 0;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      *out = a.has_prefetch ? (int)a.last_prefetch.type : 0;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      *out = a.has_prefetch ? a.last_prefetch.id : 0;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemRangeGetAttributes(void **data, size_t *sizes, CUmem_range_attribute *which, size_t n,
                                 CUdeviceptr p, size_t count) {
  if (!data || !sizes || !which || !n) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < n; i++) TRY(cuMemRangeGetAttribute(data[i], sizes[i], which[i], p, count));
  return CUDA_SUCCESS;
}
