// Hands events of the program to the tools that run (tools/tool.h).
#include "base/runstats.h"
#include "session/order.h"
#include "session/written_buffers.h"
#include "tools/tool.h"

#define TELL(event, ...) \
  EACH_RUNNING_TOOL(t, tool) \
    if (tool->event) tool->event(__VA_ARGS__)

// --- launches ---

void session_launch_taken(const SessionCall *c) { TELL(launch_taken, c); }

void session_launch_ran(uint32_t launch, const SessionTimes *when) {
  TELL(launch_ran, launch, when);
}

void session_copy_ran(uint64_t timed_as, const SessionTimes *when) {
  TELL(copy_ran, timed_as, when);
}

void session_graph_launched(const void *stream) { TELL(graph_launched, stream); }

void session_node_ran(const SessionNode *n) { TELL(node_ran, n); }

void session_stalled(const SessionStall *s) { TELL(stalled, s); }

void session_launch_refused(const SessionRefusal *r) { TELL(launch_refused, r); }

// The first tool that has a kind for the fault gets it.
const char *session_fault_kind(const SessionFault *f) {
  const char *kind = NULL;
  EACH_RUNNING_TOOL(t, tool)
    if (!kind && tool->fault_kind) kind = tool->fault_kind(f);
  return kind;
}

void session_graph_begin(const SessionBranches *b, uint32_t nodes, const void *stream) {
  TELL(graph_begin, b, nodes, stream);
}
void session_graph_node(uint32_t place) { TELL(graph_node, place); }
void session_graph_end(void) { TELL(graph_end); }

// --- memory before a launch ---

// The first tool that wants inputs gets them.
SessionInputs *session_inputs(const SessionCall *c) {
  SessionInputs *in = NULL;
  EACH_RUNNING_TOOL(t, tool)
    if (!in && tool->inputs) in = tool->inputs(c);
  return in;
}

void session_inputs_tell(const SessionInputs *in) {
  if (in) TELL(inputs_told, in);
}

void session_inputs_ready(const SessionInputs *in, SessionIsThere *is_there) {
  TELL(inputs_ready, in, is_there);
}

void session_inputs_page(uint32_t step, uint64_t address, const void *bytes, size_t n) {
  channel_contents(step, address, bytes, n);
}

void session_inputs_all_kept(uint32_t step) { channel_contents_end(step); }

void session_inputs_free(SessionInputs *in) {
  if (!in) return;
  vec_free(&in->parts);
  free(in);
}

void session_unknown_writes(const void *stream) { TELL(unknown_writes, stream); }

// --- memory ---

void session_variable_loaded(const SessionVariable *v) { TELL(variable_loaded, v); }

bool session_wants_interrupts(void) {
  EACH_RUNNING_TOOL(t, tool)
    if (tool->interrupt_served) return true;
  return false;
}
void session_interrupt_served(const SessionInterrupt *i) { TELL(interrupt_served, i); }

void session_annotated(SessionAnnotation what, uint64_t address, uint64_t bytes) {
  TELL(annotated, what, address, bytes);
}

void session_pitch(uint64_t base, uint64_t pitch) { TELL(pitched, base, pitch); }

void session_texture_check(const char *call, const struct CUDA_RESOURCE_DESC *d) {
  TELL(texture_asked, call, d);
}

// --- frees that are wrong ---

void session_invalid_free(const char *call, uint64_t pointer, unsigned kinds) {
  TELL(invalid_free, call, pointer, kinds);
}

bool session_second_free(const char *call, uint64_t pointer, unsigned kinds) {
  bool any = false;
  EACH_RUNNING_TOOL(t, tool) any |= tool->second_free && tool->second_free(call, pointer, kinds);
  return any;
}

void session_handle(const void *handle) { TELL(handle_created, handle); }
void session_handle_gone(const void *handle) { TELL(handle_gone, handle); }
void session_invalid_handle(const char *call, const void *handle) {
  TELL(invalid_handle, call, handle);
}

