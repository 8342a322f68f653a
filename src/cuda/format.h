// Sizes of array formats.
#ifndef WG_CUDA_FORMAT_H
#define WG_CUDA_FORMAT_H

#include "cuda/abi.h"

// Bytes of a channel; 0: the format's channels have no size of their own.
static inline size_t cuda_format_bytes(int format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
  }
}

#endif
