// Launches by the interface of CUDA 3: shape and parameters are state of the function. The shape is
// set for both functions, the program's and ours; parameters are kept here as well, to be handed to
// ours together with the added one.
#include "gpu/gpu.h"

enum { LARGEST = 4096 };
typedef struct Kept {
  size_t size;
  uint8_t data[LARGEST];
} Kept;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map kept;  // CUfunction -> Kept

static Kept *kept_of(CUfunction f) {
  pthread_mutex_lock(&lock);
  Kept *k = u64map_get(&kept, (uintptr_t)f);
  if (!k) u64map_put(&kept, (uintptr_t)f, k = mem_alloc(sizeof *k));
  pthread_mutex_unlock(&lock);
  return k;
}

static void keep(CUfunction f, int offset, const void *p, size_t bytes) {
  if (offset >= 0 && bytes <= LARGEST && (size_t)offset <= LARGEST - bytes)
    memcpy(kept_of(f)->data + offset, p, bytes);
}

CUresult gpu_cuParamSetSize(CUfunction f, unsigned bytes) {
  GPU_TRY(gpu_real.cuParamSetSize(f, bytes));
  kept_of(f)->size = MIN(bytes, (unsigned)LARGEST);
  return CUDA_SUCCESS;
}

CUresult gpu_cuParamSetf(CUfunction f, int offset, float value) {
  GPU_TRY(gpu_real.cuParamSetf(f, offset, value));
  keep(f, offset, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult gpu_cuParamSeti(CUfunction f, int offset, unsigned value) {
  GPU_TRY(gpu_real.cuParamSeti(f, offset, value));
  keep(f, offset, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult gpu_cuParamSetv(CUfunction f, int offset, void *p, unsigned bytes) {
  GPU_TRY(gpu_real.cuParamSetv(f, offset, p, bytes));
  keep(f, offset, p, bytes);
  return CUDA_SUCCESS;
}

static CUfunction ours_of(CUfunction f) {  // NULL: the program's own runs
  GpuFunction *of = gpu_function(f);
  CUfunction target = of ? gpu_function_target(of) : f;
  return target == f ? NULL : target;
}

CUresult gpu_cuFuncSetBlockShape(CUfunction f, int x, int y, int z) {
  CUfunction ours = ours_of(f);
  if (ours) gpu_real.cuFuncSetBlockShape(ours, x, y, z);
  return gpu_real.cuFuncSetBlockShape(f, x, y, z);
}

CUresult gpu_cuFuncSetSharedSize(CUfunction f, unsigned bytes) {
  CUfunction ours = ours_of(f);
  if (ours) gpu_real.cuFuncSetSharedSize(ours, bytes);
  return gpu_real.cuFuncSetSharedSize(f, bytes);
}

static CUresult launch(CUfunction f, int gx, int gy, CUstream stream,
                       CUresult (*real)(CUfunction, int, int, CUstream)) {
  GpuLaunch l;
  Kept *k = kept_of(f);
  size_t size = k->size;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, k->data, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  l.event = (SessionLaunch){
      .grid = {(unsigned)gx, (unsigned)gy, 1}, .cluster = {1, 1, 1}, .stream = stream};
  l.config = NULL;
  gpu_launch_begin(&l, f, NULL, extra, NULL);
  if (l.gone) return GPU_GONE(&l);
  CUresult result = CUDA_SUCCESS;
  if (l.function != f) {  // the list may be ours by now
    size = *(size_t *)l.extra[3];
    result = gpu_real.cuParamSetSize(l.function, (unsigned)size);
    if (result == CUDA_SUCCESS && size)
      result = gpu_real.cuParamSetv(l.function, 0, l.extra[1], (unsigned)size);
  }
  return gpu_launch_end(&l, result == CUDA_SUCCESS ? real(l.function, gx, gy, stream) : result);
}

static CUresult launch_one(CUfunction f, int gx, int gy, CUstream stream) {
  return gpu_real.cuLaunch(f);
}
static CUresult launch_grid(CUfunction f, int gx, int gy, CUstream stream) {
  return gpu_real.cuLaunchGrid(f, gx, gy);
}

CUresult gpu_cuLaunch(CUfunction f) { return launch(f, 1, 1, NULL, launch_one); }
CUresult gpu_cuLaunchGrid(CUfunction f, int gx, int gy) {
  return launch(f, gx, gy, NULL, launch_grid);
}
CUresult gpu_cuLaunchGridAsync(CUfunction f, int gx, int gy, CUstream stream) {
  return launch(f, gx, gy, stream, gpu_real.cuLaunchGridAsync);
}
