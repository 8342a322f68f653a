// memcheck inside the program: functions that the session calls.
#include "tools/options.h"
#include "tools/memcheck/host.h"

static MemcheckOptions options;

const MemcheckOptions *memcheck_options(void) { return &options; }

static void configure(ToolSetup *s) {
  options = (MemcheckOptions){
      .leaks = !options_is(s->options, OPT_LEAK_CHECK, "no"),
      .leaks_by_place = options_is(s->options, OPT_LEAK_CHECK, "full"),
      .has_quarantine = options_given(s->options, OPT_QUARANTINE),
      .quarantine = MIN(options_number(s->options, OPT_QUARANTINE), UINT64_MAX >> 20) << 20};
}

static void process_ends(void) {
  unchecked_errors_report();
  leaks_report();
}

// The kinds of findings for faults of accesses that the checks did not foresee.
static const char *fault_kind(const SessionFault *f) {
  if (f->what == SESSION_FAULT_MISALIGNED) return "misaligned";
  if (f->what == SESSION_FAULT_TRAP && !f->surface) return NULL;
  if (f->atomic) return "oob-atomic";
  return f->store ? "oob-write" : "oob-read";
}

const Tool tool_memcheck = {.device_bytes = sizeof(MemcheckDevice),
                            .patches = true,
                            .wants = SESSION_WANTS_TABLE | SESSION_WANTS_IMAGES |
                                     SESSION_WANTS_POOLS | SESSION_WANTS_QUARANTINE |
                                     SESSION_WANTS_GAPS | SESSION_WANTS_INDEX_TESTS,
                            .configure = configure,
                            .facts = heap_facts,
                            .device_close = heap_close,
                            .allocated = pitches_allocated,
                            .pitched = pitches_add,
                            .invalid_free = invalid_free,
                            .second_free = invalid_second_free,
                            .handle_created = invalid_free_handle_created,
                            .handle_gone = invalid_free_handle_gone,
                            .invalid_handle = invalid_free_handle,
                            .quarantine_open = quarantine_open,
                            .quarantine_hold = quarantine_hold,
                            .quarantine_release = quarantine_release,
                            .quarantine_bytes = quarantine_bytes,
                            .copy_asked = copies_asked,
                            .copy_refused = copies_refused,
                            .library_asked = library_call_asked,
                            .library_found = library_call_found,
                            .library_wrong = library_call_wrong,
                            .library_refused = library_call_refused,
                            .texture_asked = textures_asked,
                            .launch_asked = pageable_launch,
                            .launch_taken = tensors_launch,
                            .launch_refused = refused_launch,
                            .fault_kind = fault_kind,
                            .destroyed = destroyed_handle,
                            .created = destroyed_created,
                            .used = destroyed_used,
                            .synchronised = pageable_synchronised,
                            .error_raised = unchecked_error_raised,
                            .errors_seen = unchecked_errors_seen,
                            .process_ends = process_ends,
                            .add_natives = memcheck_add_natives};
