#include "session/internal.h"

void session_alloc(uint64_t base, uint64_t size, SessionMemoryKind kind, int device, const char *name) {
  if (!session_wants_launches()) return;
  if (session_tools() & (TOOL_BIT(MEMCHECK) | TOOL_BIT(FPCHECK))) session_ranges_add(base, size);
  session_send(EVENT_ALLOC, &(EventAlloc){base, size, kind, (uint64_t)device, name, session_stack()});
}

void session_free(uint64_t base) {
  if (!session_wants_launches()) return;
  if (session_tools() & (TOOL_BIT(MEMCHECK) | TOOL_BIT(FPCHECK))) session_ranges_free(base);
  session_send(EVENT_FREE, &(EventFree){base, session_stack()});
}
