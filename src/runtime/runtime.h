// runtime: the cuda* API for programs on the virtual device, on top of driver/.
#ifndef WG_RUNTIME_H
#define WG_RUNTIME_H

#include "base/base.h"

// --- executable.c: needs nothing but base, so the command can ask before it starts the program. ---
// False: the CUDA runtime inside `path` cannot be served (fully static, or a stripped static runtime); `e` says how to build.
bool runtime_check_executable(const char *path, Error *e);

// --- redirect.c ---
// Sends every statically linked CUDA runtime of the loaded objects to ours. Called once at start and after every dlopen;
// what was done already is not done again. False: an object holds a runtime that cannot be served.
bool runtime_redirect_loaded(Error *e);

#endif
