// cuTensorMapEncodeTiled for programs that are not linked with libcuda: asked of the runtime.
#ifndef WG_TESTS_TENSOR_MAP_H
#define WG_TESTS_TENSOR_MAP_H

#include <cuda.h>

typedef CUresult TensorMapEncode(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                                 const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                                 const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static TensorMapEncode *tensor_map_encode() {  // NULL: the driver has none
  void *encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                   &found);
  return (TensorMapEncode *)encode;
}

#endif
