// preload: what libcuda.so.1 does when it is loaded into a program, and the targets of its exported
// functions.
//
// entry.S has one exported jump for each line of cuda/api.def; table.c has the table they jump
// through. Until start.c says otherwise every entry leads to the virtual device (src/driver). In
// GPU mode it leads to the real driver's function or to our wrapper of it (src/gpu).
#ifndef WG_PRELOAD_H
#define WG_PRELOAD_H

#define PRELOAD_STUB_BYTES 16

#ifndef __ASSEMBLER__
#include "base/base.h"

// --- mode.c ---
bool preload_on_gpu(void);  // WARPGRIND_DEVICE=gpu in the environment

// --- table.c ---
extern const char *const preload_names[];  // in the order of the table
extern void *preload_table[];
extern const unsigned preload_count;

// --- bind.c, the stubs of entry.S ---
void preload_bind_later(void);  // every entry loads the real driver when it is first called

#endif
#endif
