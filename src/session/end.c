#include "session/written_buffers.h"

// A process that never had anything to say does not begin now.
void session_end(void) {
  if (!session_is_open()) return;
  session_unchecked();
  session_leaks();
  session_dump_end();
  session_send(EVENT_END, &(EventEnd){clock_ns()});
}
