// Functions of cuSPARSE that have no replacement.
#define FUNCTIONS "libraries/cusparse/functions.def"
#define STATUS 10
#include "libraries/common/missing.h"
