// Handles that are used after they were destroyed, and drivers that hand them out again.
#include "fake_device.h"
#include "tools/tool.h"
#include "unit.h"

extern const Tool tool_memcheck;
const Tool *const tool_table[TOOL_COUNT_] = {[TOOL_MEMCHECK] = &tool_memcheck};

static int objects[1 << 17];

static void test_use_after_destroy(void) {
  const void *s = &objects[0];
  fake_events_clear();
  EXPECT(!session_use(SESSION_STREAM_GONE, s));
  session_destroyed(SESSION_STREAM_GONE, s);
  EXPECT(session_use(SESSION_STREAM_GONE, s));
  EXPECT(fake_events(EVENT_FINDING) == 1);
  EXPECT(strstr(fake_event(EVENT_FINDING, 0)->text, "stream that was destroyed") != NULL);
}

static void test_handle_reused(void) {
  const void *s = &objects[0];
  session_created(s);
  EXPECT(!session_use(SESSION_STREAM_GONE, s));
}

// An event may get the number that a stream had.
static void test_other_kind(void) {
  const void *h = &objects[1];
  session_destroyed(SESSION_STREAM_GONE, h);
  EXPECT(!session_use(SESSION_EVENT_GONE, h));
  session_destroyed(SESSION_EVENT_GONE, h);
  EXPECT(session_use(SESSION_EVENT_GONE, h) && !session_use(SESSION_STREAM_GONE, h));
}

static void test_null(void) {
  session_destroyed(SESSION_STREAM_GONE, NULL);
  EXPECT(!session_use(SESSION_STREAM_GONE, NULL));
}

// Memory for handles is bounded; forgotten ones cost findings, never false alarms.
static void test_many(void) {
  for (uint32_t i = 10; i < ARRAY_LEN(objects); i++)
    session_destroyed(SESSION_EVENT_GONE, &objects[i]);
  EXPECT(session_use(SESSION_EVENT_GONE, &objects[ARRAY_LEN(objects) - 1]));
  EXPECT(!session_use(SESSION_EVENT_GONE, &objects[10]));
}

int main(void) {
  setenv("WARPGRIND_TOOL", "memcheck", 1);
  setenv("WARPGRIND_HOST_STACKS", "no", 1);
  SUBJECT(use_after_destroy);
  SUBJECT(handle_reused);
  SUBJECT(other_kind);
  SUBJECT(null);
  SUBJECT(many);
}
