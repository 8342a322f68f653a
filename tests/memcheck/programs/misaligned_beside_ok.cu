// misaligned_beside.cu with aligned addresses.
// nvcc: -Iinclude
#define BY 8
#include "misaligned_beside.cu"
