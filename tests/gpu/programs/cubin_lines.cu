// Machine code only, but built with -lineinfo: its PTX stands in the cubin as debug text.
// gencode: -gencode arch=compute_90,code=sm_90
// coverage: any
// cpu: approximate functions
#include "parts/few_kernels.h"
