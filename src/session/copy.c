#include "session/internal.h"

bool session_wants_copies(void) { return (session_tools() & TOOL_BIT(MEMCHECK)) || session_wants_shadow(); }
