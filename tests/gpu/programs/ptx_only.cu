// PTX only, of an older architecture: the plain driver compiles it too.
// gencode: -gencode arch=compute_75,code=compute_75
// coverage: all
// cpu: approximate functions
#include "parts/few_kernels.h"
