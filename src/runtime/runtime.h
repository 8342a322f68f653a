// runtime: the cuda* API for programs on the virtual device, on top of driver/.
#ifndef WG_RUNTIME_H
#define WG_RUNTIME_H

#include "base/base.h"
#include "runtime/check_executable.h"

// --- redirect.c ---
// Sends every statically linked CUDA runtime of the loaded objects to ours. Called once at start
// and after every dlopen; what was done already is not done again. False: an object holds a runtime
// that cannot be served.
bool runtime_redirect_loaded(Error *e);

#endif
