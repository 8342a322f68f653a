// The CUDA runtime as a shared library.
// nvcc: -cudart shared
// coverage: all
// cpu: approximate functions
#include "parts/few_kernels.h"
