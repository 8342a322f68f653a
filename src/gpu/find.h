// Where the real driver's library is, found without loading anything: linked into the command and
// into the library.
#ifndef WG_GPU_FIND_H
#define WG_GPU_FIND_H

#include "base/base.h"

#define GPU_DRIVER_VARIABLE "WARPGRIND_REAL_DRIVER"

// WARPGRIND_REAL_DRIVER names it outright. Otherwise the dynamic linker's search: LD_LIBRARY_PATH
// as it was before Warpgrind added its own folder, the linker's cache, the system's library
// folders. Libraries of Warpgrind and of other machines are passed over.
bool gpu_find_driver(Str *path, Error *err);

#endif
