// Hands what happens in the program to the tools that run (tools/tool.h).
#include "session/internal.h"
#include "tools/tool.h"

#define TELL(event, ...) \
  EACH_RUNNING_TOOL(t, tool) \
    if (tool->event) tool->event(__VA_ARGS__)

// --- launches ---

void session_launch_taken(const SessionCall *c) { TELL(launch_taken, c); }

void session_launch_ran(uint32_t launch, uint64_t begin_ns, uint64_t end_ns) {
  TELL(launch_ran, launch, begin_ns, end_ns);
}

void session_graph_begin(const SessionBranches *b, uint32_t nodes, const void *stream) {
  TELL(graph_begin, b, nodes, stream);
}
void session_graph_node(uint32_t place) { TELL(graph_node, place); }
void session_graph_end(void) { TELL(graph_end); }

// --- memory before a launch ---

// The first tool that wants some has it.
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

void session_annotated(SessionAnnotation what, uint64_t address, uint64_t bytes) {
  TELL(annotated, what, address, bytes);
}

void session_tensor_map(const void *map, const SessionTensor *tensor) {
  TELL(tensor_map, map, tensor);
}

void session_tensor_map_moved(const void *before, const void *map, uint64_t address) {
  TELL(tensor_map_moved, before, map, address);
}

// --- copies and sets ---

// The first tool that numbers copies has the number.
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

// The first tool that tags copies has the tag.
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
