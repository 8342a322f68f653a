// Launch numbers, --launch-skip and --launch-count, and what a thread remembers of its last launch.
#include "fake_device.h"
#include "tools/tool.h"
#include "unit.h"

static bool leaves_out;
static bool leave_out(SessionKernel *k) { return leaves_out; }
static const Tool count_tool = {.only_counts = true, .leaves_out = leave_out};
const Tool *const tool_table[TOOL_COUNT_] = {[TOOL_COUNT] = &count_tool};

static SessionKernel *kernel, *excluded;

static void test_numbers(void) {
  fake_events_clear();
  uint32_t first = fake_launch(kernel);
  uint32_t second = fake_launch(excluded);
  EXPECT(first == 1 && second == 2);
  EXPECT(fake_events(EVENT_LAUNCH) == 2);
  EXPECT(fake_event(EVENT_LAUNCH, 1)->first == 2);
  // the command knows a kernel before its first launch, once
  EXPECT(fake_events(EVENT_KERNEL) == 2);
  fake_launch(kernel);
  EXPECT(fake_events(EVENT_KERNEL) == 2);
}

static void test_two_steps(void) {
  SessionLaunch l = {.kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}};
  fake_events_clear();
  uint32_t number = session_launch_count(&l);
  EXPECT(fake_events(EVENT_LAUNCH) == 0);
  session_launch_tell(&l, number);
  EXPECT(fake_events(EVENT_LAUNCH) == 1 && fake_event(EVENT_LAUNCH, 0)->first == number);
}

static void test_last_launch(void) {
  SessionLaunch l = {.kernel = kernel, .grid = {65536, 65536, 2}, .block = {32, 4, 2}, .device = 1};
  l.captured = l.cooperative = true;
  session_launch(&l);
  EXPECT(session_threads_launched() == 65536ull * 65536 * 2 * 256);
  EXPECT(session_launch_captured() && session_launch_cooperative());
  EXPECT(session_launched()->device == 1);
  // one execution of a captured launch is not captured itself, and has a number of its own
  uint32_t last = session_launch_in_graph(&l);
  EXPECT(!session_launch_captured());
  EXPECT(fake_launch(kernel) == last + 1);
  EXPECT(!session_launch_cooperative());
}

// --launch-skip=3 --launch-count=2; kernels that --kernel-exclude leaves out do not count
static void test_selection(void) {
  static const bool selected[] = {false, false, false, true, true, false, false};
  for (unsigned i = 0; i < ARRAY_LEN(selected); i++) {
    EXPECT(!session_launch_selected(excluded));
    EXPECT(session_launch_selected(kernel) == selected[i]);
  }
}

static void test_left_out(void) {
  leaves_out = true;
  EXPECT(!session_launch_selected(kernel));
  leaves_out = false;
}

int main(void) {
  setenv("WARPGRIND_TOOL", "count", 1);
  setenv("WARPGRIND_HOST_STACKS", "no", 1);
  setenv("WARPGRIND_LAUNCH_SKIP", "3", 1);
  setenv("WARPGRIND_LAUNCH_COUNT", "2", 1);
  setenv("WARPGRIND_KERNEL_EXCLUDE", "^out", 1);
  SessionModule *m = fake_module("m.cu", "in", 0);
  kernel = session_kernel(m, "in");
  excluded = session_kernel(m, "out");
  SUBJECT(numbers);
  SUBJECT(two_steps);
  SUBJECT(last_launch);
  SUBJECT(left_out);
  SUBJECT(selection);
}
