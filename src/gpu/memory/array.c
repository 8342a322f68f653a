// The shapes of arrays, for checks of copies. Levels of mipmapped arrays, and formats whose size is
// not known, are not reported to the session.
#include "cuda/format.h"
#include "gpu/gpu.h"

void gpu_array_made(CUarray a, size_t width, size_t height, size_t depth, CUarray_format format,
                    unsigned channels) {
  size_t element = cuda_format_bytes(format) * channels;
  if (element)
    session_array((uintptr_t)a, &(SessionArray){element, width * element, MAX(height, 1),
                                                MAX(depth, 1), (uintptr_t)a});
}
