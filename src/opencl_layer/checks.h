// checks: kernels of an installed platform whose compiler returns PTX run with the checks of the
// tools in them. The program's handles stay the platform's: beside each kernel stands a second one
// that has the checks, and runs in its place.
#ifndef WG_OPENCL_LAYER_CHECKS_H
#define WG_OPENCL_LAYER_CHECKS_H

#include "base/opencl_code.h"
#include "opencl_layer/layer.h"

#include <CL/cl_icd.h>

// Puts functions of ours in front of the platform's; none where no kernel can be checked.
void checks_install(cl_icd_dispatch *platform);

// --- what the files of this part share ---
extern cl_icd_dispatch checks_below;   // the platform
extern const OpenclCode *checks_code;  // never NULL once something is installed

// --- check_contexts.c ---
typedef struct CheckedContext CheckedContext;
// NULL: it is not checked
CheckedContext *checks_context(cl_context handle);
OpenclDevice *checks_device(const CheckedContext *c);
cl_device_id checks_device_id(const CheckedContext *c);
void checks_contexts_install(cl_icd_dispatch *t);
// A launch with checks: its event and its record are the context's from now on.
void checks_launched(CheckedContext *c, cl_event event, OpenclKernel *k, void *record);
void checks_collect(void);  // launches that have ended

// --- check_memory.c: memory of tools, and where the program's buffers are ---
typedef struct CheckedMemory CheckedMemory;
// NULL: it cannot be had
CheckedMemory *checks_memory_new(cl_context context, cl_device_id device);
OpenclReach checks_memory_reach(CheckedMemory *m, int ordinal);
bool checks_address(CheckedMemory *m, cl_mem buffer, uint64_t *out);

// --- check_buffers.c ---
typedef struct CheckedBuffer {
  CheckedContext *context;
  uint64_t address;
  size_t size;
  cl_mem_flags flags;
  bool is_part;  // of another
} CheckedBuffer;
void checks_buffers_install(cl_icd_dispatch *t);
bool checks_buffer(cl_mem handle, CheckedBuffer *out);  // false: it is none that is known
CheckedMemory *checks_memory(const CheckedContext *c);

// --- check_kernels.c ---
typedef struct CheckedArgument {
  size_t size;
  unsigned char *value;  // NULL: __local memory, or no buffer
  bool is_svm, set;
} CheckedArgument;
typedef struct CheckedKernel {
  CheckedContext *context;
  cl_kernel handle, twin;  // twin NULL: it runs as it is
  OpenclKernel *code;      // NULL: nobody has asked for it yet
  VEC(CheckedArgument) arguments;
} CheckedKernel;
void checks_kernels_install(cl_icd_dispatch *t);
void checks_kernels_lock(void);
void checks_kernels_unlock(void);
// With the lock: makes the twin when it is first asked for. NULL: a kernel of a context that is not
// checked.
CheckedKernel *checks_kernel(cl_kernel handle);

// --- check_launches.c ---
void checks_launches_install(cl_icd_dispatch *t);
#endif
