// PTX that is older than the machine code beside it: what runs is the old PTX, and coverage says
// so.
// lineinfo: no
// gencode: -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=sm_90
// coverage: all
// cpu: approximate functions
// note: its PTX is for compute_75
#include "parts/few_kernels.h"
