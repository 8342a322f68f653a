// Occupancy: how many blocks of a kernel a multiprocessor holds, and the queries derived from it.
#include "driver/driver.h"

enum { SHARED_PER_SM = 233472, SHARED_RESERVED = 1024, SHARED_OPTIN = 232448 };

#define FUNCTION_OR_RETURN(f, handle) \
  Context *ctx; \
  Function *f; \
  TRY(context_current(&ctx)); \
  TRY(function_get(handle, ctx, &f))

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, CUfunction handle,
                                                              int threads, size_t shared,
                                                              unsigned flags) {
  FUNCTION_OR_RETURN(f, handle);
  if (!out || threads <= 0 || flags > 1) return CUDA_ERROR_INVALID_VALUE;
  bool fits = (unsigned)threads <= f->info->max_threads &&
              shared + f->info->static_shared <= SHARED_OPTIN;
  *out = fits ? (int)vgpu_max_resident_blocks(f->vgpu, (unsigned)threads, (uint32_t)shared) : 0;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction f, int threads,
                                                     size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, f, threads, shared, 0);
}

// The block size with the most resident threads; the largest one among equals.
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid, int *block, CUfunction handle,
                                                   CUoccupancyB2DSize shared_of, size_t shared,
                                                   int limit, unsigned flags) {
  FUNCTION_OR_RETURN(f, handle);
  if (!min_grid || !block || flags > 1) return CUDA_ERROR_INVALID_VALUE;
  int most = (int)f->info->max_threads;
  if (limit > 0 && limit < most) most = limit;
  int best_threads = 0, best_block = 0, best_blocks = 0;
  for (int size = (most + 31) / 32 * 32; size > 0; size -= 32) {
    int threads = MIN(size, most), blocks;
    size_t dynamic = shared_of ? shared_of(threads) : shared;
    TRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, handle, threads, dynamic,
                                                             flags));
    if (blocks * threads <= best_threads) continue;
    best_threads = blocks * threads;
    best_block = threads;
    best_blocks = blocks;
    if (best_threads >= 2048) break;
  }
  *block = best_block;
  *min_grid = best_blocks * VGPU_MULTIPROCESSORS;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block, CUfunction f,
                                          CUoccupancyB2DSize shared_of, size_t shared, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block, f, shared_of, shared, limit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *out, CUfunction handle, int blocks,
                                                 int threads) {
  FUNCTION_OR_RETURN(f, handle);
  if (!out || blocks <= 0 || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  int64_t share = SHARED_PER_SM / blocks / 128 * 128 - SHARED_RESERVED -
                  (int64_t)f->info->static_shared;
  share = MIN(share, SHARED_OPTIN - (int64_t)f->info->static_shared);
  int possible;
  TRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&possible, handle, threads, 0, 0));
  if (share < 0 || possible < blocks) return CUDA_ERROR_INVALID_VALUE;
  *out = (size_t)share;
  return CUDA_SUCCESS;
}

static CUresult cluster_of(const CUlaunchConfig *c, unsigned *size) {
  if (!c || (c->numAttrs && !c->attrs)) return CUDA_ERROR_INVALID_VALUE;
  *size = 1;
  for (unsigned i = 0; i < c->numAttrs; i++)
    if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      *size = c->attrs[i].value.clusterDim.x * c->attrs[i].value.clusterDim.y *
              c->attrs[i].value.clusterDim.z;
  return *size ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuOccupancyMaxPotentialClusterSize(int *out, CUfunction handle, const CUlaunchConfig *c) {
  FUNCTION_OR_RETURN(f, handle);
  if (!out || !c) return CUDA_ERROR_INVALID_VALUE;
  int blocks;
  TRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      &blocks, handle, (int)(c->blockDimX * c->blockDimY * c->blockDimZ), c->sharedMemBytes, 0));
  *out = !blocks ? 0 : function_settings(f)->nonportable_cluster ? 16 : 8;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int *out, CUfunction handle, const CUlaunchConfig *c) {
  FUNCTION_OR_RETURN(f, handle);
  (void)f;
  unsigned size;
  int blocks;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  TRY(cluster_of(c, &size));
  TRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      &blocks, handle, (int)(c->blockDimX * c->blockDimY * c->blockDimZ), c->sharedMemBytes, 0));
  *out = (int)((unsigned)blocks * VGPU_MULTIPROCESSORS / size);
  return CUDA_SUCCESS;
}
