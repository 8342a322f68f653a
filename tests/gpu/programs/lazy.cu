// The program of variables.cu with its modules loaded lazily, whatever the default is.
// env: CUDA_MODULE_LOADING=LAZY
// coverage: all
#include "variables.cu"
