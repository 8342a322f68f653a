// The end of a process: tells the tools and the command.
#include "session/written_buffers.h"
#include "tools/tool.h"

// A process that has sent nothing so far sends nothing here either.
void session_end(void) {
  if (!session_is_open()) return;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->process_ends) tool->process_ends();
  session_dump_end();
  session_send(EVENT_END, &(EventEnd){clock_ns()});
}
