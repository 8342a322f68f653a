// record inside the program: its options, and which of its functions the session calls.
#include "tools/record/host.h"

#include "tools/options.h"

RecordOptions record_options;

const RecordKernel *record_kernel(const WovenKernel *code) {
  static const RecordKernel none;
  return code->tool_data[TOOL_RECORD] ? code->tool_data[TOOL_RECORD] : &none;
}

static const char *text_of(const Options *o, OptionId id) {
  return options_given(o, id) ? mem_strdup(options_text(o, id)) : NULL;
}

static void configure(ToolSetup *s) {
  const Options *o = s->options;
  record_options = (RecordOptions){
      .operations = s->named,
      .marked = options_is(o, OPT_RECORD, "marked"),
      .threads = text_of(o, OPT_THREADS),
      .buffers = text_of(o, OPT_BUFFER),
      .inputs = options_is(o, OPT_RECORD, "inputs") && s->keeps_run,
      .inputs_rate = MIN(options_number(o, OPT_INPUTS_RATE), (uint64_t)RECORD_RATE_UNLIMITED)};
  if (!record_options.inputs) return;
  s->runs = true;
  s->plan->find_writes = true;
  s->wants = SESSION_WANTS_COPIES | SESSION_WANTS_LAUNCHES_TAKEN | SESSION_WANTS_INPUTS |
             SESSION_WANTS_ORDER;
}

static void annotated(SessionAnnotation what, uint64_t address, uint64_t bytes) {
  if (what == SESSION_RECORD_BEGIN || what == SESSION_RECORD_END)
    record_switch(what == SESSION_RECORD_BEGIN);
  else if (what == SESSION_BENIGN_RACE && record_options.operations)
    session_send(EVENT_BENIGN_RACE, &(EventBenignRace){record_last_step(), address, bytes});
}

const Tool tool_record = {.device_bytes = sizeof(RecordRings),
                          .wants = SESSION_WANTS_COPIES | SESSION_WANTS_LAUNCHES_TAKEN |
                                   SESSION_WANTS_LAUNCH_TIMES | SESSION_WANTS_GRAPH_NODES |
                                   SESSION_WANTS_VARIABLES | SESSION_WANTS_POOLS |
                                   SESSION_WANTS_ORDER | SESSION_WANTS_EVERY_HASH,
                          .configure = configure,
                          .launch = record_launch,
                          .captured_launch = record_captured_launch,
                          .launch_taken = record_launch_taken,
                          .launch_ran = record_launch_ran,
                          .launches_ended = record_launches_ended,
                          .device_close = record_device_close,
                          .inputs = record_inputs,
                          .inputs_told = record_inputs_told,
                          .inputs_ready = record_inputs_ready,
                          .unknown_writes = record_unknown_writes,
                          .allocated = record_buffer_allocated,
                          .freed = record_buffer_freed,
                          .variable_loaded = record_variable_loaded,
                          .interrupt_served = record_interrupt_served,
                          .library_asked = record_library_asked,
                          .library_ran = record_library_ran,
                          .library_done = record_library_done,
                          .annotated = annotated,
                          .copy_asked = record_inputs_copy_asked,
                          .reads_source = record_inputs_reads_source,
                          .copy_number = record_copy_number,
                          .copy_taken = record_copy_taken,
                          .copy_contents = record_copy_contents,
                          .graph_begin = record_graph_begin,
                          .graph_node = record_graph_node,
                          .graph_end = record_graph_end,
                          .wants_code = record_wants_code,
                          .code = record_code,
                          .add_natives = record_add_natives};
