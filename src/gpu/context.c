// Data of each context, from its first use until it is destroyed or the process ends.
#define _GNU_SOURCE

#include "gpu/closed/closed.h"
#include "gpu/gpu.h"
#include "gpu/own_kernel.h"
#include "gpu/times/stalls.h"

#include <errno.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map contexts;             // CUcontext -> GpuContext; those that are gone stay in memory
static _Atomic uint32_t epoch = 1;  // changes when one of them goes
static _Thread_local struct {
  CUcontext handle;
  GpuContext *context;
  uint32_t epoch;
} last;
static int owner;  // the process that made them: a forked child cannot use them
static bool ending;

// --- how the session reaches a device ---

GpuEntered gpu_context_enter(GpuContext *c) {
  GpuEntered e = {gpu_quiet_begin(), false, true};
  CUcontext current = NULL;
  gpu_real.cuCtxGetCurrent(&current);
  if (current != c->handle)
    e.pushed = e.ok = gpu_real.cuCtxPushCurrent_v2(c->handle) == CUDA_SUCCESS;
  return e;
}

void gpu_context_leave(GpuEntered e) {
  CUcontext old;
  if (e.pushed) gpu_real.cuCtxPopCurrent_v2(&old);
  gpu_quiet_end(e.quiet);
}

static bool map_host(void *user, void *p, size_t size, uint64_t *device_address) {
  CUdeviceptr address = 0;
  GpuEntered e = gpu_context_enter(user);
  bool ok = e.ok &&
            gpu_real.cuMemHostRegister_v2(p, size, CU_MEMHOSTREGISTER_DEVICEMAP) == CUDA_SUCCESS;
  if (ok && gpu_real.cuMemHostGetDevicePointer_v2(&address, p, 0) != CUDA_SUCCESS) {
    gpu_real.cuMemHostUnregister(p);
    ok = false;
  }
  gpu_context_leave(e);
  *device_address = address;
  return ok;
}

// Leaves the memory to the driver at the end of the process and while kernels still run: to
// unregister it would wait for them.
static void unmap_host(void *user, void *p) {
  GpuContext *c = user;
  if (ending || !c->settled) return;
  GpuEntered e = gpu_context_enter(c);
  if (e.ok) gpu_real.cuMemHostUnregister(p);
  gpu_context_leave(e);
}

static uint64_t alloc(void *user, size_t size) {
  GpuContext *c = user;
  CUdeviceptr p = 0;
  GpuEntered e = gpu_context_enter(c);
  if (e.ok && c->stream && gpu_real.cuMemAlloc_v2(&p, size) == CUDA_SUCCESS &&
      (gpu_real.cuMemsetD8Async(p, 0, size, c->stream) != CUDA_SUCCESS ||
       gpu_real.cuStreamSynchronize(c->stream) != CUDA_SUCCESS)) {
    gpu_real.cuMemFree_v2(p);
    p = 0;
  }
  gpu_context_leave(e);
  return p;
}

// Does nothing: the session calls it only when the context goes, and the driver then frees the
// memory. cuMemFree would wait for every kernel.
static void free_memory(void *user, uint64_t p) {}

static bool read_memory(void *user, void *to, uint64_t from, size_t size) {
  GpuContext *c = user;
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok && c->stream &&
            gpu_real.cuMemcpyDtoHAsync_v2(to, from, size, c->stream) == CUDA_SUCCESS &&
            gpu_real.cuStreamSynchronize(c->stream) == CUDA_SUCCESS;
  gpu_context_leave(e);
  return ok;
}

static bool write_memory(void *user, uint64_t to, const void *from, size_t size) {
  GpuContext *c = user;
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok && c->stream &&
            gpu_real.cuMemcpyHtoDAsync_v2(to, from, size, c->stream) == CUDA_SUCCESS &&
            gpu_real.cuStreamSynchronize(c->stream) == CUDA_SUCCESS;
  gpu_context_leave(e);
  return ok;
}

static bool settle(void *user);

static const SessionDeviceOps ops = {.map_host = map_host,
                                     .unmap_host = unmap_host,
                                     .alloc = alloc,
                                     .free = free_memory,
                                     .read = read_memory,
                                     .write = write_memory,
                                     .settle = settle,
                                     .fill = gpu_memory_fill,
                                     .move = gpu_memory_move,
                                     .give_back = gpu_memory_give_back,
                                     .read_later = gpu_read_later,
                                     .load_kernel = gpu_own_kernel_load_for_tool,
                                     .launch_kernel = gpu_own_kernel_launch};

// --- waiting for a context's work, with patience but not for ever: a kernel may wait for something
// the host does later ---

