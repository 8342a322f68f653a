#include "base/suggest.h"
#include "weave/weave.h"

static const char *const names[] = {
#define TOOL(id, name, help) #name,
#include "tools/tools.def"
};

const char *tool_name(ToolId id) { return names[id]; }

static bool unknown_tool(const char *name, size_t n, Error *err) {
  Suggestion guess = suggest_begin(name, n);
  for (size_t i = 0; i < ARRAY_LEN(names); i++) suggest_consider(&guess, names[i]);
  return error_set(err, "--tool: there is no tool `%.*s`%s%s%s.", (int)n, name,
                   guess.best ? " (did you mean " : "", guess.best ? guess.best : "",
                   guess.best ? "?)" : "");
}

bool tools_parse(const char *list, unsigned *tools, Error *err) {
  *tools = 0;
  if (!strcmp(list, "none")) return true;
  if (!strcmp(list, "all")) {
    // checks, and not what --record asks for
    *tools = ((1u << ARRAY_LEN(names)) - 1) & ~TOOL_BIT(TRACE);
    return true;
  }
  for (const char *p = list;; p++) {
    size_t n = strcspn(p, ","), i = 0;
    while (i < ARRAY_LEN(names) && (strlen(names[i]) != n || memcmp(names[i], p, n))) i++;
    if (i == ARRAY_LEN(names)) return unknown_tool(p, n, err);
    *tools |= 1u << i;
    p += n;
    if (!*p) return true;
  }
}
