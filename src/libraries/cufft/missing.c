// Functions of cuFFT that have no replacement.
#define FUNCTIONS "libraries/cufft/functions.def"
#define STATUS 16
#include "libraries/common/missing.h"
