// Compiled once for each version of each library.
#include "libraries/common/call.h"

const int library_major = LIBRARY_MAJOR;
