// Calls that create, destroy or use handles (handles.def). If no tool wants them, the session only
// looks at one number for each. A handle that is known to be destroyed does not reach the driver,
// which may crash on it.
#include "gpu/gpu.h"
#include "gpu/times/times.h"

// 0: no tool asks how long the host waits
static uint64_t clock_of_waits(void) {
  return session_wants(SESSION_WANTS_LAUNCHES_TAKEN) ? clock_ns() : 0;
}

#define STREAM(h) GPU_ALIVE(STREAM, h);
#define EVENT(h) GPU_ALIVE(EVENT, h);
#define CONTEXT(h) \
  if (session_use(SESSION_CONTEXT_GONE, h)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
#define WAITS_FOR(s) \
  session_synchronised(s); \
  waits = true; \
  wait = (SessionHostWait){.stream = (s), .began = clock_of_waits()};
#define WAITS_FOR_ALL \
  session_synchronised_all(); \
  waits = true; \
  wait = (SessionHostWait){.all = true, .began = clock_of_waits()};
#define WAITS_FOR_EVENT(e) \
  session_order_host_saw_event(e); \
  wait = (SessionHostWait){.began = clock_of_waits()};

#define OWN(s) ((s) ? (s) : CU_STREAM_PER_THREAD)
#define RECORDS(e, s) session_order_record(e, s);
#define AFTER(s, e) session_order_wait(s, e);
#define AFTER_ALL(s) session_order_waits_for_something(s);
#define SAW(s) session_order_host_saw(s);
#define SAW_EVENT(e) session_order_host_saw_event(e);

#define MAKES_STREAM(name, params, args, out, flags) \
  CUresult gpu_##name params { \
    CUresult result = gpu_real.name args; \
    if (result == CUDA_SUCCESS && out) \
      session_created(*out), gpu_cupti_stream_made(), \
          session_order_stream(*out, (flags)&CU_STREAM_NON_BLOCKING); \
    return gpu_checked(result); \
  }
#define MAKES(name, params, args, out) \
  CUresult gpu_##name params { \
    CUresult result = gpu_real.name args; \
    if (result == CUDA_SUCCESS && out) session_created(*out); \
    return gpu_checked(result); \
  }
#define BEFORE_STREAM_ENDS \
  gpu_hash_all_deferred(NULL)  // hashes cannot wait any longer in a stream that is destroyed
#define BEFORE_EVENT_ENDS (void)0
#define ENDS(name, params, args, WHAT, handle) \
  CUresult gpu_##name params { \
    GPU_ALIVE(WHAT, handle); \
    session_destroyed(SESSION_##WHAT##_GONE, handle); \
    BEFORE_##WHAT##_ENDS; \
    CUresult result = gpu_real.name args; \
    if (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_INVALID_HANDLE) \
      session_created(handle); \
    return gpu_checked(result); \
  }
#define USES(name, params, args, ...) \
  CUresult gpu_##name params { \
    bool waits = false; \
    SessionHostWait wait = {0}; \
    __VA_ARGS__ \
    CUresult result = SESSION_WAITING(#name, gpu_real.name args); \
    if (waits && result == CUDA_SUCCESS) { \
      gpu_copies_waited(); \
      session_host_waited(); \
    } \
    if (wait.began && result == CUDA_SUCCESS) { \
      wait.call = #name; \
      session_wait_ended(&wait); \
    } \
    return gpu_checked(result); \
  }
#include "gpu/handles.def"

// Two ways to a handle that api.def does not describe.
CUresult gpu_cuGreenCtxStreamCreate(CUstream *out, CUgreenCtx green, unsigned flags, int priority) {
  CUresult (*real)(CUstream *, CUgreenCtx, unsigned, int) = (CUresult(*)(
      CUstream *, CUgreenCtx, unsigned, int))gpu_real.cuGreenCtxStreamCreate;
  CUresult result = real(out, green, flags, priority);
  if (result == CUDA_SUCCESS) session_created(*out);
  return result;
}

CUresult gpu_cuIpcOpenEventHandle(CUevent *out, GpuIpcHandle handle) {
  CUresult (*real)(CUevent *, GpuIpcHandle) = (CUresult(*)(
      CUevent *, GpuIpcHandle))gpu_real.cuIpcOpenEventHandle;
  CUresult result = real(out, handle);
  if (result == CUDA_SUCCESS) session_created(*out);
  return result;
}
