// The same with a path between them.
// device: cpu
#define CORRECT
#include "branches_child.cu"
