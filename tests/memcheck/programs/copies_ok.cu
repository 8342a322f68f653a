// The same copies, inside.
// arch: compute_90
#define MORE 0
#include "copies.cu"
