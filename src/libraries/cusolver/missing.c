#define FUNCTIONS "libraries/cusolver/functions.def"
#define STATUS 9
#include "libraries/common/missing.h"
