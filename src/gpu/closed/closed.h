#ifndef WG_GPU_CLOSED_H
#define WG_GPU_CLOSED_H

#include "gpu/modules/modules.h"
#include "sass/sass.h"
#include "probe/closed_abi.h"

// A kernel in one context. Never freed: launches on other threads may use it.
struct GpuClosed {
  _Atomic(CUcontext) context;  // NULL: it is gone
  CUfunction function;
  CUmodule module;
  uint64_t code;  // address of its first instruction
  bool ok;        // some tool checks its launches
  bool patched;
  const SassStores *stores;   // NULL: not known
  pthread_mutex_t launching;  // from setting the record until the launch is made
  struct GpuClosed *next;
  // --- repeats.c ---
  SessionRepeats *repeats;    // NULL: all launches are patched
  _Atomic(CUfunction) plain;  // the kernel in a copy of its module without patches
  bool no_plain;              // there is no copy
};

// A context's data for launches of such kernels.
struct GpuClosedRecords {
  CUdeviceptr memory;
  U64Map of_stream;     // id of a stream -> number of its record, plus 1
  CUdeviceptr extents;  // repeats.c: of the launches that are watched, by stream
  uint32_t *outside;    // … words that patches set, in memory of the host
  CUdeviceptr outside_at;
  uint32_t watched;  // words that are in use
};

// The original runs, for this reason. true: its launches may be checked. false: it has
// been named as unchecked.
bool gpu_closed_takes(GpuFunction *f, const char *reason, const char *cure);
// A launch of such a kernel that is to be checked. If l->closed is set: gpu_closed_end must follow,
// when the driver has taken it or refused it.
void gpu_closed_begin(GpuLaunch *l, const SessionCall *call);
void gpu_closed_end(GpuLaunch *l, bool launched);
// Bytes to leave free after an allocation: a patch finds the allocation by the address alone, so an
// access past the end must not reach the next allocation.
size_t gpu_closed_gap(size_t bytes);
// stores.c; NULL: not known. It stays for as long as the process lives.
const SassStores *gpu_closed_stores(const GpuFunction *f);
void gpu_closed_unloaded(GpuFunction *f);
void gpu_closed_session_ends(GpuContext *c);
// The handle, and those of its modules, may be those of others later, as after a reset.
void gpu_closed_context_gone(CUcontext handle);
// stores.c: the machine code of a kernel. arena_free(&out->arena) must follow; false: it was
// not found in its module
typedef struct GpuClosedCode {
  Arena arena;        // has the rest
  const void *image;  // the kernel is in this image, which the driver can load
  uint32_t entry;     // number of the image in the module
  SassKernel kernel;
} GpuClosedCode;
bool gpu_closed_code(const GpuFunction *f, GpuClosedCode *out);

// --- repeats.c: launches that repeat the accesses of a checked one run without patches ---
void gpu_repeats_open(GpuFunction *f, GpuContext *c, GpuClosed *k);
// true: l->function is the kernel without patches, and nothing more is to be done. Else l->watch is
// set if the launch is to be watched.
bool gpu_repeats_begin(GpuLaunch *l, const SessionCall *call, GpuClosed *k);
// Adds to the record of a watched launch; number: of the stream's record. The context is entered.
void gpu_repeats_watch(GpuLaunch *l, const SessionCall *call, GpuClosed *k, uint32_t number,
                       WgClosed *record);
void gpu_repeats_end(GpuLaunch *l, GpuClosed *k, bool launched);
// Copies of the kernel get the attributes that the program has set, and later changes.
void gpu_repeats_set(GpuFunction *f, const FunctionSetting *s);
void gpu_repeats_module_gone(const GpuModule *m);  // unloads its copies
void gpu_repeats_context_gone(CUcontext context);  // … which have gone with it

#endif
