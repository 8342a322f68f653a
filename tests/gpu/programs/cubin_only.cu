// Machine code only: the program runs as it is, and coverage says how to build it.
// lineinfo: no
// gencode: -gencode arch=compute_90,code=sm_90
// coverage: uncovered
// cpu: no, the program holds machine code only
#include "parts/few_kernels.h"
