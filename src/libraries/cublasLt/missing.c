// Functions of cuBLASLt that have no replacement.
#define FUNCTIONS "libraries/cublasLt/functions.def"
#define STATUS 15
#include "libraries/common/missing.h"
