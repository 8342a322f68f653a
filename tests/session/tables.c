// The table of allocations: on the host, and as launches on a device see it.
#include <time.h>

#include "fake_device.h"
#include "tools/tool.h"
#include "unit.h"

extern const Tool tool_memcheck;
const Tool *const tool_table[TOOL_COUNT_] = {[TOOL_MEMCHECK] = &tool_memcheck};

static FakeDevice fake;
static SessionDevice *device;
static SessionKernel *kernel;

static WgLaunch launch_on(SessionDevice *d) {
  WgLaunch r;
  EXPECT(session_device_record(d, kernel, fake_launch(kernel), NULL, &r));
  EXPECT(r.memory != 0);
  return r;
}
static WgLaunch launch(void) { return launch_on(device); }

// What a launch with this record finds; 0: nothing.
static uint32_t state_in(const WgLaunch *r, uint64_t address) {
  const WgMemoryTable *t = fake_device_host(r->memory);
  const WgMemoryRange *range = (const WgMemoryRange *)(t + 1);
  for (uint32_t i = 0; i < t->count; i++)
    if (address - range[i].base < range[i].size) return range[i].state;
  return 0;
}

static bool is_freed(uint64_t base) {
  HeapRange h;
  return session_ranges_look(base, &h) && h.memory.state == WG_MEMORY_FREED;
}

static void test_allocations(void) {
  WgMemoryRange r;
  HeapRange h;
  session_alloc(0x10000, 256, SESSION_DEVICE, 1, NULL);
  EXPECT(session_ranges_find(0x10000, &r) && r.size == 256);
  EXPECT(session_ranges_find(0x100ff, &r) && r.base == 0x10000);
  EXPECT(session_ranges_find(0x10100, &r) && r.base == 0x10000);  // its end belongs to it
  EXPECT(!session_ranges_find(0x10101, &r) && !session_ranges_find(0xffff, &r));
  EXPECT(session_ranges_look(0x10000, &h) && h.device == 1 && h.kind == SESSION_DEVICE);
  EXPECT(session_frees(0x10000, SESSION_BIT(DEVICE)));
  EXPECT(!session_frees(0x10000, SESSION_BIT(PINNED)));  // not the call for this kind
  EXPECT(!session_frees(0x10010, SESSION_BIT(DEVICE)));  // not its start
  session_free(0x10000);
  EXPECT(!session_ranges_find(0x10000, &r));
  EXPECT(is_freed(0x10080));
  EXPECT(is_freed(0x10000) && !session_frees(0x10000, SESSION_BIT(DEVICE)));
}

// Memory that was freed is allocated again, with other bounds: what overlapped is forgotten.
static void test_reuse(void) {
  WgMemoryRange r;
  HeapRange h;
  session_alloc(0x20000, 0x100, SESSION_DEVICE, 0, NULL);
  session_alloc(0x20100, 0x100, SESSION_DEVICE, 0, NULL);
  session_free(0x20000);
  session_free(0x20100);
  session_alloc(0x20080, 0x100, SESSION_POOL, 0, NULL);
  EXPECT(session_ranges_find(0x20080, &r) && r.size == 0x100);
  EXPECT(!session_ranges_look(0x20000, &h));
  EXPECT(!session_ranges_look(0x20180, &h));
  EXPECT(!is_freed(0x20000));
  session_free(0x20080);
}

static void test_free_inside(void) {
  WgMemoryRange r;
  session_alloc(0x30000, 0x100, SESSION_VIRTUAL, 0, NULL);
  session_alloc(0x30100, 0x100, SESSION_VIRTUAL, 0, NULL);
  session_alloc(0x30200, 0x100, SESSION_VIRTUAL, 0, NULL);
  session_free_inside(0x30000, 0x200);
  EXPECT(!session_ranges_find(0x30000, &r) && !session_ranges_find(0x30100, &r));
  EXPECT(session_ranges_find(0x30200, &r));
  session_free(0x30200);
}

static void test_wrong_frees(void) {
  session_alloc(0x40000, 0x100, SESSION_PINNED, 0, NULL);
  fake_events_clear();
  session_invalid_free("cuMemFree", 0x40000, SESSION_BIT(PINNED));
  EXPECT(fake_events(EVENT_FINDING) == 0);
  session_invalid_free("cuMemFree", 0x40000, SESSION_BIT(DEVICE));
  session_invalid_free("cuMemFree", 0x40010, SESSION_BIT(DEVICE));
  session_invalid_free("cuMemFree", 0x99999000, SESSION_BIT(DEVICE));
  session_free(0x40000);
  session_invalid_free("cuMemFreeHost", 0x40000, SESSION_BIT(PINNED));
  EXPECT(fake_events(EVENT_FINDING) == 4);
  static const char *const texts[] = {"host memory", "middle of an allocation",
                                      "nothing is allocated", "freed before"};
  for (uint32_t i = 0; i < 4; i++)
    EXPECT(strstr(fake_event(EVENT_FINDING, i)->text, texts[i]) != NULL);
}

