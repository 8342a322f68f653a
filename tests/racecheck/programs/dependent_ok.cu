// The same with launches that wait for each other.
// arch: 90
#define CORRECT
#include "dependent.cu"