typedef struct Settle {
  pthread_mutex_t lock;
  pthread_cond_t done;
  CUcontext context;
  CUresult result;
  bool finished;
  int holders;
} Settle;

static void let_go(Settle *s) {  // with its lock held
  bool last_one = --s->holders == 0;
  pthread_mutex_unlock(&s->lock);
  if (last_one) free(s);
}

static void *synchronize(void *user) {
  Settle *s = user;
  CUresult result = gpu_real.cuCtxSetCurrent(s->context);
  if (result == CUDA_SUCCESS) result = gpu_real.cuCtxSynchronize();
  pthread_mutex_lock(&s->lock);
  s->result = result;
  s->finished = true;
  pthread_cond_signal(&s->done);
  let_go(s);
  return NULL;
}

enum { PATIENCE_S = 2 };

// For drivers that cannot record an event for a whole context: a thread that waits, and may go on
// waiting without us.
static bool wait_in_thread(GpuContext *c, CUresult *result) {
  Settle *s = mem_alloc(sizeof *s);
  pthread_t thread;
  pthread_condattr_t clock;
  pthread_mutex_init(&s->lock, NULL);
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&s->done, &clock);
  s->context = c->handle;
  s->holders = 2;
  if (pthread_create(&thread, NULL, synchronize, s) != 0) {
    free(s);
    return false;
  }
  pthread_detach(thread);
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += PATIENCE_S;
  pthread_mutex_lock(&s->lock);
  while (!s->finished && pthread_cond_timedwait(&s->done, &s->lock, &until) != ETIMEDOUT) continue;
  bool finished = s->finished;
  *result = s->result;
  let_go(s);
  return finished;
}

static bool wait_for_event(GpuContext *c, CUresult *result) {
  struct timespec pause = {0, 20000}, now, start;
  clock_gettime(CLOCK_MONOTONIC, &start);
  while ((*result = gpu_real.cuEventQuery(c->event)) == CUDA_ERROR_NOT_READY) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - start.tv_sec > PATIENCE_S) return false;
    nanosleep(&pause, NULL);
    pause.tv_nsec = MIN(pause.tv_nsec * 2, 5000000);
  }
  return true;
}

static bool wait_a_while(GpuContext *c, CUresult *result) {
  bool finished = false;
  *result = CUDA_ERROR_NOT_SUPPORTED;
  GpuEntered e = gpu_context_enter(c);
  bool recorded = e.ok && c->event &&
                  gpu_real.cuCtxRecordEvent(c->handle, c->event) == CUDA_SUCCESS;
  if (recorded) finished = wait_for_event(c, result);
  gpu_context_leave(e);
  if (!recorded) finished = wait_in_thread(c, result);
  return finished;
}

static bool settle(void *user) {
  CUresult result;
  return wait_a_while(user, &result) && result == CUDA_SUCCESS;
}

bool gpu_context_settle(GpuContext *c) {
  CUresult result;
  bool finished = wait_a_while(c, &result);
  if (!finished) log_line("kernels are still running: their later counts are not in the report");
  if (finished && result != CUDA_SUCCESS) gpu_fault_in(c, result);
  return finished && result == CUDA_SUCCESS;
}

void gpu_context_collect(GpuContext *c, SessionModule *m) {
  SessionDevice *session = gpu_context_use(c);
  if (!session) return;
  gpu_context_settle(c);
  session_device_collect(session, m);
  gpu_context_used(c);
}

// --- contexts come ---

