// ldmatrix, stmatrix, movmatrix: 8x8 matrices between shared memory and the registers of a warp.
#include "vgpu/exec_memory.h"

bool VGPU_NAME(bind_matrix_move)(Binder *b) { return bind_unsupported(b, "not executed by the virtual device"); }
