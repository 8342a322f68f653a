// Counters of modules: one set for each piece of a module and device. They are read before the
// module is unloaded and when the device is closed; the module stays known for findings.
#include "fake_device.h"
#include "session/counters.h"
#include "tools/tool.h"
#include "unit.h"

static uint32_t collected;
static SessionModule *collected_of;
static void collect(ToolDevice *d, SessionModule *m) {
  collected++;
  collected_of = m;
  EXPECT(session_counters_find(m->pieces, d->device) != NULL);
}
static const Tool tool = {.only_counts = true, .collect = collect};
const Tool *const tool_table[TOOL_COUNT_] = {[TOOL_COUNT] = &tool};

static SessionDevice *open_device(FakeDevice *f, int ordinal) {
  Error err = {{0}};
  SessionDevice *d = session_device_open(&fake_device_ops, f, ordinal, &err);
  CHECK(d);
  return d;
}

static WgLaunch launch(SessionDevice *d, SessionKernel *k) {
  WgLaunch r;
  uint32_t number = fake_launch(k);
  EXPECT(session_device_record(d, k, number, NULL, &r));
  EXPECT(r.launch == number);
  return r;
}

static void test_two_devices(void) {
  FakeDevice a = {0}, b = {0};
  SessionDevice *first = open_device(&a, 0), *second = open_device(&b, 1);
  SessionModule *m = fake_module("m.cu", "k", 4), *other = fake_module("n.cu", "k", 4);
  SessionKernel *k = session_kernel(m, "k");
  uint64_t on_first = launch(first, k).counters, on_second = launch(second, k).counters;
  EXPECT(on_first && on_second && on_first != on_second);
  EXPECT(launch(first, k).counters == on_first);  // again, and not new ones
  EXPECT(launch(first, session_kernel(other, "k")).counters != on_first);
  EXPECT(a.allocations == 2 && b.allocations == 1);
  session_device_close(first, true);
  EXPECT(!fake_device_live(&a) && !a.mistakes);
  EXPECT(launch(second, k).counters == on_second);
  session_device_close(second, true);
  EXPECT(!fake_device_live(&b) && !b.mistakes);
}

// cudaDeviceReset: memory of the old context is gone, a new one gets counters of its own.
static void test_reset(void) {
  FakeDevice f = {0};
  SessionModule *m = fake_module("m.cu", "k", 2);
  SessionKernel *k = session_kernel(m, "k");
  SessionDevice *d = open_device(&f, 0);
  launch(d, k);
  session_device_close(d, false);
  // another device may get the same address
  EXPECT(!session_counters_find(m->pieces, d));
  EXPECT(f.frees == 0);
  d = open_device(&f, 0);
  launch(d, k);
  EXPECT(f.allocations == 2);
  session_device_close(d, true);
  EXPECT(f.frees == 1 && !f.mistakes);
}

static void test_no_memory(void) {
  FakeDevice f = {.no_memory = true};
  SessionModule *m = fake_module("full.cu", "k", 2);
  SessionKernel *k = session_kernel(m, "k");
  SessionDevice *d = open_device(&f, 3);
  WgLaunch r;
  fake_events_clear();
  EXPECT(!session_device_record(d, k, 1, NULL, &r));
  EXPECT(!session_device_record(d, k, 2, NULL, &r));
  EXPECT(fake_events(EVENT_NOTE) == 1);  // once, with the device and the module in it
  EXPECT(strstr(fake_event(EVENT_NOTE, 0)->text, "device 3"));
  EXPECT(strstr(fake_event(EVENT_NOTE, 0)->text, "full.cu"));
  session_device_close(d, true);
  EXPECT(!f.mistakes);
}

static void test_without_counters(void) {
  FakeDevice f = {0};
  SessionDevice *d = open_device(&f, 0);
  SessionModule *m = fake_module("m.cu", "k", 0);
  EXPECT(launch(d, session_kernel(m, "k")).counters == 0);
  EXPECT(f.allocations == 0);
  session_device_close(d, true);
}

// Reports may refer to a module that is gone, also when the same file is loaded again.
static void test_unload(void) {
  FakeDevice f = {0};
  SessionDevice *d = open_device(&f, 0);
  SessionModule *m = fake_module("m.cu", "k", 1);
  SessionKernel *k = session_kernel(m, "k");
  WgLaunch r = launch(d, k);
  fake_events_clear();
  collected = 0;
  session_device_collect(d, m);
  EXPECT(collected == 1 && collected_of == m);
  session_module_unloaded(m);
  EXPECT(fake_events(EVENT_UNLOAD) == 1 && fake_event(EVENT_UNLOAD, 0)->first == m->id);
  SessionModule *again = fake_module("m.cu", "k", 1);
  WgLaunch s = launch(d, session_kernel(again, "k"));
  EXPECT(s.site_base != r.site_base && s.counters != r.counters);
  const Piece *piece = NULL;
  const Site *site = NULL;
  pthread_mutex_lock(&session_lock);
  EXPECT(session_site(r.site_base, &piece, &site) && piece->module == m);
  EXPECT(session_site_kernel(piece, site) == k);
  EXPECT(session_site(s.site_base, &piece, &site) && piece->module == again);
  EXPECT(!session_site(session_sites(), &piece, &site));
  pthread_mutex_unlock(&session_lock);
  session_device_close(d, true);
  EXPECT(!fake_device_live(&f) && !f.mistakes);
}

// The reason why a kernel is not checked: the first one counts.
static void test_uncovered(void) {
  SessionModule *m = session_module("bare.cu", 2, "fake");
  SessionKernel *k = session_kernel(m, "k");
  EXPECT(session_kernel(m, "k") == k);
  EXPECT(!session_kernel_code(k));
  fake_events_clear();
  session_kernel_uncovered(k, "it has no PTX", NULL);
  session_kernel_uncovered(k, "another reason", NULL);
  EXPECT(fake_events(EVENT_UNCOVERED) == 1);
  EXPECT(!strcmp(k->reason, "it has no PTX"));
  FakeDevice f = {0};
  SessionDevice *d = open_device(&f, 0);
  WgLaunch r;
  EXPECT(!session_device_record(d, k, 1, NULL, &r));
  session_device_close(d, true);
}

int main(void) {
  setenv("WARPGRIND_TOOL", "count", 1);
  setenv("WARPGRIND_HOST_STACKS", "no", 1);
  SUBJECT(two_devices);
  SUBJECT(reset);
  SUBJECT(no_memory);
  SUBJECT(without_counters);
  SUBJECT(unload);
  SUBJECT(uncovered);
}
