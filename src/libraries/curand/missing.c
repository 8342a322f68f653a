// Functions of cuRAND that have no replacement.
#define FUNCTIONS "libraries/curand/functions.def"
#define STATUS 204
#include "libraries/common/missing.h"
