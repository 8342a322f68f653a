// closed: kernels that are machine code only. NVIDIA's Sanitizer API, which comes with every CUDA
// toolkit, puts calls of our functions (patches.c) before their instructions. Nothing is patched
// before a closed kernel is launched.
//
// The folder knows the API and modules of machine code; src/gpu says which launch is to be checked,
// src/session fills the record that the patches read.
#ifndef WG_CLOSED_H
#define WG_CLOSED_H

#include "base/base.h"
#include "cuda/abi.h"

// --- library.c ---
// Opens the library and subscribes. After cuInit, and before the first context: once for each
// process. file: --closed-library, or NULL. The result of the first call is kept.
void closed_start(const char *file);
// NULL: closed kernels can be patched. Else why not; *cure: what to do about it, or NULL
const char *closed_refusal(const char **cure);

// --- patch.c ---
// Patches the module, once. sm: of the context's device, 90. false: why not
bool closed_patch(CUmodule module, CUcontext context, unsigned sm, Error *err);
// Where a kernel of a patched module begins.
bool closed_code_address(CUmodule module, const char *kernel, uint64_t *address);
// Sets what later launches of the kernel pass to the patches: the device address of a WgClosed; 0:
// the patches do nothing.
void closed_set_record(CUfunction kernel, uint64_t record);
void closed_module_gone(CUmodule module);
void closed_context_gone(CUcontext context);

#endif
