// Memory that the program frees under memcheck: the driver gets it back later, and no later than
// when an allocation fails or the context goes.
#include "fake_driver.h"
#include "tools/tool.h"
#include "unit.h"

extern const Tool tool_memcheck;
const Tool *const tool_table[TOOL_COUNT_] = {[TOOL_MEMCHECK] = &tool_memcheck};

static uint64_t take(size_t size) {
  CUdeviceptr p = 0;
  EXPECT(gpu_cuMemAlloc_v2(&p, size) == CUDA_SUCCESS && p);
  return p;
}

static void test_held(void) {
  WgMemoryRange range;
  uint64_t p = take(64);
  EXPECT(session_ranges_find(p, &range));
  uint32_t frees = fake_calls("cuMemFree"), waits = fake_calls("cuCtxSynchronize");
  EXPECT(gpu_cuMemFree_v2(p) == CUDA_SUCCESS);
  EXPECT(gpu_is_held(p) && fake_calls("cuMemFree") == frees);
  EXPECT(fake_calls("cuCtxSynchronize") == waits + 1);  // cuMemFree waits for all launches
  EXPECT(!session_ranges_find(p, &range));
  fake_events_clear();
  EXPECT(gpu_cuMemFree_v2(p) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(fake_events(EVENT_FINDING) == 1);
  EXPECT(strstr(fake_event(EVENT_FINDING, 0)->text, "freed before") != NULL);
}

static void test_allocation_fails(void) {
  uint64_t p = take(64);
  gpu_cuMemFree_v2(p);
  uint32_t frees = fake_calls("cuMemFree");
  fake_driver.failing_allocations = 1;
  uint64_t q = take(32);  // works when the quarantine is empty
  EXPECT(!gpu_is_held(p) && fake_calls("cuMemFree") > frees);
  fake_driver.failing_allocations = 9;
  CUdeviceptr none = 0;
  EXPECT(gpu_cuMemAlloc_v2(&none, 1) == CUDA_ERROR_OUT_OF_MEMORY);
  fake_driver.failing_allocations = 0;
  gpu_cuMemFree_v2(q);
}

// Larger than the quarantine (1 MB here): the driver frees it at once.
static void test_too_large(void) {
  uint64_t p = take(2 << 20);
  uint32_t frees = fake_calls("cuMemFree");
  EXPECT(gpu_cuMemFree_v2(p) == CUDA_SUCCESS);
  EXPECT(!gpu_is_held(p) && fake_calls("cuMemFree") == frees + 1);
}

// Each device has a quarantine of its own; that of a context goes with it.
static void test_second_device(void) {
  CUcontext a = fake_current();
  uint64_t p = take(64);
  gpu_cuMemFree_v2(p);
  CUcontext b = fake_context(1);
  uint64_t q = take(64);
  gpu_cuMemFree_v2(q);
  EXPECT(session_quarantine_bytes(0) && session_quarantine_bytes(1) == 64);
  EXPECT(gpu_cuCtxDestroy_v2(b) == CUDA_SUCCESS);
  EXPECT(!gpu_is_held(q) && gpu_is_held(p) && session_quarantine_bytes(1) == 0);
  EXPECT(fake_context_memory(b)->mistakes == 0);
  gpu_real.cuCtxSetCurrent(a);
}

// While a stream is captured cuMemFree must not wait for the context.
static CUresult is_capturing(CUstream s, CUstreamCaptureStatus *status) {
  *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}
static CUresult not_capturing(CUstream s, CUstreamCaptureStatus *status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
static CUresult end_capture(CUstream s, CUgraph *out) {
  gpu_real.cuStreamIsCapturing = not_capturing;
  return CUDA_SUCCESS;
}
static CUresult begin_capture(CUstream s, CUstreamCaptureMode mode) {
  gpu_real.cuStreamIsCapturing = is_capturing;
  return CUDA_SUCCESS;
}

static void test_capture(void) {
  uint64_t p = take(64);
  CUgraph graph = NULL;
  gpu_real.cuStreamBeginCapture_v2 = begin_capture;
  gpu_real.cuStreamEndCapture = end_capture;
  CUstream s = fake_stream(fake_current());
  EXPECT(gpu_cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
  EXPECT(gpu_is_capturing(s) && gpu_may_capture());
  uint32_t waits = fake_calls("cuCtxSynchronize");
  EXPECT(gpu_cuMemFree_v2(p) == CUDA_SUCCESS);
  EXPECT(!gpu_is_held(p) && fake_calls("cuCtxSynchronize") == waits);
  EXPECT(gpu_cuStreamEndCapture(s, &graph) == CUDA_SUCCESS);
  uint64_t q = take(64);
  gpu_cuMemFree_v2(q);
  EXPECT(gpu_is_held(q));
}

int main(void) {
  setenv("WARPGRIND_TOOL", "memcheck", 1);
  setenv("WARPGRIND_HOST_STACKS", "no", 1);
  setenv("WARPGRIND_QUARANTINE", "1", 1);
  session_start("gpu");
  fake_driver_install();
  fake_context(0);
  SUBJECT(held);
  SUBJECT(allocation_fails);
  SUBJECT(too_large);
  SUBJECT(second_device);
  SUBJECT(capture);
}
