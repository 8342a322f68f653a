// The same matrices, inside.
// arch: compute_90
#define MORE 0
#include "matrices.cu"
