// The end of a process: the tools and the command are told.
#include "session/written_buffers.h"
#include "tools/tool.h"

// A process that never had anything to say does not begin now.
void session_end(void) {
  if (!session_is_open()) return;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->process_ends) tool->process_ends();
  session_dump_end();
  session_send(EVENT_END, &(EventEnd){clock_ns()});
}
