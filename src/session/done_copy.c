// Completed copies, for tools that check the data that they brought to the host.
#include "session/internal.h"
#include "tools/tool.h"

static bool wants(unsigned t, const SessionCopy *c) {
  const Tool *tool = tool_running(t);
  return tool && tool->wants_copy && tool->wants_copy(c);
}

bool session_copy_wanted(const SessionCopy *c) {
  for (unsigned t = 0; t < TOOL_COUNT_; t++)
    if (wants(t, c)) return true;
  return false;
}

void session_copy_done(const SessionCopy *c) {
  for (unsigned t = 0; t < TOOL_COUNT_; t++)
    if (wants(t, c)) tool_running(t)->copied(c);
}
