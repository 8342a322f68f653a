// Functions of cuSOLVER that have no replacement.
#define FUNCTIONS "libraries/cusolver/functions.def"
#define STATUS 9
#include "libraries/common/missing.h"
