// The halves of the tools that run inside the program. A tool without one has no tool_<name>: the
// symbol is weak.
#include "tools/tool.h"

#define TOOL(id, name, help) extern const Tool tool_##name __attribute__((weak));
#include "tools/tools.def"

const Tool *const tool_table[TOOL_COUNT_] = {
#define TOOL(id, name, help) &tool_##name,
#include "tools/tools.def"
};
