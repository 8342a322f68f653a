// The same with a path between them.
#define CORRECT
#include "branches.cu"
