#include "session/internal.h"

bool session_wants_copies(void) { return (session_tools() & TOOL_BIT(MEMCHECK)) != 0; }

void session_copy_check(const SessionCopy *c) {}

void session_copy_runs(SessionDevice *d, const SessionCopy *c) {}