// --- freed memory that is not given back yet ---

void session_quarantine_open(int device, uint64_t device_memory) {
  TELL(quarantine_open, device, device_memory);
}

bool session_quarantine_hold(const SessionHeld *h, SessionRelease *release) {
  bool held = false;
  EACH_RUNNING_TOOL(t, tool)
    if (!held && tool->quarantine_hold) held = tool->quarantine_hold(h, release);
  return held;
}

bool session_quarantine_release(int device, const void *owner, SessionRelease *release) {
  bool any = false;
  EACH_RUNNING_TOOL(t, tool)
    any |= tool->quarantine_release && tool->quarantine_release(device, owner, release);
  return any;
}

uint64_t session_quarantine_bytes(int device) {
  uint64_t bytes = 0;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->quarantine_bytes) bytes += tool->quarantine_bytes(device);
  return bytes;
}

// --- handles, errors and waits ---

void session_destroyed(const char *what, const void *handle) { TELL(destroyed, what, handle); }
void session_created(const void *handle) { TELL(created, handle); }

bool session_use(const char *what, const void *handle) {
  bool any = false;
  EACH_RUNNING_TOOL(t, tool) any |= tool->used && tool->used(what, handle);
  return any;
}

void session_error_raised(const char *text) { TELL(error_raised, text); }
void session_errors_seen(void) { TELL(errors_seen); }

void session_stream_created(const void *stream, bool non_blocking) {
  TELL(stream_created, stream, non_blocking);
}

void session_range_ended(const SessionRange *r) { TELL(range_ended, r); }

void session_synchronised(const void *stream) {
  session_order_host_saw(stream);
  TELL(synchronised, stream, false);
}

void session_synchronised_all(void) {
  session_order_host_saw_all();
  TELL(synchronised, NULL, true);
}

void session_wait_ended(const SessionHostWait *w) { TELL(wait_ended, w); }

// --- copies and sets ---

void session_copy_check(const SessionCopy *c) {
  session_order_copy(c);
  session_outputs_copy(c);
  TELL(copy_asked, c);
}

void session_copy_refused(const SessionCopy *c) { TELL(copy_refused, c); }

// The first tool that numbers copies decides the number.
uint32_t session_copy_number(const SessionCopy *c) {
  uint32_t number = 0;
  EACH_RUNNING_TOOL(t, tool)
    if (!number && tool->copy_number) number = tool->copy_number(c);
  return number;
}

bool session_copy_on_host(const SessionCopy *c) {
  bool any = false;
  EACH_RUNNING_TOOL(t, tool) any |= tool->reads_source && tool->reads_source(c);
  return any;
}

void session_copy_taken(const SessionCopy *c) { TELL(copy_taken, c); }
void session_copy_contents(const SessionCopy *c) { TELL(copy_contents, c); }

// --- calls of libraries ---

void session_library_asked(LibraryCall *c, SessionDevice *on) {
  bool checked = false;
  EACH_RUNNING_TOOL(t, tool) checked |= tool->library_asked || tool->library_begins;
  runstats_count_library_call(checked);
  TELL(library_asked, c, on);
}
void session_library_found(const LibraryCall *c, const Operand *o, uint32_t n) {
  TELL(library_found, c, o, n);
}
void session_library_begins(const LibraryCall *c, const Operand *o, uint32_t n) {
  TELL(library_begins, c, o, n);
}
void session_library_wrong(const LibraryCall *c, const char *why) { TELL(library_wrong, c, why); }
void session_library_ran(const LibraryCall *c) { TELL(library_ran, c); }
void session_library_done(const LibraryCall *c) { TELL(library_done, c); }
void session_library_refused(const char *call, const char *why) {
  TELL(library_refused, call, why);
}

// --- modules ---