// A launch that runs keeps the table of the time at which it began.
static void test_running_launch(void) {
  session_alloc(0x50000, 0x100, SESSION_DEVICE, 0, NULL);
  WgLaunch before = launch(), same = launch();
  EXPECT(before.memory == same.memory);
  session_free(0x50000);
  WgLaunch after = launch();
  EXPECT(after.memory != before.memory);
  EXPECT(state_in(&before, 0x50000) == WG_MEMORY_LIVE);
  EXPECT(state_in(&after, 0x50000) == WG_MEMORY_FREED);
  // both launches that use the first table must end before it is used again
  session_device_done(device, &before);
  session_alloc(0x51000, 0x100, SESSION_DEVICE, 0, NULL);
  WgLaunch third = launch();
  EXPECT(third.memory != before.memory && third.memory != after.memory);
  session_device_done(device, &same);
  session_alloc(0x52000, 0x100, SESSION_DEVICE, 0, NULL);
  WgLaunch fourth = launch();
  EXPECT(fourth.memory == before.memory);
  EXPECT(state_in(&fourth, 0x52000) == WG_MEMORY_LIVE && !state_in(&third, 0x52000));
}

// A GPU says that all launches up to a mark have ended: later ones still run.
static void test_settled(void) {
  uint64_t old = session_device_mark(device);
  session_alloc(0x60000, 0x100, SESSION_DEVICE, 0, NULL);
  WgLaunch running = launch();
  uint64_t mark = session_device_mark(device);
  EXPECT(mark == old + 1);
  session_device_settled(device, old);
  for (uint64_t i = 0; i < 20; i++) {
    session_alloc(0x61000 + i * 0x1000, 0x100, SESSION_DEVICE, 0, NULL);
    EXPECT(launch().memory != running.memory);
  }
  session_device_settled(device, mark);
  session_device_settled(device, old);  // a report that comes late takes nothing back
  bool used_again = false;
  for (uint64_t i = 0; i < 20 && !used_again; i++) {
    session_alloc(0x81000 + i * 0x1000, 0x100, SESSION_DEVICE, 0, NULL);
    used_again = launch().memory == running.memory;
  }
  EXPECT(used_again);
}

// The tables of one device are not those of another, and go with it.
static void test_second_device(void) {
  FakeDevice f = {0};
  Error err = {{0}};
  SessionDevice *second = session_device_open(&fake_device_ops, &f, 1, &err);
  WgLaunch a = launch(), b = launch_on(second);
  EXPECT(a.memory != b.memory && a.channel != b.channel);
  uint32_t mapped = f.mapped;
  EXPECT(mapped == 2);  // its channel and its tables
  session_device_close(second, true);
  EXPECT(f.mapped == 0 && !fake_device_live(&f) && !f.mistakes);
  EXPECT(launch().memory == a.memory);
  // after a reset nothing of the device is touched
  second = session_device_open(&fake_device_ops, &f, 1, &err);
  launch_on(second);
  uint32_t frees = f.frees;
  session_device_close(second, false);
  EXPECT(f.frees == frees && f.mapped == 2);
}

static uint64_t cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// With 50,000 allocations a linear search would need minutes for a million lookups.
static void test_million_lookups(void) {
  enum { ALLOCATIONS = 50000, LOOKUPS = 1000000 };
  for (uint64_t i = 0; i < ALLOCATIONS; i++)
    session_alloc(0x100000000 + i * 0x1000, 0x800, SESSION_DEVICE, 0, NULL);
  uint64_t begin = cpu_ns(), random = 1;
  uint32_t found = 0, wrong = 0;
  for (uint32_t i = 0; i < LOOKUPS; i++) {
    WgMemoryRange r;
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    uint64_t address = 0x100000000 + (random >> 33) % (ALLOCATIONS * 0x1000ull);
    bool live = session_ranges_find(address, &r);
    found += live;
    wrong += live != (address % 0x1000 <= 0x800) || (live && address - r.base > 0x800);
  }
  EXPECT(!wrong && found > LOOKUPS / 3 && found < LOOKUPS / 3 * 2);
  EXPECT(cpu_ns() - begin < 5000000000u);
}

int main(void) {
  Error err = {{0}};
  setenv("WARPGRIND_TOOL", "memcheck", 1);
  setenv("WARPGRIND_HOST_STACKS", "no", 1);
  kernel = session_kernel(fake_module("m.cu", "k", 0), "k");
  device = session_device_open(&fake_device_ops, &fake, 0, &err);
  CHECK(device);
  SUBJECT(allocations);
  SUBJECT(reuse);
  SUBJECT(free_inside);
  SUBJECT(wrong_frees);
  SUBJECT(running_launch);
  SUBJECT(settled);
  SUBJECT(second_device);
  SUBJECT(million_lookups);
}
