// Allocations and frees. The session hears of an allocation after it was made and of a free before
// it is done: an address that is reused at once is then reported in the right order. Quarantined
// memory goes to the driver later (owned.c).
#include "cuda/format.h"
#include "gpu/closed/closed.h"
#include "gpu/gpu.h"

// With a gap behind it, if there is room for one. `size` is in scope: what the program asked for.
#define WITH_GAP(call, gap) \
  ({ \
    size_t asked_ = size, gap_ = (gap); \
    size += gap_; \
    CUresult made_ = GPU_RETRY(call); \
    size = asked_; \
    gap_ &&made_ == CUDA_ERROR_OUT_OF_MEMORY ? GPU_RETRY(call) : made_; \
  })

static CUresult made(CUresult result, uint64_t base, uint64_t size, SessionMemoryKind kind) {
  if (result != CUDA_SUCCESS) return gpu_checked(result);
  if (!session_wants_launches()) return result;
  GpuContext *c = gpu_context_current();
  session_alloc(base, size, kind, c ? c->device : 0, NULL);
  gpu_owned_add(c, base, size, kind);
  gpu_memory_new(c, base, size, kind);
  return result;
}

// --- frees ---

typedef struct Free {
  const char *call;
  uint64_t base;
  unsigned kinds;
  bool told;
} Free;

// A pointer that this call cannot free is left to the driver.
static Free begin_free(const char *call, uint64_t base, unsigned kinds) {
  Free f = {call, base, kinds, session_wants_launches() && base && session_frees(base, kinds)};
  if (f.told) session_free(base);
  return f;
}

static CUresult end_free(const Free *f, CUresult result) {
  if (result == CUDA_SUCCESS) {
    if (f->told) gpu_owned_freed(f->base);
    return result;
  }
  if (f->told) session_revive(f->base);  // it is still there
  if (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_INVALID_HANDLE ||
      result == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)
    session_invalid_free(f->call, f->base, f->kinds);
  return gpu_checked(result);
}

#define FREED_PLAINLY \
  (SESSION_BIT(DEVICE) | SESSION_BIT(MANAGED) | SESSION_BIT(POOL) | SESSION_BIT(GRAPH) | \
   SESSION_BIT(IMPORTED))
static const char plain_free[] = "cuMemFree (cudaFree)",
                  free_in_order[] = "cuMemFreeAsync (cudaFreeAsync)";

static CUresult freed_before(const char *call, uint64_t base) {
  session_invalid_free(call, base, FREED_PLAINLY);
  return CUDA_ERROR_INVALID_VALUE;
}

// --- device memory ---

CUresult gpu_cuMemAlloc_v2(CUdeviceptr *p, size_t size) {
  bool reserved = gpu_captures_reserve();
  CUresult result;
  GpuQuiet quiet = {0};
  if (reserved) quiet = gpu_quiet_begin();  // PyTorch does not expect to be refused
  if (reserved || !p || !gpu_block_alloc(p, size, &result))
    result = WITH_GAP(gpu_real.cuMemAlloc_v2(p, size), gpu_closed_gap(size));
  if (reserved) gpu_quiet_end(quiet);
  made(result, result == CUDA_SUCCESS ? *p : 0, size, reserved ? SESSION_GRAPH : SESSION_DEVICE);
  if (reserved && result == CUDA_SUCCESS) gpu_owned_reserve(*p);
  return result;
}

CUresult gpu_cuMemAllocPitch_v2(CUdeviceptr *p, size_t *pitch, size_t width, size_t height,
                                unsigned element) {
  CUresult result = GPU_RETRY(gpu_real.cuMemAllocPitch_v2(p, pitch, width, height, element));
  if (result != CUDA_SUCCESS) return gpu_checked(result);
  made(result, *p, *pitch * height, SESSION_DEVICE);
  session_pitch(*p, *pitch);
  return result;
}

CUresult gpu_cuMemAllocManaged(CUdeviceptr *p, size_t size, unsigned flags) {
  CUresult result = WITH_GAP(gpu_real.cuMemAllocManaged(p, size, flags), gpu_closed_gap(size));
  return made(result, result == CUDA_SUCCESS ? *p : 0, size, SESSION_MANAGED);
}

CUresult gpu_cuMemFree_v2(CUdeviceptr p) {
  gpu_hash_before_free(p, 1);
  GpuFree what = gpu_free_in_capture(p);
  if (gpu_is_held(p) || what == GPU_FREED_BEFORE) return freed_before(plain_free, p);
  if (what != GPU_FREE_NOW || gpu_hold(p)) return CUDA_SUCCESS;
  Free f = begin_free(plain_free, p, FREED_PLAINLY);
  return end_free(&f, gpu_real.cuMemFree_v2(p));
}

