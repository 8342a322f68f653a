// Device memory of tools: one pool for each tool and device, which reuses what it gets back.
#include "session/tool_memory.h"
#include "fake_device.h"
#include "tools/tool.h"
#include "unit.h"

static const Tool tool = {.only_counts = true};
const Tool *const tool_table[TOOL_COUNT_] = {[TOOL_COUNT] = &tool};

enum { LARGE = 40 << 20 };

static SessionDevice *open_device(FakeDevice *f, int ordinal) {
  Error err = {{0}};
  SessionDevice *d = session_device_open(&fake_device_ops, f, ordinal, &err);
  CHECK(d);
  return d;
}

static uint64_t take(SessionDevice *d, ToolId tool, size_t bytes, bool expect_fresh) {
  bool fresh = false;
  uint64_t address = session_tool_memory_take(d, tool, bytes, &fresh);
  EXPECT(fresh == expect_fresh);
  return address;
}

static void test_small_blocks(void) {
  FakeDevice f = {0};
  SessionDevice *d = open_device(&f, 0);
  uint64_t a = take(d, TOOL_COUNT, 100, true), b = take(d, TOOL_COUNT, 100, true);
  EXPECT(a && b && (a + 100 <= b || b + 100 <= a));
  EXPECT(f.allocations == 1);  // both come from one chunk
  session_tool_memory_give(d, TOOL_COUNT, a, 100);
  EXPECT(take(d, TOOL_COUNT, 1000, true) != a);  // another size
  EXPECT(take(d, TOOL_COUNT, 128, false) == a);  // the same size class
  session_device_close(d, true);
  EXPECT(!fake_device_live(&f) && !f.mistakes);
}

// A kernel of the tool may still write to a block that was given back: no other pool gets it.
static void test_pools_are_apart(void) {
  FakeDevice f = {0}, g = {0};
  SessionDevice *first = open_device(&f, 0), *second = open_device(&g, 1);
  uint64_t a = take(first, TOOL_COUNT, 64, true);
  session_tool_memory_give(first, TOOL_COUNT, a, 64);
  EXPECT(take(first, TOOL_RECORD, 64, true) != a);
  EXPECT(take(second, TOOL_COUNT, 64, true) != a);
  EXPECT(f.allocations == 2 && g.allocations == 1);
  session_device_close(first, true);
  EXPECT(!fake_device_live(&f) && fake_device_live(&g) == 1);
  session_device_close(second, true);
  EXPECT(!fake_device_live(&g) && !f.mistakes && !g.mistakes);
}

// Up to 64 MB of large blocks are kept.
static void test_large_blocks(void) {
  FakeDevice f = {0};
  SessionDevice *d = open_device(&f, 0);
  uint64_t a = take(d, TOOL_COUNT, LARGE, true);
  session_tool_memory_give(d, TOOL_COUNT, a, LARGE);
  EXPECT(f.frees == 0);
  EXPECT(take(d, TOOL_COUNT, LARGE, false) == a);
  uint64_t b = take(d, TOOL_COUNT, LARGE, true);
  session_tool_memory_give(d, TOOL_COUNT, a, LARGE);
  session_tool_memory_give(d, TOOL_COUNT, b, LARGE);
  EXPECT(f.frees == 0);  // only when the next one is taken
  take(d, TOOL_COUNT, 1 << 20, true);
  EXPECT(f.frees == 1 && fake_device_live(&f) == 2);
  session_device_close(d, true);
  EXPECT(!fake_device_live(&f) && !f.mistakes);
}

static void test_no_memory(void) {
  FakeDevice f = {.no_memory = true};
  bool fresh;
  SessionDevice *d = open_device(&f, 0);
  EXPECT(session_tool_memory_take(d, TOOL_COUNT, 64, &fresh) == 0);
  EXPECT(session_tool_memory_take(d, TOOL_COUNT, LARGE, &fresh) == 0);
  f.no_memory = false;
  EXPECT(session_tool_memory_take(d, TOOL_COUNT, 64, &fresh) != 0);
  session_device_close(d, true);
  EXPECT(!fake_device_live(&f) && !f.mistakes);
}

static void test_give_up(void) {
  FakeDevice f = {0};
  bool fresh;
  SessionDevice *d = open_device(&f, 0);
  EXPECT(!session_tool_memory_give_up(d, TOOL_RECORD));  // it was empty
  uint64_t a = take(d, TOOL_COUNT, LARGE, true);
  take(d, TOOL_COUNT, 64, true);
  session_tool_memory_give(d, TOOL_COUNT, a, LARGE);
  EXPECT(session_tool_memory_give_up(d, TOOL_COUNT));
  EXPECT(!fake_device_live(&f));
  EXPECT(session_tool_memory_take(d, TOOL_COUNT, 64, &fresh) == 0);
  session_device_close(d, true);
  EXPECT(!f.mistakes);
}

static void test_reset(void) {
  FakeDevice f = {0};
  SessionDevice *d = open_device(&f, 0);
  take(d, TOOL_COUNT, 64, true);
  session_device_close(d, false);
  EXPECT(f.frees == 0 && !f.mistakes);
  d = open_device(&f, 0);
  take(d, TOOL_COUNT, 64, true);  // from a new chunk
  EXPECT(f.allocations == 2);
  session_device_close(d, true);
}

int main(void) {
  setenv("WARPGRIND_TOOL", "count", 1);
  SUBJECT(small_blocks);
  SUBJECT(pools_are_apart);
  SUBJECT(large_blocks);
  SUBJECT(no_memory);
  SUBJECT(give_up);
  SUBJECT(reset);
}
