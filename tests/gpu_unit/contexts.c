// Contexts: one record for each, found by handle, stream and thread; what happens when they go.
#include "fake_driver.h"
#include "tools/tool.h"
#include "unit.h"

static struct {
  uint32_t opened, closed;
  bool alive, existed;
  int ordinal;
} heard;
static CUcontext watched;
static void device_open(ToolDevice *d) { heard.opened++; }
static void device_close(ToolDevice *d, bool alive) {
  heard.closed++;
  heard.alive = alive;
  heard.ordinal = d->ordinal;
  heard.existed = watched && fake_context_alive(watched);
}
static const Tool tool = {
    .only_counts = true, .device_open = device_open, .device_close = device_close};
extern const Tool tool_memcheck;
const Tool *const tool_table[TOOL_COUNT_] = {
    [TOOL_MEMCHECK] = &tool_memcheck, [TOOL_COUNT] = &tool};

static void test_two_devices(void) {
  CUcontext a = fake_context(0);
  GpuContext *first = gpu_context_current();
  CUcontext b = fake_context(2);
  GpuContext *second = gpu_context_current();
  EXPECT(first && second && first != second);
  EXPECT(first->device == 0 && second->device == 2 && first->sm == 90 && second->sm == 92);
  EXPECT(gpu_context_of(a) == first && gpu_context_of(b) == second);
  EXPECT(heard.opened == 2);
  EXPECT(gpu_context_of_stream(fake_stream(a)) == first);  // whatever is current
  EXPECT(gpu_context_of_stream(NULL) == second);
  EXPECT(gpu_context_of_stream(CU_STREAM_PER_THREAD) == second);
  gpu_cuCtxDestroy_v2(a);
  gpu_cuCtxDestroy_v2(b);
}

