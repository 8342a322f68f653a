// The same, inside.
#define MORE 0
#include "recursion.cu"
