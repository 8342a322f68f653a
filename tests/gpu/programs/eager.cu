// The program of variables.cu with its modules loaded at start, whatever the default is.
// env: CUDA_MODULE_LOADING=EAGER
// coverage: all
#include "variables.cu"
