// Tells the session what the program encodes into tensor maps.
#include "gpu/gpu.h"

CUresult gpu_cuTensorMapEncodeTiled(CUtensorMap *out, CUtensorMapDataType type, uint32_t rank,
                                    void *address, const uint64_t *dims, const uint64_t *strides,
                                    const uint32_t *box, const uint32_t *element_strides,
                                    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                    CUtensorMapL2promotion promotion,
                                    CUtensorMapFloatOOBfill fill_mode) {
  GPU_TRY(gpu_real.cuTensorMapEncodeTiled(out, type, rank, address, dims, strides, box,
                                          element_strides, interleave, swizzle, promotion,
                                          fill_mode));
  session_tensor_map(out, &(SessionTensor){(int)type, rank, address, dims, strides, box,
                                           element_strides, (int)interleave, (int)swizzle,
                                           fill_mode != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE});
  return CUDA_SUCCESS;
}

CUresult gpu_cuTensorMapReplaceAddress(CUtensorMap *map, void *address) {
  CUtensorMap before = *map;
  GPU_TRY(gpu_real.cuTensorMapReplaceAddress(map, address));
  session_tensor_map_moved(&before, map, (uintptr_t)address);
  return CUDA_SUCCESS;
}
