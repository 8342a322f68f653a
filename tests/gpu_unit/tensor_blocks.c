// Memory of frameworks whose caches are off: freed blocks are used again when the work has ended
// that was there when they were freed; nobody waits for the GPU.
#include <dlfcn.h>

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

// Without a framework cuMemFree waits, as the driver's does.
static void test_no_framework(void) {
  EXPECT(!gpu_frameworks_uncached());
  uint32_t waits = fake_calls("cuCtxSynchronize");
  EXPECT(gpu_cuMemFree_v2(take(1000)) == CUDA_SUCCESS);
  EXPECT(fake_calls("cuCtxSynchronize") == waits + 1);
}

static void test_framework_loaded(void) {
  EXPECT(dlopen("./libc10_cuda.so", RTLD_NOW) != NULL);
  EXPECT(gpu_frameworks_uncached());
}

// 2 MB: more than the quarantine holds, so that it is free at once.
enum { LARGE = 2 << 20 };

static void test_used_again(void) {
  fake_driver.finishes = false;
  WgMemoryRange range;
  uint32_t waits = fake_calls("cuCtxSynchronize"), frees = fake_calls("cuMemFree");
  uint64_t a = take(LARGE);
  EXPECT(session_ranges_find(a, &range) && range.size == LARGE);
  EXPECT(gpu_cuMemFree_v2(a) == CUDA_SUCCESS);
  EXPECT(!session_ranges_find(a, &range));
  EXPECT(fake_calls("cuCtxSynchronize") == waits && fake_calls("cuMemFree") == frees);
  uint64_t b = take(LARGE);  // the work of before may still use a
  EXPECT(b != a);
  fake_driver_finish();
  uint64_t c = take(LARGE - 100);  // of the same class
  EXPECT(c == a);
  EXPECT(session_ranges_find(c, &range) && range.size == LARGE - 100);
  EXPECT(gpu_cuMemFree_v2(b) == CUDA_SUCCESS && gpu_cuMemFree_v2(c) == CUDA_SUCCESS);
  EXPECT(fake_calls("cuMemFree") == frees);
  fake_driver.finishes = true;
}

// Small ones wait in the quarantine first: the next of that size is another.
static void test_quarantine(void) {
  uint64_t a = take(4096);
  EXPECT(gpu_cuMemFree_v2(a) == CUDA_SUCCESS && gpu_is_held(a));
  uint64_t b = take(4096);
  EXPECT(b != a);
  EXPECT(gpu_cuMemFree_v2(b) == CUDA_SUCCESS);
}

static void test_freed_twice(void) {
  uint64_t a = take(LARGE), b = take(4096);
  EXPECT(gpu_cuMemFree_v2(a) == CUDA_SUCCESS && gpu_cuMemFree_v2(b) == CUDA_SUCCESS);
  uint32_t frees = fake_calls("cuMemFree");
  fake_events_clear();
  EXPECT(gpu_cuMemFree_v2(a) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(gpu_cuMemFree_v2(b) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(fake_events(EVENT_FINDING) == 2 && fake_calls("cuMemFree") == frees);
}

static CUresult memory_info(size_t *free_bytes, size_t *total) {
  *free_bytes = 1 << 30;
  *total = (size_t)2 << 30;
  return CUDA_SUCCESS;
}

static void test_memory_is_short(void) {
  gpu_real.cuMemGetInfo_v2 = memory_info;
  size_t before, after, total;
  uint64_t a = take(LARGE);
  gpu_cuMemGetInfo_v2(&before, &total);
  EXPECT(gpu_cuMemFree_v2(a) == CUDA_SUCCESS);
  gpu_cuMemGetInfo_v2(&after, &total);
  EXPECT(after >= before + LARGE);
  uint32_t frees = fake_calls("cuMemFree");
  fake_driver.failing_allocations = 2;  // the quarantine and the blocks are given back
  uint64_t b = take(100 << 20);
  EXPECT(fake_calls("cuMemFree") > frees && !gpu_is_held(a));
  EXPECT(gpu_cuMemFree_v2(b) == CUDA_SUCCESS);
}

static void test_context_goes(void) {
  CUcontext a = fake_current(), b = fake_context(1);
  uint64_t p = take(LARGE), q = take(4096), r = take(LARGE);
  EXPECT(gpu_cuMemFree_v2(p) == CUDA_SUCCESS && gpu_cuMemFree_v2(q) == CUDA_SUCCESS && r);
  EXPECT(gpu_cuCtxDestroy_v2(b) == CUDA_SUCCESS);
  EXPECT(!gpu_is_held(p) && !gpu_is_held(q));
  EXPECT(fake_context_memory(b)->mistakes == 0);
  gpu_real.cuCtxSetCurrent(a);
}

static void test_nothing(void) {
  CUdeviceptr p = 0;
  uint32_t calls = fake_calls("cuMemAlloc");
  gpu_cuMemAlloc_v2(&p, 0);  // the driver's to refuse
  EXPECT(fake_calls("cuMemAlloc") == calls + 1);
}

int main(void) {
  setenv("WARPGRIND_TOOL", "memcheck", 1);
  setenv("WARPGRIND_HOST_STACKS", "no", 1);
  setenv("WARPGRIND_QUARANTINE", "1", 1);
  setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1", 1);
  session_start("gpu");
  fake_driver_install();
  fake_context(0);
  SUBJECT(no_framework);
  SUBJECT(framework_loaded);
  SUBJECT(used_again);
  SUBJECT(quarantine);
  SUBJECT(freed_twice);
  SUBJECT(memory_is_short);
  SUBJECT(context_goes);
  SUBJECT(nothing);
}
