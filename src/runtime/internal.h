// Declarations that the files of runtime/ share. Nothing here is exported; the entry points are
// reached through the two tables of table.c.
#ifndef WG_RUNTIME_INTERNAL_H
#define WG_RUNTIME_INTERNAL_H

#include "base/base.h"
#include "runtime/runtime_abi.h"

// --- error.c: every entry point ends in rt_return or rt_done, which remember the error for
// cudaGetLastError. ---
cudaError_t rt_return(cudaError_t e);
// the numbers agree where both exist
static inline cudaError_t rt_result(CUresult r) { return (cudaError_t)r; }
static inline cudaError_t rt_done(CUresult r) { return rt_return(rt_result(r)); }
void rt_clear_errors(void);
// the same for kernel<<<…>>>(…), whose stub returns nothing
cudaError_t rt_return_to_stub(cudaError_t e);

// --- context.c: implicit initialisation. ---
cudaError_t rt_init(void);   // the driver, once per process
cudaError_t rt_enter(void);  // and a current context for this thread, and the __managed__ variables
cudaError_t rt_set_device(int device);
int rt_device(void);  // of this thread
cudaError_t rt_context_of(int device, CUcontext *out);
cudaError_t rt_reset_device(void);
#define RT_ENTER() \
  do { \
    cudaError_t enter_error_ = rt_enter(); \
    if (enter_error_) return rt_return(enter_error_); \
  } while (0)

// --- register.c: kernels and variables that the program's start-up code has registered ---
// host stub, or a handle from another call
cudaError_t rt_find_kernel(const void *func, CUkernel *out);
cudaError_t rt_find_symbol(const void *symbol, CUdeviceptr *address, size_t *size);
// every module with __managed__ variables that is not loaded yet
cudaError_t rt_load_managed(void);
void rt_unload_all(void);                   // for cudaDeviceReset; the next use loads again
const void *rt_host_stub(CUkernel kernel);  // NULL: not of this program's fat binaries

// --- array.c: channel descriptions and the driver's formats. ---
bool rt_format_from_channels(const cudaChannelFormatDesc *d, CUarray_format *format,
                             unsigned *channels);
void rt_channels_from_format(CUarray_format format, unsigned channels, cudaChannelFormatDesc *d);
size_t rt_array_element_bytes(cudaArray_t a);
unsigned rt_format_bytes(CUarray_format format);

// --- copy3d.c ---
cudaError_t rt_copy3d_params(const cudaMemcpy3DParms *p, CUDA_MEMCPY3D *out);
void rt_copy3d_params_back(const CUDA_MEMCPY3D *c, cudaMemcpy3DParms *out);
bool rt_copy_kind_types(int kind, CUmemorytype *src, CUmemorytype *dst);

// --- launch.c ---
cudaError_t rt_check_launch(dim3 grid, dim3 block);
void rt_launch_config(const cudaLaunchConfig_t *in, CUlaunchConfig *out);

// --- table.c ---
typedef struct RtEntry {
  const char *name;
  void *abi12, *abi13;
  bool in12, in13;
} RtEntry;
const RtEntry *rt_entry_table(uint32_t *count);
cudaError_t rt_unsupported(const char *name);  // returns cudaErrorNotSupported and logs `name` once

// --- patch_aarch64.c, patch_x86_64.c: jumps written into code ---
// room each kind of jump needs
extern const size_t patch_far_bytes, patch_near_bytes, patch_call_bytes;
extern const int64_t patch_near_reach;  // bytes a near jump can go either way
void patch_far_jump(uint8_t *at, const void *target);
void patch_near_jump(uint8_t *at, const void *target);
// jumps to target(argument)
void patch_call_with(uint8_t *at, const void *target, const void *argument);
bool patch_is_empty_function(const uint8_t *code);  // returns at once, with room for a near jump

// --- patch.c: pages ---
bool patch_make_writable(const void *start, size_t size);
void patch_make_executable(const void *start, size_t size);  // and flushes the instruction cache
// writable; NULL: no room within reach
uint8_t *patch_alloc_near(const void *start, const void *end, size_t size);

// --- loader.c: calls back for every object between its mapping and its first constructor ---
bool rt_watch_loader(void (*changed)(void));

#define STREAM_PTSZ(s) ((s) ? (s) : cudaStreamPerThread)
// The stream in which a copy or set is queued. sync: the call returns when it is done
typedef struct RtQueue {
  cudaStream_t stream;
  bool sync;
} RtQueue;
#define RT_SYNC ((RtQueue){NULL, true})
#define RT_SYNC_PER_THREAD ((RtQueue){cudaStreamPerThread, true})
#define RT_ASYNC(stream) ((RtQueue){(stream), false})

#endif
