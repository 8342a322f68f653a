// Device code that stays in the compiler's own form until it is linked (-dlto): there is no PTX for
// it.
// coverage: any
// cpu: no, the program holds machine code only
// nvcc: -rdc=true -dlto
// lineinfo: no
// gencode: -arch=sm_90
// files: parts/rdc_other.cu
#include "rdc.cu"
