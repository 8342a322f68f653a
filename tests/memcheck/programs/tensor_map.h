// A map of rows of floats, and a kernel that takes one.
#include <cstdio>

#include "../../lib/tensor_map.h"

__global__ void takes_map(const __grid_constant__ CUtensorMap map, float *out) {
  out[threadIdx.x] = threadIdx.x;
}

static CUtensorMap map_of(void *p, cuuint64_t columns, cuuint64_t rows) {
  TensorMapEncode *encode = tensor_map_encode();
  CUtensorMap map = {};
  cuuint64_t dims[] = {columns, rows}, strides[] = {columns * 4};
  cuuint32_t box[] = {32, 8}, steps[] = {1, 1};
  if (!encode || encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, p, dims, strides, box, steps,
                        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
    printf("no tensor map\n");
  return map;
}
