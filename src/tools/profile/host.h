// profile inside the program.
#ifndef WG_PROFILE_HOST_H
#define WG_PROFILE_HOST_H

#include "tools/tool.h"

enum { RUN_VALUES = 20 };  // of a measure

#endif
