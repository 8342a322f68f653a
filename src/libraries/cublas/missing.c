// Functions of cuBLAS that have no replacement.
#define FUNCTIONS "libraries/cublas/functions.def"
#define STATUS 15
#include "libraries/common/missing.h"
