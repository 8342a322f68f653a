// Numbers of the options that tools have: OPT_<id> for each line of src/tools/<tool>/options.def.
// The build lists those files. A tool uses only its own options, and nothing outside of src/tools
// uses any.
#ifndef WG_TOOLS_OPTIONS_H
#define WG_TOOLS_OPTIONS_H

#include "base/options.h"

enum {
  OPT_BEFORE_TOOLS = OPT_FIRST_OF_TOOLS - 1,
#define OPTION(id, ...) OPT_##id,
#define IMPLIED(id, value)
#include "tool_options.def"
#undef OPTION
#undef IMPLIED
  OPT_COUNT
};

#endif
