// The shapes of arrays, for checks of copies. Levels of mipmapped arrays and formats we cannot measure are not told.
#include "gpu/gpu.h"

// Bytes of a channel where the format has one size for each; 0: block-compressed, planar, or newer than this table.
static size_t channel_bytes(CUarray_format f) {
  switch ((int)f) {
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

void gpu_array_made(CUarray a, size_t width, size_t height, size_t depth, CUarray_format format, unsigned channels) {
  size_t element = channel_bytes(format) * channels;
  if (element) session_array((uintptr_t)a, &(SessionArray){element, width * element, MAX(height, 1), MAX(depth, 1), (uintptr_t)a});
}
