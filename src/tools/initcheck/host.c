// initcheck inside the program: functions that the session calls.
#include "tools/initcheck/host.h"

static void device_closing(ToolDevice *d) {
  shadow_forget_device(d->device);
  shadow_heap_closing(d);
  all_initialised_close(d);
}

static void device_close(ToolDevice *d, bool alive) {
  const InitDevice *state = d->state;
  if (alive && state->heap) d->ops->free(d->user, state->heap);
}

const Tool tool_initcheck = {.device_bytes = sizeof(InitDevice),
                             .wants = SESSION_WANTS_CONTENTS | SESSION_WANTS_TABLE,
                             .device_open = all_initialised_open,
                             .launch = init_launch,
                             .before_table = init_before_table,
                             .facts = init_facts,
                             .refuses_closed = init_refuses_closed,
                             .closed_begins = init_closed_begins,
                             .closed_ends = init_closed_ends,
                             .device_closing = device_closing,
                             .device_close = device_close,
                             .memory_event = shadow_memory_event,
                             .unchecked_writes = shadow_unchecked_writes,
                             .copy_runs = shadow_copy_runs,
                             .library_begins = init_library_begins,
                             .launch_begins = init_launch_begins,
                             .launch_ends = init_launch_ends,
                             .sees_graph_writes = init_sees_graph_writes,
                             .is_initialised = shadow_is_initialised,
                             .annotated = shadow_annotated,
                             .memory_percent = 25,
                             .release_memory = shadow_release_memory};
