// Device memory for what a tool keeps beside allocations of the program: one pool for each tool
// and device.
#ifndef WG_SESSION_TOOL_MEMORY_H
#define WG_SESSION_TOOL_MEMORY_H

#include "session/session.h"

// fresh: set to true if it is zero. 0: there is no memory
uint64_t session_tool_memory_take(SessionDevice *d, ToolId tool, size_t bytes, bool *fresh);
// Launches that were made before may still use it: it is reused for this tool only.
void session_tool_memory_give(SessionDevice *d, ToolId tool, uint64_t address, size_t bytes);
// Gives all of the pool back to the device; nothing is taken any more. false: it was empty
bool session_tool_memory_give_up(SessionDevice *d, ToolId tool);
void session_tool_memory_close(SessionDevice *d, bool alive);  // of all tools

#endif
