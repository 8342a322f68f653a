#include "instrument/instrument.h"

static const char *const names[] = {
#define TOOL(id, name, help) name,
#include "instrument/tools.def"
};

const char *instrument_tool_name(ToolId id) { return names[id]; }

bool instrument_tools_parse(const char *list, unsigned *tools, Error *err) {
  *tools = 0;
  if (!strcmp(list, "none")) return true;
  if (!strcmp(list, "all")) {
    *tools = ((1u << ARRAY_LEN(names)) - 1) & ~TOOL_BIT(TRACE);      // checks, and not what --record asks for
    return true;
  }
  for (const char *p = list;; p++) {
    size_t n = strcspn(p, ","), i = 0;
    while (i < ARRAY_LEN(names) && (strlen(names[i]) != n || memcmp(names[i], p, n))) i++;
    if (i == ARRAY_LEN(names)) return error_set(err, "--tool: there is no tool '%.*s'", (int)n, p);
    *tools |= 1u << i;
    p += n;
    if (!*p) return true;
  }
}
