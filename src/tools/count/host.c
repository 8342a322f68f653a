// count inside the program: sends the counters of a module to the command when the module is
// unloaded or the device is closed.
#include "session/counters.h"
#include "tools/tool.h"

typedef struct CountDevice {
  bool lost_said;
  uint64_t rows;
} CountDevice;

static void say_lost(ToolDevice *d, const char *why) {
  CountDevice *state = d->state;
  if (state->lost_said) return;
  state->lost_said = true;
  session_note(SEVERITY_WARNING, "the counts of device %d are lost: %s", d->ordinal, why);
}

// Sends what was counted since the last time.
static void collect_piece(ToolDevice *d, Piece *p) {
  bool lost;
  uint64_t *since = session_counters_since(d->device, p, TOOL_COUNT, &lost);
  if (since) ((CountDevice *)d->state)->rows += session_send_executions(p, since, d->ordinal);
  if (lost) say_lost(d, "its memory cannot be read any more, which is so after a fault");
  free(since);
}

static void collect(ToolDevice *d, SessionModule *m) {
  for (Piece *p = m->pieces; p; p = p->next) collect_piece(d, p);
}

static void say_gone(ToolDevice *d) { say_lost(d, "its context was gone before they were read"); }

static void device_close(ToolDevice *d, bool alive) {
  session_counters_collect(d, alive, &(SessionCollect){collect_piece, say_gone});
  session_send(EVENT_COUNTS_READ,
               &(EventCountsRead){(uint64_t)d->ordinal, ((CountDevice *)d->state)->rows});
}

const Tool tool_count = {.device_bytes = sizeof(CountDevice),
                         .only_counts = true,
                         .collect = collect,
                         .device_close = device_close};
