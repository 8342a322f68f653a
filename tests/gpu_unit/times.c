// When launches ran: read by a thread of our own from events, in the order of the launches.
#include <time.h>

#include "fake_driver.h"
#include "tools/tool.h"
#include "unit.h"

static _Atomic uint32_t ran, ended;
static _Atomic uint64_t last_launch, last_begin, last_end;
static _Atomic bool in_order = true;
static void launch_ran(uint32_t launch, const SessionTimes *t) {
  if (t->begin >= t->end || t->begin < last_end || launch <= last_launch) in_order = false;
  last_launch = launch;
  last_begin = t->begin;
  last_end = t->end;
  ran++;
}
static _Atomic uint64_t last_copy;
static _Atomic uint32_t last_copy_ran;
static void copy_ran(uint64_t timed_as, const SessionTimes *t) {
  last_copy = timed_as;
  last_copy_ran++;
}
static void launches_ended(ToolDevice *d, const uint64_t *launches, uint32_t n) { ended += n; }
static const Tool tool = {.only_counts = true,
                          .wants = SESSION_WANTS_LAUNCH_TIMES | SESSION_WANTS_LAUNCHES_TAKEN,
                          .launch_ran = launch_ran,
                          .copy_ran = copy_ran,
                          .launches_ended = launches_ended};
const Tool *const tool_table[TOOL_COUNT_] = {[TOOL_COUNT] = &tool};

static void pause_ms(long ms) { nanosleep(&(struct timespec){0, ms * 1000000}, NULL); }
static void wait_for(const _Atomic uint32_t *count, uint32_t n) {
  for (int i = 0; i < 6000 && *count < n; i++) pause_ms(5);
}

static void test_times(void) {
  CUcontext a = fake_context(0);
  CUstream s = fake_stream(a);
  GpuContext *c = gpu_context_current();
  fake_driver.finishes = false;
  for (uint32_t i = 1; i <= 300; i++) {
    void *began = gpu_times_begin(c, s);
    EXPECT(began != NULL);
    gpu_times_end(c, s, began, (GpuTimed){.number = i});
  }
  pause_ms(20);
  EXPECT(ran == 0);  // none has ended
  fake_driver_finish();
  wait_for(&ended, 300);
  EXPECT(ran == 300 && ended == 300 && last_launch == 300 && in_order);
  EXPECT(last_end - last_begin == 1000000);
  fake_driver.finishes = true;
  gpu_cuCtxDestroy_v2(a);
}

// A launch that the driver refused has no times; its events are used for the next one.
static void test_refused(void) {
  CUcontext a = fake_context(0);
  CUstream s = fake_stream(a);
  GpuContext *c = gpu_context_current();
  ran = ended = last_launch = last_end = 0;
  void *began = gpu_times_begin(c, s);
  int events = fake_driver.events;
  gpu_times_end(c, s, began, (GpuTimed){.number = 0});
  EXPECT(gpu_times_begin(c, s) == began && fake_driver.events == events);
  gpu_times_end(c, s, began, (GpuTimed){.number = 7});
  wait_for(&ran, 1);
  EXPECT(ran == 1 && last_launch == 7);
  began = gpu_times_begin(c, s);  // a copy is told to others, and ends no launch
  uint32_t launches = ended;
  gpu_times_end(c, s, began, (GpuTimed){.number = 5, .is_copy = true});
  wait_for(&last_copy_ran, 1);
  EXPECT(last_copy == 5 && ran == 1 && ended == launches);
  gpu_cuCtxDestroy_v2(a);
}

// A context that goes hands over what has ended; another device's launches go on.
static void test_context_gone(void) {
  CUcontext a = fake_context(0), b = fake_context(1);
  GpuContext *first = gpu_context_of(a), *second = gpu_context_of(b);
  CUstream s = fake_stream(a), t = fake_stream(b);
  ran = ended = last_launch = last_end = 0;
  gpu_times_end(first, s, gpu_times_begin(first, s), (GpuTimed){.number = 1});
  gpu_cuCtxDestroy_v2(a);
  EXPECT(ran == 1 && last_launch == 1);
  EXPECT(gpu_times_begin(first, s) == NULL);
  gpu_times_end(second, t, gpu_times_begin(second, t), (GpuTimed){.number = 2});
  wait_for(&ran, 2);
  EXPECT(ran == 2 && last_launch == 2);
  gpu_cuCtxDestroy_v2(b);
}

int main(void) {
  setenv("WARPGRIND_TOOL", "count", 1);
  setenv("WARPGRIND_HOST_STACKS", "no", 1);
  session_start("gpu");
  fake_driver_install();
  SUBJECT(times);
  SUBJECT(refused);
  SUBJECT(context_gone);
}
