// racecheck inside the program: functions that the session calls, and the list of devices.
#include "tools/racecheck/host.h"

pthread_mutex_t race_lock = PTHREAD_MUTEX_INITIALIZER;
static RaceDevice *devices;

RaceDevice *race_devices(void) { return devices; }

RaceDevice *race_device(SessionDevice *d) { return session_tool_device(d, TOOL_RACECHECK)->state; }

const SessionDeviceOps *race_ops(const RaceDevice *r, void **user) {
  return session_device_ops(r->device, user);
}

const RaceKernel *race_kernel(const WovenKernel *code) {
  static const RaceKernel none;
  return code->tool_data[TOOL_RACECHECK] ? code->tool_data[TOOL_RACECHECK] : &none;
}

bool race_wants_pairs(void) { return session_plan()->tool_options[TOOL_RACECHECK] & RACE_FULL; }

extern const char probe_race_copy_kernel_text[];

static void device_open(ToolDevice *d) {
  static uint32_t last_id;
  RaceDevice *r = d->state;
  SessionOwnKernel k = {.host_bytes = 4096, .device_bytes = 4096};
  r->device = d->device;
  // if the kernel cannot be loaded, copies and sets are not checked
  if (!d->ops->direct &&
      d->ops->load_kernel(d->user, probe_race_copy_kernel_text, "wg_race_copies", &k))
    r->kernel = k;
  pthread_mutex_lock(&race_lock);
  r->id = ++last_id;
  r->next = devices;
  devices = r;
  pthread_mutex_unlock(&race_lock);
}

static void device_closing(ToolDevice *d) {
  pthread_mutex_lock(&race_lock);
  race_forget_entries(d->device);
  RaceDevice **at = &devices;
  while (*at && *at != d->state) at = &(*at)->next;
  if (*at) *at = (*at)->next;
  race_heard(d->state);
  pthread_mutex_unlock(&race_lock);
  race_report_copies();
}

static void device_close(ToolDevice *d, bool alive) { race_close_told(d->state, alive); }

static void annotated(SessionAnnotation what, uint64_t address, uint64_t n) {
  if (what == SESSION_BENIGN_RACE) race_benign(address, n);
}

const Tool tool_racecheck = {.device_bytes = sizeof(RaceDevice),
                             .wants = SESSION_WANTS_TABLE | SESSION_WANTS_ORDER |
                                      SESSION_WANTS_GRAPH_ORDER | SESSION_WANTS_COPY_TAGS |
                                      SESSION_WANTS_BENIGN_RACES,
                             .refuses_closed = race_refuses_closed,
                             .only_compares_closed = true,
                             .closed_begins = race_closed_begins,
                             .closed_ends = race_closed_ends,
                             .stream_created = race_stream_created,
                             .device_open = device_open,
                             .launch = race_launch,
                             .before_table = race_before_table,
                             .facts = race_facts,
                             .is_settled = race_is_settled,
                             .may_settle = race_may_settle,
                             .launch_done = race_launch_done,
                             .device_closing = device_closing,
                             .device_close = device_close,
                             .freed = race_freed,
                             .annotated = annotated,
                             .host_waited = race_host_waited,
                             .copy_asked = race_copy_asked,
                             .copy_tag = race_copy_tag,
                             .copy_begins = race_copy_begins,
                             .copy_runs = race_copy_runs,
                             .library_asked = race_library_asked,
                             .library_ran = race_library_ran,
                             .library_done = race_library_done,
                             .graph_copy = race_graph_copy,
                             .graph_copy_ran = race_graph_copy_ran,
                             .graph_copies_unordered = race_graph_copies_unordered,
                             .add_natives = race_add_natives};