bool session_code_wanted(const SessionModule *m) {
  bool any = false;
  EACH_RUNNING_TOOL(t, tool) any |= tool->wants_code && tool->wants_code(m);
  return any;
}

void session_code(const SessionModule *m, const SessionCode *units, uint32_t n) {
  TELL(code, m, units, n);
}

void session_add_natives(void) {
  for (unsigned t = 0; t < TOOL_COUNT_; t++)
    if (tool_table[t] && tool_table[t]->add_natives) tool_table[t]->add_natives();
}

// --- contents of device memory ---

void session_memory_event(const SessionMemoryEvent *e) { TELL(memory_event, e); }

void session_unchecked_writes(SessionDevice *d, const void *stream) {
  TELL(unchecked_writes, d, stream);
}

void session_copy_runs(SessionDevice *d, const SessionCopy *c) { TELL(copy_runs, d, c); }

void session_launch_begins(SessionDevice *d, const void *stream, SessionRun *r) {
  TELL(launch_begins, d, stream, r);
}

void session_launch_ends(SessionDevice *d, const void *stream, SessionRun *r) {
  TELL(launch_ends, d, stream, r);
}

bool session_run_settled(const SessionRun *r) {
  bool all = true;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->launch_ends) all &= r->settled >> t & 1;
  return all;
}

bool session_sees_graph_writes(SessionKernel *k) {
  bool all = true;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->sees_graph_writes) all &= tool->sees_graph_writes(k);
  return all;
}

bool session_is_initialised(uint64_t address, uint64_t n) {
  bool all = true;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->is_initialised) all &= tool->is_initialised(address, n);
  return all;
}

// --- device memory of the tools ---

bool session_may_release_memory(void) {
  bool any = false;
  EACH_RUNNING_TOOL(t, tool) any |= tool->release_memory != NULL;
  return any;
}

bool session_release_memory(SessionDevice *d) {
  bool any = false;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->release_memory) any |= tool->release_memory(session_tool_device(d, t));
  return any;
}

size_t session_free_for_program(size_t free_bytes) {
  unsigned percent = 0;
  EACH_RUNNING_TOOL(t, tool) percent += tool->memory_percent;
  return free_bytes - free_bytes * percent / (100 + percent);
}

// --- order ---

// The first tool that tags copies decides the tag.
uint64_t session_copy_tag(void) {
  uint64_t tag = 0;
  EACH_RUNNING_TOOL(t, tool)
    if (!tag && tool->copy_tag) tag = tool->copy_tag();
  return tag;
}

void session_copy_begins(uint64_t tag) {
  if (tag) TELL(copy_begins, tag);
}

void session_host_waited(void) { TELL(host_waited); }

uint64_t session_graph_copy(SessionDevice *d, const SessionCopy *c, const SessionBeside *beside,
                            uint32_t *number) {
  uint64_t tag = 0;
  *number = 0;
  EACH_RUNNING_TOOL(t, tool)
    if (!tag && tool->graph_copy)
      tag = tool->graph_copy(session_tool_device(d, t), c, beside, number);
  return tag;
}

void session_graph_copy_ran(SessionDevice *d, const SessionCopy *c) { TELL(graph_copy_ran, d, c); }

void session_graph_copies_unordered(const SessionCopy *a, const SessionCopy *b) {
  TELL(graph_copies_unordered, a, b);
}

// --- launches that need no checks ---

static const Tool *only_tool(void) {
  unsigned tools = session_tools();
  return tools && !(tools & (tools - 1)) ? tool_table[__builtin_ctz(tools)] : NULL;
}

bool session_launch_settled(SessionKernel *k, const void *record) {
  const Tool *tool = only_tool();
  return tool && tool->is_settled && tool->is_settled(k, record);
}

bool session_launch_may_settle(const WovenKernel *code) {
  const Tool *tool = only_tool();
  return tool && tool->may_settle && (!code || tool->may_settle(code));
}
