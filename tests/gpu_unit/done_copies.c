// Copies to the host: tools look at them when they have been done, and not before.
#include "fake_driver.h"
#include "tools/tool.h"
#include "unit.h"

static uint32_t done;
static uint64_t last_to;
static bool wants_copy(const SessionCopy *c) { return c->width > 1; }
static void copied(const SessionCopy *c) {
  done++;
  last_to = c->to.address;
}
static const Tool tool = {.only_counts = true, .wants_copy = wants_copy, .copied = copied};
const Tool *const tool_table[TOOL_COUNT_] = {[TOOL_COUNT] = &tool};

static void copy(CUstream s, uint64_t to, bool async) {
  gpu_copy_taken(&(SessionCopy){
      .to = {.address = to}, .width = 8, .height = 1, .depth = 1, .stream = s, .async = async});
}

static void test_synchronous(void) {
  CUcontext a = fake_context(0);
  done = 0;
  copy(fake_stream(a), 1, false);
  EXPECT(done == 1 && last_to == 1);
  gpu_copy_taken(&(SessionCopy){.width = 1, .stream = fake_stream(a)});  // no tool wants it
  EXPECT(done == 1);
  gpu_cuCtxDestroy_v2(a);
}

static void test_asynchronous(void) {
  CUcontext a = fake_context(0);
  CUstream s = fake_stream(a);
  gpu_context_current();
  int events = fake_driver.events;
  fake_driver.finishes = false;
  done = 0;
  copy(s, 1, true);
  gpu_copies_waited();  // the program has waited for something else
  EXPECT(done == 0 && fake_driver.events == events + 1);
  fake_driver_finish();
  copy(s, 2, true);
  EXPECT(done == 0);
  gpu_copies_waited();
  EXPECT(done == 1 && last_to == 1);
  fake_driver_finish();
  gpu_copies_waited();
  gpu_copies_waited();
  EXPECT(done == 2 && last_to == 2 && fake_driver.events == events);
  fake_driver.finishes = true;
  gpu_cuCtxDestroy_v2(a);
}

// A context goes with its copies; those of another device are still looked at.
static void test_context_gone(void) {
  CUcontext a = fake_context(0), b = fake_context(1);
  CUstream s = fake_stream(a), t = fake_stream(b);
  gpu_context_of(a);
  gpu_context_of(b);
  int events = fake_driver.events;
  fake_driver.finishes = false;
  done = 0;
  copy(s, 1, true);
  copy(t, 2, true);
  copy(s, 3, true);
  EXPECT(fake_driver.events == events + 3);
  gpu_copies_gone(gpu_context_of(a));
  EXPECT(fake_driver.events == events + 1);
  fake_driver_finish();
  gpu_copies_waited();
  EXPECT(done == 1 && last_to == 2);
  EXPECT(fake_current() == b);
  fake_driver.finishes = true;
  gpu_cuCtxDestroy_v2(a);
  gpu_cuCtxDestroy_v2(b);
}

// 256 copies may wait; the oldest is dropped for the next one.
static void test_many(void) {
  CUcontext a = fake_context(0);
  CUstream s = fake_stream(a);
  gpu_context_current();
  int events = fake_driver.events;
  fake_driver.finishes = false;
  done = 0;
  for (uint64_t i = 0; i < 300; i++) copy(s, i, true);
  EXPECT(fake_driver.events == events + 256);
  fake_driver_finish();
  gpu_copies_waited();
  EXPECT(done == 256 && last_to == 299 && fake_driver.events == events);
  fake_driver.finishes = true;
  gpu_cuCtxDestroy_v2(a);
}

int main(void) {
  setenv("WARPGRIND_TOOL", "count", 1);
  setenv("WARPGRIND_HOST_STACKS", "no", 1);
  session_start("gpu");
  fake_driver_install();
  SUBJECT(synchronous);
  SUBJECT(asynchronous);
  SUBJECT(context_gone);
  SUBJECT(many);
}
