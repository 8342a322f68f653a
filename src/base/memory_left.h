// How much memory this process may still use.
#ifndef WG_MEMORY_LEFT_H
#define WG_MEMORY_LEFT_H

#include "base/base.h"

// bytes. system: "", or a folder that has another /proc and /sys
uint64_t memory_left(const char *system);

#endif
