// Events reach the tools that run and want them, and no others. Three tools are faked: count is
// named by --tool, record takes part because its options ask for it, fpcheck does not run.
#include "fake_device.h"
#include "tools/tool.h"
#include "unit.h"

typedef struct Heard {
  uint32_t taken, allocated, freed, copies, done, opened, closing, closed, ended, events;
  bool alive;
} Heard;
static Heard count, record, fpcheck;
static const void *done_to;

#define FAKE_TOOL(who) \
  static void who##_taken(const SessionCall *c) { who.taken++; } \
  static void who##_allocated(uint64_t base, uint64_t size, const char *name) { who.allocated++; } \
  static void who##_freed(uint64_t base, bool in_order) { who.freed++; } \
  static void who##_copy_taken(const SessionCopy *c) { who.copies++; } \
  static void who##_copied(const SessionCopy *c) { \
    who.done++; \
    done_to = (const void *)(uintptr_t)c->to.address; \
  } \
  static void who##_open(ToolDevice *d) { \
    who.opened++; \
    *(uint32_t *)d->state += 1; \
  } \
  static void who##_closing(ToolDevice *d) { who.closing++; } \
  static void who##_close(ToolDevice *d, bool alive) { \
    EXPECT(*(uint32_t *)d->state == 1); \
    who.closed++; \
    who.alive = alive; \
  } \
  static void who##_ended(ToolDevice *d, const uint64_t *launches, uint32_t n) { who.ended += n; } \
  static void who##_memory(const SessionMemoryEvent *e) { who.events++; }
#define FAKE_FIELDS(who) \
  .device_bytes = sizeof(uint32_t), .launch_taken = who##_taken, .allocated = who##_allocated, \
  .freed = who##_freed, .copy_taken = who##_copy_taken, .copied = who##_copied, \
  .device_open = who##_open, .device_closing = who##_closing, .device_close = who##_close, \
  .launches_ended = who##_ended, .memory_event = who##_memory
FAKE_TOOL(count)
FAKE_TOOL(record)
FAKE_TOOL(fpcheck)

static bool large_only(const SessionCopy *c) { return c->width >= 100; }
static bool every_copy(const SessionCopy *c) { return true; }
static uint32_t number_seven(const SessionCopy *c) { return 7; }
static uint32_t number_nine(const SessionCopy *c) { return 9; }
static void run_unnamed(ToolSetup *s) {
  EXPECT(!s->named);
  s->runs = true;
  s->wants = SESSION_WANTS_ORDER;
}
static void settle_nothing(SessionDevice *d, const void *stream, SessionRun *r) {}

static const Tool count_tool = {
    FAKE_FIELDS(count),           .only_counts = true,         .wants = SESSION_WANTS_COPIES,
    .wants_copy = large_only,     .copy_number = number_seven, .memory_percent = 25,
    .launch_ends = settle_nothing};
static const Tool record_tool = {FAKE_FIELDS(record),
                                 .wants = SESSION_WANTS_INPUTS,  // only while --tool names it
                                 .configure = run_unnamed, .copy_number = number_nine};
static const Tool fpcheck_tool = {FAKE_FIELDS(fpcheck), .wants = SESSION_WANTS_POOLS,
                                  .wants_copy = every_copy, .copy_number = number_nine,
                                  .memory_percent = 300};
const Tool *const tool_table[TOOL_COUNT_] = {
    [TOOL_COUNT] = &count_tool, [TOOL_FPCHECK] = &fpcheck_tool, [TOOL_RECORD] = &record_tool};

static void test_running(void) {
  EXPECT(session_tools() == TOOL_BIT(COUNT));
  EXPECT(session_running() == (TOOL_BIT(COUNT) | TOOL_BIT(RECORD)));
  EXPECT(session_wants(SESSION_WANTS_COPIES) && session_wants(SESSION_WANTS_ORDER));
  EXPECT(!session_wants(SESSION_WANTS_POOLS) && !session_wants(SESSION_WANTS_INPUTS));
}

static void test_events(void) {
  session_alloc(0x1000, 16, SESSION_DEVICE, 0, NULL);
  session_launch_taken(&(SessionCall){0});
  session_copy_taken(&(SessionCopy){0});
  session_memory_event(&(SessionMemoryEvent){MEMORY_NEW, .base = 0x1000, .size = 16});
  session_free(0x1000);
  EXPECT(count.allocated == 1 && count.taken == 1 && count.copies == 1 && count.freed == 1);
  EXPECT(record.allocated == 1 && record.taken == 1 && record.copies == 1 && record.freed == 1);
  EXPECT(count.events == 1 && record.events == 1);
  EXPECT(!fpcheck.allocated && !fpcheck.taken && !fpcheck.copies && !fpcheck.events);
}

static void test_done_copies(void) {
  SessionCopy small = {.width = 99, .to = {.address = 1}};
  SessionCopy large = {.width = 100, .to = {.address = 2}};
  EXPECT(!session_copy_wanted(&small));
  EXPECT(session_copy_wanted(&large));
  session_copy_done(&small);
  EXPECT(count.done == 0);
  session_copy_done(&large);
  EXPECT(count.done == 1 && done_to == (void *)2);
  EXPECT(record.done == 0 && fpcheck.done == 0);  // record has no wants_copy
}

static void test_first_answer(void) {
  EXPECT(session_copy_number(&(SessionCopy){0}) == 7);
  // of 125 bytes, 25 go to the tool that needs a quarter of what the program has
  EXPECT(session_free_for_program(125) == 100);
}

static void test_settled_runs(void) {
  SessionRun r = {0};
  EXPECT(!session_run_settled(&r));
  r.settled = TOOL_BIT(FPCHECK) | TOOL_BIT(RECORD);
  EXPECT(!session_run_settled(&r));
  r.settled = TOOL_BIT(COUNT);  // the only running tool with launch_ends
  EXPECT(session_run_settled(&r));
}

// Each tool has state of its own for each device.
static void test_devices(void) {
  FakeDevice a = {0}, b = {0};
  Error err = {{0}};
  SessionDevice *first = session_device_open(&fake_device_ops, &a, 0, &err);
  SessionDevice *second = session_device_open(&fake_device_ops, &b, 1, &err);
  EXPECT(first && second && count.opened == 2 && record.opened == 2 && !fpcheck.opened);
  EXPECT(session_tool_device(first, TOOL_COUNT)->ordinal == 0);
  EXPECT(session_tool_device(second, TOOL_COUNT)->ordinal == 1);
  EXPECT(session_tool_device(first, TOOL_FPCHECK)->state == NULL);
  session_launches_ended(second, (uint64_t[]){4, 5}, 2);
  session_launches_ended(NULL, (uint64_t[]){6}, 1);
  EXPECT(count.ended == 2);
  session_device_close(first, true);
  EXPECT(count.closing == 1 && count.closed == 1 && count.alive);
  session_device_close(second, false);
  EXPECT(count.closed == 2 && record.closed == 2 && !count.alive && !fpcheck.closed);
  EXPECT(!a.mistakes && !b.mistakes && !fake_device_live(&a) && a.mapped == 0);
}

int main(void) {
  setenv("WARPGRIND_TOOL", "count", 1);
  setenv("WARPGRIND_HOST_STACKS", "no", 1);
  SUBJECT(running);
  SUBJECT(events);
  SUBJECT(done_copies);
  SUBJECT(first_answer);
  SUBJECT(settled_runs);
  SUBJECT(devices);
}