// Memory that is allocated while a stream is captured belongs to the graph.
static SessionMemoryKind kind_in(CUstream stream) {
  return session_wants_launches() && gpu_is_capturing(stream) ? SESSION_GRAPH : SESSION_POOL;
}

#define PER_THREAD_STREAM(s) ((s) ? (s) : CU_STREAM_PER_THREAD)
#define AS_IT_IS(s) (s)
#define POOLS(suffix, STREAM) \
  CUresult gpu_cuMemAllocAsync##suffix(CUdeviceptr *p, size_t size, CUstream stream) { \
    CUresult result = WITH_GAP(gpu_real.cuMemAllocAsync##suffix(p, size, stream), \
                               gpu_closed_gap(size)); \
    return result == CUDA_SUCCESS ? made(result, *p, size, kind_in(STREAM(stream))) \
                                  : gpu_checked(result); \
  } \
  CUresult gpu_cuMemAllocFromPoolAsync##suffix(CUdeviceptr *p, size_t size, CUmemoryPool pool, \
                                               CUstream stream) { \
    CUresult result = WITH_GAP(gpu_real.cuMemAllocFromPoolAsync##suffix(p, size, pool, stream), \
                               gpu_closed_gap(size)); \
    return result == CUDA_SUCCESS ? made(result, *p, size, kind_in(STREAM(stream))) \
                                  : gpu_checked(result); \
  } \
  CUresult gpu_cuMemFreeAsync##suffix(CUdeviceptr p, CUstream stream) { \
    gpu_hash_before_free(p, 1); \
    if (gpu_is_held(p)) return freed_before(free_in_order, p); \
    if (gpu_hold_in_order(p, STREAM(stream), gpu_real.cuEventRecord)) return CUDA_SUCCESS; \
    Free f = begin_free(free_in_order, p, FREED_PLAINLY); \
    return end_free(&f, gpu_real.cuMemFreeAsync##suffix(p, stream)); \
  }
POOLS(, AS_IT_IS)
POOLS(_ptsz, PER_THREAD_STREAM)

CUresult gpu_cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after,
                                    size_t n, CUDA_MEM_ALLOC_NODE_PARAMS *p) {
  CUresult result = GPU_RETRY(gpu_real.cuGraphAddMemAllocNode(node, g, after, n, p));
  return result == CUDA_SUCCESS ? made(result, p->dptr, p->bytesize, SESSION_GRAPH)
                                : gpu_checked(result);
}

// --- host memory ---

CUresult gpu_cuMemAllocHost_v2(void **p, size_t size) {
  CUresult result = gpu_real.cuMemAllocHost_v2(p, size);
  return made(result, result == CUDA_SUCCESS ? (uintptr_t)*p : 0, size, SESSION_PINNED);
}

CUresult gpu_cuMemHostAlloc(void **p, size_t size, unsigned flags) {
  CUresult result = gpu_real.cuMemHostAlloc(p, size, flags);
  return made(result, result == CUDA_SUCCESS ? (uintptr_t)*p : 0, size, SESSION_PINNED);
}

CUresult gpu_cuMemFreeHost(void *p) {
  Free f = begin_free("cuMemFreeHost (cudaFreeHost)", (uintptr_t)p, SESSION_BIT(PINNED));
  return end_free(&f, gpu_real.cuMemFreeHost(p));
}

CUresult gpu_cuMemHostRegister_v2(void *p, size_t size, unsigned flags) {
  return made(gpu_real.cuMemHostRegister_v2(p, size, flags), (uintptr_t)p, size,
              SESSION_REGISTERED);
}

CUresult gpu_cuMemHostRegister(void *p, size_t size, unsigned flags) {
  return made(gpu_real.cuMemHostRegister(p, size, flags), (uintptr_t)p, size, SESSION_REGISTERED);
}

CUresult gpu_cuMemHostUnregister(void *p) {
  Free f = begin_free("cuMemHostUnregister (cudaHostUnregister)", (uintptr_t)p,
                      SESSION_BIT(REGISTERED));
  return end_free(&f, gpu_real.cuMemHostUnregister(p));
}

CUresult gpu_cuMemCreate(CUmemGenericAllocationHandle *out, size_t size,
                         const CUmemAllocationProp *prop, unsigned long long flags) {
  CUresult result = GPU_RETRY(gpu_real.cuMemCreate(out, size, prop, flags));
  if (result == CUDA_SUCCESS) session_handle((void *)(uintptr_t)*out);
  return gpu_checked(result);
}

static CUresult destroyed(const char *call, const void *handle, CUresult result) {
  if (result == CUDA_SUCCESS) session_handle_gone(handle);
  else if (result == CUDA_ERROR_INVALID_VALUE) session_invalid_handle(call, handle);
  return gpu_checked(result);
}

