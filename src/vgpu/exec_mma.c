// Matrix products: mma, wmma, movmatrix.
#include "vgpu/warp.h"

bool VGPU_NAME(vgpu_bind_mma)(Binder *b) { return bind_unsupported(b, "matrix products are not executed by the virtual device"); }