// Our own calls leave the thread's stack of contexts and its capture mode as they were.
static void test_enter(void) {
  CUcontext a = fake_context(0);
  GpuContext *first = gpu_context_current();
  CUcontext b = fake_context(1);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  gpu_real.cuThreadExchangeStreamCaptureMode(&mode);
  uint32_t depth = fake_depth();
  GpuEntered e = gpu_context_enter(first);
  EXPECT(e.ok && fake_current() == a);
  mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  gpu_real.cuThreadExchangeStreamCaptureMode(&mode);
  EXPECT(mode == CU_STREAM_CAPTURE_MODE_RELAXED);
  gpu_context_leave(e);
  EXPECT(fake_current() == b && fake_depth() == depth);
  mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  gpu_real.cuThreadExchangeStreamCaptureMode(&mode);
  EXPECT(mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  e = gpu_context_enter(gpu_context_current());  // is current already
  EXPECT(fake_depth() == depth);
  gpu_context_leave(e);
  EXPECT(fake_current() == b && fake_depth() == depth);
  gpu_cuCtxDestroy_v2(a);
  gpu_cuCtxDestroy_v2(b);
}

// The session's device is closed before the driver destroys the context.
static void test_destroy(void) {
  CUcontext a = fake_context(3);
  GpuContext *c = gpu_context_current();
  EXPECT(gpu_context_use(c) != NULL);
  gpu_context_used(c);
  watched = a;
  heard.closed = 0;
  EXPECT(gpu_cuCtxDestroy_v2(a) == CUDA_SUCCESS);
  EXPECT(heard.closed == 1 && heard.alive && heard.existed && heard.ordinal == 3);
  EXPECT(gpu_context_use(c) == NULL);
  EXPECT(fake_context_memory(a)->mapped == 0);
  fake_events_clear();
  EXPECT(gpu_cuCtxDestroy_v2(a) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT(fake_events(EVENT_FINDING) == 1);
}

// The driver uses the handle of a context that is gone again.
static void test_handle_reused(void) {
  CUcontext a = fake_context(0);
  GpuContext *old = gpu_context_current();
  session_created(a);
  gpu_cuCtxDestroy_v2(a);
  CUcontext b = fake_context(1);
  session_created(b);
  EXPECT(a == b);
  GpuContext *new = gpu_context_current();
  EXPECT(new != old &&new->device == 1 && atomic_load(&new->session));
  gpu_cuCtxDestroy_v2(b);
}

static uint64_t take(size_t size) {
  CUdeviceptr p = 0;
  EXPECT(gpu_cuMemAlloc_v2(&p, size) == CUDA_SUCCESS);
  return p;
}

// cudaDeviceReset: what the device had is gone, what another one has is not.
static void test_device_reset(void) {
  CUcontext first = NULL, second = NULL;
  WgMemoryRange r;
  gpu_cuDevicePrimaryCtxRetain(&first, 0);
  gpu_cuDevicePrimaryCtxRetain(&second, 1);
  gpu_real.cuCtxSetCurrent(first);
  uint64_t p = take(100);
  gpu_real.cuCtxSetCurrent(second);
  uint64_t q = take(100);
  EXPECT(session_ranges_find(p, &r) && session_ranges_find(q, &r));
  GpuContext *other = gpu_context_current(), *old = gpu_context_of(first);
  watched = first;
  heard.closed = 0;
  EXPECT(gpu_cuDevicePrimaryCtxReset_v2(0) == CUDA_SUCCESS);
  EXPECT(heard.closed == 1 && heard.ordinal == 0 && heard.existed);
  EXPECT(!session_ranges_find(p, &r) && session_ranges_find(q, &r));
  EXPECT(gpu_context_of(second) == other && atomic_load(&other->session));
  // the primary context has the same handle when it comes back
  gpu_cuDevicePrimaryCtxRetain(&first, 0);
  gpu_real.cuCtxSetCurrent(first);
  EXPECT(gpu_context_current() != old && atomic_load(&gpu_context_current()->session));
  gpu_cuDevicePrimaryCtxReset_v2(0);
  gpu_cuDevicePrimaryCtxReset_v2(1);
}

static void test_last_release(void) {
  CUcontext c = NULL;
  gpu_cuDevicePrimaryCtxRetain(&c, 3);
  gpu_cuDevicePrimaryCtxRetain(&c, 3);
  gpu_real.cuCtxSetCurrent(c);
  gpu_context_current();
  heard.closed = 0;
  gpu_cuDevicePrimaryCtxRelease_v2(3);
  EXPECT(heard.closed == 0);
  watched = c;
  gpu_cuDevicePrimaryCtxRelease_v2(3);
  EXPECT(heard.closed == 1 && heard.existed && !fake_context_alive(c));
}

// Whether a reset takes references away differs between drivers: each release that may be the
// last one closes the session, and a context that is still there is opened again.
static void test_release_after_reset(void) {
  CUcontext c = NULL;
  gpu_cuDevicePrimaryCtxRetain(&c, 2);
  gpu_cuDevicePrimaryCtxReset_v2(2);
  gpu_cuDevicePrimaryCtxRetain(&c, 2);
  gpu_real.cuCtxSetCurrent(c);
  gpu_context_current();
  heard.closed = 0;
  watched = c;
  gpu_cuDevicePrimaryCtxRelease_v2(2);
  EXPECT(heard.closed == 1 && fake_context_alive(c));
  EXPECT(atomic_load(&gpu_context_current()->session));
  gpu_cuDevicePrimaryCtxRelease_v2(2);
  EXPECT(heard.closed == 2 && heard.existed && !fake_context_alive(c));
}

// After a fault device memory is not read any more, and the fault is reported once.
static void test_fault(void) {
  CUcontext a = fake_context(0);
  session_created(a);
  gpu_context_current();
  fake_events_clear();
  heard.closed = 0;
  fake_driver.fault = CUDA_ERROR_ILLEGAL_ADDRESS;
  gpu_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
  gpu_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(fake_events(EVENT_FINDING) == 1);
  gpu_cuCtxDestroy_v2(a);
  EXPECT(heard.closed == 1 && !heard.alive);
  EXPECT(fake_events(EVENT_FINDING) == 1);
  fake_driver.fault = CUDA_SUCCESS;
}

int main(void) {
  setenv("WARPGRIND_TOOL", "memcheck,count", 1);
  setenv("WARPGRIND_HOST_STACKS", "no", 1);
  session_start("gpu");
  fake_driver_install();
  SUBJECT(two_devices);
  SUBJECT(enter);
  SUBJECT(destroy);
  SUBJECT(handle_reused);
  SUBJECT(device_reset);
  SUBJECT(last_release);
  SUBJECT(release_after_reset);
  SUBJECT(fault);
}