static void open_session(GpuContext *c) {
  Error err = {{0}};
  GpuEntered e = gpu_context_enter(c);
  if (gpu_real.cuStreamCreate(&c->stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) c->stream = NULL;
  if (!gpu_real.cuCtxRecordEvent ||
      gpu_real.cuEventCreate(&c->event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
    c->event = NULL;
  gpu_context_leave(e);
  size_t memory = 0;
  if (gpu_real.cuDeviceTotalMem_v2 &&
      gpu_real.cuDeviceTotalMem_v2(&memory, c->device) == CUDA_SUCCESS)
    session_quarantine_open(c->device, memory);
  atomic_store(&c->session, session_device_open(&ops, c, c->device, &err));
  gpu_outputs_open(c);
  gpu_pages_open(c);
  gpu_times_open(c);
  gpu_stalls_open(c);
}

static void end_contexts(void);

// With the lock held; the context is current on this thread, or is pushed for these calls.
static GpuContext *meet(CUcontext handle) {
  GpuContext *c = mem_alloc(sizeof *c);
  int major = 0, minor = 0;
  c->handle = handle;
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok && gpu_real.cuCtxGetDevice(&c->device) == CUDA_SUCCESS;
  if (ok) {
    gpu_real.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, c->device);
    gpu_real.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, c->device);
    c->sm = (unsigned)(major * 10 + minor);
  }
  gpu_context_leave(e);
  if (!ok) {
    free(c);
    return NULL;
  }
  if (!owner) {
    owner = getpid();
    atexit(end_contexts);  // before the driver's own end, which it registered earlier
  }
  if ((session_tools() || session_wants_outputs() || session_wants(SESSION_WANTS_INPUTS)) &&
      !ending)
    open_session(c);
  u64map_put(&contexts, (uintptr_t)handle, c);
  return c;
}

GpuContext *gpu_context_of(CUcontext handle) {
  uint32_t now = atomic_load_explicit(&epoch, memory_order_acquire);
  if (last.handle == handle && last.epoch == now) return last.context;
  pthread_mutex_lock(&lock);
  GpuContext *c = u64map_get(&contexts, (uintptr_t)handle);
  if (!c) c = meet(handle);
  pthread_mutex_unlock(&lock);
  last.handle = handle;
  last.context = c;
  last.epoch = now;
  return c;
}

GpuContext *gpu_context_current(void) {
  CUcontext handle = NULL;
  if (gpu_real.cuCtxGetCurrent(&handle) != CUDA_SUCCESS || !handle) return NULL;
  return gpu_context_of(handle);
}

GpuContext *gpu_context_of_stream(CUstream s) {
  CUcontext handle = NULL;
  if (!s || s == CU_STREAM_LEGACY || s == CU_STREAM_PER_THREAD || !gpu_real.cuStreamGetCtx)
    return gpu_context_current();
  if (gpu_real.cuStreamGetCtx(s, &handle) != CUDA_SUCCESS || !handle) return gpu_context_current();
  return gpu_context_of(handle);
}

// --- contexts go ---

static void close_session(GpuContext *c) {
  gpu_hash_all_deferred(c);
  SessionDevice *session = atomic_exchange(&c->session, NULL);
  if (!session) return;
  while (atomic_load(&c->users)) sched_yield();  // launches that are filling in their record
  c->settled = gpu_context_settle(c);
  gpu_outputs_close(c);
  gpu_pages_close(c);
  gpu_times_close(c);
  gpu_stalls_close(c);
  gpu_closed_session_ends(c);
  if (c->settled) session_launches_ended(session, NULL, 0);
  gpu_copies_gone(c);
  gpu_reads_close(c);
  gpu_runs_close(c);
  session_device_close(session, c->settled || !atomic_load(&c->faulted));
}

// gpu_context_use and gpu_context_used enclose every use of the session's device.
SessionDevice *gpu_context_use(GpuContext *c) {
  if (!c || !atomic_load_explicit(&c->session, memory_order_relaxed)) return NULL;
  atomic_fetch_add(&c->users, 1);
  SessionDevice *session = atomic_load(&c->session);
  if (!session) atomic_fetch_sub(&c->users, 1);
  return session;
}

void gpu_context_used(GpuContext *c) { atomic_fetch_sub(&c->users, 1); }

// Before the context is destroyed: its counters can still be read.
static void say_goodbye(CUcontext handle) {
  pthread_mutex_lock(&lock);
  GpuContext *c = u64map_remove(&contexts, (uintptr_t)handle);
  pthread_mutex_unlock(&lock);
  if (c && owner == getpid()) {
    close_session(c);
    gpu_quarantine_leave(c);
    gpu_blocks_gone(c);
  }
}

// After the context was destroyed: a new one may get the same handle.
static void forget(CUcontext handle, bool gone, bool primary) {
  if (gone) gpu_closed_context_gone(handle);
  if (gone) gpu_modules_forget_context(handle);
  if (gone) gpu_owned_gone(handle, primary);
  pthread_mutex_lock(&lock);
  u64map_remove(&contexts, (uintptr_t)handle);  // another thread may have added it in between
  pthread_mutex_unlock(&lock);
  atomic_fetch_add_explicit(&epoch, 1, memory_order_release);
}

// NULL: it is not active. An active one has another owner, so that our release does not destroy it.
static CUcontext primary_of(CUdevice device) {
  unsigned flags;
  int active = 0;
  CUcontext primary = NULL;
  if (gpu_real.cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || !active)
    return NULL;
  if (gpu_real.cuDevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS) return NULL;
  gpu_real.cuDevicePrimaryCtxRelease_v2(device);
  return primary;
}

// Reads all counters while the driver is still there; kernels launched after this run as the
// program made them.
static void end_contexts(void) {
  uint32_t it = 0;
  uint64_t handle;
  void *value;
  if (owner != getpid()) return;
  ending = true;
  for (;;) {  // closing one takes its time, and no lock is held meanwhile
    GpuContext *open = NULL;
    pthread_mutex_lock(&lock);
    for (it = 0; !open && u64map_next(&contexts, &it, &handle, &value);)
      if (atomic_load(&((GpuContext *)value)->session)) open = value;
    pthread_mutex_unlock(&lock);
    if (!open) break;
    close_session(open);
  }
}

// --- the program's calls ---

static bool refused(CUresult r) {
  return r == CUDA_ERROR_INVALID_CONTEXT || r == CUDA_ERROR_INVALID_VALUE ||
         r == CUDA_ERROR_NOT_INITIALIZED || r == CUDA_ERROR_DEINITIALIZED;
}

static CUresult destroy(CUcontext ctx, CUresult (*real)(CUcontext)) {
  if (session_use(SESSION_CONTEXT_GONE, ctx)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (ctx) say_goodbye(ctx);
  session_destroyed(SESSION_CONTEXT_GONE, ctx);
  CUresult result = real(ctx);
  if (refused(result)) session_created(ctx);
  // after a fault the call returns the fault's error, and the context is destroyed all the same
  if (ctx) forget(ctx, !refused(result), false);
  return result;
}

CUresult gpu_cuCtxDestroy_v2(CUcontext ctx) { return destroy(ctx, gpu_real.cuCtxDestroy_v2); }
CUresult gpu_cuCtxDestroy(CUcontext ctx) { return destroy(ctx, gpu_real.cuCtxDestroy); }

// Green contexts: not described in cuda/api.def.
CUresult gpu_cuGreenCtxDestroy(CUgreenCtx green) {
  CUresult (*context_of)(
      CUcontext *, CUgreenCtx) = (CUresult(*)(CUcontext *, CUgreenCtx))gpu_real.cuCtxFromGreenCtx;
  CUresult (*real)(CUgreenCtx) = (CUresult(*)(CUgreenCtx))gpu_real.cuGreenCtxDestroy;
  CUcontext ctx = NULL;
  if (context_of) context_of(&ctx, green);
  if (ctx) say_goodbye(ctx);
  CUresult result = real(green);
  if (ctx) forget(ctx, !refused(result), false);
  return result;
}

// The last release destroys a primary context, and the driver does not say which is the last: we
// count, too. Drivers differ in whether a reset drops all references, so there are two counts; a
// release that is the last by one of them is treated as the last.
enum { DEVICES = 256 };
static struct { _Atomic int all, since_reset; } retained[DEVICES];
static bool is_counted(CUdevice device) { return device >= 0 && device < DEVICES; }

static CUresult reset(CUdevice device, CUresult (*real)(CUdevice)) {
  CUcontext ctx = primary_of(device);
  if (ctx) say_goodbye(ctx);
  CUresult result = real(device);
  if (ctx) forget(ctx, !refused(result), true);
  if (is_counted(device)) atomic_store(&retained[device].since_reset, 0);
  return result;
}

CUresult gpu_cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return reset(device, gpu_real.cuDevicePrimaryCtxReset_v2);
}
CUresult gpu_cuDevicePrimaryCtxReset(CUdevice device) {
  return reset(device, gpu_real.cuDevicePrimaryCtxReset);
}

CUresult gpu_cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device) {
  GPU_TRY(gpu_real.cuDevicePrimaryCtxRetain(out, device));
  if (is_counted(device)) {
    atomic_fetch_add(&retained[device].all, 1);
    atomic_fetch_add(&retained[device].since_reset, 1);
  }
  return CUDA_SUCCESS;
}

static CUresult release(CUdevice device, CUresult (*real)(CUdevice)) {
  bool last_one = is_counted(device) && (atomic_load(&retained[device].all) == 1 ||
                                         atomic_load(&retained[device].since_reset) == 1);
  CUcontext ctx = last_one ? primary_of(device) : NULL;
  if (ctx) say_goodbye(ctx);
  CUresult result = real(device);
  if (result == CUDA_SUCCESS && is_counted(device)) {
    atomic_fetch_sub(&retained[device].all, 1);
    atomic_fetch_sub(&retained[device].since_reset, 1);
  }
  unsigned flags;
  int active = 0;
  if (ctx)
    forget(ctx,
           gpu_real.cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || !active,
           true);
  return result;
}

CUresult gpu_cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return release(device, gpu_real.cuDevicePrimaryCtxRelease_v2);
}
CUresult gpu_cuDevicePrimaryCtxRelease(CUdevice device) {
  return release(device, gpu_real.cuDevicePrimaryCtxRelease);
}
