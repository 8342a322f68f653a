// A program that waits for a kernel which says nothing of itself: the kernel is named, and why no
// more is known.
#include <time.h>

#include "fake_device.h"
#include "session/watchdog.h"
#include "tools/tool.h"
#include "unit.h"

static bool find_nothing(uint64_t now, uint64_t patience, bool asked) { return false; }
static const Tool sync_tool = {.find_stuck = find_nothing};
const Tool *const tool_table[TOOL_COUNT_] = {[TOOL_SYNCCHECK] = &sync_tool};

static const char *said_after_a_while(SessionKernel *k) {
  fake_events_clear();
  fake_launch(k);
  bool began = session_waits("cuCtxSynchronize");
  for (int i = 0; i < 60 && !fake_events(EVENT_NOTE); i++)
    nanosleep(&(struct timespec){0, 100000000}, NULL);
  session_waited(began);
  return fake_events(EVENT_NOTE) ? fake_event(EVENT_NOTE, 0)->text : "";
}

static void test_machine_code(void) {
  SessionModule *m = session_module("closed.cu", 1, "file");
  const char *said = said_after_a_while(session_kernel(m, "closed"));
  EXPECT(strstr(said, "in cuCtxSynchronize. The last launch is number 1, of kernel closed; "));
  EXPECT(strstr(said, "its machine code is the program's own"));
}

static void test_woven(void) {
  SessionModule *m = fake_module("open.cu", "open", 0);
  const char *said = said_after_a_while(session_kernel(m, "open"));
  EXPECT(strstr(said, "of kernel open; nothing in it says where it stands"));
}

int main(void) {
  setenv("WARPGRIND_TOOL", "synccheck", 1);
  setenv("WARPGRIND_HANG_TIMEOUT", "1", 1);
  setenv("WARPGRIND_HOST_STACKS", "no", 1);
  session_start("gpu");
  SUBJECT(machine_code);
  SUBJECT(woven);
}
