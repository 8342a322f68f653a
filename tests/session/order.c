// Happens-before: streams, events, the legacy default stream and what the host has waited for.
#include "fake_device.h"
#include "session/order.h"
#include "tools/tool.h"
#include "unit.h"

static const Tool tool = {.wants = SESSION_WANTS_ORDER};
const Tool *const tool_table[TOOL_COUNT_] = {[TOOL_COUNT] = &tool};

static int handles[512];
static unsigned nhandles;
static const void *handle(void) { return &handles[nhandles++]; }

static const void *stream(bool non_blocking) {
  const void *s = handle();
  session_order_stream(s, non_blocking);
  return s;
}

static SessionMoment step(const void *s) {
  SessionMoment m = {0};
  EXPECT(session_order_step(s, &m));
  return m;
}

static void test_own_order(void) {
  const void *s = stream(true);
  SessionMoment first = step(s);
  SessionMoment second = step(s);
  EXPECT(first.slot == second.slot && first.index < second.index);
  EXPECT(session_order_before(first, s));
}

static void test_concurrent_streams(void) {
  const void *a = stream(true), *b = stream(true);
  SessionMoment m = step(a);
  step(b);
  EXPECT(!session_order_before(m, b));
  EXPECT(session_order_concurrent());
}

// A wait orders what was in the stream when the event was recorded, and nothing later.
static void test_event(void) {
  const void *a = stream(true), *b = stream(true), *e = handle();
  SessionMoment early = step(a);
  session_order_record(e, a);
  SessionMoment late = step(a);
  session_order_wait(b, e);
  step(b);
  EXPECT(session_order_before(early, b));
  EXPECT(!session_order_before(late, b));
  session_order_record(e, a);  // records replace each other
  session_order_wait(b, e);
  EXPECT(session_order_before(late, b));
}

static void test_events_are_transitive(void) {
  const void *a = stream(true), *b = stream(true), *c = stream(true);
  const void *e = handle(), *f = handle();
  SessionMoment m = step(a);
  session_order_record(e, a);
  session_order_wait(b, e);
  session_order_record(f, b);
  session_order_wait(c, f);
  EXPECT(session_order_before(m, c));
}

static void test_unknown_event(void) {
  const void *a = stream(true), *b = stream(true);
  SessionMoment m = step(a);
  session_order_wait(b, handle());  // was never recorded: orders nothing
  EXPECT(!session_order_before(m, b));
}

static void test_default_stream(void) {
  const void *blocking = stream(false), *free = stream(true);
  SessionMoment b = step(blocking), f = step(free);
  SessionMoment legacy = step(NULL);
  EXPECT(session_order_before(b, NULL));
  EXPECT(!session_order_before(f, NULL));
  step(blocking);
  step(free);
  EXPECT(session_order_before(legacy, blocking));
  EXPECT(!session_order_before(legacy, free));
  EXPECT(session_order_before(step((const void *)1), NULL));  // CU_STREAM_LEGACY is the same one
}

static void test_host(void) {
  const void *a = stream(true), *b = stream(true), *c = stream(true), *e = handle();
  SessionMoment m = step(a);
  session_order_record(e, a);
  SessionMoment later = step(a);
  step(b);
  EXPECT(!session_order_before(m, b));
  session_order_host_saw_event(e);
  step(b);
  EXPECT(session_order_before(m, b));
  EXPECT(!session_order_before(later, b));
  session_order_host_saw(a);
  step(b);
  EXPECT(session_order_before(later, b));
  SessionMoment other = step(b);
  session_order_host_saw_all();
  step(c);
  EXPECT(session_order_before(other, c));
}

static void test_wait_for_memory(void) {
  const void *a = stream(true), *b = stream(true);
  SessionMoment m = step(a);
  session_order_waits_for_something(b);  // what it waits for is not known: for everything
  EXPECT(session_order_before(m, b));
}

static bool has(const SessionUnordered *o, uint32_t number) {
  for (uint32_t i = 0; i < o->n; i++)
    if (o->number[i] == number) return true;
  return false;
}

// Launches of another device never meet; numbers that are used again are forgotten.
static void test_unordered_launches(void) {
  int devices[2];
  SessionDevice *d = (SessionDevice *)&devices[0], *other = (SessionDevice *)&devices[1];
  const void *a = stream(true), *b = stream(true);
  SessionUnordered o;
  session_order_launch(d, a, 11, false, false, &o);
  session_order_launch(d, b, 12, false, false, &o);
  EXPECT(has(&o, 11));
  session_order_launch(other, b, 13, false, false, &o);
  EXPECT(o.n == 0);
  session_order_launch(d, a, 14, true, false, &o);  // may begin before 11 has ended
  EXPECT(has(&o, 11) && has(&o, 12));
  session_order_forget(d, 11, 12);
  session_order_launch(d, b, 15, false, false, &o);
  EXPECT(!has(&o, 11) && has(&o, 14));
}

static void test_steps(void) {
  const void *a = stream(true), *b = stream(true), *e = handle();
  uint32_t after[STEP_STREAMS], n, beside;
  session_order_note(a, 101, (StepHow){0}, after, &n, &beside);
  session_order_record(e, a);
  bool all = session_order_note(b, 102, (StepHow){0}, after, &n, &beside);
  EXPECT(n == 0 && !all);
  session_order_wait(b, e);
  all = session_order_note(b, 103, (StepHow){.host_knows = true}, after, &n, &beside);
  EXPECT(n == 2 && all);
  session_order_note(b, 104, (StepHow){.overlaps = true}, after, &n, &beside);
  EXPECT(beside == 103);
}

// There is room for 64 streams; what is in one more is ordered after everything: no false alarm.
static void test_too_many_streams(void) {
  const void *first = stream(true), *known = stream(true);
  SessionMoment m = step(first), none;
  for (int i = 0; i < 80; i++) session_order_stream(handle(), true);
  const void *late = handle();
  EXPECT(!session_order_step(late, &none));
  EXPECT(session_order_before(m, late));
  const void *e = handle();
  session_order_record(e, late);
  EXPECT(!session_order_before(m, known));
  session_order_wait(known, e);
  EXPECT(session_order_before(m, known));
}

int main(void) {
  setenv("WARPGRIND_TOOL", "count", 1);
  SUBJECT(own_order);
  SUBJECT(concurrent_streams);
  SUBJECT(event);
  SUBJECT(events_are_transitive);
  SUBJECT(unknown_event);
  SUBJECT(default_stream);
  SUBJECT(unordered_launches);
  SUBJECT(steps);
  SUBJECT(host);
  SUBJECT(wait_for_memory);
  SUBJECT(too_many_streams);
}
