// A map of rows of floats, and a kernel that takes one.
#include <cuda.h>
#include <cstdio>

__global__ void takes_map(const __grid_constant__ CUtensorMap map, float *out) {
  out[threadIdx.x] = threadIdx.x;
}

static CUtensorMap map_of(void *p, cuuint64_t columns, cuuint64_t rows) {
  typedef CUresult (*Encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                             const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                             const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                             CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  void *encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  CUtensorMap map = {};
  cuuint64_t dims[] = {columns, rows}, strides[] = {columns * 4};
  cuuint32_t box[] = {32, 8}, steps[] = {1, 1};
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                   &found);
  if (!encode ||
      ((Encode)encode)(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, p, dims, strides, box, steps,
                       CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                       CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
    printf("no tensor map\n");
  return map;
}