CUresult gpu_cuMemRelease(CUmemGenericAllocationHandle h) {
  return destroyed("cuMemRelease", (void *)(uintptr_t)h, gpu_real.cuMemRelease(h));
}

CUresult gpu_cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props) {
  CUresult result = gpu_real.cuMemPoolCreate(out, props);
  if (result == CUDA_SUCCESS) session_handle(*out);
  return gpu_checked(result);
}

// A device's own pool is no handle that the program made, and cannot be destroyed.
static bool is_default(CUmemoryPool pool) {
  CUmemoryPool own = NULL;
  GpuContext *c = gpu_context_current();
  return c && gpu_real.cuDeviceGetDefaultMemPool &&
         gpu_real.cuDeviceGetDefaultMemPool(&own, c->device) == CUDA_SUCCESS && own == pool;
}

CUresult gpu_cuMemPoolDestroy(CUmemoryPool pool) {
  if (is_default(pool)) return gpu_checked(gpu_real.cuMemPoolDestroy(pool));
  return destroyed("cuMemPoolDestroy (cudaMemPoolDestroy)", pool, gpu_real.cuMemPoolDestroy(pool));
}

// --- virtual memory: mappings are allocations, reservations are not ---

CUresult gpu_cuMemMap(CUdeviceptr p, size_t size, size_t offset,
                      CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return made(gpu_real.cuMemMap(p, size, offset, handle, flags), p, size, SESSION_VIRTUAL);
}

CUresult gpu_cuMemUnmap(CUdeviceptr p, size_t size) {
  session_free_inside(p, size);
  CUresult result = gpu_real.cuMemUnmap(p, size);
  if (result == CUDA_ERROR_INVALID_VALUE)
    session_invalid_free("cuMemUnmap", p, SESSION_BIT(VIRTUAL));
  return gpu_checked(result);
}

// --- arrays: the handle stands for the address ---

static uint64_t array_bytes(size_t width, size_t height, size_t depth, CUarray_format format,
                            unsigned channels) {
  return (uint64_t)width * MAX(height, 1) * MAX(depth, 1) * channels *
         MAX(cuda_format_bytes(format), 1);
}

CUresult gpu_cuArrayCreate_v2(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d) {
  CUresult result = GPU_RETRY(gpu_real.cuArrayCreate_v2(out, d));
  if (result != CUDA_SUCCESS) return gpu_checked(result);
  gpu_array_made(*out, d->Width, d->Height, 1, d->Format, d->NumChannels);
  return made(result, (uintptr_t)*out,
              array_bytes(d->Width, d->Height, 1, d->Format, d->NumChannels), SESSION_ARRAY);
}

CUresult gpu_cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d) {
  CUresult result = GPU_RETRY(gpu_real.cuArray3DCreate_v2(out, d));
  if (result != CUDA_SUCCESS) return gpu_checked(result);
  gpu_array_made(*out, d->Width, d->Height, d->Depth, d->Format, d->NumChannels);
  return made(result, (uintptr_t)*out,
              array_bytes(d->Width, d->Height, d->Depth, d->Format, d->NumChannels), SESSION_ARRAY);
}

// The driver crashes on an array that is gone.
static bool array_gone(const char *call, const void *a) {
  return session_second_free(call, (uintptr_t)a, SESSION_BIT(ARRAY));
}

CUresult gpu_cuArrayDestroy(CUarray a) {
  static const char call[] = "cuArrayDestroy (cudaFreeArray)";
  if (array_gone(call, a)) return CUDA_ERROR_INVALID_HANDLE;
  session_array_gone((uintptr_t)a);
  Free f = begin_free(call, (uintptr_t)a, SESSION_BIT(ARRAY));
  return end_free(&f, gpu_real.cuArrayDestroy(a));
}

CUresult gpu_cuMipmappedArrayCreate(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *d,
                                    unsigned levels) {
  CUresult result = GPU_RETRY(gpu_real.cuMipmappedArrayCreate(out, d, levels));
  if (result != CUDA_SUCCESS) return gpu_checked(result);
  uint64_t bytes = 0;
  for (unsigned i = 0; i < MIN(levels, 31u); i++)
    bytes += array_bytes(MAX(d->Width >> i, 1), d->Height >> i, d->Depth >> i, d->Format,
                         d->NumChannels);
  return made(result, (uintptr_t)*out, bytes, SESSION_ARRAY);
}

CUresult gpu_cuMipmappedArrayDestroy(CUmipmappedArray a) {
  static const char call[] = "cuMipmappedArrayDestroy (cudaFreeMipmappedArray)";
  if (array_gone(call, a)) return CUDA_ERROR_INVALID_HANDLE;
  Free f = begin_free(call, (uintptr_t)a, SESSION_BIT(ARRAY));
  return end_free(&f, gpu_real.cuMipmappedArrayDestroy(a));
}
