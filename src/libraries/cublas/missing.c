#define FUNCTIONS "libraries/cublas/functions.def"
#define STATUS 15
#include "libraries/common/missing.h"
